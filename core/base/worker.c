#include "core/base/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct worker {
    struct loop_io *io;
    pthread_t thread;
    int event; /* the thread wakes the loop */
    /* Of the loop alone. */
    size_t pending;     /* jobs without DONE */
    unsigned finishing; /* worker_finish is under way */
    bool is_over;       /* destroyed meanwhile: the outermost worker_finish frees it */
    pthread_mutex_t lock;
    pthread_cond_t wakes; /* the thread */
    /* Under the lock. */
    struct list waiting, over; /* of struct worker_job */
    bool stops;
};

/* The next job; NULL at the end. */
static struct worker_job *worker_next(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    while (list_is_empty(&worker->waiting) && !worker->stops)
        pthread_cond_wait(&worker->wakes, &worker->lock);
    struct worker_job *job = LIST_FIRST(&worker->waiting, struct worker_job, node);
    if (job)
        list_remove(&job->node);
    pthread_mutex_unlock(&worker->lock);
    return job;
}

static void *worker_work(void *arg)
{
    struct worker *worker = arg;
    struct worker_job *job;
    while ((job = worker_next(worker)) != NULL) {
        job->run(job);
        pthread_mutex_lock(&worker->lock);
        bool is_first = list_is_empty(&worker->over);
        list_append(&worker->over, &job->node);
        pthread_mutex_unlock(&worker->lock);
        if (is_first)
            eventfd_write(worker->event, 1);
    }
    return NULL;
}

static struct worker_job *worker_next_over(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    struct worker_job *job = LIST_FIRST(&worker->over, struct worker_job, node);
    if (job)
        list_remove(&job->node);
    pthread_mutex_unlock(&worker->lock);
    return job;
}

static void worker_free(struct worker *worker)
{
    loop_remove_io(worker->io);
    if (worker->event >= 0)
        close(worker->event);
    pthread_cond_destroy(&worker->wakes);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}

static void worker_finish(struct worker *worker)
{
    struct worker_job *job;
    worker->finishing++;
    while ((job = worker_next_over(worker)) != NULL) {
        if (--worker->pending == 0)
            loop_rest_io(worker->io, true);
        job->done(job);
    }
    if (--worker->finishing == 0 && worker->is_over)
        worker_free(worker);
}

static void worker_on_event(void *arg, uint32_t events)
{
    struct worker *worker = arg;
    eventfd_t count;
    (void)events;
    eventfd_read(worker->event, &count);
    worker_finish(worker);
}

static bool worker_start_thread(struct worker *worker)
{
    sigset_t all, before;
    sigfillset(&all); /* signals are for the loop */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&worker->thread, NULL, worker_work, worker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

struct worker *worker_new(struct loop *loop)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->wakes, NULL);
    worker->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (worker->event >= 0)
        worker->io = loop_add_io(loop, worker->event, EPOLLIN, worker_on_event, worker);
    if (worker->io && worker_start_thread(worker)) {
        loop_rest_io(worker->io, true);
        return worker;
    }
    worker_free(worker);
    return NULL;
}

void worker_destroy(struct worker *worker)
{
    if (!worker)
        return;
    pthread_mutex_lock(&worker->lock);
    worker->stops = true;
    pthread_cond_signal(&worker->wakes);
    pthread_mutex_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    worker->is_over = true;
    worker_finish(worker);
}

void worker_send(struct worker *worker, struct worker_job *job)
{
    if (worker->pending++ == 0)
        loop_rest_io(worker->io, false);
    pthread_mutex_lock(&worker->lock);
    list_append(&worker->waiting, &job->node);
    pthread_cond_signal(&worker->wakes);
    pthread_mutex_unlock(&worker->lock);
}

bool worker_take_back(struct worker *worker, struct worker_job *job)
{
    pthread_mutex_lock(&worker->lock);
    bool is_waiting = job->node.list == &worker->waiting;
    if (is_waiting)
        list_remove(&job->node);
    pthread_mutex_unlock(&worker->lock);
    if (is_waiting && --worker->pending == 0)
        loop_rest_io(worker->io, true);
    return is_waiting;
}
