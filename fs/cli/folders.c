#include "fs/cli/folders.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/dict.h"
#include "core/base/size.h"
#include "core/tree/unlisted.h"
#include "fs/cli/side.h"

struct folders {
    struct contrast *contrast;
    struct side before, now;
    folders_pair_fn *fn;
    void *arg;
};

/* The names that ENTRY of SIDE stands for are not compared. */
static void folders_report_placeholder(struct app *app, const struct side *side,
                                       const struct side_entry *entry)
{
    struct error reason, why;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct place *place = place_child(side->place, entry->name, &app->tree.names, &reason);
    if (place)
        unlisted_refuse(&app->tree, place, &reason);
    place_destroy(place);
    error_set(&why, reason.kind, "is not compared: %s", reason.text);
    contrast_add_path(&path, side->path, entry->name);
    app_complain(app, buf_text(&path), &why);
}

static void tell_only(struct folders *folders, const struct side *side,
                      const struct side_entry *entry)
{
    if (entry->placeholder) {
        folders_report_placeholder(folders->contrast->app, side, entry);
        return;
    }
    contrast_only(folders->contrast, side->path, entry->name, entry->directory,
                  side == &folders->before);
}

static void compare_records(struct folders *folders, const struct side_entry *before,
                            const struct side_entry *now)
{
    CLEAN_UP(buf_clean_up) struct buf a = {0}, b = {0};
    if (span_equal(before->item, now->item))
        return;
    contrast_add_path(&a, folders->before.path, before->name);
    contrast_add_path(&b, folders->now.path, now->name);
    const struct model *table = folders->before.place->table;
    const struct model *other_table = folders->now.place->table;
    struct contrast_record one = {buf_text(&a), table, before->item, false};
    struct contrast_record other = {buf_text(&b), other_table, now->item, false};
    contrast_records(folders->contrast, &one, &other, true);
}

/* Both in one order: what is not at its place in one of them is not there. */
static void merge(struct folders *folders)
{
    struct side *before = &folders->before, *now = &folders->now;
    bool descending = before->plan->query->descending;
    for (;;) {
        const struct side_entry *a = side_peek(before), *b = side_peek(now);
        if ((!a && !b) || side_is_cut(before) || side_is_cut(now) || ferror(stdout))
            return;
        int order = !a ? 1 : !b ? -1 : value_compare(a->order, b->order) * (descending ? -1 : 1);
        if (order == 0 && span_equal(a->name, b->name)) {
            compare_records(folders, a, b);
        } else {
            if (order <= 0)
                tell_only(folders, before, a);
            if (order >= 0)
                tell_only(folders, now, b);
        }
        if (order <= 0)
            side_take(before);
        if (order >= 0)
            side_take(now);
    }
}

/* A record that is held until the other directory has told whether it has it. */
struct held {
    struct dict_node node; /* its key is the name */
    struct held *next;     /* in the order of the directory */
    struct side_entry entry;
    bool found;
};

struct holding {
    struct dict by_name;
    struct held *first, **last;
    struct arena arena; /* owns them and their texts */
    size_t bytes;
};

static void holding_clean_up(struct holding *holding)
{
    dict_clean_up(&holding->by_name);
    arena_clean_up(&holding->arena);
}

/* A share of --cache-size may be held, as of a file that is made of a listing. */
static bool has_room(const struct folders *folders, const struct holding *holding,
                     struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf most = {0};
    size_t bytes = folders->contrast->app->tree.snapshot_bytes;
    if (holding->bytes <= bytes)
        return true;
    size_write(bytes, &most);
    return error_set(err, ERROR_TOO_LARGE,
                     "has more than %s of records, which come in another order than those of the "
                     "other directory, so that all would have to be held; compare parts of it, or "
                     "give a larger --cache-size: a quarter of it is for that",
                     buf_text(&most));
}

