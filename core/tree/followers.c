#include "core/tree/followers.h"

#include <stdlib.h>

#include "core/map/listable.h"

struct follower {
    struct dict_node node; /* first, so that a node is a follower */
    char name[];
};

bool followers_init(struct followers *followers)
{
    return dict_init(&followers->names);
}

void followers_clean_up(struct followers *followers)
{
    size_t from = 0;
    for (struct dict_node *node; (node = dict_any(&followers->names, &from));) {
        dict_remove(&followers->names, node);
        free(node);
    }
    dict_clean_up(&followers->names);
}

/* False when memory ran out. */
static bool add(struct followers *followers, struct span name, struct entries *entries)
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

void followers_add(struct followers *followers, const struct place *place,
                   const struct route *entry, const struct bindings *parts,
                   const struct place_options *names, struct entries *entries,
                   struct error *left_out)
{
    for (const struct route *child = place->route->children; child; child = child->next) {
        if (child->entry || child->file || format_is_literal(&child->segment) ||
            !listable_follows(child, entry, &place->bindings))
            continue;
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        enum name_mark mark;
        struct span shown;
        bool written = place_write_name(place, child, parts, 0, names, &name, &entries->why);
        if (written && name_is_shortened(buf_span(&name), &mark, &shown)) {
            /* Nobody could tell which one it is: it is not listed, which the end says. */
            if (left_out->kind == ERROR_NONE)
                error_set(left_out, ERROR_LONG_NAME,
                          "a directory is left out, whose name is longer than %d bytes and begins "
                          "with \"%.*s\"; commands take the whole name",
                          NAME_LIMIT, shown.size > 60 ? 60 : (int)shown.size, shown.data);
        } else if (!written || !add(followers, buf_span(&name), entries)) {
            entries->failed = true;
        }
    }
}
