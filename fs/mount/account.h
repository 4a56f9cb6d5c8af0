/* The account of one request of a process: a look-up, a read, or the pages of a listing. It pays
 * for the requests to the service that are sent for it. When it is finished and no request under
 * way holds it any more, it becomes a line of the ledger; unless it neither read anything nor
 * failed. */
#ifndef DDBFS_FS_MOUNT_ACCOUNT_H
#define DDBFS_FS_MOUNT_ACCOUNT_H

#include "fs/mount/limits.h"
#include "fs/mount/mount.h"

struct account {
    struct payer payer;     /* first: a pointer to it is a pointer to this */
    struct mount *mount;    /* borrowed */
    struct log log;         /* warnings become notes in the journal */
    struct tree tree;       /* the mount's, with this payer and log: what the request is read by */
    pid_t task;             /* that made the request */
    struct process process; /* of TASK, once the account is identified */
    bool is_identified;
    struct limits_group *group; /* joined */
    double reserved;            /* of the group's limit, for requests under way */
    struct buf path;            /* owned */
    int64_t since_ms;           /* when the request was made */
    const struct plan *plan;    /* of the read; a reference; may be NULL */
    unsigned requests, failures;
    struct spent spent;
    bool is_snapshot; /* it reads a snapshot */
    bool is_reported; /* the ledger has a line about everything so far */
    bool is_over;     /* finished with ERROR (0: success), after TOOK_MS */
    int error;
    int64_t took_ms;
    struct list_node node;    /* in the mount's list until it is over */
    struct list_node unnamed; /* in the mount's list until it is identified */
};

/* Creates the processes, limits, usage and ledger of MOUNT, which has its app already. The ledger
 * is written to FILE, too, unless that is NULL. False with ERR filled. To be closed in either case,
 * when no source is left that could charge an account. */
bool accounts_open(struct mount *mount, const char *file, struct error *err);
/* To be called before the loop ends. */
void accounts_leave_loop(struct mount *mount);
void accounts_close(struct mount *mount);

/* The account of a request of the task PID for PATH, with one reference, which account_release
 * takes. NULL when memory ran out.
 *
 * Without a limit per process the task is not looked up in /proc yet, so that nothing delays the
 * request to the service. A task exists until its request has a reply: the account must be finished
 * before the reply. */
struct account *account_new(struct mount *mount, pid_t pid, struct span path);
/* Identifies all accounts in this round of the loop, behind the requests that leave in it. To be
 * called when the work for an account has started. */
void accounts_identify_soon(struct mount *mount);
/* Identifies all accounts now. */
void accounts_identify(struct mount *mount);

/* Records the table and the plan of PLACE; the first call counts. */
void account_note_read(struct account *account, const struct place *place);

/* The request has its reply; ERROR is 0 or an errno. The first call counts. */
void account_finish(struct account *account, int error);

/* Finishes with EINTR unless it is finished, and ends the reference. NULL is fine. */
void account_release(struct account *account);

/* The task PID continues a listing that another task has begun. If it is of another process, the
 * ledger gets a line about the cost so far. */
void account_pass_on(struct account *account, pid_t pid);

/* The process may not read on, and gets ERROR. The ledger gets a line about the cost so far.
 * Requests under way still charge the account. */
void account_refuse(struct account *account, int error);

/* Whether the limits leave anything for the process; else ERR is filled. */
bool account_may_continue(struct account *account, struct error *err);

/* Whether the task PID has the same limit as the account. */
bool account_shares_limit(struct account *account, pid_t pid);

/* The task PID got from memory what PLACE reads, at PATH. */
void account_note_cached(struct mount *mount, pid_t pid, struct span path,
                         const struct place *place);

/* Adds the path as the member "path", with terminal controls escaped. */
void account_write_path(const struct account *account, struct json_writer *json);

/* How long the request has waited, or had to. */
int64_t account_took_ms(const struct account *account);

#endif
