/* The sections of a profile file by their names; both files, read again when they change. */
#include "core/aws/profiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/aws/stored.h"
#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/base/shell.h"

enum {
    FIRST_ROOM = 4 * 1024, /* enough for most files; each page more costs time to touch and wipe */
    MAX_FILE_MB = 16,
    MAX_FILE = MAX_FILE_MB * 1024 * 1024,
    FRESH_S = 2, /* a file's times may be this coarse */
};

/* Sections by name. */

struct wanted_section {
    const struct profile_file *file;
    struct span kind, name;
};

static bool profile_is_section(const void *arg, uint32_t number)
{
    const struct wanted_section *wanted = arg;
    const struct profile_section *section = &wanted->file->sections[number];
    return span_is(wanted->kind, section->kind) && span_equal(wanted->name, section->name);
}

static uint32_t profile_hash_section(const struct wanted_section *wanted)
{
    return slots_hash_text(slots_hash_text(slots_hash_start(), wanted->kind), wanted->name);
}

/* The section's number; INI_NONE without one. */
static size_t profile_find_section(const struct profile_file *file, const char *kind,
                                   struct span name)
{
    struct wanted_section wanted = {file, span_text(kind), name};
    uint32_t number =
        slots_find(&file->by_name, profile_hash_section(&wanted), profile_is_section, &wanted);
    return number == SLOTS_NONE ? INI_NONE : number;
}

/* The words of "profile x" are split as a shell splits them. As in the AWS CLI, a header of one
 * word or of three has no meaning, and only the beginning of the kind is compared. False when
 * memory ran out. */
static bool profile_read_header(struct profile_file *file, struct profile_section *section,
                                struct span header)
{
    static const char *const kinds[] = {"profile", "sso-session", "services"};
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    size_t count;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !section->kind; i++)
        if (span_starts(header, span_text(kinds[i])))
            section->kind = kinds[i];
    if (!section->kind)
        return true;
    if (!shell_split(&words, header, &count) || count != 2)
        section->kind = NULL;
    else if (!words.failed)
        section->name = arena_copy(&file->names, span_text(words.data + strlen(words.data) + 1));
    return !words.failed && !file->names.failed;
}

static bool profile_name_sections(struct profile_file *file, enum profile_dialect dialect)
{
    const struct ini *ini = &file->ini;
    file->sections = calloc(ini->section_count + 1, sizeof *file->sections);
    if (!file->sections)
        return false;
    for (size_t i = 0; i < ini->section_count; i++) {
        struct profile_section *section = &file->sections[i];
        struct span header = ini->sections[i].header;
        uint32_t before;
        if (i == ini->defaults)
            continue;
        if (dialect == PROFILE_CREDENTIALS || span_is(header, "default"))
            *section = (struct profile_section){"profile", header};
        else if (!profile_read_header(file, section, header))
            return false;
        struct wanted_section wanted = {file, span_text(section->kind), section->name};
        if (section->kind && !slots_put(&file->by_name, profile_hash_section(&wanted),
                                        profile_is_section, &wanted, (uint32_t)i, &before))
            return false;
    }
    return true;
}

/* One file. */

static bool profile_parse_text(struct profile_file *file, enum profile_dialect dialect,
                               const char *path, struct error *err)
{
    return ini_parse(&file->ini, path, err) &&
           (profile_name_sections(file, dialect) || error_no_memory(err));
}

bool profile_parse(struct profile_file *file, enum profile_dialect dialect, struct span text,
                   const char *path, struct error *err)
{
    buf_add_span(&file->ini.text, text);
    if (file->ini.text.failed)
        return error_no_memory(err);
    return profile_parse_text(file, dialect, path, err);
}

