/* How much may be read: in a second by all together, and in all by each process group, which is a
 * program with what it starts. Nothing is sent that what is left does not pay for; what a request
 * takes beyond what was expected is owed. docs/internals/limits.md tells why so. */
#ifndef DDBFS_FS_MOUNT_LIMITS_H
#define DDBFS_FS_MOUNT_LIMITS_H

#include <stdbool.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/source/payer.h"
#include "fs/mount/process.h"

/* So many groups are remembered beside those that are asking; what asked longest ago is forgotten,
 * and may read anew. */
enum { LIMITS_MOST_ACCOUNTS = 1024 };

struct limits;
struct account; /* of a process group */

/* In read units; 0: as many as it takes. CLOCK is borrowed. NULL when memory ran out. */
struct limits *limits_new(struct clock *clock, double a_second, double a_process);
void limits_destroy(struct limits *limits); /* NULL is fine */

/* The account of the group that PROCESS is of, once for each account_leave. Those of whom nothing
 * is known share one. */
struct account *account_join(struct limits *limits, const struct process *process);
void account_leave(struct account *account);

/* What ACCOUNT has not read yet; INFINITY where nothing is limited. */
double account_left(const struct account *account);
/* Whether LEAST is left; else ERR is filled. */
bool account_has(struct account *account, double least, struct error *err);
/* Sets aside MOST for a request that takes LEAST whatever comes (core/source/payer.h). It is held
 * while others are under way that, with it, may take more than is left: so no more than one request
 * goes beyond a limit. */
enum payer_word account_set_aside(struct account *account, double least, double most,
                                  struct payer_turn *turn, struct error *err);
/* A question is told that; not every request that is refused is one. */
void account_note_refusal(struct account *account);
/* Those that are held may ask again then. */
void account_refund(struct account *account, double units);
/* It has read so much. */
void account_charge(struct account *account, double units);
/* What is set aside for a request of FROM is TO's affair from now on. */
void account_pass(struct account *from, struct account *to, double units);

struct limits_stats {
    double a_second, a_process;                     /* as they were given */
    uint64_t refused_by_second, refused_by_process; /* questions to which they said no */
};
struct limits_stats limits_stats(const struct limits *limits);

struct account_told {
    pid_t group;
    const char *program; /* its leader, printable; borrowed */
    double units;        /* that it has read */
    uint64_t refused;
};
/* The I-th of those that have read something, or were refused, who asked last first; false when
 * there are no more. None where a process may read what it likes. */
bool limits_account(const struct limits *limits, size_t i, struct account_told *out);

#endif
