#include "fs/cli/diff/diff_directories.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/dict.h"
#include "core/base/size.h"
#include "core/read/unlisted.h"
#include "fs/cli/diff/diff_side.h"

struct folders {
    struct diff_print *contrast;
    struct diff_side before, now;
    diff_directories_pair_fn *fn;
    void *arg;
};

/* The names that ENTRY of SIDE stands for are not compared. */
static void diff_dirs_report_placeholder(struct app *app, const struct diff_side *side,
                                         const struct diff_side_entry *entry)
{
    struct error reason, why;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct place *place = place_child(side->place, entry->name, &app->tree.names, &reason);
    if (place)
        unlisted_refuse(&app->tree, place, &reason);
    place_destroy(place);
    error_set(&why, reason.kind, "is not compared: %s", reason.text);
    diff_print_add_path(&path, side->path, entry->name);
    app_report_error(app, buf_text(&path), &why);
}

static void diff_dirs_report_only(struct folders *folders, const struct diff_side *side,
                                  const struct diff_side_entry *entry)
{
    if (entry->placeholder) {
        diff_dirs_report_placeholder(folders->contrast->app, side, entry);
        return;
    }
    diff_print_only(folders->contrast, side->path, entry->name, entry->directory,
                    side == &folders->before);
}

static void diff_dirs_compare_records(struct folders *folders, const struct diff_side_entry *before,
                                      const struct diff_side_entry *now)
{
    CLEAN_UP(buf_clean_up) struct buf a = {0}, b = {0};
    if (span_equal(before->item, now->item))
        return;
    diff_print_add_path(&a, folders->before.path, before->name);
    diff_print_add_path(&b, folders->now.path, now->name);
    const struct model *table = folders->before.place->table;
    const struct model *other_table = folders->now.place->table;
    struct diff_print_record one = {buf_text(&a), table, before->item, false};
    struct diff_print_record other = {buf_text(&b), other_table, now->item, false};
    diff_print_records(folders->contrast, &one, &other, true);
}

/* Both in one order: what is not at its place in one of them is not there. */
static void diff_dirs_merge(struct folders *folders)
{
    struct diff_side *before = &folders->before, *now = &folders->now;
    bool descending = before->plan->query->descending;
    for (;;) {
        const struct diff_side_entry *a = diff_side_peek(before), *b = diff_side_peek(now);
        if ((!a && !b) || diff_side_is_cut(before) || diff_side_is_cut(now) || ferror(stdout))
            return;
        int order = !a ? 1 : !b ? -1 : value_compare(a->order, b->order) * (descending ? -1 : 1);
        if (order == 0 && span_equal(a->name, b->name)) {
            diff_dirs_compare_records(folders, a, b);
        } else {
            if (order <= 0)
                diff_dirs_report_only(folders, before, a);
            if (order >= 0)
                diff_dirs_report_only(folders, now, b);
        }
        if (order <= 0)
            diff_side_take(before);
        if (order >= 0)
            diff_side_take(now);
    }
}

/* A record that is held until the other directory has told whether it has it. */
struct held {
    struct dict_node node; /* its key is the name */
    struct held *next;     /* in the order of the directory */
    struct diff_side_entry entry;
    bool found;
};

struct holding {
    struct dict by_name;
    struct held *first, **last;
    struct arena arena; /* owns them and their texts */
    size_t bytes;
};

static void diff_dirs_holding_clean_up(struct holding *holding)
{
    dict_clean_up(&holding->by_name);
    arena_clean_up(&holding->arena);
}

