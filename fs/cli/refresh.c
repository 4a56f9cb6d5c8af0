/* ddbfs refresh PATH…: makes a live mount forget what it knows of paths. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/cli/app.h"
#include "fs/cli/control_path.h"
#include "fs/cli/mounts.h"

/* Links that lead on to links are followed so many times, as the kernel does. */
enum { MOST_LINKS = 40 };

static void drop_last_segment(struct buf *path)
{
    while (path->size > 0 && path->data[path->size - 1] != '/')
        buf_truncate(path, path->size - 1);
    if (path->size > 0)
        buf_truncate(path, path->size - 1);
}

/* Puts what the link that PATH ends in leads to before what is left of the way (REST, at FROM). */
static bool follow(struct buf *path, const char *target, struct buf *rest, size_t from)
{
    CLEAN_UP(buf_clean_up) struct buf on = {0};
    buf_printf(&on, "%s/%s", target, rest->data + from);
    buf_truncate(rest, 0);
    buf_add_span(rest, buf_span(&on));
    if (target[0] == '/')
        buf_truncate(path, 0);
    else
        drop_last_segment(path);
    return !on.failed && !rest->failed;
}

/* Makes WHOLE the absolute form of PATH, and ROOT the mountpoint that it is in; false when it is in
 * none. Links are resolved on the way to the mount. In it there are none, and nothing is looked up:
 * to look for a record would be to read it. */
static bool resolve(const char *path, struct buf *whole, struct buf *root)
{
    CLEAN_UP(buf_clean_up) struct buf rest = {0};
    char target[PATH_MAX];
    unsigned links = 0;
    bool inside = false;
    if (path[0] == '\0') /* as everywhere, this names nothing */
        return false;
    if (path[0] != '/' && getcwd(target, sizeof target))
        buf_printf(&rest, "%s/", target);
    buf_add_text(&rest, path);
    for (size_t at = 0; !rest.failed && !whole->failed && at < rest.size;) {
        const char *segment = rest.data + at;
        size_t size = strcspn(segment, "/");
        at += size + (segment[size] == '/');
        if (size == 0 || (size == 1 && segment[0] == '.'))
            continue;
        if (size == 2 && strncmp(segment, "..", 2) == 0)
            drop_last_segment(whole);
        else
            buf_printf(whole, "/%.*s", (int)size, segment);
        buf_truncate(root, 0);
        inside = mounts_find(buf_text(whole), root);
        ssize_t got = inside ? -1 : readlink(buf_text(whole), target, sizeof target - 1);
        if (!inside && got < 0 && errno != EINVAL && whole->size > 0)
            return false;
        if (got < 0)
            continue;
        target[got] = '\0';
        if (++links > MOST_LINKS || !follow(whole, target, &rest, at))
            return false;
        at = 0;
    }
    return inside && !rest.failed && !whole->failed;
}

static int complain(const char *path, const char *what, int status)
{
    fputs("ddbfs: ", stderr);
    app_print_safely(path);
    fprintf(stderr, ": %s\n", what);
    return status;
}

/* The command's exit status. */
static int refresh(const char *path)
{
    struct stat stat_buf;
    CLEAN_UP(buf_clean_up) struct buf whole = {0}, root = {0}, request = {0};
    bool found = resolve(path, &whole, &root);
    if (found) {
        buf_printf(&request, "%s/" CONTROL_NAME "/" CONTROL_REFRESH "%s/" CONTROL_NOW,
                   buf_text(&root), buf_text(&whole) + root.size);
        /* The answer is that there is no such file, once the work is done. */
        int error = !request.failed && stat(buf_text(&request), &stat_buf) != 0 ? errno : EIO;
        if (error == ENOENT)
            return EXIT_SUCCESS;
        if (error == CONTROL_NO_SUCH_PATH)
            return complain(path, "the map has no such path, so there was nothing to forget",
                            EXIT_MISSING);
        if (error == EINVAL)
            return complain(path, "the map refuses a name in it; ddbfs explain says why",
                            EXIT_FAILURE);
        if (error != ENOTCONN) /* somebody is there */
            return complain(path, strerror(error), EXIT_FAILURE);
    }
    return complain(path, "is not in a live mount of ddbfs", EXIT_FAILURE);
}

int refresh_command(const struct options *options, int argc, char **argv)
{
    int status = EXIT_SUCCESS;
    (void)options;
    if (argc == 0) {
        fprintf(stderr, "ddbfs: refresh needs a path in a mount; see ddbfs --help\n");
        return EXIT_USAGE;
    }
    for (int i = 0; i < argc; i++) {
        int each = refresh(argv[i]);
        if (each != EXIT_SUCCESS && status != EXIT_FAILURE)
            status = each;
    }
    return status;
}
