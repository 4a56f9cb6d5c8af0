#include "fs/cli/diff/diff_side.h"

#include <stdlib.h>
#include <string.h>

#include "core/item/typed.h"

/* What is no record is held: names, mostly. */
enum { MOST_OTHERS = 1000000 };

static void diff_side_clean_up_entries(struct diff_side_entries *entries)
{
    free(entries->items);
    arena_clean_up(&entries->arena);
    *entries = (struct diff_side_entries){0};
}

/* NULL when memory ran out. */
static struct diff_side_entry *diff_side_push_entry(struct diff_side_entries *entries)
{
    if (entries->count == entries->capacity) {
        size_t capacity = entries->capacity ? entries->capacity * 2 : 64;
        struct diff_side_entry *grown = realloc(entries->items, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        entries->items = grown;
        entries->capacity = capacity;
    }
    struct diff_side_entry *entry = &entries->items[entries->count++];
    *entry = (struct diff_side_entry){0};
    return entry;
}

void diff_side_clean_up(struct diff_side *side)
{
    tree_list_end(side->listing);
    buf_clean_up(&side->prefix);
    diff_side_clean_up_entries(&side->records);
    diff_side_clean_up_entries(&side->others);
}

/* Where the record stands among others: what its sort key says, if need be behind what it says of
 * all of them. */
static bool diff_side_read_order(const struct diff_side *side, struct json item,
                                 struct arena *arena, struct value *out)
{
    struct value value;
    if (!typed_scalar(item_attribute(item, side->order), arena, &value))
        return false;
    *out = (struct value){value.type, arena_copy(arena, value.bytes)};
    if (side->stripped && span_starts(out->bytes, buf_span(&side->prefix)))
        out->bytes = span_from(out->bytes, side->prefix.size);
    return !arena->failed;
}

static bool diff_side_take_entry(struct diff_side *side, const struct tree_entry *from)
{
    bool record = json_present(from->item);
    struct diff_side_entries *entries = record ? &side->records : &side->others;
    side->any = side->any || record;
    struct diff_side_entry *entry = diff_side_push_entry(entries);
    if (!entry)
        return false;
    *entry = (struct diff_side_entry){
        .name = arena_copy(&entries->arena, from->name),
        .told = !record && from->size >= 0,
        .directory = from->directory,
        .placeholder = from->placeholder,
        .secret = from->secret,
    };
    if (record)
        entry->item = arena_copy(&entries->arena, json_raw(from->item));
    else if (entry->told)
        entry->content = arena_copy(&entries->arena, from->content);
    bool ok = !record || side->order.size == 0 ||
              diff_side_read_order(side, from->item, &entries->arena, &entry->order);
    return ok && !entries->arena.failed;
}

static void diff_side_take_page(void *arg, const struct tree_entry *entries, size_t count,
                                bool more, const struct error *err)
{
    struct diff_side *side = arg;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = diff_side_take_entry(side, &entries[i]);
    side->more = more && ok;
    if (err)
        side->why = *err;
    else if (!ok)
        error_no_memory(&side->why);
    else if (side->others.count > MOST_OTHERS)
        error_set(&side->why, ERROR_TOO_LARGE,
                  "has more than %d directories; compare them one by one", MOST_OTHERS);
    side->waiting = false;
    loop_stop(side->app->loop);
}

/* What stands in the sort key before that which names say; false where names say something else, or
 * kinds of records differ in it. */
static bool diff_side_find_prefix(struct diff_side *side)
{
    const struct map_pattern *list = side->plan->pattern;
    for (size_t i = 0; i < list->entry_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf prefix = {0};
        const struct map_entry *entry = &list->entries[i];
        if (!entry->has_sort_prefix || entry->rank.digits > 0 ||
            !format_expand(&entry->sort_prefix, &side->plan->path, &prefix) || prefix.failed)
            return false;
        if (i == 0)
            buf_move(&side->prefix, &prefix);
        else if (!span_equal(buf_span(&side->prefix), buf_span(&prefix)))
            return false;
    }
    return list->entry_count > 0;
}

/* The table's own key orders the records of a partition, and no two stand at one place. What an
 * index tells comes in an order that says less. */
static void diff_side_find_order(struct diff_side *side)
{
    const struct read *query = side->plan->query;
    if (query->index || query->sort_count != 1 || !diff_side_find_prefix(side))
        return;
    side->order = query->sort[0];
    for (size_t i = 0; i < query->where_count; i++)
        side->all_begin_so = side->all_begin_so ||
                             (query->where[i].op == COND_BEGINS &&
                              span_equal(query->where[i].attribute, side->order) &&
                              span_starts(query->where[i].value.bytes, buf_span(&side->prefix)));
}

bool diff_side_init(struct diff_side *side, struct app *app, const char *path,
                    const struct place *place, struct error *err)
{
    *side = (struct diff_side){.app = app, .path = path, .place = place, .waiting = true};
    if (place_is_listing(place)) {
        side->plan = place_plan(place, err);
        if (!side->plan)
            return false;
        diff_side_find_order(side);
    }
    side->listing = tree_list_items(&app->tree, place, diff_side_take_page, side);
    return side->listing || error_no_memory(err);
}

/* The same path of the map; or of two tables that no map describes the same path, and keys of one
 * type. */
static bool diff_side_is_same_path(const struct place *a, const struct place *b)
{
    const struct model *one = a->table, *other = b->table;
    if (a->route->list == b->route->list)
        return true;
    return a->table_name && b->table_name &&
           strcmp(a->route->list->path, b->route->list->path) == 0 && one->key_count == 2 &&
           other->key_count == 2 && one->keys[1].type == other->keys[1].type;
}

bool diff_side_align(struct diff_side *a, struct diff_side *b)
{
    if (a->order.size == 0 || b->order.size == 0 ||
        a->plan->query->descending != b->plan->query->descending ||
        !diff_side_is_same_path(a->place, b->place))
        return false;
    bool same = span_equal(buf_span(&a->prefix), buf_span(&b->prefix));
    a->stripped = b->stripped = !same;
    return same || (a->all_begin_so && b->all_begin_so);
}

const struct diff_side_entry *diff_side_peek(struct diff_side *side)
{
    for (;;) {
        while (side->waiting)
            loop_run(side->app->loop);
        if (side->next < side->records.count)
            return &side->records.items[side->next];
        if (!side->more || side->why.kind != ERROR_NONE)
            return NULL;
        side->records.count = side->next = 0;
        arena_clean_up(&side->records.arena);
        side->waiting = true;
        tree_list_more(side->listing);
    }
}

void diff_side_take(struct diff_side *side)
{
    side->next++;
}

bool diff_side_is_cut(const struct diff_side *side)
{
    return side->why.kind != ERROR_NONE && side->why.kind != ERROR_LONG_NAME;
}
