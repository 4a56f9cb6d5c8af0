/* Files that a mount makes when they are read, and what may be wrong with it. */
#include "fs/cli/control_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/cli/app.h"
#include "fs/cli/mounts.h"

int control_file_complain(const char *path, const char *what)
{
    fflush(stdout);
    fputs("ddbfs: ", stderr);
    app_print_safely(path);
    fprintf(stderr, ": %s\n", what);
    return EXIT_FAILURE;
}

static void complain_of_choice(const char *command, struct span mounts)
{
    fprintf(stderr, "ddbfs: there are several mounts; say of which: ddbfs %s MOUNTPOINT\n",
            command);
    for (size_t at = 0; at < mounts.size; at += strlen(mounts.data + at) + 1) {
        fputs("ddbfs:   ", stderr);
        app_print_safely(mounts.data + at);
        fputc('\n', stderr);
    }
}

static bool find_any(const char *command, struct buf *root)
{
    CLEAN_UP(buf_clean_up) struct buf whole = {0}, mounts = {0};
    if (mounts_resolve(".", &whole, root))
        return true;
    buf_truncate(root, 0);
    size_t count = mounts_list(&mounts);
    if (count > 1) {
        complain_of_choice(command, buf_span(&mounts));
        return false;
    }
    buf_add_text(root, buf_text(&mounts));
    if (count == 1 && !root->failed)
        return true;
    fputs("ddbfs: there is no mount of ddbfs here; make one: ddbfs mount MOUNTPOINT\n", stderr);
    return false;
}

bool control_file_find_mount(const char *path, const char *command, struct buf *root)
{
    CLEAN_UP(buf_clean_up) struct buf whole = {0};
    if (!path)
        return find_any(command, root);
    if (mounts_resolve(path, &whole, root))
        return true;
    control_file_complain(path, "is not in a mount of ddbfs; ddbfs status lists them");
    return false;
}

bool control_file_read(const char *file, struct buf *out)
{
    char bytes[4096];
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    for (; got > 0; got = read(fd, bytes, sizeof bytes))
        buf_add(out, bytes, (size_t)got);
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = out->failed ? ENOMEM : error;
    return got == 0 && !out->failed;
}

/* A mount that has ended leaves its folder empty, or not connected to anybody. */
bool control_file_mount_has_ended(int error, const char *root)
{
    CLEAN_UP(buf_clean_up) struct buf found = {0};
    if (error == ENOTCONN || error == ECONNABORTED || error == ENODEV)
        return true;
    return !mounts_find(root, &found) || strcmp(buf_text(&found), root) != 0;
}

int control_file_refuse(const char *root, const char *what, int error)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (control_file_mount_has_ended(error, root))
        return control_file_complain(root, "the mount has ended; ddbfs status says what to do");
    buf_printf(&text, "only who has mounted it may read its %s", what);
    return control_file_complain(root, error == EACCES ? buf_text(&text) : strerror(error));
}