/* A share of --cache-size may be held, as of a file that is made of a listing. */
static bool diff_dirs_has_room(const struct folders *folders, const struct holding *holding,
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

static bool diff_dirs_hold(const struct folders *folders, struct holding *holding,
                           const struct diff_side_entry *entry, struct error *err)
{
    holding->bytes += entry->item.size + entry->name.size + sizeof(struct held);
    if (!diff_dirs_has_room(folders, holding, err))
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
static void diff_dirs_match(struct folders *folders)
{
    CLEAN_UP(diff_dirs_holding_clean_up) struct holding holding = {.last = &holding.first};
    struct diff_side *before = &folders->before, *now = &folders->now;
    const struct diff_side_entry *entry;
    bool ok = dict_init(&holding.by_name) || error_no_memory(&now->why);
    for (; ok && (entry = diff_side_peek(now)); diff_side_take(now))
        ok = diff_dirs_hold(folders, &holding, entry, &now->why);
    for (; !diff_side_is_cut(now) && (entry = diff_side_peek(before)) && !ferror(stdout);
         diff_side_take(before)) {
        struct held *held = (struct held *)dict_find(&holding.by_name, entry->name);
        if (!held) {
            diff_dirs_report_only(folders, before, entry);
            continue;
        }
        held->found = true;
        diff_dirs_compare_records(folders, entry, &held->entry);
    }
    if (diff_side_is_cut(now) || diff_side_is_cut(before))
        return;
    for (const struct held *held = holding.first; held; held = held->next)
        if (!held->found)
            diff_dirs_report_only(folders, now, &held->entry);
}

/* Whether the listing has told all that there is to compare of the file: a record is read instead,
 * for its types. */
static bool diff_dirs_is_reported(const struct folders *folders, const struct diff_side_entry *a,
                                  const struct diff_side_entry *b)
{
    const struct diff_side *side = &folders->before;
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
static void diff_dirs_compare_others(struct folders *folders, const struct diff_side_entry *a,
                                     const struct diff_side_entry *b)
{
    struct diff_print *contrast = folders->contrast;
    CLEAN_UP(buf_clean_up) struct buf before = {0}, now = {0};
    bool hidden = (a->secret || b->secret) && !contrast->app->options->show_secrets;
    diff_print_add_path(&before, folders->before.path, a->name);
    diff_print_add_path(&now, folders->now.path, b->name);
    if (a->placeholder && b->placeholder) { /* which is said once */
        diff_dirs_report_placeholder(contrast->app, &folders->before, a);
    } else if (a->directory != b->directory || a->placeholder != b->placeholder) {
        /* neither has what the other has */
        diff_dirs_report_only(folders, &folders->before, a);
        diff_dirs_report_only(folders, &folders->now, b);
    } else if (a->directory || !diff_dirs_is_reported(folders, a, b)) {
        folders->fn(folders->arg, a->name);
    } else if (hidden && folders->before.place->kind == PLACE_ATTRS) {
        diff_print_report_mask(contrast, buf_text(&before));
    } else {
        struct diff_print_file one = {buf_text(&before), a->content, hidden};
        struct diff_print_file other = {buf_text(&now), b->content, hidden};
        diff_print_files(contrast, &one, &other, true);
    }
}

/* What is made from the map alone, or is compared otherwise: a table's description, and in an
 * environment or beside it tables by their names. */
static bool diff_dirs_is_passed_over(const struct diff_side *side,
                                     const struct diff_side_entry *entry)
{
    enum fact fact;
    if (entry->directory)
        return span_is(entry->name, MAP_TABLES_NAME) &&
               (side->place->kind == PLACE_ENVIRONMENT ||
                (side->place->kind == PLACE_ROOT && !map_is_none(side->place->map)));
    return !entry->told && (span_is(entry->name, README_NAME) ||
                            (place_has_facts(side->place) && fact_find(entry->name, &fact)));
}

static int diff_dirs_order_names(const void *a, const void *b)
{
    return span_compare(((const struct diff_side_entry *)a)->name,
                        ((const struct diff_side_entry *)b)->name);
}

/* Those that are compared, by name. */
static void diff_dirs_sort_others(struct diff_side *side)
{
    struct diff_side_entries *others = &side->others;
    size_t kept = 0;
    for (size_t i = 0; i < others->count; i++)
        if (!diff_dirs_is_passed_over(side, &others->items[i]))
            others->items[kept++] = others->items[i];
    others->count = kept;
    if (kept > 0)
        qsort(others->items, kept, sizeof *others->items, diff_dirs_order_names);
}

static void diff_dirs_merge_others(struct folders *folders)
{
    const struct diff_side_entries *a = &folders->before.others, *b = &folders->now.others;
    diff_dirs_sort_others(&folders->before);
    diff_dirs_sort_others(&folders->now);
    for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
        int order = i == a->count   ? 1
                    : j == b->count ? -1
                                    : diff_dirs_order_names(&a->items[i], &b->items[j]);
        if (order < 0)
            diff_dirs_report_only(folders, &folders->before, &a->items[i]);
        else if (order > 0)
            diff_dirs_report_only(folders, &folders->now, &b->items[j]);
        else
            diff_dirs_compare_others(folders, &a->items[i], &b->items[j]);
        i += order <= 0;
        j += order >= 0;
    }
}

static void diff_dirs_report_end(struct app *app, const struct diff_side *side)
{
    if (side->why.kind != ERROR_NONE)
        app_report_error(app, side->path, &side->why);
}

static void diff_dirs_clean_up(struct folders *folders)
{
    diff_side_clean_up(&folders->before);
    diff_side_clean_up(&folders->now);
}

static bool diff_dirs_begin(struct diff_side *side, struct app *app, const struct folder *folder)
{
    struct error why;
    bool ok = diff_side_init(side, app, folder->path, folder->place, &why);
    if (!ok)
        app_report_error(app, folder->path, &why);
    return ok;
}

bool diff_directories_compare(struct diff_print *contrast, const struct folder *before,
                              const struct folder *now, diff_directories_pair_fn *fn, void *arg)
{
    CLEAN_UP(diff_dirs_clean_up)
    struct folders folders = {.contrast = contrast, .fn = fn, .arg = arg};
    struct diff_side *a = &folders.before, *b = &folders.now;
    if (!diff_dirs_begin(a, contrast->app, before) || !diff_dirs_begin(b, contrast->app, now))
        return true; /* which has been complained of */
    if (diff_side_align(a, b))
        diff_dirs_merge(&folders);
    else
        diff_dirs_match(&folders);
    if (!diff_side_is_cut(a) && !diff_side_is_cut(b))
        diff_dirs_merge_others(&folders);
    diff_dirs_report_end(contrast->app, a);
    diff_dirs_report_end(contrast->app, b);
    return a->any || b->any || a->others.count > 0 || b->others.count > 0 ||
           a->why.kind != ERROR_NONE || b->why.kind != ERROR_NONE;
}
