/* Sums of the consumption since the mount was made: by table, index, pattern and program; by
 * operation and table, with durations; and by program, also over the last minute. The number of
 * sums is bounded; the rest is added up as USAGE_OTHER. */
#ifndef DDBFS_FS_MOUNT_USAGE_H
#define DDBFS_FS_MOUNT_USAGE_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/source/payer.h"

/* No table has this name. */
#define USAGE_OTHER "(other)"

enum {
    USAGE_MOST_PROGRAMS = 64,
    USAGE_MOST_PATTERNS = 512, /* combinations of table, index, pattern and program */
    USAGE_MOST_DURATIONS = 128,
    USAGE_MOST_THROTTLES = 128, /* combinations of table, index, reason and program */
    USAGE_MINUTE = 60,          /* seconds */
    USAGE_BUCKETS = 14,         /* of durations; the last has no bound */
};

struct usage_sum {
    uint64_t requests;
    uint64_t failures; /* of them: failed, or abandoned */
    struct spent spent;
};

/* The consumption of one program, from one table, by one index, for one pattern. */
struct usage_pattern {
    struct span table, index, pattern, program;
    struct usage_sum sum;
};

/* Requests that the service throttled, for one reason. */
struct usage_throttle {
    struct span reason, resource, program; /* see struct throttle */
    struct span table, index;              /* of the resource, or of the request */
    uint64_t requests, minute;             /* in all, and in the last minute */
};

/* The durations of one operation on one table. */
struct usage_duration {
    struct span operation, table;
    uint64_t requests, failures;
    uint64_t buckets[USAGE_BUCKETS]; /* requests between the bound before and this one */
    uint64_t took_ms;                /* all requests together */
};

struct usage_program {
    struct span name;
    uint64_t questions; /* requests of the program */
    uint64_t cached;    /* of them: served without a request to the service */
    uint64_t failed;    /* of them: failed, other than with a proven "not found" */
    struct usage_sum sum;
    uint64_t minute_questions, minute_cached;
    struct usage_sum minute; /* of the last minute */
};

struct usage;

/* CLOCK is borrowed. NULL when memory ran out. */
struct usage *usage_new(struct clock *clock);
void usage_destroy(struct usage *usage); /* NULL is fine */

/* A request to the service, sent for PROGRAM, is over. When memory runs out, it counts as one of
 * USAGE_OTHER. */
void usage_add_expense(struct usage *usage, struct span program, const struct expense *expense);

enum usage_outcome { USAGE_FROM_SERVICE, USAGE_FROM_MEMORY, USAGE_FAILED };
/* A request of PROGRAM has its reply. */
void usage_add_request(struct usage *usage, struct span program, enum usage_outcome outcome);

/* The I-th of each, in a stable order; false when there are no more. The texts live as long as
 * USAGE. */
bool usage_pattern_at(const struct usage *usage, size_t i, struct usage_pattern *out);
bool usage_throttle_at(const struct usage *usage, size_t i, struct usage_throttle *out);
bool usage_duration_at(const struct usage *usage, size_t i, struct usage_duration *out);
bool usage_program_at(const struct usage *usage, size_t i, struct usage_program *out);

/* The upper bound of a bucket in milliseconds; -1 for the last. */
int64_t usage_bucket_bound_ms(size_t bucket);

#endif