static bool hold(const struct folders *folders, struct holding *holding,
                 const struct side_entry *entry, struct error *err)
{
    holding->bytes += entry->item.size + entry->name.size + sizeof(struct held);
    if (!has_room(folders, holding, err))
        return false;
    struct held *held = arena_alloc(&holding->arena, sizeof *held);
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

/* In different orders: one is held, while the other goes by. */
static void match(struct folders *folders)
{
    CLEAN_UP(holding_clean_up) struct holding holding = {.last = &holding.first};
    struct side *before = &folders->before, *now = &folders->now;
    const struct side_entry *entry;
    bool ok = dict_init(&holding.by_name) || error_no_memory(&now->why);
    for (; ok && (entry = side_peek(now)); side_take(now))
        ok = hold(folders, &holding, entry, &now->why);
    for (; !side_is_cut(now) && (entry = side_peek(before)) && !ferror(stdout); side_take(before)) {
        struct held *held = (struct held *)dict_find(&holding.by_name, entry->name);
        if (!held) {
            tell_only(folders, before, entry);
            continue;
        }
        held->found = true;
        compare_records(folders, entry, &held->entry);
    }
    if (side_is_cut(now) || side_is_cut(before))
        return;
    for (const struct held *held = holding.first; held; held = held->next)
        if (!held->found)
            tell_only(folders, now, &held->entry);
}

/* Whether the listing has told all that there is to compare of the file: a record is read instead,
 * for its types. */
static bool is_told(const struct folders *folders, const struct side_entry *a,
                    const struct side_entry *b)
{
    const struct side *side = &folders->before;
    struct error ignored;
    struct place *place =
        a->told && b->told
            ? place_child(side->place, a->name, &folders->contrast->app->tree.names, &ignored)
            : NULL;
    bool told = place && place->kind != PLACE_RECORD;
    place_destroy(place);
    return told;
}

/* What stands in both, and is no record that the listing has told. */
static void compare_others(struct folders *folders, const struct side_entry *a,
                           const struct side_entry *b)
{
    struct contrast *contrast = folders->contrast;
    CLEAN_UP(buf_clean_up) struct buf before = {0}, now = {0};
    bool hidden = (a->secret || b->secret) && !contrast->app->options->show_secrets;
    contrast_add_path(&before, folders->before.path, a->name);
    contrast_add_path(&now, folders->now.path, b->name);
    if (a->placeholder && b->placeholder) { /* which is said once */
        folders_report_placeholder(contrast->app, &folders->before, a);
    } else if (a->directory != b->directory || a->placeholder != b->placeholder) {
        /* neither has what the other has */
        tell_only(folders, &folders->before, a);
        tell_only(folders, &folders->now, b);
    } else if (a->directory || !is_told(folders, a, b)) {
        folders->fn(folders->arg, a->name);
    } else if (hidden && folders->before.place->kind == PLACE_ATTRS) {
        contrast_complain_of_mask(contrast, buf_text(&before));
    } else {
        struct contrast_file one = {buf_text(&before), a->content, hidden};
        struct contrast_file other = {buf_text(&now), b->content, hidden};
        contrast_files(contrast, &one, &other, true);
    }
}

/* What is made from the map alone, or is compared otherwise: a table's description, and in an
 * environment or beside it tables by their names. */
static bool is_passed_over(const struct side *side, const struct side_entry *entry)
{
    enum fact fact;
    if (entry->directory)
        return span_is(entry->name, MAP_TABLES_NAME) &&
               (side->place->kind == PLACE_ENVIRONMENT ||
                (side->place->kind == PLACE_ROOT && !map_is_none(side->place->map)));
    return !entry->told && (span_is(entry->name, README_NAME) ||
                            (place_has_facts(side->place) && fact_find(entry->name, &fact)));
}

static int order_names(const void *a, const void *b)
{
    return span_compare(((const struct side_entry *)a)->name, ((const struct side_entry *)b)->name);
}

/* Those that are compared, by name. */
static void sort_others(struct side *side)
{
    struct side_entries *others = &side->others;
    size_t kept = 0;
    for (size_t i = 0; i < others->count; i++)
        if (!is_passed_over(side, &others->items[i]))
            others->items[kept++] = others->items[i];
    others->count = kept;
    if (kept > 0)
        qsort(others->items, kept, sizeof *others->items, order_names);
}

static void merge_others(struct folders *folders)
{
    const struct side_entries *a = &folders->before.others, *b = &folders->now.others;
    sort_others(&folders->before);
    sort_others(&folders->now);
    for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
        int order = i == a->count   ? 1
                    : j == b->count ? -1
                                    : order_names(&a->items[i], &b->items[j]);
        if (order < 0)
            tell_only(folders, &folders->before, &a->items[i]);
        else if (order > 0)
            tell_only(folders, &folders->now, &b->items[j]);
        else
            compare_others(folders, &a->items[i], &b->items[j]);
        i += order <= 0;
        j += order >= 0;
    }
}

static void complain_of_end(struct app *app, const struct side *side)
{
    if (side->why.kind != ERROR_NONE)
        app_complain(app, side->path, &side->why);
}

static void folders_clean_up(struct folders *folders)
{
    side_clean_up(&folders->before);
    side_clean_up(&folders->now);
}

static bool begin(struct side *side, struct app *app, const struct folder *folder)
{
    struct error why;
    bool ok = side_init(side, app, folder->path, folder->place, &why);
    if (!ok)
        app_complain(app, folder->path, &why);
    return ok;
}

bool folders_compare(struct contrast *contrast, const struct folder *before,
                     const struct folder *now, folders_pair_fn *fn, void *arg)
{
    CLEAN_UP(folders_clean_up)
    struct folders folders = {.contrast = contrast, .fn = fn, .arg = arg};
    struct side *a = &folders.before, *b = &folders.now;
    if (!begin(a, contrast->app, before) || !begin(b, contrast->app, now))
        return true; /* which has been complained of */
    if (side_align(a, b))
        merge(&folders);
    else
        match(&folders);
    if (!side_is_cut(a) && !side_is_cut(b))
        merge_others(&folders);
    complain_of_end(contrast->app, a);
    complain_of_end(contrast->app, b);
    return a->any || b->any || a->others.count > 0 || b->others.count > 0 ||
           a->why.kind != ERROR_NONE || b->why.kind != ERROR_NONE;
}
