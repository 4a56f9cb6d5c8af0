#include "core/hydrate.h"

#include <stdlib.h>

#include "core/bind.h"

/* As many as there are connections: a request that waited for one would lose its time. */
enum { MOST_AT_ONCE = 16 };

struct chunk {
    struct hydrate *hydrate;
    struct read *read;
    struct source_call *call; /* NULL before it starts and after it ended */
};

struct hydrate {
    struct source *source;
    struct chunk *chunks; /* owned */
    size_t chunk_count;
    size_t started; /* of the chunks, in their order */
    size_t pending; /* chunks that are not done */
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
            hydrate->source->ops->end(hydrate->chunks[i].call);
        read_destroy(hydrate->chunks[i].read);
    }
    free(hydrate->chunks);
    free(hydrate);
}

static void finish(struct hydrate *hydrate, const struct error *err)
{
    hydrate_done_fn *done = hydrate->done;
    void *arg = hydrate->arg;
    struct error copy = err ? *err : (struct error){0};
    hydrate_cancel(hydrate);
    done(arg, err ? &copy : NULL);
}

static bool start_next(struct hydrate *hydrate);

/* Makes room for the next chunk. */
static void end_chunk(struct chunk *chunk)
{
    struct hydrate *hydrate = chunk->hydrate;
    struct error why;
    hydrate->source->ops->end(chunk->call);
    chunk->call = NULL;
    if (--hydrate->pending == 0) {
        finish(hydrate, NULL);
    } else if (!start_next(hydrate)) {
        error_no_memory(&why);
        finish(hydrate, &why);
    }
}

static void take_page(void *arg, const struct page *page, const struct error *err)
{
    struct chunk *chunk = arg;
    struct hydrate *hydrate = chunk->hydrate;
    if (err) {
        finish(hydrate, err);
        return;
    }
    for (size_t i = 0; i < page->item_count; i++)
        hydrate->item(hydrate->arg, page->items[i]);
    if (page->more)
        hydrate->source->ops->more(chunk->call);
    else
        end_chunk(chunk);
}

/* Starts the first chunk that has not been started, if there is one. False when memory ran out. */
static bool start_next(struct hydrate *hydrate)
{
    if (hydrate->started == hydrate->chunk_count)
        return true;
    struct chunk *chunk = &hydrate->chunks[hydrate->started++];
    chunk->call = source_start(hydrate->source, chunk->read, take_page, chunk);
    return chunk->call;
}

static bool add_chunk(struct hydrate *hydrate, const struct place *place, const struct key *keys,
                      size_t count, struct error *err)
{
    struct chunk *chunk = &hydrate->chunks[hydrate->chunk_count++];
    chunk->hydrate = hydrate;
    chunk->read = bind_items(place, keys, count, span_text(""), err);
    hydrate->pending++;
    return chunk->read;
}

static bool add_chunks(struct hydrate *hydrate, const struct place *place, const struct key *keys,
                       size_t count, struct error *err)
{
    for (size_t at = 0; at < count; at += READ_MAX_KEYS) {
        size_t size = count - at < READ_MAX_KEYS ? count - at : READ_MAX_KEYS;
        if (!add_chunk(hydrate, place, keys + at, size, err))
            return false;
    }
    return true;
}

static bool start_first(struct hydrate *hydrate, struct error *err)
{
    for (size_t i = 0; i < MOST_AT_ONCE; i++)
        if (!start_next(hydrate))
            return error_no_memory(err);
    return true;
}

struct hydrate *hydrate_start(const struct place *place, struct source *source,
                              const struct key *keys, size_t count, hydrate_item_fn *item,
                              hydrate_done_fn *done, void *arg, struct error *err)
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
    hydrate->source = source;
    hydrate->item = item;
    hydrate->done = done;
    hydrate->arg = arg;
    if (add_chunks(hydrate, place, keys, count, err) && start_first(hydrate, err))
        return hydrate;
    hydrate_cancel(hydrate);
    return NULL;
}
