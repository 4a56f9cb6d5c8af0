/* ddbfs refresh PATH…: makes a live mount forget what it knows of paths. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fs/cli/app.h"
#include "fs/cli/control_path.h"

/* Whether FOLDER is the root of a mount of ours. */
static bool is_our_root(const char *folder)
{
    struct stat stat_buf;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "%s/" CONTROL_NAME "/" CONTROL_REFRESH, folder);
    return !path.failed && stat(buf_text(&path), &stat_buf) == 0 && S_ISDIR(stat_buf.st_mode);
}

/* The absolute form of PATH, whose last segment need not be there; NULL when its folder is not. */
static char *absolute(const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole)
        return whole;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const char *slash = strrchr(path, '/');
    buf_add(&text, slash ? path : ".", slash ? (size_t)(slash - path) + (slash == path) : 1);
    char *folder = realpath(buf_text(&text), NULL);
    buf_truncate(&text, 0);
    if (folder)
        buf_printf(&text, "%s/%s", folder, slash ? slash + 1 : path);
    free(folder);
    return text.size ? buf_steal(&text, NULL) : NULL;
}

/* The mount's root is the nearest folder above that has our control files. */
static bool find_root(const char *path, size_t *root_size)
{
    char *folder = strdup(path);
    bool found = folder && is_our_root(folder);
    for (char *slash = folder ? strrchr(folder, '/') : NULL; slash && !found;
         slash = strrchr(folder, '/')) {
        *slash = '\0';
        found = is_our_root(folder);
    }
    *root_size = found ? strlen(folder) : 0;
    free(folder);
    return found;
}

static bool refresh(const char *path)
{
    struct stat stat_buf;
    size_t root_size;
    CLEAN_UP(buf_clean_up) struct buf request = {0};
    char *whole = absolute(path);
    bool found = whole && find_root(whole, &root_size);
    if (found)
        buf_printf(&request, "%.*s/" CONTROL_NAME "/" CONTROL_REFRESH "%s/" CONTROL_NOW,
                   (int)root_size, whole, whole + root_size);
    free(whole);
    if (!found) {
        fprintf(stderr, "ddbfs: %s: is not in a live mount of ddbfs\n", path);
        return false;
    }
    /* The answer is that there is no such file, once the work is done. */
    if (stat(buf_text(&request), &stat_buf) != 0 && errno == ENOENT)
        return true;
    fprintf(stderr, "ddbfs: %s: %s\n", path, strerror(errno));
    return false;
}

int refresh_command(const struct options *options, int argc, char **argv)
{
    int status = EXIT_SUCCESS;
    (void)options;
    if (argc == 0) {
        fprintf(stderr, "ddbfs: refresh needs a path in a mount; see ddbfs --help\n");
        return EXIT_USAGE;
    }
    for (int i = 0; i < argc; i++)
        if (!refresh(argv[i]))
            status = EXIT_FAILURE;
    return status;
}
