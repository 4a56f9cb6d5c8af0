#include "core/read/together.h"

#include <stdlib.h>

#include "core/base/instant.h"
#include "core/read/fetch.h"
#include "core/read/moments.h"

/* The way of one item. */
struct together_look {
    struct together *together;
    struct fetch *fetch; /* of its key, or of the item in a snapshot; NULL before and after */
};

/* STARTS becomes FINDS, and FINDS becomes READS. Items of snapshots are read by FINDS. */
struct together {
    const struct tree *tree;
    struct together_item *items; /* the caller's */
    size_t count;
    struct together_look *looks; /* owned; one for each item, as all arrays below */
    struct key *keys;            /* owned; their values are in the arena */
    bool *is_left_out;           /* owned: the key was not found */
    size_t *part_of;             /* owned; see together_make_read */
    struct arena arena;
    size_t pending; /* fetches under way */
    bool of_snapshot;
    struct source *source; /* a reference */
    struct read *read;     /* owned */
    struct source_call *call;
    struct loop_timer *timer; /* an error is reported in the next round */
    struct error why;         /* with a kind: the first failure */
    together_done_fn *done;
    void *arg;
};

/* Checks. */

static bool together_refuse_index(const struct plan *plan, struct error *err)
{
    bool of_index = plan->query && plan->query->index && !plan->reads_again;
    if (!of_index || !cost_index_alone(plan->pattern))
        return true;
    return error_set(err, ERROR_INVALID,
                     "shows what the index %s has of the item, and only items of tables are read "
                     "together; name the item by another path",
                     plan->query->index);
}

/* Whether PLACE is a file that one item makes. */
static bool together_check_place(const struct tree *tree, const struct place *place,
                                 struct error *err)
{
    const struct plan *plan;
    switch (place->kind) {
    case PLACE_RECORD:
    case PLACE_VALUE:
    case PLACE_TYPED:
    case PLACE_ATTR:
        plan = place_plan(place, err);
        return plan && together_refuse_index(plan, err);
    case PLACE_PLACEHOLDER:
        return tree_refuse_placeholder(tree, place, err);
    case PLACE_LIST_FILE:
    case PLACE_LIST_INFO:
        return error_set(err, ERROR_INVALID,
                         "is a listing, whose pages are of different moments; name the items that "
                         "are to be read together");
    case PLACE_INFO:
        return error_set(err, ERROR_INVALID,
                         "describes a read of one item by itself; leave it out, or leave out "
                         "--together");
    case PLACE_VERSION:
        return error_set(err, ERROR_INVALID,
                         "is a version of the past, which is found by comparing snapshots; use a "
                         "path of one moment, such as /prod@at/TIME/…");
    case PLACE_LINK:
        return error_set(err, ERROR_INVALID, "is a link; name the item that it leads to");
    default:
        break;
    }
    if (place_is_directory(place))
        return error_set(err, ERROR_IS_DIRECTORY,
                         "is a directory; name the items that are to be read together");
    return error_set(err, ERROR_INVALID,
                     "is not made of an item; leave it out, or leave out --together");
}

/* Whether ITEM has the same source as FIRST. */
static bool together_check_source(const struct tree *tree, const struct together_item *first,
                                  const struct together_item *item, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf one = {0}, other = {0};
    const struct source *source = tree->source(tree->source_arg, first->place, err);
    const struct source *own = source ? tree->source(tree->source_arg, item->place, err) : NULL;
    if (!own)
        return false;
    if (own == source)
        return true;
    tree->describe(tree->source_arg, first->place, &one);
    tree->describe(tree->source_arg, item->place, &other);
    return error_set(err, ERROR_INVALID,
                     "is read with other settings (%s) than %s (%s); items are read together only "
                     "with one profile, region and endpoint",
                     other.size ? buf_text(&other) + 1 : "none", first->path,
                     one.size ? buf_text(&one) + 1 : "none");
}

