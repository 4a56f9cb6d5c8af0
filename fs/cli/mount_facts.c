#include "fs/cli/mount_facts.h"

#include <string.h>

#include "core/json/json.h"

/* Options of the command line take precedence. */
static bool mount_facts_inherit_options(struct json mount, struct options *options,
                                        struct arena *arena)
{
    struct json value, name = json_first(json_member(mount, "options"));
    for (; json_present(name); name = json_next(value)) {
        CLEAN_UP(buf_clean_up) struct buf option = {0}, text = {0};
        value = json_next(name);
        bool flag = json_is(value, JSON_TRUE);
        if (!json_read_string(name, &option) || (!flag && !json_read_string(value, &text)))
            return false;
        if (options_given(options, buf_span(&option)))
            continue;
        const char *copy = flag ? NULL : arena_text(arena, buf_span(&text));
        if ((!flag && !copy) || !options_inherits(buf_span(&option)) ||
            options_set(options, buf_span(&option), copy) != OPTIONS_SET)
            return false;
    }
    return true;
}

/* The mount's snapshots, unless the command has some. */
static bool mount_facts_inherit_snapshots(struct json mount, struct options *options,
                                          struct arena *arena)
{
    bool own = options->snapshot_count;
    struct json file = json_first(json_member(mount, "snapshots"));
    options->ignores_snapshot_variable = true;
    for (; !own && json_present(file); file = json_next(file)) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        const char *name =
            json_read_string(file, &text) ? arena_text(arena, buf_span(&text)) : NULL;
        if (!name || !options_add_snapshot(options, name))
            return false;
    }
    return true;
}

/* Names of files in the map are relative to the folder of the map that the mount has read. */
static bool mount_facts_inherit_map(struct json mount, struct options *options, struct arena *arena)
{
    CLEAN_UP(buf_clean_up) struct buf map = {0};
    if (!json_read_string(json_member(mount, "map"), &map))
        return false;
    const char *slash = strrchr(buf_text(&map), '/');
    buf_truncate(&map, slash ? (size_t)(slash - buf_text(&map)) : 0);
    options->map_folder = arena_text(arena, buf_span(&map));
    options->map_is_stored = json_is(json_member(mount, "map_is_stored"), JSON_TRUE);
    return options->map_folder;
}

bool mount_facts_apply(struct span text, struct options *options, struct arena *arena,
                       bool *is_mapped)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!json_parse(&doc, text, JSON_STRICT, NULL) || !json_is(json_root(&doc), JSON_OBJECT))
        return false;
    struct json mount = json_root(&doc);
    *is_mapped = json_is(json_member(mount, "map"), JSON_STRING);
    return mount_facts_inherit_snapshots(mount, options, arena) &&
           (options->map || options->no_map || !*is_mapped ||
            mount_facts_inherit_map(mount, options, arena)) &&
           mount_facts_inherit_options(mount, options, arena);
}
