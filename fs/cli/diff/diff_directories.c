#include "fs/cli/diff/diff_directories.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dict.h"
#include "core/base/quantity.h"
#include "core/item/typed.h"

enum { DIFF_OTHERS = 1000000 }; /* entries that are no items; held in memory */

/* Borrows all texts. */
struct diff_entry {
    struct span name;
    struct span item;    /* of an item: its typed JSON */
    struct value order;  /* of an item: its position, if the side has an order */
    struct span content; /* of another file, if HAS_CONTENT */
    bool has_content;
    bool directory;
    bool placeholder;
    bool secret;
};

struct diff_entries {
    struct diff_entry *entries; /* owned */
    size_t count, capacity;
    struct arena arena; /* owns the texts */
};

/* One of the two directories: its items, page by page, and its other entries. */
struct diff_side {
    struct app *app;
    const char *path;          /* borrowed */
    const struct place *place; /* borrowed */
    const struct plan *plan;   /* PLACE's, of its listing; or NULL */
    struct span order;         /* the attribute that orders items and names; empty: none */
    struct buf prefix;         /* owned: of ORDER, before the parts that names have */
    bool all_have_prefix;      /* by the key condition */
    bool strips_prefix;        /* positions are compared without it */
    struct tree_listing *listing;
    struct diff_entries items;  /* of the current page */
    struct diff_entries others; /* so far */
    size_t next;                /* of the items */
    bool waiting, more;
    bool has_items;
    struct error why; /* how it ended, unless it ended well */
};

struct diff_sides {
    struct diff_print *print;
    struct diff_side before, now;
    diff_pair_fn *fn;
    void *arg;
};

static void diff_entries_clean_up(struct diff_entries *entries)
{
    free(entries->entries);
    arena_clean_up(&entries->arena);
    *entries = (struct diff_entries){0};
}

