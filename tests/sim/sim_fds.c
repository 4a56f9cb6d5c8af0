/* Descriptors that exist in the simulator alone, and the epoll that is the scheduler. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_kernel.h"
#include "tests/sim/sim_os.h"
#include "tests/sim/sim_world.h"

enum { SIM_PIPE_BYTES = 65536, SIM_MOST_SIGNALS = 32, SIM_MOST_WATCHED = 32 };

enum sim_fd_kind {
    SIM_FD_FREE,
    SIM_FD_PIPE_OUT,
    SIM_FD_PIPE_IN,
    SIM_FD_EVENT,
    SIM_FD_SIGNAL,
    SIM_FD_EPOLL,
    SIM_FD_TEXT
};

struct sim_pipe {
    unsigned readers, writers;
    size_t size;
    char bytes[SIM_PIPE_BYTES];
};

struct sim_watched {
    int fd;
    uint32_t events;
    epoll_data_t data;
};

struct sim_fd {
    enum sim_fd_kind kind;
    bool never_blocks;
    struct sim_pipe *pipe;
    uint64_t count; /* of an eventfd */
    char *text;     /* owned */
    size_t size, offset;
    struct sim_watched *watched; /* owned; of an epoll */
    unsigned watched_count;
};

static struct {
    struct sim_fd *fds; /* owned */
    unsigned count, open;
    int signals[SIM_MOST_SIGNALS];
    unsigned signal_count;
    int device;
} sim_fds = {.device = -1};

static struct sim_fd *sim_fd_get(int fd)
{
    unsigned at = (unsigned)(fd - SIM_FIRST_FD);
    if (fd < SIM_FIRST_FD || at >= sim_fds.count || sim_fds.fds[at].kind == SIM_FD_FREE)
        return NULL;
    return &sim_fds.fds[at];
}

bool sim_fd_is_own(int fd)
{
    return fd >= SIM_FIRST_FD;
}

/* The lowest number that is free. */
static int sim_fd_new(enum sim_fd_kind kind)
{
    unsigned at = 0;
    while (at < sim_fds.count && sim_fds.fds[at].kind != SIM_FD_FREE)
        at++;
    if (at == sim_fds.count) {
        unsigned count = sim_fds.count ? 2 * sim_fds.count : 64;
        sim_fds.fds = sim_grow(sim_fds.fds, count * sizeof *sim_fds.fds);
        memset(sim_fds.fds + sim_fds.count, 0, (count - sim_fds.count) * sizeof *sim_fds.fds);
        sim_fds.count = count;
    }
    sim_fds.fds[at] = (struct sim_fd){.kind = kind};
    sim_fds.open++;
    return SIM_FIRST_FD + (int)at;
}

unsigned sim_fd_count(void)
{
    return sim_fds.open;
}

void sim_fd_set_device(int fd)
{
    sim_fds.device = fd;
}

bool sim_fd_is_device(int fd)
{
    return fd >= 0 && fd == sim_fds.device;
}

int sim_fd_open_text(const char *text, size_t size)
{
    int fd = sim_fd_new(SIM_FD_TEXT);
    struct sim_fd *file = sim_fd_get(fd);
    file->text = sim_alloc(size + 1);
    file->size = size;
    memcpy(file->text, text, size);
    return fd;
}

bool sim_fd_is_readable(int fd)
{
    if (sim_fd_is_device(fd))
        return sim_kernel_device_is_readable();
    const struct sim_fd *file = sim_fd_get(fd);
    if (!file)
        return false;
    switch (file->kind) {
    case SIM_FD_PIPE_OUT:
        return file->pipe->size > 0 || file->pipe->writers == 0;
    case SIM_FD_EVENT:
        return file->count > 0;
    case SIM_FD_SIGNAL:
        return sim_fds.signal_count > 0;
    default:
        return file->kind == SIM_FD_TEXT;
    }
}

static bool sim_fd_is_writable(int fd)
{
    const struct sim_fd *file = sim_fd_get(fd);
    return !file || file->kind != SIM_FD_PIPE_IN || file->pipe->readers == 0 ||
           file->pipe->size < SIM_PIPE_BYTES;
}

