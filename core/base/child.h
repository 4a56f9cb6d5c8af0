/* A program that is run beside the loop: what it prints, and how it ends. Nothing here blocks, not
 * even where the program lies in a file system that does not answer. */
#ifndef DDBFS_CORE_BASE_CHILD_H
#define DDBFS_CORE_BASE_CHILD_H

#include "core/base/buf.h"
#include "core/base/loop.h"

enum {
    CHILD_MAX_OUTPUT = 1024 * 1024,
    CHILD_MAX_ERRORS = 64 * 1024, /* what comes beyond is thrown away */
};

enum child_outcome {
    CHILD_EXITED,      /* NUMBER is its exit status */
    CHILD_KILLED,      /* NUMBER is the signal that ended it */
    CHILD_NOT_STARTED, /* NUMBER is an errno */
    CHILD_TOO_LONG,    /* its time was over, and so it was ended */
    CHILD_TOO_MUCH,    /* it printed more than CHILD_MAX_OUTPUT, and so it was ended */
};

/* Borrowed for the time of the call. */
struct child_end {
    enum child_outcome outcome;
    int number;
    struct span output; /* what it printed; a secret, perhaps, and wiped afterwards */
    struct span errors; /* the beginning of its standard error */
};

typedef void child_fn(void *arg, const struct child_end *end);

/* Whether OUTPUT is all that the caller needs. */
typedef bool child_whole_fn(struct span output);

struct child;

/* Runs ARGV (copied; ends in NULL), found through PATH, without a shell: with the environment as it
 * is, nothing to read, no descriptor of ours, and signals as they are for any program. It never
 * outlives this process: then it is killed. FN is called once, later: when the program has exited
 * and its output has ended. Another process may hold the output open; then FN is called as soon as
 * the program has failed, or WHOLE is true of the output. NULL when memory, descriptors or threads
 * ran out; FN is never called then. */
struct child *child_start(struct loop *loop, const char *const *argv, int64_t timeout_ms,
                          child_whole_fn *whole, child_fn *fn, void *arg);
/* Kills it, with its group where it has one of its own, without a call. NULL is fine. */
void child_cancel(struct child *child);

#endif
