/* The device of the simulated kernel: the queue of requests, their replies, and the protocol. */
#ifndef DDBFS_TESTS_SIM_SIM_DEVICE_H
#define DDBFS_TESTS_SIM_SIM_DEVICE_H

#include <linux/fuse.h>

#include "tests/sim/sim_dict.h"
#include "tests/sim/sim_kernel.h"

/* The kernel's own bound of a name, and the largest body of a request that it sends. */
enum { SIM_NAME_MOST = 1024, SIM_CALL_BODY_MOST = SIM_NAME_MOST + 80, SIM_PAGE = 4096 };

enum sim_call_state {
    SIM_CALL_HELD,    /* in the background: too many are under way */
    SIM_CALL_PENDING, /* the program has not read it */
    SIM_CALL_SENT,    /* it has no reply yet */
    SIM_CALL_FINISHED
};

/* A request. The caller fills the first part. */
struct sim_call {
    uint32_t opcode;
    uint64_t node;
    struct sim_process *process; /* NULL: it belongs to no process */
    unsigned char body[SIM_CALL_BODY_MOST];
    size_t body_size;
    size_t reply_least, reply_most; /* of a success, without the header */
    void (*end)(struct sim_call *); /* in the background: it owns the call then; else NULL */
    void *arg;
    const char *subject; /* for the story: a name; or NULL */

    int error;            /* 0 or a negative errno */
    unsigned char *reply; /* owned */
    size_t reply_size;
    uint64_t reply_epoch; /* when it came */

    enum sim_call_state state;
    uint64_t unique;
    uid_t uid; /* the process may end before its request is read */
    gid_t gid;
    uint32_t pid;
    bool is_interrupted;    /* it has had a signal */
    bool interrupt_is_sent; /* the program has read INTERRUPT */
    int64_t deadly_ms;      /* when the program could know of a deadly signal; 0: never */
    int64_t sent_ms;
    struct sim_ring queued;      /* pending, held or sent */
    struct sim_ring interrupted; /* INTERRUPT is queued */
    struct sim_dict_link by_unique;
    struct sim_call *next_of_process;
};

/* What the kernel and the program have agreed upon, and what either turned out not to have. */
struct sim_connection {
    bool is_connected, is_initialized;
    bool knows_epochs, knows_statx; /* the kernel */
    bool parallel_dirops, readdirplus, readdirplus_auto, caches_symlinks, auto_inval_data,
        async_read;
    bool large_readdir; /* READDIR with the caller's size, not a page */
    bool no_open, no_opendir, no_flush, no_statx, no_getxattr, no_listxattr, no_access;
    bool allow_other;
    uid_t uid; /* who has mounted */
    gid_t gid;
    int64_t deadline_ms;
    uint32_t minor;
    unsigned read_ahead_pages, most_pages, most_background;
    uint64_t epoch, attr_version;
    int64_t straddled_ms; /* when names were last linked whose reply came before a new epoch */
};
extern struct sim_connection sim_connection;

/* Adds to the body; SIZE is part of the bound. */
void sim_call_add(struct sim_call *call, const void *bytes, size_t size);

/* Sends CALL and waits for its reply, on a fiber. Returns 0 or a negative errno. REPLY is the
 * caller's to free (sim_call_clean_up). */
int sim_call_wait(struct sim_call *call);
void sim_call_clean_up(struct sim_call *call);

/* A call that needs no process's wait; copied. END gets the copy with its reply and frees nothing:
 * the device does afterwards. */
void sim_call_post(const struct sim_call *call);

/* The kernel forgets COUNT look-ups of a node. */
void sim_device_forget(uint64_t node, uint64_t count);

/* The process has a deadly signal, which also ends waits for what the program has not read. */
void sim_device_signal(struct sim_process *process);

/* All requests end with ERROR, and no more come. */
void sim_device_abort(int error);

struct sim_device_counts {
    size_t waiting, queued;
    uint64_t requests, replies, notifications;
};
struct sim_device_counts sim_device_count(void);
/* Requests so far. */
uint64_t sim_device_count_requests(void);

/* A fiber of PROCESS sleeps, for the false /proc: until READY(ARG). DEAF: in state D. PROCESS may
 * be NULL; without a fiber it is a deadlock of the program's loop. */
void sim_device_sleep(struct sim_process *process, bool is_deaf, bool (*ready)(void *), void *arg,
                      const char *what);

#endif
