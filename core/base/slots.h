/* An open hash table of numbers, which are places in an array of its user. The user's function
 * compares the members. */
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
    size_t compared; /* calls of the user's function in slots_put: tests check about one each */
};

#define SLOTS_NONE UINT32_MAX

void slots_clean_up(struct slots *slots);

/* A hash of several texts and numbers, one after the other, from slots_hash_start on. ASCII letters
 * of either case are equal. */
uint32_t slots_hash_start(void);
uint32_t slots_hash_text(uint32_t hash, struct span text);
uint32_t slots_hash_number(uint32_t hash, uint32_t number);

/* Whether the member NUMBER is WANTED. */
typedef bool slots_is_fn(const void *wanted, uint32_t number);

/* The number of WANTED, whose hash is HASH; SLOTS_NONE if it is not found. */
uint32_t slots_find(const struct slots *slots, uint32_t hash, slots_is_fn *is, const void *wanted);

/* Sets the number of WANTED. BEFORE gets the earlier one, or SLOTS_NONE. False when memory ran out.
 */
bool slots_put(struct slots *slots, uint32_t hash, slots_is_fn *is, const void *wanted,
               uint32_t number, uint32_t *before);

#endif
