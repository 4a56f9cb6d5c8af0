/* The profile files: one parser for both dialects, and the pair of them. */
#include "core/aws/profile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "core/base/utf8.h"

enum {
    FIRST_ROOM = 4 * 1024, /* what most files fit in; each page more costs time to touch and wipe */
    MAX_FILE = 1024 * 1024,
};

/* A section's header (KEY is empty then) or one key of it. */
struct profile_entry {
    struct span header; /* what stands between the brackets */
    struct span kind;   /* "profile", "sso-session", "services", … */
    struct span name;
    struct span parent; /* the key that it is nested under; empty for a plain key */
    struct span key;
    struct span value;
};

/* Where the parser stands. */
struct parser {
    struct profile_file *file;
    enum profile_dialect dialect;
    const char *path;
    unsigned line;
    bool in_section;
    struct profile_entry section; /* what the section's entries start from */
    size_t section_at;            /* its entry */
    bool has_key;                 /* a key of this section has been met */
    size_t key_at;                /* the last plain key's entry */
    size_t key_indent;
    struct error *err;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static struct span trimmed(struct span text)
{
    while (text.size > 0 && is_blank(text.data[text.size - 1]))
        text.size--;
    while (text.size > 0 && is_blank(text.data[0]))
        text = span_from(text, 1);
    return text;
}

static bool is_comment(struct span text)
{
    return text.size > 0 && (text.data[0] == '#' || text.data[0] == ';');
}

/* Cuts off a comment that follows a blank. */
static struct span without_comment(struct span text)
{
    for (size_t i = 1; i < text.size; i++)
        if (is_blank(text.data[i - 1]) && is_comment(span_from(text, i)))
            return span_of(text.data, i);
    return text;
}

static bool fail(const struct parser *parser, const char *what)
{
    return error_set(parser->err, ERROR_DENIED, "%s, line %u: %s; mend the file", parser->path,
                     parser->line, what);
}

/* The index: an open hash table of sections (by their header, and by kind and name) and of keys. Of
 * several that match, the first of the file is found first. */

static bool same_key(struct span a, struct span b)
{
    return a.size == b.size && (a.size == 0 || strncasecmp(a.data, b.data, a.size) == 0);
}

/* FNV-1a, of the text in lower case and its end. */
static uint32_t hash_on(uint32_t hash, struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (uint32_t)tolower((unsigned char)text.data[i])) * 16777619u;
    return (hash ^ 0x100u) * 16777619u;
}

static const uint32_t hash_start = 2166136261u;

static uint32_t hash_of_header(struct span header)
{
    return hash_on(hash_start, header);
}

static uint32_t hash_of_names(const struct profile_entry *entry)
{
    uint32_t hash = hash_on(hash_on(hash_start, entry->kind), entry->name);
    return entry->key.size ? hash_on(hash_on(hash, entry->parent), entry->key) : hash;
}

/* Whether both are the same section by its names, or the same key of such a section. */
static bool same_names(const struct profile_entry *a, const struct profile_entry *b)
{
    return same_key(a->key, b->key) && same_key(a->parent, b->parent) &&
           span_equal(a->kind, b->kind) && span_equal(a->name, b->name);
}

static void put_in_slot(struct profile_file *file, uint32_t hash, size_t entry)
{
    size_t at = hash & (file->slot_count - 1);
    while (file->slots[at])
        at = (at + 1) & (file->slot_count - 1);
    file->slots[at] = (uint32_t)entry + 1;
    file->slots_used++;
}

static void index_entry(struct profile_file *file, size_t at)
{
    const struct profile_entry *entry = &file->entries[at];
    put_in_slot(file, hash_of_names(entry), at);
    if (entry->key.size == 0)
        put_in_slot(file, hash_of_header(entry->header), at);
}

/* Half of the slots, at least, stay free. */
static bool grow_index(struct profile_file *file)
{
    size_t wanted = file->slot_count ? file->slot_count : 64;
    while (wanted < 2 * (file->slots_used + 2))
        wanted *= 2;
    if (wanted == file->slot_count)
        return true;
    uint32_t *slots = calloc(wanted, sizeof *slots);
    if (!slots)
        return false;
    free(file->slots);
    file->slots = slots;
    file->slot_count = wanted;
    file->slots_used = 0;
    for (size_t i = 0; i < file->count; i++)
        index_entry(file, i);
    return true;
}

