/* Checks whether a response answers its request. An item that was not requested, a page out of
 * order, or a position that came before is ERROR_BAD_ANSWER. docs/internals/source.md lists the
 * checks. */
#ifndef DDBFS_CORE_DYNAMO_VERIFY_H
#define DDBFS_CORE_DYNAMO_VERIFY_H

#include "core/base/dict.h"
#include "core/dynamo/answer.h"

/* The items of one sort key of an index that have come, to find one that comes twice. Their order
 * is not known. At least as many as a page holds are stored, the last ones, as numbers of 64 bits
 * with a random seed: memory is bounded, and in a listing of a million items two have the same
 * number with a probability below 1 in 10^8. {0} is empty. */
struct repeats {
    struct dict_seed seed;
    /* Sets with open addressing; 0 is a free slot. NEW becomes OLD when it is full. */
    struct repeats_part {
        uint64_t *slots; /* owned */
        size_t capacity; /* a power of two */
        size_t count;
    } new, old;
};

/* Adds the item of IDENTITY. AGAIN: whether it had come before. False when memory ran out. */
bool repeats_add(struct repeats *repeats, struct span identity, bool *again);
/* Drops all items: the next one has another sort key. */
void repeats_clear(struct repeats *repeats);
void repeats_clean_up(struct repeats *repeats);

/* The state of a key of a READ_ITEMS. */
enum key_state {
    KEY_ASKED,  /* in the request under way */
    KEY_LEFT,   /* for the next request: the service left it unprocessed */
    KEY_WAITS,  /* for a later request: the payer has too little left for all keys */
    KEY_CAME,   /* its item has come */
    KEY_ABSENT, /* processed, and not found */
};

/* The state of one call's checks. {0} with SENT is a new one. */
struct verify {
    const struct sent_request *sent; /* borrowed */
    enum key_state keys[READ_MAX_KEYS];
    size_t bytes; /* of the items of a READ_ITEMS that came */

    /* Of a READ_QUERY: the sort key of the last item or position. */
    struct arena arena; /* of LAST */
    struct value last[KEY_MAX_ATTRIBUTES];
    bool has_last;

    /* Of an index: the items of one sort key, once there are two, and the last item of the page
     * before, in one spelling. */
    struct repeats repeats;
    bool in_run;
    struct buf previous; /* may be empty */

    /* Positions at the end of responses, in one spelling each: the last one, and the one of number
     * 1, 2, 4, 8 …, with which all later ones are compared. That finds every circle of positions
     * with two texts in memory. */
    struct buf position;
    struct buf mark;
    size_t positions;
};

/* Checks the call's next response. False with ERR filled: ERROR_BAD_ANSWER, or memory ran out. */
bool verify_answer(struct verify *verify, const struct answer *answer, struct error *err);
void verify_clean_up(struct verify *verify);

#endif
