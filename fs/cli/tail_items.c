#include "fs/cli/tail_items.h"

#include <stdlib.h>

#include "core/base/list.h"
#include "core/base/loop.h"
#include "core/plan/item_match.h"

/* No further changes are requested while more than MOST_BYTES wait, until less than LEAST_BYTES do.
 */
enum { MOST_BYTES = 8 << 20, LEAST_BYTES = 2 << 20 };

/* After a failed request, beside the retries of the source. */
enum { TAIL_ITEMS_AGAIN_MS = 2000 };

/* An item that was read: of all changes that waited for it. */
struct tail_read {
    size_t references;
    struct buf text;
    struct json_doc doc;
};

/* One change that waits; or an event behind those before it. */
struct tail_item {
    struct list_node node;
    tail_items_event_fn *event; /* NULL: a change */
    struct error *why;          /* of EVENT; owned. The rest is a change's */
    struct buf record, shard;   /* owned copies */
    struct json_doc doc;        /* of RECORD */
    struct change change;       /* in RECORD and SHARD */
    struct arena arena;         /* owns the values of KEY */
    struct key key;             /* of a wanted item */
    size_t bytes;
    bool is_wanted; /* its item has not been read */
    bool is_asked;  /* it is part of the request under way */
    bool was_read;
    struct tail_read *item; /* a reference; NULL: it did not exist */
};

struct tail_items {
    struct tail_items_options options;
    struct list waiting; /* of struct tail_item, owned */
    size_t bytes;        /* of all records */
    bool is_full;        /* no further changes are wanted */
    uint64_t requests;   /* so far */
    struct read *read;   /* owned: the request under way; NULL: none */
    struct source_call *call;
    struct loop_timer *timer; /* continues; NULL: none is needed */
    bool has_failed;
    bool *gone; /* set by destroy, while a function of OPS runs */
};

static void tail_items_continue(void *arg);

static void tail_read_unref(struct tail_read *read)
{
    if (!read || --read->references > 0)
        return;
    json_clean_up(&read->doc);
    buf_clean_up_secret(&read->text);
    free(read);
}

static void tail_item_free(struct tail_items *items, struct tail_item *item)
{
    list_remove(&item->node);
    items->bytes -= item->bytes;
    tail_read_unref(item->item);
    json_clean_up(&item->doc);
    buf_clean_up_secret(&item->record);
    buf_clean_up(&item->shard);
    free(item->why);
    arena_clean_up(&item->arena);
    free(item);
}

struct tail_items *tail_items_new(const struct tail_items_options *options)
{
    struct tail_items *items = calloc(1, sizeof *items);
    if (!items)
        return NULL;
    items->options = *options;
    source_ref(options->source);
    return items;
}

static void tail_items_end_call(struct tail_items *items)
{
    source_end(items->call);
    read_destroy(items->read);
    items->call = NULL;
    items->read = NULL;
}

void tail_items_destroy(struct tail_items *items)
{
    if (!items)
        return;
    if (items->gone)
        *items->gone = true;
    tail_items_end_call(items);
    loop_remove_timer(items->timer);
    LIST_EACH_SAFE (struct tail_item, each, &items->waiting, node)
        tail_item_free(items, each);
    source_unref(items->options.source);
    free(items);
}

int64_t tail_items_resume_ms(const struct tail_items *items, int64_t otherwise_ms)
{
    LIST_EACH (const struct tail_item, each, &items->waiting, node)
        if (!each->event)
            return each->change.resume_ms;
    return otherwise_ms;
}

uint64_t tail_items_requests(const struct tail_items *items)
{
    return items->requests;
}

bool tail_items_are_empty(const struct tail_items *items)
{
    return list_is_empty(&items->waiting);
}

/* Without memory for a timer nothing would ever continue. */
static void tail_items_continue_in(struct tail_items *items, int64_t delay_ms)
{
    struct error why;
    if (!items->timer)
        items->timer = loop_add_timer(items->options.loop, delay_ms, tail_items_continue, items);
    if (items->timer || items->has_failed)
        return;
    items->has_failed = true;
    error_no_memory(&why);
    items->options.ops->fail(items->options.arg, &why);
}

/* False when memory ran out, or the record is not a change. */
static bool tail_item_fill(const struct tail_items *items, struct tail_item *item,
                           const struct change *change, bool is_wanted)
{
    struct error ignored;
    buf_add_span(&item->record, json_raw(change->record));
    buf_add_span(&item->shard, change->shard);
    if (item->record.failed || item->shard.failed ||
        !json_parse(&item->doc, buf_span(&item->record), JSON_STRICT, NULL) ||
        !change_read(json_root(&item->doc), &item->change, &ignored))
        return false;
    item->change.shard = buf_span(&item->shard);
    item->change.resume_ms = change->resume_ms;
    item->is_wanted = is_wanted;
    item->bytes = sizeof *item + item->record.capacity + json_memory(&item->doc);
    return !is_wanted ||
           item_match_key(items->options.table, item->change.keys, &item->arena, &item->key);
}

/* Whether the follower should pause. */
static void tail_items_check_room(struct tail_items *items)
{
    bool is_full = items->bytes > (items->is_full ? LEAST_BYTES : MOST_BYTES);
    if (is_full == items->is_full)
        return;
    items->is_full = is_full;
    items->options.ops->pause(items->options.arg, is_full);
}

