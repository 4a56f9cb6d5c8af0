/* A payer of tests: sums what it is charged, and writes it down. */
#ifndef DDBFS_TESTS_UNIT_COUNTING_PAYER_H
#define DDBFS_TESTS_UNIT_COUNTING_PAYER_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/source/payer.h"

struct counting_payer {
    struct payer payer; /* first: a pointer to it is a pointer to this */
    unsigned requests, answered, failed, abandoned;
    double units;
    double doubted;
    double expected;  /* of what is doubted: what counts against MOST */
    double most;      /* it may spend; INFINITY unless a test says otherwise */
    double set_aside; /* of it */
    unsigned refused;
    bool refuses_searches;
    bool released;
    struct buf lines;     /* "Query jobs/index pattern answered\n", one an expense */
    struct buf throttled; /* "Query REASON\n", one a reason */
};

/* With one reference, the test's own. */
void counting_payer_init(struct counting_payer *counting);
/* Nobody holds a reference any more but the test, which gives its up. */
void counting_payer_clean_up(struct counting_payer *counting);

#endif
