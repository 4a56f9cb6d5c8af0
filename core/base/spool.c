#include "core/base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/quantity.h"

struct spool_limit {
    unsigned references;
    uint64_t most, used;
};

struct spool {
    unsigned references;
    int fd;
    uint64_t size;
    struct spool_limit *limit; /* holds a reference; or NULL */
    const char *folder;        /* points behind the struct */
    struct digest *digest;     /* of the bytes so far; NULL once it is in SUM */
    uint8_t sum[DIGEST_SIZE];
};

static const char *spool_remedy(int number)
{
    switch (number) {
    case EFBIG:
        return "raise the limit of the size of files: ulimit -f";
    case ENOSPC:
    case EDQUOT:
        return "free space there, or name another folder: --spool";
    default:
        return "name a folder that exists and can be written: --spool";
    }
}

static bool spool_refuse(const char *folder, uint64_t size, int number, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf held = {0};
    if (number == EMFILE || number == ENFILE)
        return error_set(err, ERROR_NO_DESCRIPTORS,
                         "a temporary file in %s can't be made: %s; raise the limit of open files",
                         folder, strerror(number));
    buf_add_text(&held, size > 0 ? "be written beyond " : "be made");
    if (size > 0)
        size_write(size, &held);
    return error_set(err, ERROR_NO_SPACE, "a temporary file in %s can't %s: %s; %s", folder,
                     buf_text(&held), strerror(number), spool_remedy(number));
}

/* Some file systems have no nameless files: there it has a name for a moment. -1 with errno. */
static int spool_open(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    buf_printf(&name, "%s/.ddbfs-XXXXXX", folder);
    errno = ENOMEM;
    fd = name.failed ? -1 : mkostemp(name.data, O_CLOEXEC);
    if (fd >= 0)
        unlink(name.data);
    return fd;
}

struct spool_limit *spool_limit_new(uint64_t most)
{
    struct spool_limit *limit = malloc(sizeof *limit);
    if (limit)
        *limit = (struct spool_limit){.references = 1, .most = most};
    return limit;
}

uint64_t spool_limit_most(const struct spool_limit *limit)
{
    return limit->most;
}

void spool_limit_unref(struct spool_limit *limit)
{
    if (limit && --limit->references == 0)
        free(limit);
}

struct spool *spool_new(const char *folder, struct spool_limit *limit, struct error *err)
{
    size_t folder_size = strlen(folder) + 1;
    struct spool *spool = calloc(1, sizeof *spool + folder_size);
    struct digest *digest = digest_begin();
    if (!spool || !digest) {
        digest_free(digest);
        free(spool);
        error_no_memory(err);
        return NULL;
    }
    *spool =
        (struct spool){.references = 1, .digest = digest, .fd = spool_open(folder), .limit = limit};
    if (limit)
        limit->references++;
    spool->folder = memcpy((char *)(spool + 1), folder, folder_size);
    if (spool->fd >= 0)
        return spool;
    spool_refuse(folder, 0, errno, err);
    spool_unref(spool);
    return NULL;
}

struct spool *spool_ref(struct spool *spool)
{
    spool->references++;
    return spool;
}

void spool_unref(struct spool *spool)
{
    if (!spool || --spool->references > 0)
        return;
    if (spool->fd >= 0)
        close(spool->fd);
    digest_free(spool->digest);
    if (spool->limit)
        spool->limit->used -= spool->size;
    spool_limit_unref(spool->limit);
    free(spool);
}

static bool spool_refuse_limit(const struct spool *spool, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf most = {0};
    size_write(spool->limit->most, &most);
    return error_set(
        err, ERROR_NO_SPACE,
        "the temporary files in %s would be larger than %s together; close other large "
        "files, wait for the end of their ttl, or raise the limit: --spool-size",
        spool->folder, buf_text(&most));
}

bool spool_add(struct spool *spool, struct span bytes, struct error *err)
{
    if (spool->limit && bytes.size > spool->limit->most - spool->limit->used)
        return spool_refuse_limit(spool, err);
    if (!digest_add(spool->digest, bytes))
        return error_no_memory(err);
    while (bytes.size > 0) {
        ssize_t written = pwrite(spool->fd, bytes.data, bytes.size, (off_t)spool->size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return spool_refuse(spool->folder, spool->size, written < 0 ? errno : ENOSPC, err);
        bytes = span_from(bytes, (size_t)written);
        spool->size += (uint64_t)written;
        if (spool->limit)
            spool->limit->used += (uint64_t)written;
    }
    return true;
}

bool spool_end(struct spool *spool)
{
    bool ok = digest_end(spool->digest, spool->sum);
    digest_free(spool->digest);
    spool->digest = NULL;
    return ok;
}

const uint8_t *spool_digest(const struct spool *spool)
{
    return spool->sum;
}

uint64_t spool_size(const struct spool *spool)
{
    return spool->size;
}

ssize_t spool_read(const struct spool *spool, void *out, size_t size, uint64_t offset)
{
    size_t done = 0;
    if (offset >= spool->size)
        return 0;
    if (size > spool->size - offset)
        size = (size_t)(spool->size - offset);
    while (done < size) {
        ssize_t got = pread(spool->fd, (char *)out + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = EIO;
        if (got <= 0)
            return -1;
        done += (size_t)got;
    }
    return (ssize_t)done;
}
