#include "fs/cli/mount_table.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Links that lead on to links are followed so many times, as the kernel does. */
enum { MOST_LINKS = 40 };

/* The table writes blanks, tabs, line ends and backslashes of a path as \040 and the like. */
static void mount_table_unescape(const char *text, struct buf *out)
{
    for (; *text; text++) {
        bool escaped = text[0] == '\\' && text[1] && text[2] && text[3];
        buf_add_char(out, escaped
                              ? (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + text[3] - '0')
                              : *text);
        text += escaped ? 3 : 0;
    }
}

/* Takes a line of /proc/self/mountinfo apart, which is changed: the mountpoint is the fifth field,
 * the type the first behind "-"; LEFT is what follows it. NULL for a mount of something else. */
static char *mount_table_our_mountpoint(char *line, char **left)
{
    char *rest = NULL, *mountpoint = NULL;
    unsigned number = 0;
    for (char *field = strtok_r(line, " ", &rest); field; field = strtok_r(NULL, " ", &rest)) {
        if (++number == 5)
            mountpoint = field;
        if (number > 5 && strcmp(field, "-") == 0)
            break;
    }
    const char *type = strtok_r(NULL, " ", &rest);
    *left = rest;
    return type && strcmp(type, "fuse.ddbfs") == 0 ? mountpoint : NULL;
}

static bool mount_table_is_within(const char *path, const char *folder)
{
    size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

bool mount_table_find(const char *path, struct buf *mountpoint)
{
    char *line = NULL, *left;
    size_t room = 0, longest = 0;
    FILE *table = fopen("/proc/self/mountinfo", "re");
    while (table && getline(&line, &room, table) > 0) {
        CLEAN_UP(buf_clean_up) struct buf each = {0};
        const char *escaped = mount_table_our_mountpoint(line, &left);
        if (!escaped)
            continue;
        mount_table_unescape(escaped, &each);
        if (each.size < longest || !mount_table_is_within(path, buf_text(&each)))
            continue;
        longest = each.size;
        buf_truncate(mountpoint, 0);
        buf_add_span(mountpoint, buf_span(&each));
    }
    free(line);
    if (table)
        fclose(table);
    return longest > 0 && !mountpoint->failed;
}

/* Of several on one folder the last in the table is the one on top. */
bool mount_table_owner(const char *mountpoint, uid_t *owner)
{
    static const char name[] = "user_id=";
    char *line = NULL, *left;
    size_t room = 0;
    bool found = false;
    FILE *table = fopen("/proc/self/mountinfo", "re");
    while (table && getline(&line, &room, table) > 0) {
        CLEAN_UP(buf_clean_up) struct buf each = {0};
        const char *escaped = mount_table_our_mountpoint(line, &left);
        const char *user = escaped && left ? strstr(left, name) : NULL;
        if (!user)
            continue;
        mount_table_unescape(escaped, &each);
        if (strcmp(buf_text(&each), mountpoint) != 0)
            continue;
        *owner = (uid_t)strtoul(user + strlen(name), NULL, 10);
        found = true;
    }
    free(line);
    if (table)
        fclose(table);
    return found;
}

size_t mount_table_list(struct buf *out)
{
    char *line = NULL, *left;
    size_t room = 0, count = 0;
    FILE *table = fopen("/proc/self/mountinfo", "re");
    while (table && getline(&line, &room, table) > 0) {
        CLEAN_UP(buf_clean_up) struct buf each = {0};
        const char *escaped = mount_table_our_mountpoint(line, &left);
        if (!escaped)
            continue;
        mount_table_unescape(escaped, &each);
        buf_add_span(out, buf_span(&each));
        buf_add_char(out, '\0');
        count++;
    }
    free(line);
    if (table)
        fclose(table);
    return out->failed ? 0 : count;
}

static void mount_table_drop_last_segment(struct buf *path)
{
    while (path->size > 0 && path->data[path->size - 1] != '/')
        buf_truncate(path, path->size - 1);
    if (path->size > 0)
        buf_truncate(path, path->size - 1);
}

/* Puts what the link that PATH ends in leads to before what is left of the way (REST, at FROM). */
static bool mount_table_follow(struct buf *path, const char *target, struct buf *rest, size_t from)
{
    CLEAN_UP(buf_clean_up) struct buf on = {0};
    buf_printf(&on, "%s/%s", target, rest->data + from);
    buf_truncate(rest, 0);
    buf_add_span(rest, buf_span(&on));
    if (target[0] == '/')
        buf_truncate(path, 0);
    else
        mount_table_drop_last_segment(path);
    return !on.failed && !rest->failed;
}

bool mount_table_resolve(const char *path, struct buf *whole, struct buf *root)
{
    CLEAN_UP(buf_clean_up) struct buf rest = {0};
    char target[PATH_MAX];
    unsigned links = 0;
    bool inside = false;
    if (path[0] == '\0') /* as everywhere, this names nothing */
        return false;
    if (path[0] != '/' && getcwd(target, sizeof target))
        buf_printf(&rest, "%s/", target);
    buf_add_text(&rest, path);
    for (size_t at = 0; !rest.failed && !whole->failed && at < rest.size;) {
        const char *segment = rest.data + at;
        size_t size = strcspn(segment, "/");
        at += size + (segment[size] == '/');
        if (size == 0 || (size == 1 && segment[0] == '.'))
            continue;
        if (size == 2 && strncmp(segment, "..", 2) == 0)
            mount_table_drop_last_segment(whole);
        else
            buf_printf(whole, "/%.*s", (int)size, segment);
        buf_truncate(root, 0);
        inside = mount_table_find(buf_text(whole), root);
        ssize_t got = inside ? -1 : readlink(buf_text(whole), target, sizeof target - 1);
        if (!inside && got < 0 && errno != EINVAL && whole->size > 0)
            return false;
        if (got < 0)
            continue;
        target[got] = '\0';
        if (++links > MOST_LINKS || !mount_table_follow(whole, target, &rest, at))
            return false;
        at = 0;
    }
    return inside && !rest.failed && !whole->failed;
}

char *mount_table_absolute(const char *path)
{
    CLEAN_UP(buf_clean_up) struct buf folder = {0}, whole = {0};
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    struct span name = span_of(path, size);
    for (size_t i = 0; i < size; i++)
        if (path[i] == '/')
            name = span_of(path + i + 1, size - i - 1);
    if (name.size == 0 || span_is(name, ".") || span_is(name, ".."))
        return realpath(path, NULL); /* the root, or no name to keep */
    buf_add(&folder, path, (size_t)(name.data - path));
    char *above = realpath(folder.size ? buf_text(&folder) : ".", NULL);
    if (!above)
        return NULL;
    buf_printf(&whole, "%s/%.*s", strcmp(above, "/") == 0 ? "" : above, (int)name.size, name.data);
    free(above);
    return buf_steal(&whole, NULL);
}
