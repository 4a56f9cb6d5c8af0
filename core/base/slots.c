#include "core/base/slots.h"

#include <ctype.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 16 };

void slots_clean_up(struct slots *slots)
{
    free(slots->slots);
    *slots = (struct slots){0};
}

/* FNV-1a, with an end of each text, and a round that mixes the high bits into the low ones, which
 * choose the slot. */

uint32_t slots_hash_start(void)
{
    return 2166136261u;
}

static uint32_t slots_hash_byte(uint32_t hash, unsigned byte)
{
    return (hash ^ byte) * 16777619u;
}

uint32_t slots_hash_text(uint32_t hash, struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        hash = slots_hash_byte(hash, (unsigned)tolower((unsigned char)text.data[i]));
    hash = slots_hash_byte(hash, 0x100);
    return hash ^ hash >> 16;
}

uint32_t slots_hash_number(uint32_t hash, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        hash = slots_hash_byte(hash, number >> (8 * i) & 0xff);
    return hash ^ hash >> 16;
}

/* The slot of WANTED, or the free slot for it. There is always a free slot. */
static struct slot *slots_seek(const struct slots *slots, uint32_t hash, slots_is_fn *is,
                               const void *wanted, size_t *compared)
{
    size_t mask = slots->capacity - 1, at = hash & mask;
    for (; slots->slots[at].number; at = (at + 1) & mask) {
        if (slots->slots[at].hash != hash)
            continue;
        ++*compared;
        if (is(wanted, slots->slots[at].number - 1))
            break;
    }
    return &slots->slots[at];
}

uint32_t slots_find(const struct slots *slots, uint32_t hash, slots_is_fn *is, const void *wanted)
{
    size_t compared = 0;
    if (slots->count == 0)
        return SLOTS_NONE;
    /* A free slot has 0, which is SLOTS_NONE + 1. */
    return slots_seek(slots, hash, is, wanted, &compared)->number - 1;
}

/* At least a quarter of the slots stays free. */
static bool slots_grow(struct slots *slots)
{
    size_t capacity = slots->capacity ? 2 * slots->capacity : FIRST_CAPACITY;
    if (4 * (slots->count + 1) <= 3 * slots->capacity)
        return true;
    struct slot *grown = calloc(capacity, sizeof *grown);
    if (!grown)
        return false;
    for (size_t i = 0; i < slots->capacity; i++) {
        if (!slots->slots[i].number)
            continue;
        size_t at = slots->slots[i].hash & (capacity - 1);
        while (grown[at].number)
            at = (at + 1) & (capacity - 1);
        grown[at] = slots->slots[i];
    }
    free(slots->slots);
    slots->slots = grown;
    slots->capacity = capacity;
    return true;
}

bool slots_put(struct slots *slots, uint32_t hash, slots_is_fn *is, const void *wanted,
               uint32_t number, uint32_t *before)
{
    if (!slots_grow(slots))
        return false;
    struct slot *slot = slots_seek(slots, hash, is, wanted, &slots->compared);
    *before = slot->number - 1;
    slots->count += !slot->number;
    *slot = (struct slot){hash, number + 1};
    return true;
}