bool profile_parse_fd(struct profile_file *file, enum profile_dialect dialect, int fd,
                      const char *path, struct error *err)
{
    struct buf *text = &file->ini.text;
    for (;;) {
        if (!buf_reserve_within(text, text->capacity ? 1 : FIRST_ROOM, MAX_FILE + 1))
            return error_no_memory(err);
        ssize_t got = read(fd, text->data + text->size, text->capacity - text->size - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(err, ERROR_DENIED, "cannot read %s: %s", path, strerror(errno));
        text->size += (size_t)got;
        text->data[text->size] = '\0';
        if (text->size > MAX_FILE)
            return error_set(err, ERROR_DENIED, "%s is larger than %d MB, so it is no profile file",
                             path, MAX_FILE_MB);
        if (got == 0)
            break;
    }
    bool ok = profile_parse_text(file, dialect, path, err);
    file->is_empty = ok && file->ini.section_count == 0;
    return ok;
}

void profile_clean_up(struct profile_file *file)
{
    ini_clean_up(&file->ini);
    arena_clean_up(&file->names);
    free(file->sections);
    slots_clean_up(&file->by_name);
    *file = (struct profile_file){0};
}

bool profile_has(const struct profile_file *file, const char *profile)
{
    return profile_has_section(file, "profile", profile);
}

bool profile_get(const struct profile_file *file, const char *profile, const char *key,
                 struct span *value)
{
    return profile_get_nested(file, "profile", profile, "", key, value);
}

bool profile_get_nested(const struct profile_file *file, const char *kind, const char *name,
                        const char *parent, const char *key, struct span *value)
{
    size_t section = profile_find_section(file, kind, span_text(name));
    const struct ini_key *found =
        section == INI_NONE ? NULL
                            : ini_find(&file->ini, section, span_text(parent), span_text(key));
    if (found)
        *value = found->value;
    return found != NULL;
}

bool profile_has_section(const struct profile_file *file, const char *kind, const char *name)
{
    return profile_find_section(file, kind, span_text(name)) != INI_NONE;
}

bool profile_has_keys(const struct profile_file *file, const char *kind, const char *name)
{
    struct span key, value;
    return profile_next(file, kind, name, &(size_t){0}, &key, &value);
}

bool profile_next(const struct profile_file *file, const char *kind, const char *name, size_t *at,
                  struct span *key, struct span *value)
{
    size_t section = profile_find_section(file, kind, span_text(name));
    const struct ini_key *found = section == INI_NONE ? NULL : ini_next(&file->ini, section, at);
    if (!found)
        return false;
    *key = found->name;
    *value = found->value;
    return true;
}

unsigned profile_line(const struct profile_file *file, struct span value)
{
    for (size_t i = 0; i < file->ini.key_count; i++)
        if (file->ini.keys[i].value.data == value.data)
            return file->ini.keys[i].line;
    return 0;
}

struct span profile_header(const struct profile_file *file, const char *profile)
{
    size_t section = profile_find_section(file, "profile", span_text(profile));
    return section == INI_NONE ? span_text(profile) : file->ini.sections[section].header;
}

/* A section with a later one of the same name is skipped. */
bool profile_next_name(const struct profile_file *file, size_t *at, struct span *name)
{
    while (*at < file->ini.section_count) {
        size_t number = (*at)++;
        const struct profile_section *section = &file->sections[number];
        if (!section->kind || profile_find_section(file, "profile", section->name) != number)
            continue;
        *name = section->name;
        return true;
    }
    return false;
}

/* Secret keys and session tokens become empty values. */
static void profile_wipe_secrets(struct profile_file *file)
{
    static const char *const names[] = {"aws_secret_access_key", "aws_session_token",
                                        "aws_security_token"};
    char *text = file->ini.text.data;
    for (size_t i = 0; i < file->ini.key_count; i++) {
        struct ini_key *key = &file->ini.keys[i];
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            if (key->name.size != strlen(names[k]) ||
                strncasecmp(key->name.data, names[k], key->name.size) != 0)
                continue;
            explicit_bzero(text + (key->value.data - text), key->value.size);
            key->value.size = 0;
        }
    }
}

/* Both files. */

/* STAT is NULL for a missing file. A file that was changed a moment ago, or, by another machine's
 * clock, in the future, may change again and look the same afterwards. */
static struct profiles_stamp profiles_stamp_of(const struct stat *stat)
{
    struct clock *clock = clock_system();
    if (!stat)
        return (struct profiles_stamp){0};
    return (struct profiles_stamp){
        .device = stat->st_dev,
        .inode = stat->st_ino,
        .size = stat->st_size,
        .modified = stat->st_mtim,
        .changed = stat->st_ctim,
        .is_fresh = stat->st_ctim.tv_sec >= clock->wall_ms(clock) / 1000 - FRESH_S,
    };
}

static bool profiles_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool profiles_has_changed(const struct profiles_stamp *then, const char *path)
{
    struct stat stat_now;
    struct profiles_stamp now = profiles_stamp_of(stat(path, &stat_now) == 0 ? &stat_now : NULL);
    return then->is_fresh || now.device != then->device || now.inode != then->inode ||
           now.size != then->size || !profiles_same_time(now.modified, then->modified) ||
           !profiles_same_time(now.changed, then->changed);
}

static void profiles_close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static bool profiles_fail_open(const char *path, struct error *err)
{
    bool no_descriptors = errno == EMFILE || errno == ENFILE;
    return error_set(err, no_descriptors ? ERROR_NO_DESCRIPTORS : ERROR_DENIED,
                     "cannot read %s: %s; ddbfs runs as user %u, who must be able to", path,
                     strerror(errno), (unsigned)geteuid());
}

