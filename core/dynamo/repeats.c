#include "core/dynamo/repeats.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* A page of 1 MB holds no more items of 8 bytes, which two keys and their names take at least. */
enum { FIRST_CAPACITY = 64, MOST = 1 << 17 };

static bool repeats_has(const struct repeats_part *part, uint64_t number)
{
    for (size_t at = number; part->capacity; at++) {
        uint64_t found = part->slots[at & (part->capacity - 1)];
        if (found == number || found == 0)
            return found == number;
    }
    return false;
}

/* There is a free slot. */
static void repeats_put(struct repeats_part *part, uint64_t number)
{
    size_t at = number;
    while (part->slots[at & (part->capacity - 1)])
        at++;
    part->slots[at & (part->capacity - 1)] = number;
    part->count++;
}

/* Half of the slots stay free, so that look-ups are short. */
static bool repeats_grow(struct repeats_part *part)
{
    size_t capacity = part->capacity ? 2 * part->capacity : FIRST_CAPACITY;
    struct repeats_part larger = {calloc(capacity, sizeof *larger.slots), capacity, 0};
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < part->capacity; i++)
        if (part->slots[i])
            repeats_put(&larger, part->slots[i]);
    free(part->slots);
    *part = larger;
    return true;
}

bool repeats_add(struct repeats *repeats, struct span identity, bool *again)
{
    struct dict_seed *seed = &repeats->seed;
    if (!seed->a && getrandom(seed, sizeof *seed, 0) != (ssize_t)sizeof *seed)
        *seed = (struct dict_seed){1, 1}; /* no kernel of ours has no randomness */
    uint64_t number = dict_hash(repeats->seed, identity);
    number += number == 0;
    *again = repeats_has(&repeats->new, number) || repeats_has(&repeats->old, number);
    if (*again)
        return true;
    if (repeats->new.count == MOST) {
        free(repeats->old.slots);
        repeats->old = repeats->new;
        repeats->new = (struct repeats_part){0};
    }
    if (2 * repeats->new.count == repeats->new.capacity && !repeats_grow(&repeats->new))
        return false;
    repeats_put(&repeats->new, number);
    return true;
}

void repeats_clear(struct repeats *repeats)
{
    if (repeats->new.capacity > FIRST_CAPACITY || repeats->old.capacity > 0)
        repeats_clean_up(repeats); /* many short runs may follow a long one */
    if (repeats->new.count > 0)
        memset(repeats->new.slots, 0, repeats->new.capacity * sizeof *repeats->new.slots);
    repeats->new.count = 0;
}

void repeats_clean_up(struct repeats *repeats)
{
    free(repeats->new.slots);
    free(repeats->old.slots);
    *repeats = (struct repeats){0};
}