static bool sim_fd_wait_readable(void *arg)
{
    return sim_fd_is_readable(*(int *)arg);
}

static bool sim_fd_wait_writable(void *arg)
{
    return sim_fd_is_writable(*(int *)arg);
}

static ssize_t sim_fd_fail(int error)
{
    errno = error;
    return -1;
}

static ssize_t sim_fd_read_pipe(struct sim_pipe *pipe, char *bytes, size_t size)
{
    size_t got = size < pipe->size ? size : pipe->size;
    memcpy(bytes, pipe->bytes, got);
    pipe->size -= got;
    memmove(pipe->bytes, pipe->bytes + got, pipe->size);
    return (ssize_t)got;
}

static ssize_t sim_fd_read_signal(void *bytes, size_t size)
{
    struct signalfd_siginfo info = {.ssi_signo = (uint32_t)sim_fds.signals[0]};
    if (size < sizeof info)
        return sim_fd_fail(EINVAL);
    memmove(sim_fds.signals, sim_fds.signals + 1, --sim_fds.signal_count * sizeof(int));
    memcpy(bytes, &info, sizeof info);
    return sizeof info;
}

ssize_t sim_fd_pread(int fd, void *bytes, size_t size, off_t offset)
{
    const struct sim_fd *file = sim_fd_get(fd);
    if (!file || file->kind != SIM_FD_TEXT)
        return sim_fd_fail(file ? ESPIPE : EBADF);
    size_t from = (size_t)offset < file->size ? (size_t)offset : file->size;
    size_t got = size < file->size - from ? size : file->size - from;
    memcpy(bytes, file->text + from, got);
    return (ssize_t)got;
}

ssize_t sim_fd_read(int fd, void *bytes, size_t size)
{
    struct sim_fd *file = sim_fd_get(fd);
    if (!file)
        return sim_fd_fail(EBADF);
    if (!sim_fd_is_readable(fd)) {
        if (file->never_blocks)
            return sim_fd_fail(EAGAIN);
        sim_world_wait(sim_fd_wait_readable, &fd, INT64_MAX);
        file = sim_fd_get(fd);
    }
    ssize_t got;
    switch (file->kind) {
    case SIM_FD_PIPE_OUT:
        return sim_fd_read_pipe(file->pipe, bytes, size);
    case SIM_FD_EVENT:
        if (size < sizeof file->count)
            return sim_fd_fail(EINVAL);
        memcpy(bytes, &file->count, sizeof file->count);
        file->count = 0;
        return sizeof file->count;
    case SIM_FD_SIGNAL:
        return sim_fd_read_signal(bytes, size);
    case SIM_FD_TEXT:
        got = sim_fd_pread(fd, bytes, size, (off_t)file->offset);
        file->offset += (size_t)got;
        return got;
    default:
        return sim_fd_fail(EINVAL);
    }
}

ssize_t sim_fd_write(int fd, const void *bytes, size_t size)
{
    struct sim_fd *file = sim_fd_get(fd);
    if (!file)
        return sim_fd_fail(EBADF);
    if (file->kind == SIM_FD_EVENT) {
        uint64_t count;
        if (size < sizeof count)
            return sim_fd_fail(EINVAL);
        memcpy(&count, bytes, sizeof count);
        file->count += count;
        return sizeof count;
    }
    if (file->kind != SIM_FD_PIPE_IN)
        return sim_fd_fail(EINVAL);
    if (!sim_fd_is_writable(fd)) {
        if (file->never_blocks)
            return sim_fd_fail(EAGAIN);
        sim_world_wait(sim_fd_wait_writable, &fd, INT64_MAX);
        file = sim_fd_get(fd);
    }
    if (file->pipe->readers == 0)
        return sim_fd_fail(EPIPE);
    size_t room = SIM_PIPE_BYTES - file->pipe->size, put = size < room ? size : room;
    memcpy(file->pipe->bytes + file->pipe->size, bytes, put);
    file->pipe->size += put;
    return (ssize_t)put;
}

