#include "fs/mount/failures.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/escape.h"
#include "fs/mount/waiting.h"

/* For how long somebody may come for whom the kernel asks again. It does so at once, but a busy
 * machine takes its time. */
enum { AGAIN_MS = 1000 };

/* Behind a wait that was shorter nobody is looked for; and a look is good for so long. */
enum { SLOW_MS = 100, LOOK_MS = 50 };

enum { FAILURES_MOST = 128 };

struct recent_failure {
    uint64_t ino;
    pid_t pid; /* for whom the kernel asks again; 0: for nobody, or it has */
    uint16_t name_size;
    char name[NAME_MAX_BYTES];
    int error;
    int64_t since_ms, at_ms;
    struct sleepers *queued; /* owned; who may have queued behind it; NULL: nobody */
    uint64_t told;           /* to how many of them */
};

/* A task that has begun again. */
struct restart {
    pid_t pid;
    int64_t at_ms;
};

struct failures {
    struct recent_failure ring[FAILURES_MOST];
    size_t next;
    struct restart restarts[FAILURES_MOST]; /* a ring, too */
    size_t next_restart;
    struct sleepers look; /* the latest at who sleeps */
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

static bool failures_is_same(const struct recent_failure *failure,
                             const struct failures_request *request)
{
    return failure->ino == request->ino && request->now_ms - failure->at_ms < AGAIN_MS &&
           span_equal(span_of(failure->name, failure->name_size), request->name);
}

/* Who sleeps now; NULL when nobody does. */
static struct sleepers *failures_look_around(struct failures *failures, int64_t now_ms)
{
    if (now_ms - failures->look_ms >= LOOK_MS) {
        sleepers_find(&failures->look);
        failures->look_ms = now_ms;
    }
    struct sleepers *copy = failures->look.count ? malloc(sizeof *copy) : NULL;
    if (copy)
        *copy = failures->look;
    return copy;
}

/* A slot for a new one: that of a former failure of the same request, or the oldest. */
static struct recent_failure *failures_free_slot(struct failures *failures,
                                                 const struct failures_request *request)
{
    struct recent_failure *slot = NULL;
    for (size_t i = 0; !slot && i < FAILURES_MOST; i++)
        if (failures->ring[i].pid == request->pid && failures_is_same(&failures->ring[i], request))
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
    bool is_again = is_repeated && error != EINTR && error != ENOMEM; /* these it does not repeat */
    struct sleepers *queued = was_long ? failures_look_around(failures, request->now_ms) : NULL;
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

/* Whoever queues sleeps once; and once more for each of those who were let in before. */
static bool failures_has_queued(struct recent_failure *failure, pid_t pid)
{
    if (!failure->queued || !sleepers_take(failure->queued, pid, failure->told + 2))
        return false;
    failure->told++;
    return true;
}

int failures_find(struct failures *failures, const struct failures_request *request,
                  int64_t *since_ms)
{
    *since_ms = request->now_ms;
    for (size_t i = 0; i < FAILURES_MOST; i++) {
        struct recent_failure *failure = &failures->ring[i];
        if (!failures_is_same(failure, request))
            continue;
        if (failure->pid == request->pid && request->pid) {
            failure->pid = 0;
            return failure->error;
        }
        if (!failures_has_queued(failure, request->pid))
            continue;
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
        return false; /* it could not be noted, and might be told twice */
    *next = (struct restart){pid, now_ms};
    failures->next_restart = (failures->next_restart + 1) % FAILURES_MOST;
    return true;
}
