#include "core/read/hydrate.h"

#include <stdlib.h>

/* The first slice is one request. Later ones have as many keys as bring about this many bytes. */
enum { SLICE_BYTES = 8 << 20, SLICE_MAX = 16 * READ_MAX_KEYS };

/* An entry whose item must be read before it can be described. */
struct hydrate_key {
    struct key key;
    struct span order;
    size_t entry;
};

struct hydrate_request {
    struct hydrate *hydrate;
    struct read *read;
    struct source_call *call;
};

static void hydrate_end_slice(struct hydrate *hydrate)
{
    for (size_t i = 0; i < hydrate->request_count; i++) {
        if (hydrate->requests[i].call)
            source_end(hydrate->requests[i].call);
        read_destroy(hydrate->requests[i].read);
    }
    loop_remove_timer(hydrate->timer);
    free(hydrate->requests);
    hydrate->timer = NULL;
    hydrate->requests = NULL;
    hydrate->request_count = hydrate->pending = 0;
}

void hydrate_clear(struct hydrate *hydrate)
{
    arena_clean_up(&hydrate->keys);
    free(hydrate->wanted);
    hydrate->wanted = NULL;
    hydrate->count = hydrate->from = hydrate->to = 0;
}

void hydrate_clean_up(struct hydrate *hydrate)
{
    hydrate_end_slice(hydrate);
    hydrate_clear(hydrate);
}

bool hydrate_add(struct hydrate *hydrate, const struct key *key, struct span order, size_t entry,
                 size_t most)
{
    if (!hydrate->wanted)
        hydrate->wanted = calloc(most, sizeof *hydrate->wanted);
    if (!hydrate->wanted)
        return false;
    hydrate->wanted[hydrate->count++] =
        (struct hydrate_key){*key, arena_copy(&hydrate->keys, order), entry};
    return !hydrate->keys.failed;
}

bool hydrate_next(const struct hydrate *hydrate, size_t *entry)
{
    bool more = hydrate->to < hydrate->count;
    if (more && entry)
        *entry = hydrate->wanted[hydrate->to].entry;
    return more;
}

void hydrate_note(struct hydrate *hydrate, size_t bytes)
{
    hydrate->items++;
    hydrate->bytes += bytes;
}

static int hydrate_order(const void *a, const void *b)
{
    return key_compare(&((const struct hydrate_key *)a)->key,
                       &((const struct hydrate_key *)b)->key);
}

bool hydrate_find(const struct hydrate *hydrate, const struct key *key, size_t *entry,
                  struct span *order)
{
    struct hydrate_key same = {.key = *key};
    const struct hydrate_key *found =
        bsearch(&same, hydrate->wanted + hydrate->from, hydrate->to - hydrate->from, sizeof same,
                hydrate_order);
    if (found) {
        *entry = found->entry;
        *order = found->order;
    }
    return found;
}

static void hydrate_finish(struct hydrate *hydrate, const struct error *err)
{
    struct error copy = err ? *err : (struct error){0};
    hydrate_end_slice(hydrate);
    hydrate->done(hydrate->arg, err ? &copy : NULL);
}

static void hydrate_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct hydrate_request *request = arg;
    struct hydrate *hydrate = request->hydrate;
    if (err) {
        hydrate_finish(hydrate, err);
        return;
    }
    hydrate->source.cost->requests += page->requests;
    source_add_page(&hydrate->source.cost->spent, page);
    throttles_join(hydrate->source.throttled, page->throttled);
    for (size_t i = 0; i < page->item_count; i++)
        hydrate->item(hydrate->arg, page->items[i], page->request_id);
    if (page->more)
        source_more(request->call);
    else if (--hydrate->pending == 0)
        hydrate_finish(hydrate, NULL);
}

/* Whether wanted key I of the slice is the one before it: while an item moves in an index, the
 * index may have it at both places. The service refuses a request that has a key twice. */