/* NULL when memory ran out. */
static struct diff_entry *diff_entries_push(struct diff_entries *entries)
{
    if (entries->count == entries->capacity) {
        size_t capacity = entries->capacity ? entries->capacity * 2 : 64;
        struct diff_entry *grown = realloc(entries->entries, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        entries->entries = grown;
        entries->capacity = capacity;
    }
    struct diff_entry *entry = &entries->entries[entries->count++];
    *entry = (struct diff_entry){0};
    return entry;
}

static void diff_side_clean_up(struct diff_side *side)
{
    tree_list_end(side->listing);
    buf_clean_up(&side->prefix);
    diff_entries_clean_up(&side->items);
    diff_entries_clean_up(&side->others);
}

static bool diff_side_take_entry(struct diff_side *side, const struct tree_entry *from)
{
    bool is_item = json_present(from->item);
    struct diff_entries *entries = is_item ? &side->items : &side->others;
    side->has_items = side->has_items || is_item;
    struct diff_entry *entry = diff_entries_push(entries);
    if (!entry)
        return false;
    *entry = (struct diff_entry){
        .name = arena_copy(&entries->arena, from->name),
        .has_content = !is_item && from->size >= 0,
        .directory = from->directory,
        .placeholder = from->placeholder,
        .secret = from->secret,
    };
    if (is_item)
        entry->item = arena_copy(&entries->arena, json_raw(from->item));
    else if (entry->has_content)
        entry->content = arena_copy(&entries->arena, from->content);
    if (is_item && side->order.size > 0) {
        struct value value;
        if (!typed_scalar(item_attribute(from->item, side->order), &entries->arena, &value))
            return false;
        entry->order = (struct value){value.type, arena_copy(&entries->arena, value.bytes)};
        if (side->strips_prefix && span_starts(entry->order.bytes, buf_span(&side->prefix)))
            entry->order.bytes = span_from(entry->order.bytes, side->prefix.size);
    }
    return !entries->arena.failed;
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
    else if (side->others.count > DIFF_OTHERS)
        error_set(&side->why, ERROR_TOO_LARGE,
                  "has more than %d directories; compare them one by one", DIFF_OTHERS);
    side->waiting = false;
    loop_stop(side->app->loop);
}

/* Finds the prefix of the sort key before the parts that names have. False if names have other
 * parts, or kinds of items have different prefixes. */
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

/* False with ERR. To be cleaned up in either case. */
static bool diff_side_init(struct diff_side *side, struct app *app, const char *path,
                           const struct place *place, struct error *err)
{
    *side = (struct diff_side){.app = app, .path = path, .place = place, .waiting = true};
    if (place_is_listing(place)) {
        side->plan = place_plan(place, err);
        if (!side->plan)
            return false;
        const struct read *query = side->plan->query;
        /* The sort key of the table orders the items of a partition, and is unique in it. That of
         * an index is not unique. */
        if (!query->index && query->sort_count == 1 && diff_side_find_prefix(side))
            side->order = query->sort[0];
        for (size_t i = 0; side->order.size > 0 && i < query->where_count; i++)
            side->all_have_prefix =
                side->all_have_prefix ||
                (query->where[i].op == COND_BEGINS &&
                 span_equal(query->where[i].attribute, side->order) &&
                 span_starts(query->where[i].value.bytes, buf_span(&side->prefix)));
    }
    side->listing = tree_list_items(&app->tree, place, diff_side_take_page, side);
    return side->listing || error_no_memory(err);
}

/* Whether both sides have one order, in which equal names have equal positions: they have the same
 * path of the map, or, without a map, the same generic path and the same type of sort key. To be
 * called once, before the first diff_side_peek. */
static bool diff_side_align(struct diff_side *a, struct diff_side *b)
{
    if (a->order.size == 0 || b->order.size == 0 ||
        a->plan->query->descending != b->plan->query->descending)
        return false;
    const struct place *x = a->place, *y = b->place;
    if (x->route->list != y->route->list &&
        (!x->table_name || !y->table_name ||
         strcmp(x->route->list->path, y->route->list->path) != 0 || x->table->key_count != 2 ||
         y->table->key_count != 2 || x->table->keys[1].type != y->table->keys[1].type))
        return false;
    bool same = span_equal(buf_span(&a->prefix), buf_span(&b->prefix));
    a->strips_prefix = b->strips_prefix = !same;
    return same || (a->all_have_prefix && b->all_have_prefix);
}

/* The next item, valid until diff_side_take; NULL at the end, or after an error. */
static const struct diff_entry *diff_side_peek(struct diff_side *side)
{
    for (;;) {
        while (side->waiting)
            loop_run(side->app->loop);
        if (side->next < side->items.count)
            return &side->items.entries[side->next];
        if (!side->more || side->why.kind != ERROR_NONE)
            return NULL;
        side->items.count = side->next = 0;
        arena_clean_up(&side->items.arena);
        side->waiting = true;
        tree_list_more(side->listing);
    }
}

static void diff_side_take(struct diff_side *side)
{
    side->next++;
}

/* Whether entries are absent because of an error. A name that is too long loses no other entry. */
static bool diff_side_is_cut(const struct diff_side *side)
{
    return side->why.kind != ERROR_NONE && side->why.kind != ERROR_LONG_NAME;
}

/* Names that cannot be listed are not compared. */
static void diff_dirs_report_placeholder(struct app *app, const struct diff_side *side,
                                         const struct diff_entry *entry)
{
    struct error reason, why;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct place *place = place_child(side->place, entry->name, &app->tree.names, &reason);
    if (place)
        tree_refuse_placeholder(&app->tree, place, &reason);
    place_destroy(place);
    error_set(&why, reason.kind, "is not compared: %s", reason.text);
    diff_print_add_path(&path, side->path, entry->name);
    app_report_error(app, buf_text(&path), &why);
}

static void diff_dirs_report_only(struct diff_sides *sides, const struct diff_side *side,
                                  const struct diff_entry *entry)
{
    if (entry->placeholder) {
        diff_dirs_report_placeholder(sides->print->app, side, entry);
        return;
    }
    diff_print_only(sides->print, side->path, entry->name, entry->directory,
                    side == &sides->before);
}

static void diff_dirs_compare_items(struct diff_sides *sides, const struct diff_entry *before,
                                    const struct diff_entry *now)
{
    CLEAN_UP(buf_clean_up) struct buf a = {0}, b = {0};
    if (span_equal(before->item, now->item))
        return;
    diff_print_add_path(&a, sides->before.path, before->name);
    diff_print_add_path(&b, sides->now.path, now->name);
    const struct model *table = sides->before.place->table;
    const struct model *other_table = sides->now.place->table;
    struct diff_print_item one = {buf_text(&a), table, before->item, false};
    struct diff_print_item other = {buf_text(&b), other_table, now->item, false};
    diff_print_items(sides->print, &one, &other, true);
}

/* For sides with one order. */
static void diff_dirs_merge(struct diff_sides *sides)
{
    struct diff_side *before = &sides->before, *now = &sides->now;
    bool descending = before->plan->query->descending;
    for (;;) {
        const struct diff_entry *a = diff_side_peek(before), *b = diff_side_peek(now);
        if ((!a && !b) || diff_side_is_cut(before) || diff_side_is_cut(now) || ferror(stdout))
            return;
        int order = !a ? 1 : !b ? -1 : value_compare(a->order, b->order) * (descending ? -1 : 1);
        if (order == 0 && span_equal(a->name, b->name)) {
            diff_dirs_compare_items(sides, a, b);
        } else {
            if (order <= 0)
                diff_dirs_report_only(sides, before, a);
            if (order >= 0)
                diff_dirs_report_only(sides, now, b);
        }
        if (order <= 0)
            diff_side_take(before);
        if (order >= 0)
            diff_side_take(now);
    }
}

/* An item of one side that waits for its name in the other. */
struct diff_held {
    struct dict_node node;  /* its key is the name */
    struct diff_held *next; /* in the order of the directory */
    struct diff_entry entry;
    bool found;
};

struct diff_holding {
    struct dict by_name;
    struct diff_held *first, **last;
    struct arena arena; /* owns them and their texts */
    size_t bytes;
};

static void diff_holding_clean_up(struct diff_holding *holding)
{
    dict_clean_up(&holding->by_name);
    arena_clean_up(&holding->arena);
}

/* A share of --cache-size may be held, as for a file made of a listing. */
static bool diff_dirs_hold(const struct diff_sides *sides, struct diff_holding *holding,
                           const struct diff_entry *entry, struct error *err)
{
    holding->bytes += entry->item.size + entry->name.size + sizeof(struct diff_held);
    size_t bytes = sides->print->app->tree.snapshot_bytes;
    if (holding->bytes > bytes) {
        CLEAN_UP(buf_clean_up) struct buf most = {0};
        size_write(bytes, &most);
        return error_set(err, ERROR_TOO_LARGE,
                         "has more than %s of items, which must be held because the other "
                         "directory has another order; compare parts of it, or use a larger "
                         "--cache-size: a quarter of it is for this",
                         buf_text(&most));
    }
    struct diff_held *held = arena_alloc(&holding->arena, sizeof *held);
    if (!held)
        return error_no_memory(err);
    held->entry.name = arena_copy(&holding->arena, entry->name);
    held->entry.item = arena_copy(&holding->arena, entry->item);
    if (holding->arena.failed)
        return error_no_memory(err);
    held->node.key = held->entry.name;
    dict_add(&holding->by_name, &held->node);
    *holding->last = held;
    holding->last = &held->next;
    return true;
}

/* For sides with different orders: all items of one are held. */
static void diff_dirs_match(struct diff_sides *sides)
{
    CLEAN_UP(diff_holding_clean_up) struct diff_holding holding = {.last = &holding.first};
    struct diff_side *before = &sides->before, *now = &sides->now;
    const struct diff_entry *entry;
    bool ok = dict_init(&holding.by_name) || error_no_memory(&now->why);
    for (; ok && (entry = diff_side_peek(now)); diff_side_take(now))
        ok = diff_dirs_hold(sides, &holding, entry, &now->why);
    for (; !diff_side_is_cut(now) && (entry = diff_side_peek(before)) && !ferror(stdout);
         diff_side_take(before)) {
        struct diff_held *held = (struct diff_held *)dict_find(&holding.by_name, entry->name);
        if (!held) {
            diff_dirs_report_only(sides, before, entry);
            continue;
        }
        held->found = true;
        diff_dirs_compare_items(sides, entry, &held->entry);
    }
    if (diff_side_is_cut(now) || diff_side_is_cut(before))
        return;
    for (const struct diff_held *held = holding.first; held; held = held->next)
        if (!held->found)
            diff_dirs_report_only(sides, now, &held->entry);
}

/* Whether the listing has the content to compare. An item is read instead, for its types. */
static bool diff_dirs_has_content(const struct diff_sides *sides, const struct diff_entry *a,
                                  const struct diff_entry *b)
{
    const struct diff_side *side = &sides->before;
    struct error ignored;
    struct place *place =
        a->has_content && b->has_content
            ? place_child(side->place, a->name, &sides->print->app->tree.names, &ignored)
            : NULL;
    bool has = place && place->kind != PLACE_RECORD;
    place_destroy(place);
    return has;
}

/* Compares an entry of both sides that is no item. */
static void diff_dirs_compare_others(struct diff_sides *sides, const struct diff_entry *a,
                                     const struct diff_entry *b)
{
    struct diff_print *print = sides->print;
    CLEAN_UP(buf_clean_up) struct buf before = {0}, now = {0};
    bool secret = a->secret || b->secret;
    diff_print_add_path(&before, sides->before.path, a->name);
    diff_print_add_path(&now, sides->now.path, b->name);
    if (a->placeholder && b->placeholder) {
        diff_dirs_report_placeholder(print->app, &sides->before, a);
    } else if (a->directory != b->directory || a->placeholder != b->placeholder) {
        diff_dirs_report_only(sides, &sides->before, a);
        diff_dirs_report_only(sides, &sides->now, b);
    } else if (a->directory || !diff_dirs_has_content(sides, a, b)) {
        sides->fn(sides->arg, a->name);
    } else if (secret && sides->before.place->kind == PLACE_ATTRS &&
               !print->app->options->show_secrets) {
        diff_print_report_mask(print, buf_text(&before));
    } else {
        struct diff_print_file one = {buf_text(&before), a->content, secret};
        struct diff_print_file other = {buf_text(&now), b->content, secret};
        diff_print_files(print, &one, &other, true);
    }
}

/* Files made from the map alone, descriptions of tables, and tables/ of an environment or of the
 * root are not compared here. */
static bool diff_dirs_is_skipped(const struct diff_side *side, const struct diff_entry *entry)
{
    enum fact fact;
    if (entry->directory)
        return span_is(entry->name, MAP_TABLES_NAME) &&
               (side->place->kind == PLACE_ENVIRONMENT ||
                (side->place->kind == PLACE_ROOT && !map_is_none(side->place->map)));
    return !entry->has_content && (span_is(entry->name, README_NAME) ||
                                   (place_has_facts(side->place) && fact_find(entry->name, &fact)));
}

static int diff_dirs_order_names(const void *a, const void *b)
{
    return span_compare(((const struct diff_entry *)a)->name, ((const struct diff_entry *)b)->name);
}

static void diff_dirs_sort_others(struct diff_side *side)
{
    struct diff_entries *others = &side->others;
    size_t count = 0;
    for (size_t i = 0; i < others->count; i++)
        if (!diff_dirs_is_skipped(side, &others->entries[i]))
            others->entries[count++] = others->entries[i];
    others->count = count;
    if (count > 0)
        qsort(others->entries, count, sizeof *others->entries, diff_dirs_order_names);
}

static void diff_dirs_merge_others(struct diff_sides *sides)
{
    const struct diff_entries *a = &sides->before.others, *b = &sides->now.others;
    diff_dirs_sort_others(&sides->before);
    diff_dirs_sort_others(&sides->now);
    for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
        int order = i == a->count   ? 1
                    : j == b->count ? -1
                                    : diff_dirs_order_names(&a->entries[i], &b->entries[j]);
        if (order < 0)
            diff_dirs_report_only(sides, &sides->before, &a->entries[i]);
        else if (order > 0)
            diff_dirs_report_only(sides, &sides->now, &b->entries[j]);
        else
            diff_dirs_compare_others(sides, &a->entries[i], &b->entries[j]);
        i += order <= 0;
        j += order >= 0;
    }
}

