#include "fs/cli/mount_table.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOUNT_TABLE_LINKS = 40 }; /* in one path, as in the kernel */

/* One pass over the table. */
struct mount_pass {
    FILE *table; /* owned */
    char *line;  /* owned */
    size_t room;
    struct buf mountpoint; /* owned: of the current mount */
    uint64_t id;           /* likewise */
    uid_t owner;           /* likewise; MOUNT_TABLE_NOBODY: the kernel names none */
};

static void mount_pass_clean_up(struct mount_pass *pass)
{
    if (pass->table)
        fclose(pass->table);
    free(pass->line);
    buf_clean_up(&pass->mountpoint);
}

/* The user is the last user_id= of the last field, which the kernel writes. The source before it is
 * the mounting user's text, and may look the same. */
static uid_t mount_pass_find_owner(const char *fields)
{
    static const char name[] = "user_id=";
    const char *last = strrchr(fields, ' ');
    uid_t owner = MOUNT_TABLE_NOBODY;
    for (const char *option = last ? last + 1 : ""; *option;) {
        size_t size = strcspn(option, ",");
        if (strncmp(option, name, sizeof name - 1) == 0)
            owner = (uid_t)strtoul(option + sizeof name - 1, NULL, 10);
        option += size + (option[size] == ',');
    }
    return owner;
}

/* Moves to the next mount of ddbfs. In a line of mountinfo the id is the first field, the
 * mountpoint is the fifth, and the type is the first behind "-". Blanks, tabs, newlines and
 * backslashes of a text are octal: \040. */
static bool mount_pass_next(struct mount_pass *pass)
{
    if (!pass->table)
        pass->table = fopen("/proc/self/mountinfo", "re");
    while (pass->table && getline(&pass->line, &pass->room, pass->table) > 0) {
        char *rest = NULL, *text = NULL;
        unsigned number = 0;
        pass->id = strtoull(pass->line, NULL, 10);
        for (char *field = strtok_r(pass->line, " ", &rest); field;
             field = strtok_r(NULL, " ", &rest)) {
            if (++number == 5)
                text = field;
            if (number > 5 && strcmp(field, "-") == 0)
                break;
        }
        const char *type = strtok_r(NULL, " ", &rest);
        if (!text || !type || !rest || strcmp(type, "fuse.ddbfs") != 0)
            continue;
        pass->owner = mount_pass_find_owner(rest);
        buf_truncate(&pass->mountpoint, 0);
        for (; *text; text++) {
            bool octal = text[0] == '\\' && text[1] && text[2] && text[3];
            buf_add_char(&pass->mountpoint,
                         octal ? (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + text[3] - '0')
                               : *text);
            text += octal ? 3 : 0;
        }
        return true;
    }
    return false;
}

bool mount_table_find(const char *path, struct buf *mountpoint)
{
    CLEAN_UP(mount_pass_clean_up) struct mount_pass pass = {0};
    size_t longest = 0;
    while (mount_pass_next(&pass)) {
        const char *folder = buf_text(&pass.mountpoint);
        size_t size = pass.mountpoint.size;
        if (size < longest || strncmp(path, folder, size) != 0 ||
            (path[size] != '/' && path[size] != '\0'))
            continue;
        longest = size;
        buf_truncate(mountpoint, 0);
        buf_add_span(mountpoint, buf_span(&pass.mountpoint));
    }
    return longest > 0 && !mountpoint->failed;
}

bool mount_table_is_trusted(uid_t owner)
{
    return owner == 0 || (owner != MOUNT_TABLE_NOBODY && owner == geteuid());
}

/* Of several mounts on one folder, the last one in the table is on top. */
uid_t mount_table_owner(const char *mountpoint)
{
    CLEAN_UP(mount_pass_clean_up) struct mount_pass pass = {0};
    uid_t owner = MOUNT_TABLE_NOBODY;
    while (mount_pass_next(&pass))
        if (strcmp(buf_text(&pass.mountpoint), mountpoint) == 0)
            owner = pass.owner;
    return owner;
}

/* An id is not used again while a file of its mount is open. */
uid_t mount_table_owner_of_file(int fd)
{
    CLEAN_UP(mount_pass_clean_up) struct mount_pass pass = {0};
    char name[40], line[80];
    unsigned long long id = 0;
    uid_t owner = MOUNT_TABLE_NOBODY;
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", fd);
    FILE *facts = fopen(name, "re");
    while (facts && id == 0 && fgets(line, sizeof line, facts))
        if (sscanf(line, "mnt_id: %llu", &id) != 1)
            id = 0;
    if (facts)
        fclose(facts);
    while (id > 0 && mount_pass_next(&pass))
        if (pass.id == id)
            owner = pass.owner;
    return owner;
}

size_t mount_table_list(bool trusted, struct buf *out)
{
    CLEAN_UP(mount_pass_clean_up) struct mount_pass pass = {0};
    size_t count = 0;
    while (mount_pass_next(&pass)) {
        if (trusted && !mount_table_is_trusted(pass.owner))
            continue;
        buf_add_span(out, buf_span(&pass.mountpoint));
        buf_add_char(out, '\0');
        count++;
    }
    return out->failed ? 0 : count;
}

static void mount_table_drop_last_segment(struct buf *path)
{
    while (path->size > 0 && path->data[path->size - 1] != '/')
        buf_truncate(path, path->size - 1);
    if (path->size > 0)
        buf_truncate(path, path->size - 1);
}

/* PATH ends in a link to TARGET, and REST has at FROM the segments behind the link. REST becomes
 * TARGET and these segments, relative to the new PATH. */
static bool mount_table_follow_link(struct buf *path, const char *target, struct buf *rest,
                                    size_t from)
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
    if (path[0] == '\0')
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
        if (++links > MOUNT_TABLE_LINKS || !mount_table_follow_link(whole, target, &rest, at))
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
        return realpath(path, NULL); /* no last segment */
    buf_add(&folder, path, (size_t)(name.data - path));
    char *above = realpath(folder.size ? buf_text(&folder) : ".", NULL);
    if (!above)
        return NULL;
    buf_printf(&whole, "%s/%.*s", strcmp(above, "/") == 0 ? "" : above, (int)name.size, name.data);
    free(above);
    return buf_steal(&whole, NULL);
}