/* The first entry with the same names as WANTED that stands at FROM or later; NULL for none. */
static const struct profile_entry *find_names(const struct profile_file *file,
                                              const struct profile_entry *wanted, size_t from)
{
    if (file->slot_count == 0)
        return NULL;
    size_t mask = file->slot_count - 1;
    for (size_t at = hash_of_names(wanted) & mask; file->slots[at]; at = (at + 1) & mask) {
        size_t entry = file->slots[at] - 1;
        if (entry >= from && same_names(&file->entries[entry], wanted))
            return &file->entries[entry];
    }
    return NULL;
}

static bool add_entry(struct parser *parser, const struct profile_entry *entry)
{
    struct profile_file *file = parser->file;
    if (file->count == file->capacity) {
        size_t capacity = file->capacity ? 2 * file->capacity : 32;
        struct profile_entry *entries = reallocarray(file->entries, capacity, sizeof *entries);
        if (!entries)
            return error_no_memory(parser->err);
        file->entries = entries;
        file->capacity = capacity;
    }
    if (!grow_index(file))
        return error_no_memory(parser->err);
    file->entries[file->count] = *entry;
    index_entry(file, file->count++);
    return true;
}

/* Sections. */

/* The AWS CLI refuses a file that has a section twice. */
static bool has_header(const struct profile_file *file, struct span header)
{
    size_t mask = file->slot_count - 1;
    if (file->slot_count == 0)
        return false;
    for (size_t at = hash_of_header(header) & mask; file->slots[at]; at = (at + 1) & mask) {
        const struct profile_entry *entry = &file->entries[file->slots[at] - 1];
        if (entry->key.size == 0 && span_equal(entry->header, header))
            return true;
    }
    return false;
}

static struct span unquoted(struct span text)
{
    bool quoted = text.size >= 2 && (text.data[0] == '"' || text.data[0] == '\'') &&
                  text.data[text.size - 1] == text.data[0];
    return quoted ? span_of(text.data + 1, text.size - 2) : text;
}

/* Splits "profile x" into its kind and name; a single word is a kind without a name. */
static void split_header(struct profile_entry *section)
{
    struct span header = section->header;
    size_t size = 0;
    while (size < header.size && !is_blank(header.data[size]))
        size++;
    section->kind = span_of(header.data, size);
    section->name = unquoted(trimmed(span_from(header, size)));
}

static struct profile_entry make_section(enum profile_dialect dialect, struct span header)
{
    struct profile_entry section = {.header = header};
    if (dialect == PROFILE_CREDENTIALS || span_is(header, "default")) {
        section.kind = SPAN_LITERAL("profile");
        section.name = header;
    } else {
        split_header(&section);
    }
    return section;
}

static bool begin_section(struct parser *parser, struct span line)
{
    const char *end = memchr(line.data, ']', line.size);
    if (!end)
        return fail(parser, "a section's header without its ]");
    struct span rest = trimmed(span_from(line, (size_t)(end - line.data) + 1));
    if (rest.size > 0 && !is_comment(rest))
        return fail(parser, "more than a comment follows a section's header");
    struct span header = trimmed(span_of(line.data + 1, (size_t)(end - line.data) - 1));
    if (header.size == 0)
        return fail(parser, "a section without a name");
    if (has_header(parser->file, header))
        return fail(parser, "this section is there already");
    parser->in_section = true;
    parser->has_key = false;
    parser->section = make_section(parser->dialect, header);
    parser->section_at = parser->file->count;
    return add_entry(parser, &parser->section);
}

/* Keys. */

/* As in the AWS CLI, a colon does as well as an equals sign. */
static bool split_key(struct parser *parser, struct span line, struct profile_entry *entry)
{
    size_t at = 0;
    while (at < line.size && line.data[at] != '=' && line.data[at] != ':')
        at++;
    entry->key = trimmed(span_of(line.data, at));
    if (at == line.size || entry->key.size == 0)
        return fail(parser, "a [section] or key = value is expected");
    entry->value = trimmed(without_comment(span_from(line, at + 1)));
    return true;
}

