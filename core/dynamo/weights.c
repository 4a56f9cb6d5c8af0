/* Weights learnt from what answers took. */
#include "core/dynamo/weights.h"

#include <stdlib.h>
#include <string.h>

/* The service counts steps of so many bytes, and a page ends behind the item that takes it beyond
 * 1 MB; no item is larger than 400 KB. */
enum { STEP_BYTES = 4096, PAGE_BYTES = 1 << 20, ITEM_BYTES = 400 * 1024, BATCH_BYTES = 16 << 20 };
enum { ITEM_STEPS = ITEM_BYTES / STEP_BYTES };

/* Before anything is known an item is taken to weigh a step, as if so many of them had come; and
 * what is known weighs as much against what comes. */
enum { BELIEF = 16 };

void weights_clean_up(struct weights *weights)
{
    for (size_t i = 0; i < WEIGHTS_MOST; i++)
        free(weights->items[i].name);
    *weights = (struct weights){0};
}

/* What a step costs: the least that a request for one item takes. */
static double weights_step_units(const struct read *read)
{
    return read->consistent ? 1 : 0.5;
}

static bool weights_is_of(const struct weight *weight, const struct read *read)
{
    size_t size = strlen(read->table);
    return weight->name && strncmp(weight->name, read->table, size) == 0 &&
           weight->name[size] == '\n' &&
           strcmp(weight->name + size + 1, read->index ? read->index : "") == 0;
}

static char *weights_name_of(const struct read *read)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    buf_printf(&name, "%s\n%s", read->table, read->index ? read->index : "");
    return buf_steal(&name, NULL);
}

/* What is known of READ's table or index, in the place of what was not asked for longest where
 * nothing is. Without memory for its name it is not found again. */
static struct weight *weights_find(struct weights *weights, const struct read *read)
{
    struct weight *found = &weights->items[0];
    for (size_t i = 0; i < WEIGHTS_MOST; i++) {
        struct weight *each = &weights->items[i];
        if (weights_is_of(each, read)) {
            each->used = ++weights->uses;
            return each;
        }
        if (each->used < found->used)
            found = each;
    }
    free(found->name);
    *found = (struct weight){weights_name_of(read), STEP_BYTES, 1, ++weights->uses};
    return found;
}

/* The size of each item is rounded up. A batch ends behind the item that takes it beyond 16 MB. */
static double weights_most_of_keys(size_t count, double step)
{
    double each = (double)count * ITEM_STEPS;
    double whole = (double)(BATCH_BYTES + ITEM_BYTES) / STEP_BYTES + (double)count;
    return step * (each < whole ? each : whole);
}

struct outlay weights_of_keys(struct weights *weights, const struct read *read, size_t count,
                              double left)
{
    double step = weights_step_units(read), steps = weights_find(weights, read)->key_steps;
    while (count > 1 && weights_most_of_keys(count, step) > left)
        count--;
    return (struct outlay){.units = (double)count * step * (steps > 1 ? steps : 1),
                           .least = (double)count * step,
                           .most = weights_most_of_keys(count, step),
                           .limit = (uint32_t)count};
}

/* A page of LIMIT entries (0: as many as it holds) ends behind the entry that takes it beyond 1 MB.
 */
static double weights_most_of_page(uint32_t limit, double step)
{
    uint64_t most = PAGE_BYTES + ITEM_BYTES, bytes = (uint64_t)limit * ITEM_BYTES;
    uint64_t steps = (limit > 0 && bytes < most ? bytes : most) / STEP_BYTES;
    return step * (double)steps;
}

/* How many entries half of LEFT is expected to pay for: should they be twice as large, all of it
 * does. */
static uint64_t weights_affordable(const struct weight *weight, double step, double left)
{
    uint64_t count = (uint64_t)(left / 2 / step * STEP_BYTES / weight->entry_bytes);
    return count > 0 ? count : 1;
}

struct outlay weights_of_page(struct weights *weights, const struct read *read, uint32_t count,
                              double left, uint32_t bold)
{
    const struct weight *weight = weights_find(weights, read);
    double step = weights_step_units(read), bytes = PAGE_BYTES + weight->entry_bytes;
    uint64_t limit = count;
    if (left / 2 < step * (PAGE_BYTES + ITEM_BYTES) / STEP_BYTES) {
        uint64_t most = weights_affordable(weight, step, left);
        most = most < bold ? most : bold;
        limit = limit > 0 && limit < most ? limit : most;
    }
    if (limit > 0 && (double)limit * weight->entry_bytes < bytes)
        bytes = (double)limit * weight->entry_bytes;
    uint64_t steps = ((uint64_t)bytes + STEP_BYTES - 1) / STEP_BYTES;
    return (struct outlay){
        .units = step * (double)(steps > 0 ? steps : 1),
        .least = step,
        .most = weights_most_of_page((uint32_t)limit, step),
        .limit = (uint32_t)limit,
    };
}

static double weights_mean(double known, double sum, size_t count)
{
    return (known * BELIEF + sum) / (double)(BELIEF + count);
}

void weights_learn_keys(struct weights *weights, const struct read *read, size_t count,
                        double units)
{
    struct weight *weight = weights_find(weights, read);
    weight->key_steps = weights_mean(weight->key_steps, units / weights_step_units(read), count);
}

void weights_learn_page(struct weights *weights, const struct read *read, size_t count,
                        double units)
{
    struct weight *weight = weights_find(weights, read);
    double bytes = units / weights_step_units(read) * STEP_BYTES;
    if (count == 0)
        return;
    if (bytes > weight->entry_bytes * (double)count)
        weight->entry_bytes = bytes / (double)count;
    else
        weight->entry_bytes = weights_mean(weight->entry_bytes, bytes, count);
}
