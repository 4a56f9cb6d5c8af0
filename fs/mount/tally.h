/* What the mount has read since it was made, in sums: by table, index, pattern and program; by
 * operation and table, with how long answers took; and by program, also over the last minute. There
 * are so many of each at the most; what is beyond is summed up as TALLY_OTHER. */
#ifndef DDBFS_FS_MOUNT_TALLY_H
#define DDBFS_FS_MOUNT_TALLY_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/source/payer.h"

/* No table is called so. */
#define TALLY_OTHER "(other)"

enum {
    TALLY_MOST_PROGRAMS = 64,
    TALLY_MOST_USES = 512,  /* of tables, indexes and patterns, by program */
    TALLY_MOST_PACES = 128, /* of operations and tables */
    TALLY_MINUTE = 60,      /* seconds, and as many sums, of each program */
    TALLY_BUCKETS = 14,     /* of times; the last has no bound */
};

struct tally_sum {
    uint64_t requests;
    uint64_t failures; /* of them: failed, or abandoned */
    struct spent spent;
};

/* What one program has read of one table, by one index, for one pattern. */
struct tally_use {
    struct span table, index, pattern, program;
    struct tally_sum sum;
};

/* How long one operation took on one table. */
struct tally_pace {
    struct span operation, table;
    uint64_t requests, failures;
    uint64_t buckets[TALLY_BUCKETS]; /* requests that took no longer; not of those before, too */
    uint64_t took_ms;                /* all together */
};

struct tally_program {
    struct span name;
    uint64_t questions;
    uint64_t cached; /* of them: answered without a request of their own */
    uint64_t failed; /* of them: answered with an error that is no proven miss */
    struct tally_sum sum;
    uint64_t minute_questions, minute_cached;
    struct tally_sum minute; /* of the last minute */
};

struct tally;

/* CLOCK is borrowed. NULL when memory ran out. */
struct tally *tally_new(struct clock *clock);
void tally_destroy(struct tally *tally); /* NULL is fine */

/* The program NAME has sent a request, which is over. Without memory it counts as others' do. */
void tally_expense(struct tally *tally, struct span name, const struct expense *expense);

enum tally_answer { TALLY_ASKED, TALLY_CACHED, TALLY_FAILED };
/* The program NAME has asked a question, and has its answer. */
void tally_question(struct tally *tally, struct span name, enum tally_answer answer);

/* The I-th of each, in an order that stays; false when there are no more. What OUT points to stays
 * as long as the tally. */
bool tally_use(const struct tally *tally, size_t i, struct tally_use *out);
bool tally_pace(const struct tally *tally, size_t i, struct tally_pace *out);
bool tally_program(const struct tally *tally, size_t i, struct tally_program *out);

/* The bound of a bucket in milliseconds; -1 for the last, which has none. */
int64_t tally_bound_ms(size_t bucket);

#endif
