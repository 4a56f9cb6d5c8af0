#include "core/read/item_directories.h"

#include <stdlib.h>

#include "core/map/listable.h"
#include "core/plan/item_parts.h"

struct follower {
    struct dict_node node; /* first, so that a node is a follower */
    char name[];
};

bool item_directories_init(struct item_directories *followers)
{
    return dict_init(&followers->names);
}

void item_directories_clean_up(struct item_directories *followers)
{
    size_t from = 0;
    for (struct dict_node *node; (node = dict_any(&followers->names, &from));) {
        dict_remove(&followers->names, node);
        free(node);
    }
    dict_clean_up(&followers->names);
}

/* False when memory ran out. */
static bool item_directories_add_it(struct item_directories *followers, struct span name,
                                    struct entries *entries)
{
    if (dict_find(&followers->names, name))
        return true;
    struct follower *follower = calloc(1, sizeof *follower + name.size);
    if (!follower)
        return false;
    memcpy(follower->name, name.data, name.size);
    follower->node.key = span_of(follower->name, name.size);
    dict_add(&followers->names, &follower->node);
    return entries_add(entries, name, true);
}

/* Adds the directory CHILD of PLACE that is named by PARTS. */
static void item_directories_add_child(struct item_directories *followers,
                                       const struct place *place, const struct route *child,
                                       const struct bindings *parts,
                                       const struct place_options *names, struct entries *entries,
                                       struct error *left_out)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    enum escape_mark mark;
    struct span shown;
    bool written = place_write_name(place, child, parts, 0, names, &name, &entries->why);
    if (written && escape_is_shortened(buf_span(&name), &mark, &shown)) {
        /* Nobody could tell which one it is: it is not listed, which the end says. */
        if (left_out->kind == ERROR_NONE)
            error_set(left_out, ERROR_LONG_NAME,
                      "a directory is left out, whose name is longer than %d bytes and begins "
                      "with \"%.*s\"; commands take the whole name",
                      NAME_LIMIT, shown.size > 60 ? 60 : (int)shown.size, shown.data);
    } else if (!written || !item_directories_add_it(followers, buf_span(&name), entries)) {
        entries->failed = true;
    }
}

static bool item_directories_is_follower(const struct route *child)
{
    return !child->entry && !child->hidden && !child->file && !format_is_literal(&child->segment);
}

void item_directories_add(struct item_directories *followers, const struct place *place,
                          const struct route *entry, const struct bindings *parts,
                          const struct place_options *names, struct entries *entries,
                          struct error *left_out)
{
    for (const struct route *child = place->route->children; child; child = child->next)
        if (item_directories_is_follower(child) && listable_follows(child, entry, &place->bindings))
            item_directories_add_child(followers, place, child, parts, names, entries, left_out);
}

/* Whether STEP, or a step below it, shows the record KEY; PARTS gets what it is made of. */
static bool item_directories_shows(const struct route *step, const struct place *place,
                                   const struct key *key, struct bindings *parts)
{
    const struct bindings *path = &place->bindings;
    if (step->list && item_match_entry(place->table, step->list, key, path, parts))
        return true;
    for (size_t i = 0; step->file && i < step->file->kind_count; i++)
        if (item_match_is_kind(place->table, step->file->kinds[i], key, path, parts))
            return true;
    for (const struct route *child = step->children; child; child = child->next)
        if (!child->entry && item_directories_shows(child, place, key, parts))
            return true;
    return false;
}

/* Whether the path and PARTS say all that the name of CHILD is made of. */
static bool item_directories_states_all(const struct place *place, const struct route *child,
                                        const struct bindings *parts)
{
    for (size_t i = 0; i < child->segment.count; i++) {
        const char *param = child->segment.pieces[i].param;
        if (param && !bindings_find(parts, param) && !bindings_find(&place->bindings, param))
            return false;
    }
    return true;
}

void item_directories_add_finding(struct item_directories *followers, const struct place *place,
                                  const struct key *key, const struct place_options *names,
                                  struct entries *entries, struct error *left_out)
{
    for (const struct route *child = place->route->children; child; child = child->next) {
        struct bindings parts = {0};
        if (item_directories_is_follower(child) && listable_follows_some(child, &place->bindings) &&
            item_directories_shows(child, place, key, &parts) &&
            item_directories_states_all(place, child, &parts))
            item_directories_add_child(followers, place, child, &parts, names, entries, left_out);
    }
}

bool item_directories_add_groups(struct item_directories *followers, const struct place *place,
                                 const struct matched_item *matched, struct json item,
                                 const struct place_options *names, struct entries *entries,
                                 struct error *left_out)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    const struct map_index *index = place->route->list->index;
    bool found = true;
    for (const struct route *child = place->route->children; child; child = child->next) {
        struct bindings parts = matched->parts;
        if (child->hidden || !listable_is_group(child, &place->bindings))
            continue;
        bool told = !index || item_parts_add_of_index(place->table, index, matched->entry->kind,
                                                      &child->segment, item, &arena, &parts);
        if (told)
            item_directories_add_child(followers, place, child, &parts, names, entries, left_out);
        found = found && told;
    }
    entries->failed = entries->failed || arena.failed;
    return found;
}
