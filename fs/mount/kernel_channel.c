#include "fs/mount/kernel_channel.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel's struct fuse_out_header and struct fuse_init_out, as far as they matter; its own
 * header and libfuse's exclude each other. */
struct answer_header {
    uint32_t size;
    int32_t error;
    uint64_t unique; /* 0: no answer, but a notification */
};

struct greeting {
    uint32_t major, minor, max_readahead, flags;
};

enum { PARALLEL_DIROPS = 1 << 18 };

/* Notifications that libfuse 3.14 does not know. */
enum { NOTIFY_INC_EPOCH = 8 };

static bool channel_is_greeting(const struct iovec *parts, int count)
{
    const struct answer_header *header = parts[0].iov_base;
    return count == 2 && parts[0].iov_len == sizeof *header && header->unique != 0 &&
           header->error == 0 && parts[1].iov_len >= sizeof(struct greeting);
}

/* The first answer of a session is the one to the kernel's greeting. */
static ssize_t channel_write_answer(int fd, struct iovec *parts, int count, void *arg)
{
    struct mount *mount = arg;
    if (mount->greeted || !channel_is_greeting(parts, count))
        return writev(fd, parts, count);
    struct greeting *greeting = parts[1].iov_base;
    greeting->flags |= PARALLEL_DIROPS; /* every kernel since 4.7 knows it */
    ssize_t size = writev(fd, parts, count);
    mount->greeted = size > 0;
    if (mount->greeted)
        mount->on_greeting(mount);
    return size;
}

static ssize_t channel_read_request(int fd, void *bytes, size_t size, void *arg)
{
    (void)arg;
    return read(fd, bytes, size);
}

bool kernel_channel_open(struct fuse_session *session)
{
    struct fuse_custom_io io = {.writev = channel_write_answer, .read = channel_read_request};
    return fuse_session_custom_io(session, &io, fuse_session_fd(session)) == 0;
}

bool kernel_channel_forget_all(struct fuse_session *session)
{
    struct answer_header header = {.size = sizeof header, .error = NOTIFY_INC_EPOCH};
    struct iovec part = {&header, sizeof header};
    return writev(fuse_session_fd(session), &part, 1) == sizeof header;
}

unsigned kernel_channel_connection(const char *mountpoint)
{
    struct statx found;
    if (statx(AT_FDCWD, mountpoint, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, 0, &found) != 0)
        return 0;
    return found.stx_dev_minor;
}

/* The control file belongs to whoever mounted; root alone can force an unmount. */
void kernel_channel_abort(unsigned connection, const char *mountpoint)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/fs/fuse/connections/%u/abort", connection);
    int fd = connection ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    bool aborted = fd >= 0 && write(fd, "1", 1) == 1;
    if (fd >= 0)
        close(fd);
    if (!aborted)
        umount2(mountpoint, MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW);
}