/* Whether ITEM, in a snapshot, is of the same moment as FIRST. */
static bool together_check_state(const struct tree *tree, const struct together_item *first,
                                 const struct together_item *item, struct error *err)
{
    const struct moments *moments = tree->names.moments;
    CLEAN_UP(buf_clean_up) struct buf one = {0}, other = {0};
    int64_t first_ms, own_ms;
    if (!moments || !moments->find_state(moments->arg, item->place, &own_ms))
        return error_set(err, ERROR_INVALID,
                         "is read from a recording, whose responses are of different moments; "
                         "leave out --together");
    if (moments->find_state(moments->arg, first->place, &first_ms) && first_ms == own_ms)
        return true;
    instant_write_exact(&one, first_ms);
    instant_write_exact(&other, own_ms);
    return error_set(err, ERROR_INVALID,
                     "is of the moment %s of a snapshot, and %s is of %s; leave out --together, or "
                     "use tables that were exported at one moment",
                     buf_text(&other), first->path, buf_text(&one));
}

static bool together_check_item(const struct tree *tree, const struct together_item *first,
                                const struct together_item *item, struct error *err)
{
    if (!together_check_place(tree, item->place, err))
        return false;
    if (item->place->is_snapshot != first->place->is_snapshot)
        return error_set(err, ERROR_INVALID,
                         "is read from %s, and %s is not; nothing reads both at one moment",
                         item->place->is_snapshot ? "a snapshot" : "the service", first->path);
    return item->place->is_snapshot ? together_check_state(tree, first, item, err)
                                    : together_check_source(tree, first, item, err);
}

bool together_check(const struct tree *tree, const struct together_item *items, size_t count,
                    struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (together_check_item(tree, &items[0], &items[i], err))
            continue;
        err->part = (unsigned)i + 1;
        return false;
    }
    return true;
}

bool together_note(const struct place *place, struct buf *out)
{
    const struct plan *plan = place_plan(place, NULL);
    bool has_way = place->way.requests > 0 || place->way.pages > 0;
    bool is_found = plan && plan->query;
    if (place->is_snapshot || (!has_way && !is_found))
        return false;
    if (has_way)
        buf_add_text(out, "the links on the way are followed");
    if (is_found)
        buf_printf(out, "%sits key is found by a query of %s%s", has_way ? ", and " : "",
                   plan->query->index ? "the index " : "",
                   plan->query->index ? plan->query->index : plan->table_name);
    buf_add_text(out, " before the moment at which all items are read");
    return true;
}

/* The Read. */

/* A key of the right shape, in place of one that is not known. */
static struct key together_unknown_key(const struct model *table)
{
    struct key key = {.count = table->key_count};
    for (size_t i = 0; i < key.count; i++)
        key.attributes[i] = (struct key_attribute){span_text(table->keys[i].attribute),
                                                   {table->keys[i].type, span_text("…")}};
    return key;
}

/* The part of READ for KEY of TABLE, from 1 on; 0 without one. */
static size_t together_find_part(const struct read *read, const char *table, const struct key *key)
{
    for (size_t i = 0; key->count > 0 && i < read->part_count; i++)
        if (strcmp(read->parts[i]->table, table) == 0 &&
            key_compare(&read->parts[i]->keys[0], key) == 0)
            return i + 1;
    return 0;
}

/* Adds ITEM to READ, and returns the number of its part; 0 with ERR filled. Files of one item share
 * its part, which then reads all attributes. */
static size_t together_add_part(struct read *read, const struct together_item *item,
                                const struct key *key, struct error *err)
{
    const struct plan *plan = place_plan(item->place, err);
    if (!plan)
        return 0;
    size_t found = together_find_part(read, plan->table_name, key);
    if (found > 0) {
        read->parts[found - 1]->attribute_count = 0;
        return found;
    }
    struct key unknown = together_unknown_key(item->place->table);
    struct read *part = plan_items(plan, key->count > 0 ? key : &unknown, 1, err);
    if (!part)
        return 0;
    read_set_path(part, item->path);
    read_add_part(read, part);
    return read->part_count;
}

