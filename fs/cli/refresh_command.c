/* ddbfs refresh PATH…: drops the cached results of paths from a live mount. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fs/cli/live_mount.h"
#include "fs/cli/mount_table.h"

static int refresh_fail_not_mounted(const char *path)
{
    return app_fail(path, "is not in a live mount of ddbfs; ddbfs status lists the mounts");
}

/* Sets ROOT to the mount of PATH, and WITHIN to the path in it. A path that does not exist is one
 * of the tree, in the mount of the current directory or in the only mount. False after a message.
 */
static bool refresh_find(const char *path, struct buf *root, struct buf *within)
{
    CLEAN_UP(buf_clean_up) struct buf whole = {0};
    struct stat ignored;
    if (mount_table_resolve(path, &whole, root)) {
        buf_add_text(within, buf_text(&whole) + root->size);
        return true;
    }
    if (path[0] == '\0' || lstat(path, &ignored) == 0) {
        refresh_fail_not_mounted(path);
        return false;
    }
    buf_truncate(root, 0);
    buf_printf(within, "%s%s", path[0] == '/' ? "" : "/", path);
    while (within->size > 1 && within->data[within->size - 1] == '/')
        buf_truncate(within, within->size - 1);
    return live_mount_find(NULL, "refresh", root);
}

/* Returns an exit status. */
static int refresh_path(const char *path)
{
    struct stat ignored;
    CLEAN_UP(buf_clean_up) struct buf root = {0}, within = {0}, request = {0};
    if (!refresh_find(path, &root, &within) || !live_mount_check_owner(buf_text(&root)))
        return EXIT_FAILURE;
    buf_printf(&request, "%s/" CONTROL_NAME "/" CONTROL_REFRESH "%s/" CONTROL_NOW, buf_text(&root),
               buf_text(&within));
    int error = !request.failed && stat(buf_text(&request), &ignored) != 0 ? errno : EIO;
    switch (error) {
    case ENOENT: /* done */
        return EXIT_SUCCESS;
    case CONTROL_NO_SUCH_PATH:
        app_fail(path, "the map has no such path; nothing was dropped");
        return EXIT_NOT_FOUND;
    case EINVAL:
        return app_fail(path, "the map refuses a name in it; ddbfs explain shows the reason");
    case ENOTCONN:
        return refresh_fail_not_mounted(path);
    default:
        return app_fail(path, strerror(error));
    }
}

int refresh_command(const struct options *options, int argc, char **argv)
{
    int status = EXIT_SUCCESS;
    (void)options;
    if (argc == 0)
        return app_usage("refresh needs a path", "refresh");
    for (int i = 0; i < argc; i++) {
        int each = refresh_path(argv[i]);
        if (each != EXIT_SUCCESS && status != EXIT_FAILURE)
            status = each;
    }
    return status;
}
