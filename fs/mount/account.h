/* What one question of a process takes. It pays for the requests that are sent because of it, and
 * is a line of the ledger once all of that is known: when it has been answered, and nobody holds it
 * any more. Only questions for which something is read, or that failed, are told there. */
#ifndef DDBFS_FS_MOUNT_ACCOUNT_H
#define DDBFS_FS_MOUNT_ACCOUNT_H

#include "fs/mount/mount.h"
#include "fs/mount/process.h"

struct account {
    struct payer payer;  /* first: a pointer to it is a pointer to this */
    struct mount *mount; /* borrowed */
    struct log log;      /* warnings about what is read: notes in the journal, with who and where */
    struct tree tree;    /* the mount's, with these: what the question is asked by */
    struct process asker;       /* whose question it is */
    struct limits_group *group; /* and whose limit holds for it; joined */
    double set_aside;           /* of what the account may read, for requests under way */
    struct buf path;            /* owned */
    int64_t since_ms;           /* when it was asked */
    struct buf read;            /* owned: JSON members that tell what is read; empty: nothing */
    unsigned requests, failures;
    struct spent spent;
    bool is_told; /* what it took so far is a line of the ledger already */
    bool is_over; /* answered: with ERROR (0: as it was meant), after TOOK_MS */
    int error;
    int64_t took_ms;
    struct account *previous, *next; /* those that are not over yet, of the mount */
};

/* What all accounts of MOUNT, which has its app already, are told to: who asks, what they may read,
 * the sums, and the ledger, which is written to FILE, too (NULL: to none). False with ERR filled;
 * to be closed in either case, when no source is left that could charge anybody. */
bool accounts_open(struct mount *mount, const char *file, struct error *err);
void accounts_close(struct mount *mount);

/* The question of the task PID for PATH; with one reference, the asker's, which account_release
 * takes. NULL when memory ran out. */
struct account *account_new(struct mount *mount, pid_t pid, struct span path);

/* What the question is answered from. */
void account_note_read(struct account *account, const struct place *place);

/* It has its answer; ERROR is 0, or an errno. What is told first counts, so that who cleans up may
 * call it again. */
void account_finish(struct account *account, int error);

/* The asker needs it no more. It has been answered, or given up (EINTR). NULL is fine. */
void account_release(struct account *account);

/* The task PID goes on with what another has begun, a listing: where it is of another process, what
 * has been so far is told as that one's question. */
void account_pass_on(struct account *account, pid_t pid);

/* Its asker may not read on, for which ERROR stands. What it took is told, and it goes on for
 * whoever may: what is under way charges it still. */
void account_refuse(struct account *account, int error);

/* Whether its asker may read on at all, as far as that is known; else ERR says why not. */
bool account_may_continue(struct account *account, struct error *err);

/* Whether the limit of the task PID is that of the asker. */
bool account_shares_limit(struct account *account, pid_t pid);

/* The task PID was told something of what PLACE reads, at PATH, which needed nobody. */
void account_note_cached(struct mount *mount, pid_t pid, struct span path,
                         const struct place *place);

/* Appends the member that tells its path, as JSON that a terminal may show. */
void account_write_path(const struct account *account, struct buf *out);

/* How long the question has been waiting, or had to. */
int64_t account_took_ms(const struct account *account);

#endif