struct read *together_make_read(const struct together_item *items, const struct key *keys,
                                const bool *is_left_out, size_t count, size_t *part_of,
                                struct error *err)
{
    struct read *read = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct plan *plan = place_plan(items[i].place, err);
        part_of[i] = 0;
        if (is_left_out && is_left_out[i])
            continue;
        if (plan && !read)
            read = read_new(READ_TOGETHER, plan->table_name, NULL);
        if (plan && read)
            part_of[i] = together_add_part(read, &items[i], &keys[i], err);
        if (part_of[i] > 0 && !read_failed(read))
            continue;
        read_destroy(read);
        error_no_memory(err);
        return NULL;
    }
    return read;
}

/* The end. */

static void together_destroy(struct together *together)
{
    for (size_t i = 0; together->looks && i < together->count; i++)
        fetch_cancel(together->looks[i].fetch);
    source_end(together->call);
    loop_remove_timer(together->timer);
    read_destroy(together->read);
    source_unref(together->source);
    arena_clean_up(&together->arena);
    free(together->looks);
    free(together->keys);
    free(together->is_left_out);
    free(together->part_of);
    free(together);
}

/* ERR is NULL, or the reason why no item was read. */
static void together_finish(struct together *together, const struct error *err)
{
    together_done_fn *done = together->done;
    void *arg = together->arg;
    struct error why;
    if (err)
        why = *err;
    for (size_t i = 0; err && i < together->count; i++) {
        record_unref(together->items[i].record);
        together->items[i].record = NULL;
    }
    together_destroy(together);
    done(arg, err ? &why : NULL);
}

/* Items. */

/* False with ERR filled, which fails all. An item that is not there is no failure. */
static bool together_take_item(struct together *together, size_t i, const struct page *page,
                               const struct record_origin *origin, struct error *err)
{
    struct together_item *item = &together->items[i];
    struct json found = page->items[together->part_of[i] - 1];
    struct record *record = json_present(found) ? record_new(found, origin, err) : NULL;
    if (json_present(found) && !record)
        return false;
    if (fetch_check(together->tree, item->place, &together->keys[i], record, &item->why)) {
        item->record = record;
        return true;
    }
    record_unref(record);
    if (item->why.kind == ERROR_NOT_FOUND)
        return true;
    *err = item->why;
    return false;
}

/* The number of the first item of part PART, from 1 on. */
static unsigned together_item_of(const struct together *together, unsigned part)
{
    for (size_t i = 0; part > 0 && i < together->count; i++)
        if (together->part_of[i] == part)
            return (unsigned)i + 1;
    return 0;
}

static void together_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct together *together = arg;
    struct record_origin origin;
    struct error why;
    if (err) {
        why = *err;
        why.part = together_item_of(together, err->part);
        together_finish(together, &why);
        return;
    }
    fetch_fill_origin(together->tree->loop, page, &origin);
    origin.capacity /= origin.capacity > 0 ? (double)page->item_count : 1;
    for (size_t i = 0; i < together->count; i++) {
        if (together->part_of[i] == 0 || together_take_item(together, i, page, &origin, &why))
            continue;
        why.part = (unsigned)i + 1;
        together_finish(together, &why);
        return;
    }
    together_finish(together, NULL);
}

/* All keys are known, or not found. */
static void together_read_all(struct together *together)
{
    const struct tree *tree = together->tree;
    bool any = false;
    for (size_t i = 0; i < together->count; i++)
        any = any || !together->is_left_out[i];
    if (together->why.kind != ERROR_NONE || together->of_snapshot || !any) {
        struct error why = together->why;
        together_finish(together, why.kind != ERROR_NONE ? &why : NULL);
        return;
    }
    together->read = together_make_read(together->items, together->keys, together->is_left_out,
                                        together->count, together->part_of, &together->why);
    if (together->read)
        together->call = source_start(together->source, together->read, tree->payer,
                                      together_take_page, together);
    if (together->call)
        return;
    struct error why;
    error_no_memory(&why);
    together_finish(together, &why);
}

