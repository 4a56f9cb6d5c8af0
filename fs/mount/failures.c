#include "fs/mount/failures.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/escape.h"
#include "fs/mount/waiting.h"

/* How long a repeated request may take to arrive. The kernel repeats it at once, but a busy machine
 * takes its time. */
enum { AGAIN_MS = 1000 };

/* A shorter wait has no queue behind it; and one look at the sleeping tasks is valid for LOOK_MS.
 */
enum { SLOW_MS = 100, LOOK_MS = 50 };

enum { FAILURES_MOST = 128 };

struct recent_failure {
    uint64_t ino;
    pid_t pid; /* for which the kernel repeats the request; 0: it does not, or has */
    uint16_t name_size;
    char name[NAME_MAX_BYTES];
    int error;
    int64_t since_ms, at_ms;
    struct sleepers *queued; /* owned; the tasks that may wait behind it; NULL: none */
    uint64_t released;       /* how many of them have got the failure */
};

/* A task whose look-up has been restarted. */
struct restart {
    pid_t pid;
    int64_t at_ms;
};

struct failures {
    struct recent_failure ring[FAILURES_MOST];
    size_t next;
    struct restart restarts[FAILURES_MOST]; /* a ring, too */
    size_t next_restart;
    struct sleepers sleepers; /* as of LOOK_MS */
    int64_t look_ms;
};

struct failures *failures_new(void)
{
    struct failures *failures = calloc(1, sizeof *failures);
    if (failures)
        failures->look_ms = -LOOK_MS;
    return failures;
}

void failures_destroy(struct failures *failures)
{
    for (size_t i = 0; failures && i < FAILURES_MOST; i++)
        free(failures->ring[i].queued);
    free(failures);
}

static bool failures_match(const struct recent_failure *failure,
                           const struct failures_request *request)
{
    return failure->ino == request->ino && request->now_ms - failure->at_ms < AGAIN_MS &&
           span_equal(span_of(failure->name, failure->name_size), request->name);
}

/* The tasks that sleep now; owned; NULL: none. */
static struct sleepers *failures_find_sleepers(struct failures *failures, int64_t now_ms)
{
    if (now_ms - failures->look_ms >= LOOK_MS) {
        sleepers_find(&failures->sleepers);
        failures->look_ms = now_ms;
    }
    struct sleepers *copy = failures->sleepers.count ? malloc(sizeof *copy) : NULL;
    if (copy)
        *copy = failures->sleepers;
    return copy;
}

/* A slot for a new failure: that of an earlier one of the same request, or the oldest. */
static struct recent_failure *failures_free_slot(struct failures *failures,
                                                 const struct failures_request *request)
{
    struct recent_failure *slot = NULL;
    for (size_t i = 0; !slot && i < FAILURES_MOST; i++)
        if (failures->ring[i].pid == request->pid && failures_match(&failures->ring[i], request))
            slot = &failures->ring[i];
    if (!slot) {
        slot = &failures->ring[failures->next];
        failures->next = (failures->next + 1) % FAILURES_MOST;
    }
    free(slot->queued);
    return slot;
}

void failures_add(struct failures *failures, const struct failures_request *request, int error,
                  int64_t since_ms, bool is_repeated)
{
    bool was_long = request->name.size > 0 && request->now_ms - since_ms >= SLOW_MS;
    /* the kernel does not repeat a request after these */
    bool is_again = is_repeated && error != EINTR && error != ENOMEM;
    struct sleepers *queued = was_long ? failures_find_sleepers(failures, request->now_ms) : NULL;
    if (request->name.size > NAME_MAX_BYTES || (!queued && !is_again)) {
        free(queued);
        return;
    }
    struct recent_failure *failure = failures_free_slot(failures, request);
    *failure = (struct recent_failure){
        .ino = request->ino,
        .pid = is_again ? request->pid : 0,
        .name_size = (uint16_t)request->name.size,
        .error = error,
        .since_ms = since_ms,
        .at_ms = request->now_ms,
        .queued = queued,
    };
    if (request->name.size)
        memcpy(failure->name, request->name.data, request->name.size);
}

int failures_find(struct failures *failures, const struct failures_request *request,
                  int64_t *since_ms)
{
    *since_ms = request->now_ms;
    for (size_t i = 0; i < FAILURES_MOST; i++) {
        struct recent_failure *failure = &failures->ring[i];
        if (!failures_match(failure, request))
            continue;
        if (failure->pid == request->pid && request->pid) {
            failure->pid = 0;
            return failure->error;
        }
        /* a queued task sleeps once, and once more for each task that was released before it */
        if (!failure->queued ||
            !sleepers_take(failure->queued, request->pid, failure->released + 2))
            continue;
        failure->released++;
        if (failure->error != EINTR)
            return failure->error;
        if (failure->since_ms < *since_ms)
            *since_ms = failure->since_ms;
    }
    return 0;
}

bool failures_may_restart(struct failures *failures, pid_t pid, int64_t now_ms)
{
    struct restart *next = &failures->restarts[failures->next_restart];
    for (size_t i = 0; i < FAILURES_MOST; i++)
        if (failures->restarts[i].pid == pid && now_ms - failures->restarts[i].at_ms < AGAIN_MS)
            return false;
    if (next->pid && now_ms - next->at_ms < AGAIN_MS)
        return false; /* the restart could not be recorded, and might be repeated */
    *next = (struct restart){pid, now_ms};
    failures->next_restart = (failures->next_restart + 1) % FAILURES_MOST;
    return true;
}
