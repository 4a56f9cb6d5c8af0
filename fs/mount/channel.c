#include "fs/mount/channel.h"

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

static bool is_greeting(const struct iovec *parts, int count)
{
    const struct answer_header *header = parts[0].iov_base;
    return count == 2 && parts[0].iov_len == sizeof *header && header->unique != 0 &&
           header->error == 0 && parts[1].iov_len >= sizeof(struct greeting);
}

/* The first answer of a session is the one to the kernel's greeting. */
static ssize_t write_answer(int fd, struct iovec *parts, int count, void *arg)
{
    struct mount *mount = arg;
    if (mount->greeted || !is_greeting(parts, count))
        return writev(fd, parts, count);
    struct greeting *greeting = parts[1].iov_base;
    greeting->flags |= PARALLEL_DIROPS; /* every kernel since 4.7 knows it */
    ssize_t size = writev(fd, parts, count);
    mount->greeted = size > 0;
    if (mount->greeted)
        mount_ready(mount);
    return size;
}

static ssize_t read_request(int fd, void *bytes, size_t size, void *arg)
{
    (void)arg;
    return read(fd, bytes, size);
}

bool channel_open(struct fuse_session *session)
{
    struct fuse_custom_io io = {.writev = write_answer, .read = read_request};
    return fuse_session_custom_io(session, &io, fuse_session_fd(session)) == 0;
}
