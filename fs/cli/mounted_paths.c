#include "fs/cli/mounted_paths.h"

#include <errno.h>
#include <string.h>

#include "core/json/json.h"
#include "fs/cli/control_file.h"
#include "fs/cli/control_path.h"
#include "fs/cli/mount_table.h"

void mounted_paths_init(struct mounted_paths *mounted, const struct options *options)
{
    *mounted = (struct mounted_paths){.options = *options};
}

void mounted_paths_clean_up(struct mounted_paths *mounted)
{
    buf_clean_up(&mounted->root);
    arena_clean_up(&mounted->arena);
}

static char *mounted_refuse(const struct mounted_paths *mounted, const char *path,
                            const struct error *err)
{
    struct app app = {.options = &mounted->options};
    app_report_error(&app, path, err);
    return NULL;
}

/* The mount's own text of the map, which is what it answers by, or none. */
static bool mounted_inherit_map(struct mounted_paths *mounted, struct json record)
{
    struct options *options = &mounted->options;
    CLEAN_UP(buf_clean_up) struct buf file = {0};
    if (options->map || options->no_map)
        return true;
    options->no_map = !json_is(json_member(record, "map"), JSON_STRING);
    buf_printf(&file, "%s/" CONTROL_NAME "/map.json", buf_text(&mounted->root));
    if (!options->no_map)
        options->map = arena_text(&mounted->arena, buf_span(&file));
    return options->no_map || options->map;
}

/* What the command line says itself stays. */
static bool mounted_inherit_options(struct mounted_paths *mounted, struct json record)
{
    struct json each, next = json_first(json_member(record, "options"));
    for (; json_present(next); next = json_next(each)) {
        CLEAN_UP(buf_clean_up) struct buf name = {0}, value = {0};
        each = json_next(next);
        bool flag = json_is(each, JSON_TRUE);
        if (!json_read_string(next, &name) || (!flag && !json_read_string(each, &value)))
            return false;
        if (options_given(&mounted->options, buf_span(&name)))
            continue;
        const char *text = flag ? NULL : arena_text(&mounted->arena, buf_span(&value));
        if ((!flag && !text) ||
            options_set(&mounted->options, buf_span(&name), text) != OPTIONS_SET)
            return false;
    }
    return true;
}

/* Goes by what the mount at ROOT says of itself. */
static bool mounted_join(struct mounted_paths *mounted)
{
    CLEAN_UP(buf_clean_up) struct buf file = {0}, text = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    const char *root = buf_text(&mounted->root);
    buf_printf(&file, "%s/" CONTROL_NAME "/" CONTROL_MOUNT, root);
    if (!control_file_read(buf_text(&file), &text)) {
        control_file_refuse(root, CONTROL_MOUNT, errno);
        return false;
    }
    if (json_parse(&doc, buf_span(&text), JSON_STRICT, NULL) &&
        mounted_inherit_map(mounted, json_root(&doc)) &&
        mounted_inherit_options(mounted, json_root(&doc)))
        return true;
    control_file_report(root, "its " CONTROL_MOUNT " can't be read: another ddbfs has made it");
    return false;
}

/* A relative path without a dot in front is one of the tree. */
static bool mounted_may_be(const char *path)
{
    return path[0] == '/' || strcmp(path, ".") == 0 || strcmp(path, "..") == 0 ||
           strncmp(path, "./", 2) == 0 || strncmp(path, "../", 3) == 0;
}

static bool mounted_is_control(const char *rest)
{
    size_t size = sizeof("/" CONTROL_NAME) - 1;
    return strncmp(rest, "/" CONTROL_NAME, size) == 0 && (rest[size] == '/' || rest[size] == '\0');
}

/* The path of the tree that WHOLE is, in the mount at ROOT; NULL after a message. */
static char *mounted_within(struct mounted_paths *mounted, const char *path, struct span whole,
                            struct span root)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf within = {0};
    if (mounted->root.size > 0 && !span_equal(buf_span(&mounted->root), root)) {
        error_set(&why, ERROR_INVALID,
                  "is in the mount at %.*s, and a path before it in that at %s; a command goes by "
                  "one map: name the paths of each mount alone",
                  (int)root.size, root.data, buf_text(&mounted->root));
        return mounted_refuse(mounted, path, &why);
    }
    bool joined = mounted->root.size > 0;
    if (!joined)
        buf_add_span(&mounted->root, root);
    if (!joined && !mounted_join(mounted))
        return NULL;
    buf_add_span(&within, span_from(whole, root.size));
    bool slash = span_ends(span_text(path), SPAN_LITERAL("/"));
    buf_add_text(&within, slash || within.size == 0 ? "/" : "");
    return arena_text(&mounted->arena, buf_span(&within));
}

char *mounted_paths_path(struct mounted_paths *mounted, const char *path)
{
    struct error why;
    char *found = NULL;
    CLEAN_UP(buf_clean_up) struct buf whole = {0}, root = {0};
    if (!mounted_may_be(path) || !mount_table_resolve(path, &whole, &root)) {
        found = arena_text(&mounted->arena, span_text(path));
    } else if (!mounted_is_control(buf_text(&whole) + root.size)) {
        found = mounted_within(mounted, path, buf_span(&whole), buf_span(&root));
    } else {
        error_set(&why, ERROR_INVALID,
                  "is what the mount at %s tells of itself; read it as a file, without ddbfs",
                  buf_text(&root));
        return mounted_refuse(mounted, path, &why);
    }
    error_no_memory(&why);
    return mounted->arena.failed ? mounted_refuse(mounted, path, &why) : found;
}

bool mounted_paths_take(struct mounted_paths *mounted, char **paths, int count)
{
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        char *path = mounted_paths_path(mounted, paths[i]);
        paths[i] = path ? path : paths[i];
        ok = path != NULL;
    }
    return ok;
}
