/* Retry quotas by name: those who ask for the same (a table in its region) share one, so that a
 * table that is throttled does not use up what another's retries are paid with. */
#ifndef DDBFS_CORE_AWS_QUOTAS_H
#define DDBFS_CORE_AWS_QUOTAS_H

#include "core/aws/retry.h"
#include "core/base/dict.h"

struct quotas {
    struct dict names; /* owns the quotas */
    unsigned attempts; /* of each of them */
    unsigned seed;
};

/* ATTEMPTS may be 0: as usual. False when memory ran out. */
bool quotas_init(struct quotas *quotas, unsigned attempts, unsigned seed);
/* Every quota must have been given back. */
void quotas_clean_up(struct quotas *quotas);

/* The quota of NAME, once for each quotas_refund. NULL when memory ran out. */
struct retry *quotas_take(struct quotas *quotas, const char *name);
/* One that is full again is forgotten when nobody has it. NULL is fine. */
void quotas_refund(struct quotas *quotas, struct retry *retry);

#endif
