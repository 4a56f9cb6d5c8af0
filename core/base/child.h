/* A program that runs beside the loop: its output and its end. Nothing here blocks, even if the
 * program's file system does not answer. */
#ifndef DDBFS_CORE_BASE_CHILD_H
#define DDBFS_CORE_BASE_CHILD_H

#include "core/base/buf.h"
#include "core/base/loop.h"

enum {
    CHILD_MAX_OUTPUT = 1024 * 1024,
    CHILD_MAX_ERRORS = 64 * 1024, /* the rest is dropped */
};

enum child_outcome {
    CHILD_EXITED,      /* NUMBER is its exit status */
    CHILD_KILLED,      /* NUMBER is the signal that ended it */
    CHILD_NOT_STARTED, /* NUMBER is an errno */
    CHILD_TOO_LONG,    /* killed at its deadline */
    CHILD_TOO_MUCH,    /* killed because it printed more than CHILD_MAX_OUTPUT */
};

/* Borrowed for the time of the call. */
struct child_end {
    enum child_outcome outcome;
    int number;
    struct span output; /* may be a secret; wiped afterwards */
    struct span errors; /* the beginning of its standard error */
};

typedef void child_fn(void *arg, const struct child_end *end);

/* Whether OUTPUT is all that the caller needs. */
typedef bool child_whole_fn(struct span output);

struct child;

/* Runs ARGV (copied; ends in NULL), found through PATH, without a shell: with the same environment,
 * empty input, no other descriptors and default signals. It never outlives this process. FN is
 * called once, later, when the program has exited and its output has ended. If another process
 * holds the output open, FN is called once the program has failed, or WHOLE is true of the output.
 * NULL when memory, descriptors or threads ran out; FN is never called then. */
struct child *child_start(struct loop *loop, const char *const *argv, int64_t timeout_ms,
                          child_whole_fn *whole, child_fn *fn, void *arg);
/* Kills it, and its process group if it has its own, without calling FN. NULL is fine. */
void child_cancel(struct child *child);

#endif
