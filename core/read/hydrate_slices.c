#include "core/read/hydrate_slices.h"

#include <stdlib.h>

/* One request's worth of keys at first, and then as many as may bring so many bytes. */
enum { SLICE_BYTES = 8 << 20, SLICE_MAX = 16 * READ_MAX_KEYS };

/* An entry whose record must be read before it can be described. */
struct wanted {
    struct key key;
    size_t entry;
};

void hydrate_slices_clear(struct hydrate_slices *slices)
{
    arena_clean_up(&slices->keys);
    free(slices->wanted);
    slices->wanted = NULL;
    slices->count = slices->from = slices->to = 0;
}

void hydrate_slices_clean_up(struct hydrate_slices *slices)
{
    hydrate_cancel(slices->hydrate);
    slices->hydrate = NULL;
    hydrate_slices_clear(slices);
}

bool hydrate_slices_add(struct hydrate_slices *slices, const struct key *key, size_t entry,
                        size_t most)
{
    if (!slices->wanted)
        slices->wanted = calloc(most, sizeof *slices->wanted);
    if (!slices->wanted)
        return false;
    slices->wanted[slices->count++] = (struct wanted){*key, entry};
    return true;
}

bool hydrate_slices_next(const struct hydrate_slices *slices, size_t *entry)
{
    bool more = slices->to < slices->count;
    if (more && entry)
        *entry = slices->wanted[slices->to].entry;
    return more;
}

static int slices_order_wanted(const void *a, const void *b)
{
    return key_compare(&((const struct wanted *)a)->key, &((const struct wanted *)b)->key);
}

/* How many records are to be read at once, in whole requests, going by those that came. */
static size_t slices_slice_size(const struct hydrate_slices *slices)
{
    if (slices->records == 0)
        return READ_MAX_KEYS;
    size_t average = slices->bytes / slices->records + 1;
    size_t requests = SLICE_BYTES / average / READ_MAX_KEYS;
    size_t size = (requests > 0 ? requests : 1) * READ_MAX_KEYS;
    return size < SLICE_MAX ? size : SLICE_MAX;
}

static void slices_take_item(void *arg, struct json item, const char *request_id)
{
    struct hydrate_slices *slices = arg;
    slices->item(slices->arg, item, request_id);
}

static void slices_take_end(void *arg, const struct error *err)
{
    struct hydrate_slices *slices = arg;
    slices->hydrate = NULL;
    slices->done(slices->arg, err);
}

/* Sorted, so that an answer's keys, which come in any order, are found among them. */
bool hydrate_slices_start(struct hydrate_slices *slices, const struct hydrate_from *from,
                          size_t wanted, hydrate_item_fn *item, hydrate_done_fn *done, void *arg,
                          struct error *err)
{
    size_t left = slices->count - slices->to, most = slices_slice_size(slices);
    size_t enough = (wanted + READ_MAX_KEYS - 1) / READ_MAX_KEYS * READ_MAX_KEYS;
    if (wanted > 0 && enough < most)
        most = enough;
    size_t count = left < most ? left : most;
    struct wanted *slice = slices->wanted + slices->to;
    struct key *keys = calloc(count, sizeof *keys);
    if (!keys)
        return error_no_memory(err);
    slices->from = slices->to;
    slices->to += count;
    qsort(slice, count, sizeof *slice, slices_order_wanted);
    for (size_t i = 0; i < count; i++)
        keys[i] = slice[i].key;
    slices->item = item;
    slices->done = done;
    slices->arg = arg;
    slices->hydrate =
        hydrate_start(from, keys, count, slices_take_item, slices_take_end, slices, err);
    free(keys);
    return slices->hydrate;
}

bool hydrate_slices_find(const struct hydrate_slices *slices, const struct key *key, size_t *entry)
{
    struct wanted same = {.key = *key};
    const struct wanted *found =
        bsearch(&same, slices->wanted + slices->from, slices->to - slices->from, sizeof same,
                slices_order_wanted);
    if (found)
        *entry = found->entry;
    return found;
}

void hydrate_slices_note(struct hydrate_slices *slices, size_t bytes)
{
    slices->records++;
    slices->bytes += bytes;
}