static bool add_key(struct parser *parser, struct span line, size_t indent)
{
    struct profile_entry entry = parser->section;
    if (!parser->in_section)
        return fail(parser, "a key before the first [section]");
    if (!split_key(parser, line, &entry))
        return false;
    /* The AWS CLI refuses a section that has a key twice. */
    if (find_names(parser->file, &entry, parser->section_at))
        return fail(parser, "this section has the key already");
    parser->has_key = true;
    parser->key_at = parser->file->count;
    parser->key_indent = indent;
    return add_entry(parser, &entry);
}

/* A line that is indented deeper than the key above it: a nested key when that has no value of
 * its own, and else more of the value. */
static bool continue_key(struct parser *parser, struct span line)
{
    struct profile_entry *above = &parser->file->entries[parser->key_at];
    struct profile_entry entry = parser->section;
    if (above->value.size > 0) {
        above->value.size = (size_t)(line.data + line.size - above->value.data);
        return true;
    }
    entry.parent = above->key;
    return split_key(parser, line, &entry) && add_entry(parser, &entry);
}

/* Lines. */

static bool parse_line(struct parser *parser, struct span raw)
{
    struct span line = trimmed(raw);
    if (line.size == 0 || is_comment(line))
        return true;
    size_t indent = (size_t)(line.data - raw.data);
    if (parser->has_key && indent > parser->key_indent)
        return continue_key(parser, line);
    if (line.data[0] == '[')
        return begin_section(parser, line);
    return add_key(parser, line, indent);
}

static bool parse_text(struct parser *parser)
{
    struct span rest = buf_span(&parser->file->text);
    while (rest.size > 0) {
        const char *end = memchr(rest.data, '\n', rest.size);
        size_t size = end ? (size_t)(end - rest.data) : rest.size;
        parser->line++;
        if (!parse_line(parser, span_of(rest.data, size)))
            return false;
        rest = span_from(rest, end ? size + 1 : size);
    }
    return true;
}

static bool parse_own_text(struct profile_file *file, enum profile_dialect dialect,
                           const char *path, struct error *err)
{
    struct parser parser = {.file = file, .dialect = dialect, .path = path, .line = 1, .err = err};
    if (memchr(buf_text(&file->text), '\0', file->text.size) || !utf8_valid(buf_span(&file->text)))
        return fail(&parser, "this is no text in UTF-8");
    parser.line = 0;
    return parse_text(&parser);
}

bool profile_parse(struct profile_file *file, enum profile_dialect dialect, struct span text,
                   const char *path, struct error *err)
{
    buf_add_span(&file->text, text);
    if (file->text.failed)
        return error_no_memory(err);
    return parse_own_text(file, dialect, path, err);
}

/* Files. */

static void close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static bool fail_read(const char *path, struct error *err)
{
    return error_set(err, ERROR_DENIED,
                     "cannot read %s: %s; ddbfs runs as user %u, who must be able to", path,
                     strerror(errno), (unsigned)geteuid());
}

/* Reads once, into what room there is; the end of the file gives 0, as read does. */
static ssize_t read_some(int fd, struct buf *out)
{
    ssize_t got;
    do
        got = read(fd, out->data + out->size, out->capacity - out->size - 1);
    while (got < 0 && errno == EINTR);
    out->size += got > 0 ? (size_t)got : 0;
    out->data[out->size] = '\0';
    return got;
}

static bool read_all(int fd, const char *path, struct buf *out, struct error *err)
{
    ssize_t got;
    do {
        if (!buf_reserve_within(out, out->capacity ? 1 : FIRST_ROOM, MAX_FILE + 1))
            return error_no_memory(err);
        got = read_some(fd, out);
        if (got < 0)
            return fail_read(path, err);
        if (out->size > MAX_FILE)
            return error_set(err, ERROR_DENIED, "%s is larger than 1 MB, and so no profile file",
                             path);
    } while (got > 0);
    return true;
}

