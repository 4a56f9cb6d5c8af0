/* How much may be read: by all programs together in a second, and by each process group (a program
 * with the programs that it starts) in all. No request is sent unless the limits leave enough for
 * it. If a request takes more than expected, the difference is owed. docs/internals/limits.md. */
#ifndef DDBFS_FS_MOUNT_LIMITS_H
#define DDBFS_FS_MOUNT_LIMITS_H

#include <stdbool.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/source/payer.h"
#include "fs/mount/process.h"

/* The most groups without a request under way that are remembered. A forgotten group may read anew.
 */
enum { LIMITS_MOST_GROUPS = 1024 };

struct limits;
struct limits_group; /* a process group, and its consumption */

/* The search bytes that pay for as much as an RCU: those of a step. */
enum { LIMITS_BYTES_PER_RCU = 4096 };

/* In RCU; 0: no limit. CLOCK is borrowed. A second has SEARCH_PER_SECOND search bytes, too; 0:
 * those of PER_SECOND RCU, and a process has those of PER_PROCESS RCU. NULL when memory ran out. */
struct limits *limits_new(struct clock *clock, double per_second, double per_process,
                          double search_per_second);
void limits_destroy(struct limits *limits); /* NULL is fine */

/* The group of PROCESS, once for each limits_leave. Unknown processes share one group. */
struct limits_group *limits_join(struct limits *limits, const struct process *process);
void limits_leave(struct limits_group *group);

/* The RCU that the group may still read; INFINITY without a limit. */
double limits_left(const struct limits_group *group);
/* Whether LEAST is left; else ERR is filled. */
bool limits_allow(struct limits_group *group, double least, struct error *err);
/* Reserves MOST for a request that takes LEAST in any case (core/source/payer.h). The request is
 * held while it may, together with the requests under way, take more than is left. So at most one
 * request exceeds a limit. */
enum payer_word limits_reserve(struct limits_group *group, double least, double most,
                               struct payer_turn *turn, struct error *err);
/* Ends a reservation; held requests are tried again. */
void limits_refund(struct limits_group *group, double units);
/* The group has read UNITS. */
void limits_charge(struct limits_group *group, double units);
/* Whether the fewest bytes of a search are left, which are set aside until it is charged or the
 * second is over; else ERR is filled. The bytes of a search are known only afterwards: it may
 * exceed a limit. The excess is owed. */
bool limits_allow_search(struct limits_group *group, struct error *err);
/* A search of the group has consumed BYTES. */
void limits_charge_search(struct limits_group *group, double bytes);
/* Moves a reservation of FROM to TO. */
void limits_pass(struct limits_group *from, struct limits_group *to, double units);
/* A program has got an error because of a limit. */
void limits_note_refusal(struct limits_group *group);

struct limits_stats {
    double per_second, per_process;                 /* the limits */
    double search_per_second;                       /* in bytes; 0: none */
    uint64_t refused_by_second, refused_by_process; /* requests of programs that failed */
};
struct limits_stats limits_stats(const struct limits *limits);

struct limits_group_sum {
    pid_t group;
    const char *program; /* its leader, printable; borrowed */
    double units;        /* that it has read */
    uint64_t refused;
};
/* The I-th of the groups that have read something or were refused, the latest first; false when
 * there are no more, or without a limit per process. */
bool limits_group_at(const struct limits *limits, size_t i, struct limits_group_sum *out);

#endif