static void diff_sides_clean_up(struct diff_sides *sides)
{
    diff_side_clean_up(&sides->before);
    diff_side_clean_up(&sides->now);
}

bool diff_directories_compare(struct diff_print *print, const struct diff_directory *before,
                              const struct diff_directory *now, diff_pair_fn *fn, void *arg)
{
    CLEAN_UP(diff_sides_clean_up)
    struct diff_sides sides = {.print = print, .fn = fn, .arg = arg};
    struct diff_side *a = &sides.before, *b = &sides.now;
    struct app *app = print->app;
    struct error why;
    if (!diff_side_init(a, app, before->path, before->place, &why)) {
        app_report_error(app, before->path, &why);
        return true;
    }
    if (!diff_side_init(b, app, now->path, now->place, &why)) {
        app_report_error(app, now->path, &why);
        return true;
    }
    if (diff_side_align(a, b))
        diff_dirs_merge(&sides);
    else
        diff_dirs_match(&sides);
    if (!diff_side_is_cut(a) && !diff_side_is_cut(b))
        diff_dirs_merge_others(&sides);
    if (a->why.kind != ERROR_NONE)
        app_report_error(app, a->path, &a->why);
    if (b->why.kind != ERROR_NONE)
        app_report_error(app, b->path, &b->why);
    return a->has_items || b->has_items || a->others.count > 0 || b->others.count > 0 ||
           a->why.kind != ERROR_NONE || b->why.kind != ERROR_NONE;
}
