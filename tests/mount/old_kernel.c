/* LD_PRELOAD for a daemon: the kernel as it was before FUSE_NOTIFY_INC_EPOCH, and slower.
 *
 * It says on standard error when a name is to be forgotten.
 *
 *   OLD_KERNEL_NAME_MS   how long the kernel takes to forget a name
 *   OLD_KERNEL_STUCK     it takes for ever ("for ever"), or until the connection is aborted
 *   OLD_KERNEL_REFUSES   it has no memory for so many names
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { INVAL_ENTRY = 3, INC_EPOCH = 8 };

struct header {
    uint32_t size;
    int32_t code;
    uint64_t unique; /* 0: a notification */
};

static void be_slow(int fd)
{
    static const char said[] =
        "the kernel is asked to forget a name\n"; /* for who waits for that */
    if (write(STDERR_FILENO, said, sizeof said - 1) < 0)
        return;
    const char *name_ms = getenv("OLD_KERNEL_NAME_MS"), *stuck = getenv("OLD_KERNEL_STUCK");
    if (name_ms)
        usleep((useconds_t)atoi(name_ms) * 1000);
    for (struct pollfd device = {.fd = fd}; stuck; usleep(10000))
        if (strcmp(stuck, "for ever") != 0 && poll(&device, 1, 0) > 0 && device.revents & POLLERR)
            break;
}

static int refuses(void)
{
    static int count = -1;
    const char *wanted = getenv("OLD_KERNEL_REFUSES");
    if (count < 0)
        count = wanted ? atoi(wanted) : 0;
    return count > 0 && count-- > 0;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    ssize_t (*real)(int, const struct iovec *, int) =
        (ssize_t(*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
    struct header header = {0};
    if (count > 0 && parts[0].iov_len == sizeof header)
        memcpy(&header, parts[0].iov_base, sizeof header);
    if (header.size && header.unique == 0 && header.code == INC_EPOCH) {
        errno = EINVAL;
        return -1;
    }
    if (header.size && header.unique == 0 && header.code == INVAL_ENTRY) {
        be_slow(fd);
        if (refuses()) {
            errno = ENOMEM;
            return -1;
        }
    }
    return real(fd, parts, count);
}
