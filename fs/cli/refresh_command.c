/* ddbfs refresh PATH…: makes a live mount forget what it knows of paths. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fs/cli/app.h"
#include "fs/cli/control_file.h"
#include "fs/cli/control_path.h"
#include "fs/cli/mount_table.h"

static int refresh_command_report_error(const char *path, const char *what, int status)
{
    fputs("ddbfs: ", stderr);
    app_print_safely(path);
    fprintf(stderr, ": %s\n", what);
    return status;
}

/* Finds the mount at ROOT and the path WITHIN it that PATH means: the mount that it leads into, or
 * else, as a path of the tree, the mount in which the caller stands or the only one. False after a
 * message. */
static bool refresh_command_find(const char *path, struct buf *root, struct buf *within)
{
    CLEAN_UP(buf_clean_up) struct buf whole = {0};
    struct stat told;
    if (mount_table_resolve(path, &whole, root)) {
        buf_add_text(within, buf_text(&whole) + root->size);
        return true;
    }
    if (path[0] == '\0' || lstat(path, &told) == 0) {
        refresh_command_report_error(
            path, "is not in a live mount of ddbfs; ddbfs status lists them", EXIT_FAILURE);
        return false;
    }
    buf_truncate(root, 0);
    buf_printf(within, "%s%s", path[0] == '/' ? "" : "/", path);
    while (within->size > 1 && within->data[within->size - 1] == '/')
        buf_truncate(within, within->size - 1);
    return control_file_find_mount(NULL, "refresh", root);
}

/* The command's exit status. */
static int refresh_command_refresh(const char *path)
{
    struct stat stat_buf;
    CLEAN_UP(buf_clean_up) struct buf root = {0}, within = {0}, request = {0};
    if (!refresh_command_find(path, &root, &within))
        return EXIT_FAILURE;
    buf_printf(&request, "%s/" CONTROL_NAME "/" CONTROL_REFRESH "%s/" CONTROL_NOW, buf_text(&root),
               buf_text(&within));
    /* The answer is that there is no such file, once the work is done. */
    int error = !request.failed && stat(buf_text(&request), &stat_buf) != 0 ? errno : EIO;
    if (error == ENOENT)
        return EXIT_SUCCESS;
    if (error == CONTROL_NO_SUCH_PATH)
        return refresh_command_report_error(
            path, "the map has no such path, so there was nothing to forget", EXIT_MISSING);
    if (error == EINVAL)
        return refresh_command_report_error(
            path, "the map refuses a name in it; ddbfs explain says why", EXIT_FAILURE);
    if (error != ENOTCONN) /* the mount lives */
        return refresh_command_report_error(path, strerror(error), EXIT_FAILURE);
    return refresh_command_report_error(
        path, "is not in a live mount of ddbfs; ddbfs status lists them", EXIT_FAILURE);
}

int refresh_command(const struct options *options, int argc, char **argv)
{
    int status = EXIT_SUCCESS;
    (void)options;
    if (argc == 0) {
        fprintf(stderr, "ddbfs: refresh needs a path; see ddbfs refresh --help\n");
        return EXIT_USAGE;
    }
    for (int i = 0; i < argc; i++) {
        int each = refresh_command_refresh(argv[i]);
        if (each != EXIT_SUCCESS && status != EXIT_FAILURE)
            status = each;
    }
    return status;
}
