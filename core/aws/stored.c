/* Reads and writes the files of AWS's tools. */
#include "core/aws/stored.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_STORED = 1024 * 1024, FIRST_ROOM = 4096 };

static void stored_close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static bool stored_fail(const char *what, const char *path, struct error *err)
{
    return error_set(err, ERROR_DENIED, "cannot %s %s: %s", what, path, strerror(errno));
}

/* A pipe or a device could block the loop, so it is not read. */
enum stored_found stored_read(const char *path, struct buf *out, struct error *err)
{
    CLEAN_UP(stored_close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat stat;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return STORED_ABSENT;
    if (fd < 0 || fstat(fd, &stat) != 0) {
        stored_fail("read", path, err);
        return STORED_FAILED;
    }
    if (!S_ISREG(stat.st_mode)) {
        error_set(err, ERROR_DENIED, "cannot read %s: it is no regular file", path);
        return STORED_FAILED;
    }
    for (size_t begin = out->size;;) {
        if (!buf_reserve(out, FIRST_ROOM)) {
            error_no_memory(err);
            return STORED_FAILED;
        }
        ssize_t got = read(fd, out->data + out->size, FIRST_ROOM);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            stored_fail("read", path, err);
            return STORED_FAILED;
        }
        out->size += (size_t)got;
        out->data[out->size] = '\0';
        if (got == 0)
            return STORED_READ;
        if (out->size - begin > MAX_STORED) {
            error_set(err, ERROR_DENIED, "%s is larger than 1 MB", path);
            return STORED_FAILED;
        }
    }
}

bool stored_write(const char *path, struct span text, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf draft = {0};
    buf_printf(&draft, "%s.XXXXXX", path);
    if (draft.failed)
        return error_no_memory(err);
    for (char *slash = strchr(draft.data + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(draft.data, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return stored_fail("write", path, err);
    }
    int fd = mkostemp(draft.data, O_CLOEXEC); /* makes the file 0600 */
    if (fd < 0)
        return stored_fail("write", path, err);
    bool wrote = true;
    while (wrote && text.size > 0) {
        ssize_t count = write(fd, text.data, text.size);
        wrote = count >= 0 || errno == EINTR;
        text = span_from(text, count > 0 ? (size_t)count : 0);
    }
    wrote = close(fd) == 0 && wrote;
    if (wrote && rename(draft.data, path) == 0)
        return true;
    stored_fail("write", path, err);
    unlink(draft.data);
    return false;
}

struct stored_stamp stored_stamp_of(struct span text)
{
    struct stored_stamp stamp = {0};
    stamp.is_set = digest_sha256(text, stamp.digest);
    return stamp;
}

bool stored_same(const struct stored_stamp *a, const struct stored_stamp *b)
{
    return a->is_set && b->is_set && memcmp(a->digest, b->digest, sizeof a->digest) == 0;
}

bool stored_write_over(const char *path, struct stored_stamp *stamp, struct span text,
                       struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf now = {0};
    if (stored_read(path, &now, NULL) != STORED_READ)
        return true;
    struct stored_stamp found = stored_stamp_of(buf_span(&now));
    if (!stored_same(&found, stamp))
        return true;
    *stamp = stored_stamp_of(text);
    return stored_write(path, text, err);
}

const char *stored_home(void)
{
    const char *value = getenv("HOME");
    const struct passwd *user = value ? NULL : getpwuid(getuid());
    return user ? user->pw_dir : value;
}

/* Removes "$NAME" or "${NAME}" from TEXT and returns its value. NULL, with TEXT unchanged, for no
 * name or a variable that is not set. */
static const char *stored_expand_variable(const char **text)
{
    char name[256];
    bool braced = (*text)[1] == '{';
    const char *begin = *text + (braced ? 2 : 1), *end = begin;
    while (*end && (braced ? *end != '}' : isalnum((unsigned char)*end) || *end == '_'))
        end++;
    if (end == begin || (size_t)(end - begin) >= sizeof name || (braced && *end != '}'))
        return NULL;
    memcpy(name, begin, (size_t)(end - begin));
    name[end - begin] = '\0';
    const char *value = getenv(name);
    if (value)
        *text = end + braced;
    return value;
}

char *stored_path(const char *path)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, full = {0};
    char name[256];
    while (*path) {
        const char *value = *path == '$' ? stored_expand_variable(&path) : NULL;
        if (value)
            buf_add_text(&text, value);
        else
            buf_add_char(&text, *path++);
    }
    path = buf_text(&text);
    size_t size = strcspn(path, "/");
    const char *home = path[0] == '~' && size == 1 ? stored_home() : NULL;
    if (path[0] == '~' && size > 1 && size <= sizeof name) {
        memcpy(name, path + 1, size - 1);
        name[size - 1] = '\0';
        const struct passwd *user = getpwnam(name);
        home = user ? user->pw_dir : NULL;
    }
    if (home) {
        buf_add_text(&full, home);
        while (full.size > 0 && full.data[full.size - 1] == '/')
            buf_truncate(&full, full.size - 1);
        path += size;
    }
    buf_add_text(&full, path);
    if (home && full.size == 0)
        buf_add_char(&full, '/');
    return text.failed ? NULL : buf_steal(&full, NULL);
}