/* STAT is NULL for a file that is not there. */
static struct profile_stamp stamp_of(const struct stat *stat)
{
    if (!stat)
        return (struct profile_stamp){0};
    return (struct profile_stamp){stat->st_dev, stat->st_ino, stat->st_size, stat->st_mtim,
                                  stat->st_ctim};
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool has_changed(const struct profile_file *file, const char *path)
{
    struct stat stat_now;
    const struct profile_stamp *then = &file->stamp;
    struct profile_stamp now = stamp_of(stat(path, &stat_now) == 0 ? &stat_now : NULL);
    return now.device != then->device || now.inode != then->inode || now.size != then->size ||
           !same_time(now.modified, then->modified) || !same_time(now.changed, then->changed);
}

/* A pipe or a terminal would keep the loop waiting for whoever writes there. */
bool profile_read(struct profile_file *file, enum profile_dialect dialect, const char *path,
                  struct error *err)
{
    CLEAN_UP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return true;
    struct stat stat;
    if (fd < 0 || fstat(fd, &stat) != 0)
        return fail_read(path, err);
    file->stamp = stamp_of(&stat);
    if (!S_ISREG(stat.st_mode))
        file->instead = S_ISDIR(stat.st_mode) ? "a directory" : "no regular file";
    if (file->instead)
        return true;
    return read_all(fd, path, &file->text, err) && parse_own_text(file, dialect, path, err);
}

void profile_clean_up(struct profile_file *file)
{
    buf_clean_up_secret(&file->text);
    free(file->entries);
    free(file->slots);
    *file = (struct profile_file){0};
}

/* Questions. */

static bool is_profile(const struct profile_entry *entry)
{
    return span_is(entry->kind, "profile") && entry->name.size > 0;
}

static bool has_profile(const struct profile_file *file, struct span name)
{
    struct profile_entry wanted = {.kind = SPAN_LITERAL("profile"), .name = name};
    return name.size > 0 && find_names(file, &wanted, 0);
}

bool profile_has(const struct profile_file *file, const char *profile)
{
    return has_profile(file, span_text(profile));
}

/* The keys of a section follow it. */
bool profile_has_keys(const struct profile_file *file, const char *kind, const char *name)
{
    struct profile_entry wanted = {.kind = span_text(kind), .name = span_text(name)};
    const struct profile_entry *section = find_names(file, &wanted, 0);
    return section && section + 1 < file->entries + file->count && section[1].key.size > 0;
}

bool profile_get_nested(const struct profile_file *file, const char *kind, const char *name,
                        const char *parent, const char *key, struct span *value)
{
    struct profile_entry wanted = {.kind = span_text(kind),
                                   .name = span_text(name),
                                   .parent = span_text(parent),
                                   .key = span_text(key)};
    const struct profile_entry *entry = wanted.key.size ? find_names(file, &wanted, 0) : NULL;
    if (entry)
        *value = entry->value;
    return entry != NULL;
}

bool profile_has_section(const struct profile_file *file, const char *kind, const char *name)
{
    struct profile_entry wanted = {.kind = span_text(kind), .name = span_text(name)};
    return find_names(file, &wanted, 0) != NULL;
}

bool profile_next(const struct profile_file *file, const char *kind, const char *name, size_t *at,
                  struct span *key, struct span *value)
{
    for (; *at < file->count; ++*at) {
        const struct profile_entry *entry = &file->entries[*at];
        if (entry->key.size == 0 || entry->parent.size > 0 || !span_is(entry->kind, kind) ||
            !span_is(entry->name, name))
            continue;
        *key = entry->key;
        *value = entry->value;
        ++*at;
        return true;
    }
    return false;
}

bool profile_get(const struct profile_file *file, const char *profile, const char *key,
                 struct span *value)
{
    return profile_get_nested(file, "profile", profile, "", key, value);
}

unsigned profile_line(const struct profile_file *file, struct span value)
{
    unsigned line = 1;
    for (const char *at = buf_text(&file->text); at < value.data; at++)
        line += *at == '\n';
    return line;
}

/* Both files. */

static const char *home(void)
{
    const char *value = getenv("HOME");
    if (value && *value)
        return value;
    const struct passwd *user = getpwuid(getuid());
    return user ? user->pw_dir : NULL;
}

/* Where the variable says, or FALLBACK; ~ at the start is the home directory. NULL when memory
 * ran out. */
static char *find_path(const char *variable, const char *fallback)
{
    const char *value = getenv(variable);
    const char *path = value && *value ? value : fallback;
    CLEAN_UP(buf_clean_up) struct buf full = {0};
    if (path[0] == '~' && (path[1] == '/' || path[1] == '\0') && home()) {
        buf_add_text(&full, home());
        path++;
    }
    buf_add_text(&full, path);
    return buf_steal(&full, NULL);
}

bool profiles_load(struct profiles *profiles, struct error *err)
{
    *profiles = (struct profiles){
        .config_path = find_path("AWS_CONFIG_FILE", "~/.aws/config"),
        .credentials_path = find_path("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"),
    };
    if (!profiles->config_path || !profiles->credentials_path)
        return error_no_memory(err);
    return profile_read(&profiles->config, PROFILE_CONFIG, profiles->config_path, err) &&
           profile_read(&profiles->credentials, PROFILE_CREDENTIALS, profiles->credentials_path,
                        err);
}

void profiles_clean_up(struct profiles *profiles)
{
    profile_clean_up(&profiles->config);
    profile_clean_up(&profiles->credentials);
    free(profiles->config_path);
    free(profiles->credentials_path);
    *profiles = (struct profiles){0};
}

static void wipe_secrets(struct profile_file *file)
{
    static const char *const keys[] = {"aws_secret_access_key", "aws_session_token",
                                       "aws_security_token"};
    for (size_t i = 0; i < file->count; i++) {
        struct profile_entry *entry = &file->entries[i];
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            if (!same_key(entry->key, span_text(keys[k])))
                continue;
            size_t from = (size_t)(entry->value.data - file->text.data);
            explicit_bzero(file->text.data + from, entry->value.size);
            entry->value.size = 0;
        }
    }
}