static void sim_fd_unwatch(int fd)
{
    for (unsigned i = 0; i < sim_fds.count; i++) {
        struct sim_fd *epoll = &sim_fds.fds[i];
        for (unsigned j = 0; epoll->kind == SIM_FD_EPOLL && j < epoll->watched_count; j++)
            if (epoll->watched[j].fd == fd)
                epoll->watched[j--] = epoll->watched[--epoll->watched_count];
    }
}

int sim_fd_close(int fd)
{
    struct sim_fd *file = sim_fd_get(fd);
    if (!file)
        return (int)sim_fd_fail(EBADF);
    sim_fd_unwatch(fd);
    if (file->pipe) {
        file->pipe->readers -= file->kind == SIM_FD_PIPE_OUT;
        file->pipe->writers -= file->kind == SIM_FD_PIPE_IN;
        if (file->pipe->readers + file->pipe->writers == 0)
            sim_free(file->pipe);
    }
    sim_free(file->text);
    sim_free(file->watched);
    *file = (struct sim_fd){.kind = SIM_FD_FREE};
    sim_fds.open--;
    return 0;
}

int sim_fd_fcntl(int fd, int command, int value)
{
    struct sim_fd *file = sim_fd_get(fd);
    if (!file)
        return (int)sim_fd_fail(EBADF);
    if (command == F_SETFL)
        file->never_blocks = value & O_NONBLOCK;
    if (command == F_GETFL)
        return file->never_blocks ? O_NONBLOCK : 0;
    return command == F_GETFD ? FD_CLOEXEC : 0;
}

void sim_signal_program(int number)
{
    if (sim_fds.signal_count < SIM_MOST_SIGNALS)
        sim_fds.signals[sim_fds.signal_count++] = number;
}

/* Calls of the program. */

int sim_fd_epoll_create1(int flags) SIM_WRAP(epoll_create1);
int sim_fd_epoll_ctl(int number, int operation, int fd, struct epoll_event *event)
    SIM_WRAP(epoll_ctl);
int sim_fd_epoll_wait(int number, struct epoll_event *events, int most, int timeout_ms)
    SIM_WRAP(epoll_wait);
int sim_fd_eventfd(unsigned count, int flags) SIM_WRAP(eventfd);
int sim_fd_eventfd_read(int fd, eventfd_t *count) SIM_WRAP(eventfd_read);
int sim_fd_eventfd_write(int fd, eventfd_t count) SIM_WRAP(eventfd_write);
int sim_fd_pipe2(int ends[2], int flags) SIM_WRAP(pipe2);
int sim_fd_signalfd(int fd, const sigset_t *set, int flags) SIM_WRAP(signalfd);

int sim_fd_epoll_create1(int flags)
{
    (void)flags;
    return sim_fd_new(SIM_FD_EPOLL);
}

int sim_fd_eventfd(unsigned count, int flags)
{
    int fd = sim_fd_new(SIM_FD_EVENT);
    sim_fd_get(fd)->count = count;
    sim_fd_get(fd)->never_blocks = flags & EFD_NONBLOCK;
    return fd;
}

int sim_fd_eventfd_read(int fd, eventfd_t *count)
{
    sim_world_yield();
    return sim_fd_read(fd, count, sizeof *count) == sizeof *count ? 0 : -1;
}

int sim_fd_eventfd_write(int fd, eventfd_t count)
{
    int done = sim_fd_write(fd, &count, sizeof count) == sizeof count ? 0 : -1;
    sim_world_yield();
    return done;
}

int sim_fd_pipe2(int ends[2], int flags)
{
    struct sim_pipe *pipe = sim_alloc(sizeof *pipe);
    pipe->readers = pipe->writers = 1;
    ends[0] = sim_fd_new(SIM_FD_PIPE_OUT);
    sim_fd_get(ends[0])->pipe = pipe;
    ends[1] = sim_fd_new(SIM_FD_PIPE_IN);
    sim_fd_get(ends[1])->pipe = pipe;
    sim_fd_get(ends[0])->never_blocks = sim_fd_get(ends[1])->never_blocks = flags & O_NONBLOCK;
    return 0;
}

