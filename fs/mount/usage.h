/* What the mount has read since it was made, in sums: by table, index, pattern and program; by
 * operation and table, with how long answers took; and by program, also over the last minute. There
 * are so many of each at the most; what is beyond is summed up as USAGE_OTHER. */
#ifndef DDBFS_FS_MOUNT_USAGE_H
#define DDBFS_FS_MOUNT_USAGE_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/source/payer.h"

/* No table is called so. */
#define USAGE_OTHER "(other)"

enum {
    USAGE_MOST_PROGRAMS = 64,
    USAGE_MOST_USES = 512,      /* of tables, indexes and patterns, by program */
    USAGE_MOST_LATENCIES = 128, /* of operations and tables */
    USAGE_MINUTE = 60,          /* seconds, and as many sums, of each program */
    USAGE_BUCKETS = 14,         /* of times; the last has no bound */
};

struct usage_sum {
    uint64_t requests;
    uint64_t failures; /* of them: failed, or abandoned */
    struct spent spent;
};

/* What one program has read of one table, by one index, for one pattern. */
struct usage_use {
    struct span table, index, pattern, program;
    struct usage_sum sum;
};

/* How long one operation took on one table. */
struct usage_latency {
    struct span operation, table;
    uint64_t requests, failures;
    uint64_t buckets[USAGE_BUCKETS]; /* requests that took no longer; not of those before, too */
    uint64_t took_ms;                /* all together */
};

struct usage_program {
    struct span name;
    uint64_t questions;
    uint64_t cached; /* of them: answered without a request of their own */
    uint64_t failed; /* of them: answered with an error that is no proven miss */
    struct usage_sum sum;
    uint64_t minute_questions, minute_cached;
    struct usage_sum minute; /* of the last minute */
};

struct usage;

/* CLOCK is borrowed. NULL when memory ran out. */
struct usage *usage_new(struct clock *clock);
void usage_destroy(struct usage *usage); /* NULL is fine */

/* The program NAME has sent a request, which is over. Without memory it counts as others' do. */
void usage_add_expense(struct usage *usage, struct span name, const struct expense *expense);

enum usage_outcome { USAGE_FROM_SERVICE, USAGE_FROM_MEMORY, USAGE_FAILED };
/* The program NAME has asked a question, and has its answer. */
void usage_add_request(struct usage *usage, struct span name, enum usage_outcome answer);

/* The I-th of each, in an order that stays; false when there are no more. What OUT points to stays
 * as long as the usage. */
bool usage_use(const struct usage *usage, size_t i, struct usage_use *out);
bool usage_latency(const struct usage *usage, size_t i, struct usage_latency *out);
bool usage_program(const struct usage *usage, size_t i, struct usage_program *out);

/* The bound of a bucket in milliseconds; -1 for the last, which has none. */
int64_t usage_bucket_bound_ms(size_t bucket);

#endif
