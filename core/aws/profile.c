/* The sections of a profile file by their names. */
#include "core/aws/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/shell.h"

enum {
    FIRST_ROOM = 4 * 1024, /* what most files fit in; each page more costs time to touch and wipe */
    MAX_FILE_MB = 16,
    MAX_FILE = MAX_FILE_MB * 1024 * 1024,
};

/* Names. */

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

static uint32_t profile_hash_of_section(const struct wanted_section *wanted)
{
    return slots_hash_text(slots_hash_text(slots_hash_start(), wanted->kind), wanted->name);
}

/* Its number; INI_NONE for none. */
static size_t profile_find_section(const struct profile_file *file, struct span kind,
                                   struct span name)
{
    struct wanted_section wanted = {file, kind, name};
    uint32_t number =
        slots_find(&file->by_name, profile_hash_of_section(&wanted), profile_is_section, &wanted);
    return number == SLOTS_NONE ? INI_NONE : number;
}

static size_t profile_find_profile(const struct profile_file *file, const char *name)
{
    return profile_find_section(file, SPAN_LITERAL("profile"), span_text(name));
}

/* The name in "profile x", which is split as a shell splits words. As in the AWS CLI, a header of
 * one word or of three names nothing, and of the kind only its beginning is looked at. */
static bool profile_name_section(struct profile_file *file, struct profile_section *section,
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

static bool profile_report_section(struct profile_file *file, enum profile_dialect dialect,
                                   struct profile_section *section, struct span header)
{
    *section = (struct profile_section){0};
    if (dialect == PROFILE_CONFIG && !span_is(header, "default"))
        return profile_name_section(file, section, header);
    *section = (struct profile_section){"profile", header};
    return true;
}

static bool profile_name_sections(struct profile_file *file, enum profile_dialect dialect)
{
    const struct ini *ini = &file->ini;
    file->sections = calloc(ini->section_count + 1, sizeof *file->sections);
    if (!file->sections)
        return false;
    for (size_t i = 0; i < ini->section_count; i++) {
        struct profile_section *section = &file->sections[i];
        uint32_t before;
        if (i == ini->defaults)
            continue;
        if (!profile_report_section(file, dialect, section, ini->sections[i].header))
            return false;
        struct wanted_section wanted = {file, span_text(section->kind), section->name};
        if (section->kind && !slots_put(&file->by_name, profile_hash_of_section(&wanted),
                                        profile_is_section, &wanted, (uint32_t)i, &before))
            return false;
    }
    return true;
}

/* Parsing. */

static bool profile_parse_own_text(struct profile_file *file, enum profile_dialect dialect,
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
    return profile_parse_own_text(file, dialect, path, err);
}

/* Reads once, into what room there is; the end of the file gives 0, as read does. */
static ssize_t profile_read_some(int fd, struct buf *out)
{
    ssize_t got;
    do
        got = read(fd, out->data + out->size, out->capacity - out->size - 1);
    while (got < 0 && errno == EINTR);
    out->size += got > 0 ? (size_t)got : 0;
    out->data[out->size] = '\0';
    return got;
}

bool profile_parse_fd(struct profile_file *file, enum profile_dialect dialect, int fd,
                      const char *path, struct error *err)
{
    struct buf *text = &file->ini.text;
    ssize_t got;
    do {
        if (!buf_reserve_within(text, text->capacity ? 1 : FIRST_ROOM, MAX_FILE + 1))
            return error_no_memory(err);
        got = profile_read_some(fd, text);
        if (got < 0)
            return error_set(err, ERROR_DENIED, "cannot read %s: %s", path, strerror(errno));
        if (text->size > MAX_FILE)
            return error_set(err, ERROR_DENIED, "%s is larger than %d MB, and so no profile file",
                             path, MAX_FILE_MB);
    } while (got > 0);
    bool ok = profile_parse_own_text(file, dialect, path, err);
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

/* Questions. */

bool profile_has(const struct profile_file *file, const char *profile)
{
    return profile_find_profile(file, profile) != INI_NONE;
}

static bool profile_get_it(const struct profile_file *file, size_t section, const char *parent,
                           const char *key, struct span *value)
{
    const struct ini_key *found =
        section == INI_NONE ? NULL
                            : ini_find(&file->ini, section, span_text(parent), span_text(key));
    if (found)
        *value = found->value;
    return found != NULL;
}

bool profile_get(const struct profile_file *file, const char *profile, const char *key,
                 struct span *value)
{
    return profile_get_it(file, profile_find_profile(file, profile), "", key, value);
}

bool profile_get_nested(const struct profile_file *file, const char *kind, const char *name,
                        const char *parent, const char *key, struct span *value)
{
    return profile_get_it(file, profile_find_section(file, span_text(kind), span_text(name)),
                          parent, key, value);
}

bool profile_has_section(const struct profile_file *file, const char *kind, const char *name)
{
    return profile_find_section(file, span_text(kind), span_text(name)) != INI_NONE;
}

bool profile_has_keys(const struct profile_file *file, const char *kind, const char *name)
{
    struct span key, value;
    return profile_next(file, kind, name, &(size_t){0}, &key, &value);
}

bool profile_next(const struct profile_file *file, const char *kind, const char *name, size_t *at,
                  struct span *key, struct span *value)
{
    size_t section = profile_find_section(file, span_text(kind), span_text(name));
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
    size_t section = profile_find_profile(file, profile);
    return section == INI_NONE ? span_text(profile) : file->ini.sections[section].header;
}

/* Those that a later one of the same name stands for are left out. */
bool profile_next_name(const struct profile_file *file, size_t *at, struct span *name)
{
    while (*at < file->ini.section_count) {
        size_t number = (*at)++;
        const struct profile_section *section = &file->sections[number];
        if (!section->kind ||
            profile_find_section(file, SPAN_LITERAL("profile"), section->name) != number)
            continue;
        *name = section->name;
        return true;
    }
    return false;
}

void profile_wipe_secrets(struct profile_file *file)
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