/* A pipe or a terminal could block the loop, so the file is opened without waiting. */
static bool profiles_read_file(struct profiles *profiles, enum profile_dialect dialect,
                               struct error *err)
{
    bool is_config = dialect == PROFILE_CONFIG;
    const char *path = is_config ? profiles->config_path : profiles->credentials_path;
    struct profile_file *file = is_config ? &profiles->config : &profiles->credentials;
    struct profiles_stamp *stamp =
        is_config ? &profiles->config_stamp : &profiles->credentials_stamp;
    CLEAN_UP(profiles_close_fd)
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat stat_now;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return true;
    /* The AWS CLI goes on without a file that is closed to this user. */
    if (fd < 0 && (errno == EACCES || errno == EPERM || errno == ELOOP || errno == ENAMETOOLONG)) {
        profiles_fail_open(path, &profiles->unreadable);
        if (stat(path, &stat_now) == 0)
            *stamp = profiles_stamp_of(&stat_now);
        return true;
    }
    if (fd < 0 || fstat(fd, &stat_now) != 0)
        return profiles_fail_open(path, err);
    *stamp = profiles_stamp_of(&stat_now);
    if (!S_ISREG(stat_now.st_mode)) {
        file->instead = S_ISDIR(stat_now.st_mode) ? "a directory" : "no regular file";
        return true;
    }
    return profile_parse_fd(file, dialect, fd, path, err);
}

/* As in the AWS CLI, an empty variable names no file. NULL when memory ran out. */
static char *profiles_find_path(const char *variable, const char *fallback)
{
    const char *value = getenv(variable);
    return stored_path(value ? value : fallback);
}

bool profiles_load(struct profiles *profiles, struct error *err)
{
    *profiles = (struct profiles){
        .config_path = profiles_find_path("AWS_CONFIG_FILE", "~/.aws/config"),
        .credentials_path = profiles_find_path("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"),
    };
    if (!profiles->config_path || !profiles->credentials_path)
        return error_no_memory(err);
    return profiles_read_file(profiles, PROFILE_CONFIG, err) &&
           profiles_read_file(profiles, PROFILE_CREDENTIALS, err);
}

void profiles_clean_up(struct profiles *profiles)
{
    profile_clean_up(&profiles->config);
    profile_clean_up(&profiles->credentials);
    free(profiles->config_path);
    free(profiles->credentials_path);
    *profiles = (struct profiles){0};
}

bool profiles_refresh(struct profiles *profiles, struct error *err)
{
    bool first = !profiles->config_path || !profiles->credentials_path;
    if (first || profiles_has_changed(&profiles->config_stamp, profiles->config_path) ||
        profiles_has_changed(&profiles->credentials_stamp, profiles->credentials_path)) {
        struct error why = {0};
        unsigned reads = profiles->reads + 1;
        profiles_clean_up(profiles);
        if (!profiles_load(profiles, &why)) {
            profile_clean_up(&profiles->config);
            profile_clean_up(&profiles->credentials);
            profiles->failed = why;
        }
        profile_wipe_secrets(&profiles->config);
        profile_wipe_secrets(&profiles->credentials);
        profiles->reads = reads;
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
    struct span home = span_text(stored_home());
    if (home.size > 1 && span_starts(path, home) && path.size > home.size &&
        path.data[home.size] == '/') {
        buf_add_char(out, '~');
        path = span_from(path, home.size);
    }
    printable_add(out, path, "");
    buf_add_text(out, " [");
    printable_add(out, profile_header(file, profile), "");
    buf_add_char(out, ']');
}

void profiles_origin_of_key(const struct profiles *profiles, const char *profile, const char *key,
                            struct buf *out)
{
    struct span value;
    bool in_credentials = profile_get(&profiles->credentials, profile, key, &value);
    profiles_origin(profiles, in_credentials ? PROFILE_CREDENTIALS : PROFILE_CONFIG, profile, out);
}

static void profiles_add_names(const struct profile_file *file, const struct profile_file *but,
                               struct buf *out)
{
    struct span name;
    for (size_t at = 0; profile_next_name(file, &at, &name);) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        buf_add_span(&text, name);
        if (but && profile_has(but, buf_text(&text)))
            continue;
        if (out->size > 0)
            buf_add_text(out, ", ");
        buf_add_span(out, name);
    }
}

void profiles_names(const struct profiles *profiles, struct buf *out)
{
    profiles_add_names(&profiles->config, NULL, out);
    profiles_add_names(&profiles->credentials, &profiles->config, out);
}
