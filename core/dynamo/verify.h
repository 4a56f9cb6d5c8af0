/* Whether an answer is one to what was asked. The service is not believed: an item that was not
 * asked for, a page that is not in order, a position that was there before is ERROR_BAD_ANSWER, and
 * no record. docs/internals/source.md says what is checked, and why. */
#ifndef DDBFS_CORE_DYNAMO_VERIFY_H
#define DDBFS_CORE_DYNAMO_VERIFY_H

#include "core/dynamo/answer.h"
#include "core/dynamo/repeats.h"

/* Of each key of a READ_ITEMS. */
enum key_state {
    KEY_ASKED,  /* by the request under way */
    KEY_LEFT,   /* by the next one: the service did not get to it */
    KEY_WAITS,  /* by a later one: the payer can't afford all of them at once */
    KEY_CAME,   /* its item is there */
    KEY_ABSENT, /* answered, and there is no such item */
};

/* What one call has learnt from the answers so far. {0} with its question is a new one. */
struct verify {
    const struct answer_question *question; /* borrowed */
    enum key_state keys[READ_MAX_KEYS];
    size_t bytes; /* of the items of a READ_ITEMS that came */

    /* Of a READ_QUERY: the sort key of the last item or position, once there was one. */
    struct arena arena; /* of LAST */
    struct value last[KEY_MAX_ATTRIBUTES];
    bool has_last;

    /* Of an index: the items of one sort key, as soon as there are two, and the last one of the
     * page before, in one spelling. */
    struct repeats repeats;
    bool in_run;
    struct buf previous; /* empty when there is none */

    /* Positions at which answers stopped, in one spelling each: the last one, and the one that all
     * later are compared with, taken at 1, 2, 4, 8 … positions. Whatever circle the service leads
     * through, it comes by there; two texts are enough for any number of pages. */
    struct buf position;
    struct buf mark;
    size_t positions;
};

/* Takes the next answer of the call. False with ERR filled: ERROR_BAD_ANSWER, or memory ran out. */
bool verify_answer(struct verify *verify, const struct answer *answer, struct error *err);
void verify_clean_up(struct verify *verify);

#endif
