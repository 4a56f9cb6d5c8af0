#include "core/read/hydrate.h"

#include <stdlib.h>

struct chunk {
    struct hydrate *hydrate;
    struct read *read;
    struct source_call *call;
};

struct hydrate {
    struct hydrate_from from; /* the payer is borrowed: each call has its own reference */
    struct chunk *chunks;
    size_t chunk_count;
    struct key *keys; /* owned: what KEPT is to tell */
    size_t key_count;
    struct loop_timer *timer;
    size_t pending;
    hydrate_item_fn *item;
    hydrate_done_fn *done;
    void *arg;
};

void hydrate_cancel(struct hydrate *hydrate)
{
    if (!hydrate)
        return;
    for (size_t i = 0; i < hydrate->chunk_count; i++) {
        if (hydrate->chunks[i].call)
            source_end(hydrate->chunks[i].call);
        read_destroy(hydrate->chunks[i].read);
    }
    loop_remove_timer(hydrate->timer);
    free(hydrate->keys);
    free(hydrate->chunks);
    free(hydrate);
}

static void hydrate_finish(struct hydrate *hydrate, const struct error *err)
{
    hydrate_done_fn *done = hydrate->done;
    void *arg = hydrate->arg;
    struct error copy = err ? *err : (struct error){0};
    hydrate_cancel(hydrate);
    done(arg, err ? &copy : NULL);
}

static void hydrate_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct chunk *chunk = arg;
    struct hydrate *hydrate = chunk->hydrate;
    if (err) {
        hydrate_finish(hydrate, err);
        return;
    }
    hydrate->from.cost->requests += page->requests;
    source_add_page(&hydrate->from.cost->spent, page);
    for (size_t i = 0; i < page->item_count; i++)
        hydrate->item(hydrate->arg, page->items[i], page->request_id);
    if (page->more)
        source_more(chunk->call);
    else if (--hydrate->pending == 0)
        hydrate_finish(hydrate, NULL);
}

static bool hydrate_start_chunk(struct hydrate *hydrate, const struct key *keys, size_t count,
                                struct error *err)
{
    const struct hydrate_from *from = &hydrate->from;
    struct chunk *chunk = &hydrate->chunks[hydrate->chunk_count++];
    chunk->hydrate = hydrate;
    chunk->read = plan_items(from->plan, keys, count, err);
    if (!chunk->read)
        return false;
    chunk->call = source_start(from->source, chunk->read, from->payer, hydrate_take_page, chunk);
    hydrate->pending++;
    return chunk->call || error_no_memory(err);
}

/* Records that were read again for an earlier listing. */
static void hydrate_report_kept(void *arg)
{
    struct hydrate *hydrate = arg;
    struct error why;
    bool ok = true;
    hydrate->timer = NULL;
    for (size_t i = 0; ok && i < hydrate->key_count; i++) {
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        struct span text = kept_pages_find(hydrate->from.kept, &hydrate->keys[i]);
        if (text.size == 0)
            continue;
        ok = json_parse(&doc, text, JSON_STRICT, NULL) || error_no_memory(&why);
        if (ok)
            hydrate->item(hydrate->arg, json_root(&doc), "");
    }
    hydrate_finish(hydrate, ok ? NULL : &why);
}

static bool hydrate_start_kept(struct hydrate *hydrate, const struct key *keys, size_t count)
{
    hydrate->keys = calloc(count, sizeof *keys);
    if (!hydrate->keys)
        return false;
    memcpy(hydrate->keys, keys, count * sizeof *keys);
    hydrate->key_count = count;
    hydrate->timer = loop_add_timer(hydrate->from.loop, 0, hydrate_report_kept, hydrate);
    return hydrate->timer;
}

struct hydrate *hydrate_start(const struct hydrate_from *from, const struct key *keys, size_t count,
                              hydrate_item_fn *item, hydrate_done_fn *done, void *arg,
                              struct error *err)
{
    struct hydrate *hydrate = calloc(1, sizeof *hydrate);
    size_t chunks = (count + READ_MAX_KEYS - 1) / READ_MAX_KEYS;
    if (hydrate)
        hydrate->chunks = calloc(chunks, sizeof *hydrate->chunks);
    if (!hydrate || !hydrate->chunks) {
        free(hydrate);
        error_no_memory(err);
        return NULL;
    }
    hydrate->from = *from;
    hydrate->item = item;
    hydrate->done = done;
    hydrate->arg = arg;
    if (from->kept && !hydrate_start_kept(hydrate, keys, count)) {
        error_no_memory(err);
        hydrate_cancel(hydrate);
        return NULL;
    }
    for (size_t at = 0; !from->kept && at < count; at += READ_MAX_KEYS) {
        size_t size = count - at < READ_MAX_KEYS ? count - at : READ_MAX_KEYS;
        if (!hydrate_start_chunk(hydrate, keys + at, size, err)) {
            hydrate_cancel(hydrate);
            return NULL;
        }
    }
    return hydrate;
}