bool profiles_refresh(struct profiles *profiles, struct error *err)
{
    bool first = !profiles->config_path;
    if (first || has_changed(&profiles->config, profiles->config_path) ||
        has_changed(&profiles->credentials, profiles->credentials_path)) {
        struct error why = {0};
        profiles_clean_up(profiles);
        if (!profiles_load(profiles, &why))
            profiles->failed = why;
        wipe_secrets(&profiles->config);
        wipe_secrets(&profiles->credentials);
    }
    if (err && profiles->failed.kind != ERROR_NONE)
        *err = profiles->failed;
    return profiles->failed.kind == ERROR_NONE;
}

bool profiles_has(const struct profiles *profiles, const char *profile)
{
    return profile_has(&profiles->config, profile) || profile_has(&profiles->credentials, profile);
}

bool profiles_get(const struct profiles *profiles, const char *profile, const char *key,
                  struct span *value)
{
    return profile_get(&profiles->credentials, profile, key, value) ||
           profile_get(&profiles->config, profile, key, value);
}

void profiles_origin(const struct profiles *profiles, enum profile_dialect dialect,
                     const char *profile, struct buf *out)
{
    bool is_config = dialect == PROFILE_CONFIG;
    const struct profile_file *file = is_config ? &profiles->config : &profiles->credentials;
    struct span path = span_text(is_config ? profiles->config_path : profiles->credentials_path);
    struct span own = span_text(home());
    struct profile_entry wanted = {.kind = SPAN_LITERAL("profile"), .name = span_text(profile)};
    const struct profile_entry *entry = find_names(file, &wanted, 0);
    if (own.size > 1 && span_starts(path, own) && path.size > own.size &&
        path.data[own.size] == '/') {
        buf_add_char(out, '~');
        path = span_from(path, own.size);
    }
    printable_add(out, path, "");
    buf_add_text(out, " [");
    printable_add(out, entry ? entry->header : wanted.name, "");
    buf_add_char(out, ']');
}

static void add_names(const struct profile_file *file, const struct profile_file *but,
                      struct buf *out)
{
    for (size_t i = 0; i < file->count; i++) {
        const struct profile_entry *entry = &file->entries[i];
        if (entry->key.size > 0 || !is_profile(entry) || (but && has_profile(but, entry->name)))
            continue;
        if (out->size > 0)
            buf_add_text(out, ", ");
        buf_add_span(out, entry->name);
    }
}

void profiles_names(const struct profiles *profiles, struct buf *out)
{
    add_names(&profiles->config, NULL, out);
    add_names(&profiles->credentials, &profiles->config, out);
}