void tail_items_add(struct tail_items *items, const struct change *change, bool is_wanted)
{
    struct error why;
    struct tail_item *item = items->has_failed ? NULL : calloc(1, sizeof *item);
    if (items->has_failed)
        return;
    bool ok = item && tail_item_fill(items, item, change, is_wanted);
    if (item) {
        items->bytes += item->bytes;
        list_append(&items->waiting, &item->node);
    }
    if (ok) {
        tail_items_check_room(items);
        tail_items_continue_in(items, 0);
        return;
    }
    items->has_failed = true;
    error_no_memory(&why);
    items->options.ops->fail(items->options.arg, &why);
}

void tail_items_add_event(struct tail_items *items, tail_items_event_fn *fn,
                          const struct error *why)
{
    struct tail_item *item = tail_items_are_empty(items) ? NULL : calloc(1, sizeof *item);
    struct error *copy = item ? malloc(sizeof *copy) : NULL;
    if (!copy) {
        free(item);
        fn(items->options.arg, why);
        return;
    }
    *copy = *why;
    item->event = fn;
    item->why = copy;
    list_append(&items->waiting, &item->node);
    tail_items_continue_in(items, 0);
}

static struct tail_read *tail_read_new(struct json item)
{
    struct tail_read *read = calloc(1, sizeof *read);
    if (!read)
        return NULL;
    read->references = 1;
    buf_add_span(&read->text, json_raw(item));
    if (!read->text.failed && json_parse(&read->doc, buf_span(&read->text), JSON_STRICT, NULL))
        return read;
    tail_read_unref(read);
    return NULL;
}

/* Each change that ITEM is the answer for. False with WHY filled. */
static bool tail_items_take_item(struct tail_items *items, struct json item, struct error *why)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key;
    if (!item_match_key(items->options.table, item, &arena, &key))
        return arena.failed ? error_no_memory(why)
                            : error_set(why, ERROR_BAD_ANSWER,
                                        "an item of table %s lacks its key; look for a proxy that "
                                        "changes responses",
                                        items->options.table_name);
    struct tail_read *read = tail_read_new(item);
    if (!read)
        return error_no_memory(why);
    LIST_EACH (struct tail_item, each, &items->waiting, node) {
        if (!each->is_asked || each->item || key_compare(&each->key, &key) != 0)
            continue;
        each->item = read;
        read->references++;
    }
    tail_read_unref(read);
    return true;
}

/* The request has ended; with WHY it is repeated later, or with IS_FINAL nothing goes on. */
static void tail_items_end_request(struct tail_items *items, const struct error *why, bool is_final)
{
    bool repeats = why && !is_final;
    struct error copy;
    if (why)
        copy = *why;
    tail_items_end_call(items);
    LIST_EACH (struct tail_item, each, &items->waiting, node) {
        each->was_read = each->was_read || (each->is_asked && !why);
        each->is_wanted = each->is_wanted && !each->was_read;
        each->is_asked = false;
    }
    if (repeats)
        items->options.ops->trouble(items->options.arg, &copy);
    if (why && !repeats) {
        items->has_failed = true;
        items->options.ops->fail(items->options.arg, &copy);
        return;
    }
    tail_items_continue_in(items, why ? TAIL_ITEMS_AGAIN_MS : 0);
}

static void tail_items_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct tail_items *items = arg;
    struct error why;
    items->requests += page ? page->requests : 1;
    if (err) {
        tail_items_end_request(items, err, error_is_refusal(err));
        return;
    }
    for (size_t i = 0; i < page->item_count; i++)
        if (!tail_items_take_item(items, page->items[i], &why)) {
            tail_items_end_request(items, &why, true);
            return;
        }
    if (page->more)
        source_more(items->call);
    else
        tail_items_end_request(items, NULL, false);
}

static bool tail_items_has_key(const struct read *read, const struct key *key)
{
    for (size_t i = 0; i < read->key_count; i++)
        if (key_compare(&read->keys[i], key) == 0)
            return true;
    return false;
}

/* Requests the first items that are wanted. */
static void tail_items_request(struct tail_items *items)
{
    struct error why;
    items->read = read_new(READ_ITEMS, items->options.table_name, NULL);
    if (items->read)
        items->read->consistent = true; /* else it may be as before the change */
    for (struct tail_item *each = LIST_FIRST(&items->waiting, struct tail_item, node);
         items->read && each && items->read->key_count < READ_MAX_KEYS;
         each = LIST_NEXT(each, struct tail_item, node)) {
        if (!each->is_wanted)
            continue;
        each->is_asked = true;
        if (!tail_items_has_key(items->read, &each->key))
            read_add_key(items->read, &each->key);
    }
    if (items->read && !read_failed(items->read))
        items->call =
            source_start(items->options.source, items->read, NULL, tail_items_take_page, items);
    if (items->call)
        return;
    error_no_memory(&why);
    tail_items_end_request(items, &why, false);
}

static void tail_items_deliver(struct tail_items *items, const struct tail_item *item)
{
    struct json read = {0};
    if (item->item)
        read = json_root(&item->item->doc);
    if (item->event)
        item->event(items->options.arg, item->why);
    else
        items->options.ops->deliver(items->options.arg, &item->change, read, item->was_read);
}

/* Delivers changes from the front on, up to the first whose item has not been read. */
static void tail_items_continue(void *arg)
{
    struct tail_items *items = arg;
    bool gone = false;
    struct tail_item *first;
    items->timer = NULL;
    while ((first = LIST_FIRST(&items->waiting, struct tail_item, node)) && !first->is_wanted) {
        items->gone = &gone;
        tail_items_deliver(items, first);
        if (gone)
            return;
        items->gone = NULL;
        tail_item_free(items, first);
    }
    tail_items_check_room(items);
    if (first && !items->call)
        tail_items_request(items);
}
