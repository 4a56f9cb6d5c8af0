/* A thread that runs jobs which may block, one after another, beside the loop. A job shares nothing
 * with the loop while it runs, except what it guards itself. */
#ifndef DDBFS_CORE_BASE_WORKER_H
#define DDBFS_CORE_BASE_WORKER_H

#include "core/base/list.h"
#include "core/base/loop.h"

/* Embedded in a job. The worker has the job from worker_send until DONE. */
struct worker_job {
    struct list_node node;
    void (*run)(struct worker_job *job);  /* in the thread */
    void (*done)(struct worker_job *job); /* in the loop, afterwards; it may free the job */
};

struct worker;

/* Starts the thread: to be called after the process has forked. It keeps no loop running while no
 * job is under way. NULL when memory, descriptors or threads ran out. */
struct worker *worker_new(struct loop *loop);
/* Waits for all jobs that were sent, and calls DONE for each. NULL is fine. */
void worker_destroy(struct worker *worker);

/* It can't fail. */
void worker_send(struct worker *worker, struct worker_job *job);

/* Takes back a job that was sent and does not run yet. False if it runs, or has run: then DONE
 * follows. */
bool worker_take_back(struct worker *worker, struct worker_job *job);

#endif