static void together_fail(struct together *together, size_t i, const struct error *err)
{
    if (together->why.kind != ERROR_NONE)
        return;
    together->why = *err;
    together->why.part = (unsigned)i + 1;
}

static void together_take_key(void *arg, const struct key *key, const struct error *err)
{
    struct together_look *look = arg;
    struct together *together = look->together;
    size_t i = (size_t)(look - together->looks);
    look->fetch = NULL;
    together->pending--;
    if (key) {
        struct key *copy = &together->keys[i];
        copy->count = key->count;
        for (size_t k = 0; k < key->count; k++) {
            copy->attributes[k].name = arena_copy(&together->arena, key->attributes[k].name);
            copy->attributes[k].value.type = key->attributes[k].value.type;
            copy->attributes[k].value.bytes =
                arena_copy(&together->arena, key->attributes[k].value.bytes);
        }
        if (together->arena.failed)
            error_no_memory(&together->why);
    } else if (err->kind == ERROR_NOT_FOUND) {
        together->is_left_out[i] = true;
        together->items[i].why = *err;
        error_add(&together->items[i].why, "; the query ran before the moment");
    } else {
        together_fail(together, i, err);
    }
    /* The fetch is freed behind this call. */
    if (together->pending == 0)
        together_read_all(together);
}

/* An item of a snapshot. */
static void together_take_stored(void *arg, struct record *record, const struct tree_found *found,
                                 int64_t ttl_left_ms, const struct error *err)
{
    struct together_look *look = arg;
    struct together *together = look->together;
    size_t i = (size_t)(look - together->looks);
    (void)found, (void)ttl_left_ms;
    look->fetch = NULL;
    together->pending--;
    if (record && !err)
        together->items[i].record = record_ref(record);
    else if (err->kind == ERROR_NOT_FOUND)
        together->items[i].why = *err;
    else
        together_fail(together, i, err);
    if (together->pending == 0)
        together_read_all(together);
}

static void together_report_failure(void *arg)
{
    struct together *together = arg;
    struct error why = together->why;
    together->timer = NULL;
    together_finish(together, &why);
}

/* False with WHY filled. */
static bool together_begin(struct together *together)
{
    const struct tree *tree = together->tree;
    size_t count = together->count;
    together->looks = calloc(count, sizeof *together->looks);
    together->keys = calloc(count, sizeof *together->keys);
    together->is_left_out = calloc(count, sizeof *together->is_left_out);
    together->part_of = calloc(count, sizeof *together->part_of);
    if (!together->looks || !together->keys || !together->is_left_out || !together->part_of)
        return error_no_memory(&together->why);
    struct source *source =
        tree->source(tree->source_arg, together->items[0].place, &together->why);
    if (!source)
        return false;
    together->source = source_ref(source);
    for (size_t i = 0; i < count; i++) {
        struct together_look *look = &together->looks[i];
        const struct place *place = together->items[i].place;
        look->together = together;
        look->fetch = together->of_snapshot ? fetch_start(tree, place, together_take_stored, look)
                                            : fetch_find(tree, place, together_take_key, look);
        if (!look->fetch)
            return error_no_memory(&together->why);
        together->pending++;
    }
    return true;
}

struct together *together_start(const struct tree *tree, struct together_item *items, size_t count,
                                together_done_fn *done, void *arg)
{
    struct together *together = calloc(1, sizeof *together);
    if (!together)
        return NULL;
    *together = (struct together){.tree = tree,
                                  .items = items,
                                  .count = count,
                                  .of_snapshot = items[0].place->is_snapshot,
                                  .done = done,
                                  .arg = arg};
    if (together_begin(together))
        return together;
    for (size_t i = 0; together->looks && i < count; i++) {
        fetch_cancel(together->looks[i].fetch);
        together->looks[i].fetch = NULL;
    }
    together->timer = loop_add_timer(tree->loop, 0, together_report_failure, together);
    if (together->timer)
        return together;
    together_destroy(together);
    return NULL;
}
