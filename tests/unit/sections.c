/* Profile files as JSON, for the comparison with another implementation: a line in for each file,
 * its dialect ("config" or "credentials"), a blank and its path; out, one line of JSON for each. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/aws/profiles.h"
#include "core/json/json.h"

static void free_line(char **line)
{
    free(*line);
}

static void add_member(struct buf *out, struct span name, bool *first)
{
    if (!*first)
        buf_add_char(out, ',');
    *first = false;
    json_write_ascii(out, name);
    buf_add_char(out, ':');
}

/* Of two nested keys with one name the second one counts. */
static bool add_nested(struct buf *out, const struct ini *ini, const struct ini_key *plain)
{
    bool first = true;
    for (size_t i = 0; i < ini->key_count; i++) {
        const struct ini_key *key = &ini->keys[i];
        if (key->parent.data != plain->name.data || key->section != plain->section ||
            ini_find(ini, key->section, key->parent, key->name) != key)
            continue;
        if (first)
            buf_add_char(out, '{');
        add_member(out, key->name, &first);
        json_write_ascii(out, key->value);
    }
    if (!first)
        buf_add_char(out, '}');
    return !first;
}

static void add_section(struct buf *out, const struct profile_file *file, size_t number)
{
    bool first = true;
    const struct ini_key *key;
    buf_add_char(out, '{');
    for (size_t at = 0; (key = ini_next(&file->ini, number, &at));) {
        add_member(out, key->name, &first);
        if (!add_nested(out, &file->ini, key))
            json_write_ascii(out, key->value);
    }
    buf_add_char(out, '}');
}

static bool stands(const struct profile_file *file, size_t number)
{
    const struct profile_section *section = &file->sections[number];
    for (size_t i = number + 1; i < file->ini.section_count; i++)
        if (file->sections[i].kind == section->kind &&
            span_equal(file->sections[i].name, section->name))
            return false;
    return true;
}

static void add_kind(struct buf *out, const struct profile_file *file, const char *kind)
{
    bool first = true;
    buf_add_char(out, '{');
    for (size_t i = 0; i < file->ini.section_count; i++) {
        if (!file->sections[i].kind || strcmp(file->sections[i].kind, kind) != 0 ||
            !stands(file, i))
            continue;
        add_member(out, file->sections[i].name, &first);
        add_section(out, file, i);
    }
    buf_add_char(out, '}');
}

static void tell(enum profile_dialect dialect, const char *path, struct buf *out)
{
    static const char *const kinds[] = {"profile", "sso-session", "services"};
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    struct error err = {0};
    bool first = true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && profile_parse_fd(&file, dialect, fd, "file", &err);
    if (fd >= 0)
        close(fd);
    buf_add_char(out, '{');
    if (!ok) {
        add_member(out, SPAN_LITERAL("error"), &first);
        json_write_ascii(out, span_text(err.text));
    }
    for (size_t i = 0; ok && i < sizeof kinds / sizeof kinds[0]; i++) {
        add_member(out, span_text(kinds[i]), &first);
        add_kind(out, &file, kinds[i]);
    }
    buf_add_char(out, '}');
}

int main(void)
{
    CLEAN_UP(free_line) char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    while ((size = getline(&line, &capacity, stdin)) > 0) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        char *path = strchr(line, ' ');
        line[size - 1] = '\0';
        if (!path)
            return 2;
        *path++ = '\0';
        tell(strcmp(line, "config") == 0 ? PROFILE_CONFIG : PROFILE_CREDENTIALS, path, &out);
        puts(buf_text(&out));
    }
    return 0;
}
