#include "fs/mount/mountpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/shell.h"
#include "fs/cli/mount_table.h"
#include "fs/mount/control.h"

/* For how long another's lock on the mountpoint is waited for: somebody who mounts there too is
 * through in less, and is told of then. */
enum { LOCK_MS = 10000, LOCK_STEP_MS = 20 };

/* The device of FUSE is the same everywhere. */
enum { FUSE_MAJOR = 10, FUSE_MINOR = 229 };

/* Whether the kernel has a mount of ours there: whoever may not look into it can't ask it. */
static bool mountpoint_is_in_table(const char *mountpoint)
{
    CLEAN_UP(buf_clean_up) struct buf root = {0};
    char *whole = realpath(mountpoint, NULL);
    bool found = whole && mount_table_find(whole, &root) && strcmp(buf_text(&root), whole) == 0;
    free(whole);
    return found;
}

/* Whether a mount there would hide entries. */
static bool mountpoint_has_entries(const char *mountpoint)
{
    DIR *folder = opendir(mountpoint);
    bool found = false;
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (folder)
        closedir(folder);
    return found;
}

bool mountpoint_is_free(const char *mountpoint, bool nonempty)
{
    CLEAN_UP(buf_clean_up) struct buf stats = {0};
    buf_printf(&stats, "%s/" CONTROL_NAME "/stats.json", mountpoint);
    bool answers = !stats.failed && access(buf_text(&stats), F_OK) == 0;
    if (!answers && errno == ENOTCONN) {
        fprintf(stderr,
                "ddbfs: %s is a mount whose daemon is gone; take it away first: "
                "ddbfs umount %s\n",
                mountpoint, mountpoint);
        return false;
    }
    bool taken = answers || mountpoint_is_in_table(mountpoint);
    bool filled = !taken && !nonempty && mountpoint_has_entries(mountpoint);
    if (taken ||
        (filled && mountpoint_is_in_table(mountpoint))) { /* another may have mounted meanwhile */
        fprintf(stderr, "ddbfs: %s is a live mount already; take it away first: ddbfs umount %s\n",
                mountpoint, mountpoint);
        return false;
    }
    if (filled)
        fprintf(stderr,
                "ddbfs: %s is not empty, and a mount hides what is in it; name an empty folder, or "
                "mount with -o nonempty\n",
                mountpoint);
    return !filled;
}

int mountpoint_lock(const char *mountpoint)
{
    int fd = open(mountpoint, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return MOUNTPOINT_NO_LOCK;
    for (int waited_ms = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; waited_ms += LOCK_STEP_MS) {
        if (waited_ms >= LOCK_MS) {
            fprintf(stderr, "ddbfs: %s is locked by another process\n", mountpoint);
            close(fd);
            return -1;
        }
        poll(NULL, 0, LOCK_STEP_MS);
    }
    return fd;
}

static void mountpoint_report_error_missing(const char *mountpoint, int error)
{
    CLEAN_UP(buf_clean_up) struct buf word = {0};
    shell_word(&word, span_text(mountpoint));
    fprintf(stderr, "ddbfs: %s: %s", mountpoint, strerror(error));
    if (error == ENOENT)
        fprintf(stderr, "; make it: mkdir %s", buf_text(&word));
    fputs("\n", stderr);
}

bool mountpoint_check(const char *mountpoint, bool nonempty)
{
    struct stat stat_buf = {0};
    if (stat(mountpoint, &stat_buf) != 0 && errno != ENOTCONN) {
        mountpoint_report_error_missing(mountpoint, errno);
        return false;
    }
    if (!mountpoint_is_free(mountpoint, nonempty))
        return false;
    if (!S_ISDIR(stat_buf.st_mode)) {
        fprintf(stderr, "ddbfs: %s is no directory\n", mountpoint);
        return false;
    }
    if (access("/dev/fuse", F_OK) != 0) {
        fprintf(stderr, "ddbfs: there is no /dev/fuse; load the module: modprobe fuse\n");
        return false;
    }
    if (geteuid() != 0 && access("/usr/bin/fusermount3", X_OK) != 0 &&
        access("/bin/fusermount3", X_OK) != 0) {
        fprintf(stderr, "ddbfs: fusermount3 is missing; install it: apt-get install fuse3\n");
        return false;
    }
    return true;
}

int mountpoint_handed_over(const char *mountpoint)
{
    char *end;
    static const char folder[] = "/dev/fd/";
    const char *digits = mountpoint + sizeof folder - 1;
    if (strncmp(mountpoint, folder, sizeof folder - 1) != 0 || *digits < '0' || *digits > '9')
        return -1;
    long fd = strtol(digits, &end, 10);
    return *end == '\0' && fd <= INT_MAX ? (int)fd : -1;
}

/* The kernel says that a device is in error as long as nothing is mounted with it. */
bool mountpoint_check_device(int fd)
{
    struct stat stat_buf;
    struct pollfd device = {.fd = fd};
    if (fstat(fd, &stat_buf) != 0 || !S_ISCHR(stat_buf.st_mode) ||
        stat_buf.st_rdev != makedev(FUSE_MAJOR, FUSE_MINOR)) {
        fprintf(stderr, "ddbfs: /dev/fd/%d is no opened /dev/fuse\n", fd);
        return false;
    }
    if (poll(&device, 1, 0) != 0) {
        fprintf(stderr,
                "ddbfs: the device /dev/fd/%d is not mounted; mount it first, with fd=%d among "
                "the options\n",
                fd, fd);
        return false;
    }
    return true;
}
