/* An open hash table of numbers, which are places in an array of its user: it knows nothing of what
 * stands there, and asks. */
#ifndef DDBFS_CORE_BASE_SLOTS_H
#define DDBFS_CORE_BASE_SLOTS_H

#include <stdint.h>

#include "core/base/span.h"

struct slot {
    uint32_t hash;
    uint32_t number; /* plus 1; 0: the slot is free */
};

/* {0} is an empty table. */
struct slots {
    struct slot *slots; /* owned */
    size_t capacity;    /* a power of two */
    size_t count;
    size_t asked; /* how often slots_put asked its user: for tests that it stays about once each */
};

#define SLOTS_NONE UINT32_MAX

void slots_clean_up(struct slots *slots);

/* A hash of several texts and numbers: taken one after the other, from slots_hash_start on. The
 * case of ASCII letters does not matter. */
uint32_t slots_hash_start(void);
uint32_t slots_hash_text(uint32_t hash, struct span text);
uint32_t slots_hash_number(uint32_t hash, uint32_t number);

/* Whether NUMBER stands for what WANTED describes. */
typedef bool slots_is_fn(const void *wanted, uint32_t number);

/* The number that stands for WANTED, whose hash is HASH; SLOTS_NONE when there is none. */
uint32_t slots_find(const struct slots *slots, uint32_t hash, slots_is_fn *is, const void *wanted);

/* Makes NUMBER stand for WANTED; BEFORE gets the one that did (SLOTS_NONE: none). False when memory
 * ran out. */
bool slots_put(struct slots *slots, uint32_t hash, slots_is_fn *is, const void *wanted,
               uint32_t number, uint32_t *before);

#endif
