#include "fs/mount/notifier.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Pointers to notices travel through two pipes: to the thread, and back. */
struct notifier {
    struct loop_io *io;
    pthread_t thread;
    int notices[2];
    int done[2];
    size_t pending;
};

static void *notifier_work(void *arg)
{
    struct notifier *notifier = arg;
    struct notice *notice;
    while (read(notifier->notices[0], &notice, sizeof notice) == sizeof notice) {
        notice->run(notice);
        if (write(notifier->done[1], &notice, sizeof notice) != sizeof notice)
            break;
    }
    return NULL;
}

static void notifier_on_done(void *arg, uint32_t events)
{
    (void)events;
    struct notifier *notifier = arg;
    struct notice *notice;
    if (read(notifier->done[0], &notice, sizeof notice) != sizeof notice)
        return;
    notifier->pending--;
    notice->done(notice);
}

static void notifier_close_pipe(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

struct notifier *notifier_new(struct loop *loop)
{
    struct notifier *notifier = calloc(1, sizeof *notifier);
    sigset_t all, before;
    bool ok = false;
    if (!notifier)
        return NULL;
    if (pipe2(notifier->notices, O_CLOEXEC) != 0) {
        free(notifier);
        return NULL;
    }
    fcntl(notifier->notices[1], F_SETFL, O_NONBLOCK); /* the loop never waits for the thread */
    if (pipe2(notifier->done, O_CLOEXEC) == 0) {
        notifier->io = loop_add_io(loop, notifier->done[0], EPOLLIN, notifier_on_done, notifier);
        sigfillset(&all); /* signals are for the loop */
        pthread_sigmask(SIG_SETMASK, &all, &before);
        ok = notifier->io && pthread_create(&notifier->thread, NULL, notifier_work, notifier) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (ok)
            return notifier;
        loop_remove_io(notifier->io);
        notifier_close_pipe(notifier->done);
    }
    notifier_close_pipe(notifier->notices);
    free(notifier);
    return NULL;
}

void notifier_destroy(struct notifier *notifier)
{
    if (!notifier)
        return;
    close(notifier->notices[1]); /* the thread ends after its last notice */
    pthread_join(notifier->thread, NULL);
    close(notifier->done[1]);
    loop_remove_io(notifier->io);
    close(notifier->notices[0]);
    close(notifier->done[0]);
    free(notifier);
}

/* A pipe holds thousands of pointers; it is full only if the thread waits for very long. */
bool notifier_send(struct notifier *notifier, struct notice *notice)
{
    if (write(notifier->notices[1], &notice, sizeof notice) != sizeof notice)
        return false;
    notifier->pending++;
    return true;
}

bool notifier_is_busy(const struct notifier *notifier)
{
    return notifier->pending > 0;
}

void notifier_wait(struct notifier *notifier, int timeout_ms)
{
    struct pollfd done = {.fd = notifier->done[0], .events = POLLIN};
    if (poll(&done, 1, timeout_ms) > 0)
        notifier_on_done(notifier, POLLIN);
}

/* The beginnings of the kernel's struct fuse_out_header and struct fuse_init_out; the kernel's own
 * header and libfuse's exclude each other. */
struct reply_header {
    uint32_t size;
    int32_t error;
    uint64_t unique; /* 0: no reply, but a notification */
};

struct greeting {
    uint32_t major, minor, max_readahead, flags;
};

enum { PARALLEL_DIROPS = 1 << 18 };

/* A notification that libfuse 3.14 does not have. */
enum { NOTIFY_INC_EPOCH = 8 };

/* The first reply of a session is the one to the kernel's greeting. */
static ssize_t notifier_write_reply(int fd, struct iovec *parts, int count, void *arg)
{
    struct mount *mount = arg;
    const struct reply_header *header = parts[0].iov_base;
    bool is_greeting = count == 2 && parts[0].iov_len == sizeof *header && header->unique != 0 &&
                       header->error == 0 && parts[1].iov_len >= sizeof(struct greeting);
    if (mount->greeted || !is_greeting)
        return writev(fd, parts, count);
    struct greeting *greeting = parts[1].iov_base;
    greeting->flags |= PARALLEL_DIROPS; /* every kernel since 4.7 knows it */
    ssize_t size = writev(fd, parts, count);
    mount->greeted = size > 0;
    if (mount->greeted)
        mount->on_greeting(mount);
    return size;
}

static ssize_t notifier_read_request(int fd, void *bytes, size_t size, void *arg)
{
    (void)arg;
    return read(fd, bytes, size);
}

bool notifier_open_session(struct fuse_session *session)
{
    struct fuse_custom_io io = {.writev = notifier_write_reply, .read = notifier_read_request};
    return fuse_session_custom_io(session, &io, fuse_session_fd(session)) == 0;
}

bool notifier_forget_all_names(struct fuse_session *session)
{
    struct reply_header header = {.size = sizeof header, .error = NOTIFY_INC_EPOCH};
    struct iovec part = {&header, sizeof header};
    return writev(fuse_session_fd(session), &part, 1) == sizeof header;
}

unsigned notifier_connection(const char *mountpoint)
{
    struct statx found;
    if (statx(AT_FDCWD, mountpoint, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, 0, &found) != 0)
        return 0;
    return found.stx_dev_minor;
}

/* The control file belongs to the user who mounted; only root can force an unmount. */
void notifier_abort_connection(unsigned connection, const char *mountpoint)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/fs/fuse/connections/%u/abort", connection);
    int fd = connection ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    bool is_aborted = fd >= 0 && write(fd, "1", 1) == 1;
    if (fd >= 0)
        close(fd);
    if (!is_aborted)
        umount2(mountpoint, MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW);
}