static bool hydrate_is_repeated(const struct hydrate *hydrate, size_t i)
{
    return i > hydrate->from && hydrate_order(&hydrate->wanted[i - 1], &hydrate->wanted[i]) == 0;
}

/* Reports items that were read again for an earlier listing. */
static void hydrate_report_known(void *arg)
{
    struct hydrate *hydrate = arg;
    struct error why;
    bool ok = true;
    hydrate->timer = NULL;
    for (size_t i = hydrate->from; ok && i < hydrate->to; i++) {
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        struct span text = walk_transcript_find(hydrate->source.items, &hydrate->wanted[i].key);
        if (text.size == 0 || hydrate_is_repeated(hydrate, i))
            continue;
        ok = json_parse(&doc, text, JSON_STRICT, NULL) || error_no_memory(&why);
        if (ok)
            hydrate->item(hydrate->arg, json_root(&doc), "");
    }
    hydrate_finish(hydrate, ok ? NULL : &why);
}

/* False with ERR filled. */
static bool hydrate_start_requests(struct hydrate *hydrate, struct error *err)
{
    const struct hydrate_from *from = &hydrate->source;
    size_t most = hydrate->to - hydrate->from, count = 0;
    struct key *keys = calloc(most, sizeof *keys);
    hydrate->requests =
        calloc((most + READ_MAX_KEYS - 1) / READ_MAX_KEYS, sizeof *hydrate->requests);
    bool ok = (keys && hydrate->requests) || error_no_memory(err);
    for (size_t i = hydrate->from; ok && i < hydrate->to; i++)
        if (!hydrate_is_repeated(hydrate, i))
            keys[count++] = hydrate->wanted[i].key;
    for (size_t at = 0; ok && at < count; at += READ_MAX_KEYS) {
        struct hydrate_request *request = &hydrate->requests[hydrate->request_count++];
        size_t size = count - at < READ_MAX_KEYS ? count - at : READ_MAX_KEYS;
        request->hydrate = hydrate;
        request->read = plan_items(from->plan, keys + at, size, err);
        if (request->read)
            request->call =
                source_start(from->source, request->read, from->payer, hydrate_take_page, request);
        ok = request->call || (request->read && error_no_memory(err));
        hydrate->pending++;
    }
    free(keys);
    return ok;
}

/* The keys are sorted, so that those of a response, which come in any order, are found. */
bool hydrate_start(struct hydrate *hydrate, const struct hydrate_from *from, size_t wanted,
                   hydrate_item_fn *item, hydrate_done_fn *done, void *arg, struct error *err)
{
    size_t most = READ_MAX_KEYS;
    if (hydrate->items > 0) {
        size_t requests = SLICE_BYTES / (hydrate->bytes / hydrate->items + 1) / READ_MAX_KEYS;
        most = (requests > 0 ? requests : 1) * READ_MAX_KEYS;
        if (most > SLICE_MAX)
            most = SLICE_MAX;
    }
    size_t enough = (wanted + READ_MAX_KEYS - 1) / READ_MAX_KEYS * READ_MAX_KEYS;
    if (wanted > 0 && enough < most)
        most = enough;
    size_t left = hydrate->count - hydrate->to;
    size_t count = left < most ? left : most;
    hydrate->from = hydrate->to;
    hydrate->to += count;
    qsort(hydrate->wanted + hydrate->from, count, sizeof *hydrate->wanted, hydrate_order);
    hydrate->source = *from;
    hydrate->item = item;
    hydrate->done = done;
    hydrate->arg = arg;
    bool ok;
    if (from->items) {
        hydrate->timer = loop_add_timer(from->loop, 0, hydrate_report_known, hydrate);
        ok = hydrate->timer || error_no_memory(err);
    } else {
        ok = hydrate_start_requests(hydrate, err);
    }
    if (!ok)
        hydrate_end_slice(hydrate);
    return ok;
}