int sim_fd_signalfd(int fd, const sigset_t *set, int flags)
{
    (void)fd;
    (void)set;
    int made = sim_fd_new(SIM_FD_SIGNAL);
    sim_fd_get(made)->never_blocks = flags & SFD_NONBLOCK;
    return made;
}

int sim_fd_epoll_ctl(int number, int operation, int fd, struct epoll_event *event)
{
    struct sim_fd *epoll = sim_fd_get(number);
    if (!epoll || epoll->kind != SIM_FD_EPOLL || (!sim_fd_is_device(fd) && !sim_fd_get(fd)))
        return (int)sim_fd_fail(EBADF);
    unsigned at = 0;
    while (at < epoll->watched_count && epoll->watched[at].fd != fd)
        at++;
    bool is_known = at < epoll->watched_count;
    if (is_known == (operation == EPOLL_CTL_ADD))
        return (int)sim_fd_fail(is_known ? EEXIST : ENOENT);
    if (operation == EPOLL_CTL_DEL) {
        epoll->watched[at] = epoll->watched[--epoll->watched_count];
        return 0;
    }
    if (!is_known) {
        if (epoll->watched_count == SIM_MOST_WATCHED)
            return (int)sim_fd_fail(ENOSPC);
        epoll->watched_count++;
    }
    if (!epoll->watched)
        epoll->watched = sim_alloc(SIM_MOST_WATCHED * sizeof *epoll->watched);
    epoll->watched[at] = (struct sim_watched){fd, event->events, event->data};
    return 0;
}

/* The descriptors that are ready, in a random order; sometimes not all of them, as a system may. */
static int sim_fd_collect(const struct sim_fd *epoll, struct epoll_event *events, int most)
{
    int count = 0;
    for (unsigned i = 0; i < epoll->watched_count && count < most; i++) {
        const struct sim_watched *each = &epoll->watched[i];
        uint32_t ready = each->events & EPOLLIN && sim_fd_is_readable(each->fd) ? EPOLLIN : 0;
        ready |= each->events & EPOLLOUT && sim_fd_is_writable(each->fd) ? EPOLLOUT : 0;
        if (ready)
            events[count++] = (struct epoll_event){ready, each->data};
    }
    if (count < 2)
        return count;
    struct sim_dice *dice = sim_world_turns_dice();
    for (int i = count - 1; i > 0; i--) {
        int other = (int)sim_dice_below(dice, (uint32_t)i + 1);
        struct epoll_event event = events[i];
        events[i] = events[other];
        events[other] = event;
    }
    return sim_dice_chance(dice, 300) ? 1 + (int)sim_dice_below(dice, (uint32_t)count) : count;
}

/* The scheduler. A loop with timers calls with a timeout of 0 and moves the clock itself
 * (sim_world.c) if it gets nothing; one without waits here. */
int sim_fd_epoll_wait(int number, struct epoll_event *events, int most, int timeout_ms)
{
    const struct sim_fd *epoll = sim_fd_get(number);
    struct sim_dice *dice = sim_world_turns_dice();
    if (!epoll)
        return (int)sim_fd_fail(EBADF);
    for (unsigned turn = 0;; turn++) {
        sim_world_count_turn();
        bool runs_fiber = sim_dice_chance(dice, 700);
        if (runs_fiber && sim_fiber_run_one(dice))
            continue;
        epoll = sim_fd_get(number);
        int count = sim_fd_collect(epoll, events, most);
        if (count > 0)
            return count;
        /* The timers that are due have their turn, too. */
        if (timeout_ms >= 0 && (runs_fiber || turn > 0))
            return 0;
        if (!runs_fiber || sim_fiber_any_is_ready())
            continue;
        int64_t wakes_ms = sim_fiber_wakes_ms();
        if (wakes_ms == INT64_MAX)
            sim_defect("progress", "the program waits for something that can't happen");
        sim_world_skip(wakes_ms);
    }
}
