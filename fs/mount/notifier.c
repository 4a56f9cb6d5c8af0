#include "fs/mount/notifier.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Pointers to errands travel through two pipes: to the thread, and back. */
struct notifier {
    struct loop_io *io;
    pthread_t thread;
    int errands[2];
    int done[2];
    size_t pending;
};

static void *notifier_work(void *arg)
{
    struct notifier *courier = arg;
    struct notice *errand;
    while (read(courier->errands[0], &errand, sizeof errand) == sizeof errand) {
        errand->run(errand);
        if (write(courier->done[1], &errand, sizeof errand) != sizeof errand)
            break;
    }
    return NULL;
}

static void notifier_take_done(void *arg, uint32_t events)
{
    (void)events;
    struct notifier *courier = arg;
    struct notice *errand;
    if (read(courier->done[0], &errand, sizeof errand) != sizeof errand)
        return;
    courier->pending--;
    errand->done(errand);
}

/* Signals are for the loop. */
static bool notifier_start_thread(struct notifier *courier)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&courier->thread, NULL, notifier_work, courier) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static void notifier_close_pipe(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

struct notifier *notifier_new(struct loop *loop)
{
    struct notifier *courier = calloc(1, sizeof *courier);
    if (!courier)
        return NULL;
    if (pipe2(courier->errands, O_CLOEXEC) != 0) {
        free(courier);
        return NULL;
    }
    fcntl(courier->errands[1], F_SETFL, O_NONBLOCK); /* the loop never waits for the thread */
    if (pipe2(courier->done, O_CLOEXEC) == 0) {
        courier->io = loop_add_io(loop, courier->done[0], EPOLLIN, notifier_take_done, courier);
        if (courier->io && notifier_start_thread(courier))
            return courier;
        loop_remove_io(courier->io);
        notifier_close_pipe(courier->done);
    }
    notifier_close_pipe(courier->errands);
    free(courier);
    return NULL;
}

void notifier_destroy(struct notifier *courier)
{
    if (!courier)
        return;
    close(courier->errands[1]); /* the thread ends after what it has */
    pthread_join(courier->thread, NULL);
    close(courier->done[1]);
    loop_remove_io(courier->io);
    close(courier->errands[0]);
    close(courier->done[0]);
    free(courier);
}

/* A pipe holds thousands of pointers; it is full only if the thread waits for very long. */
bool notifier_send(struct notifier *courier, struct notice *errand)
{
    if (write(courier->errands[1], &errand, sizeof errand) != sizeof errand)
        return false;
    courier->pending++;
    return true;
}

bool notifier_is_busy(const struct notifier *courier)
{
    return courier->pending > 0;
}

void notifier_wait(struct notifier *courier, int timeout_ms)
{
    struct pollfd done = {.fd = courier->done[0], .events = POLLIN};
    if (poll(&done, 1, timeout_ms) > 0)
        notifier_take_done(courier, POLLIN);
}
