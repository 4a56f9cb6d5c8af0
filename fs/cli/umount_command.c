/* ddbfs umount MOUNTPOINT: unmounts, also after the daemon died, and lists the processes that use a
 * busy mount. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/cli/app.h"
#include "fs/cli/mount_table.h"

enum { UMOUNT_USERS = 5 }; /* processes in the list */

/* Sets TARGET to the target of the link /proc/PID/NAME. True if it is within MOUNTPOINT. The link
 * is never followed: a daemon that hangs would not respond. */
static bool umount_leads_into(const char *pid, const char *name, const char *mountpoint,
                              struct buf *target)
{
    char link[512], path[PATH_MAX];
    size_t size = strlen(mountpoint);
    snprintf(link, sizeof link, "/proc/%s/%s", pid, name);
    ssize_t got = readlink(link, path, sizeof path);
    buf_truncate(target, 0);
    buf_add(target, path, got > 0 ? (size_t)got : 0);
    struct span there = buf_span(target);
    return span_starts(there, span_text(mountpoint)) &&
           (there.size == size || there.data[size] == '/');
}

static void umount_print_user(const char *pid, const char *how, const char *target)
{
    char path[64], name[64] = "?";
    snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    FILE *comm = fopen(path, "re");
    if (comm && fgets(name, sizeof name, comm))
        name[strcspn(name, "\n")] = '\0';
    if (comm)
        fclose(comm);
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    buf_printf(&line, "ddbfs:   %s (process %s) %s %s", name, pid, how, target);
    app_print_safely(buf_text(&line));
    fputc('\n', stderr);
}

static bool umount_has_open_file(const char *pid, const char *mountpoint, struct buf *target)
{
    char folder[64], name[300];
    bool found = false;
    snprintf(folder, sizeof folder, "/proc/%.20s/fd", pid);
    DIR *fds = opendir(folder);
    struct dirent *entry;
    while (fds && !found && (entry = readdir(fds))) {
        snprintf(name, sizeof name, "fd/%s", entry->d_name);
        found = umount_leads_into(pid, name, mountpoint, target);
    }
    if (fds)
        closedir(fds);
    return found;
}

/* Only root sees the processes of other users. */
static void umount_print_users(const char *mountpoint)
{
    CLEAN_UP(buf_clean_up) struct buf target = {0};
    unsigned count = 0;
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    while (processes && count < UMOUNT_USERS && (entry = readdir(processes))) {
        const char *pid = entry->d_name;
        if (pid[0] < '0' || pid[0] > '9' || atol(pid) == (long)getpid())
            continue;
        bool inside = umount_leads_into(pid, "cwd", mountpoint, &target) ||
                      umount_leads_into(pid, "root", mountpoint, &target);
        bool uses = inside || umount_has_open_file(pid, mountpoint, &target);
        if (uses)
            umount_print_user(pid, inside ? "is in" : "has open", buf_text(&target));
        count += uses;
    }
    if (processes)
        closedir(processes);
}

/* The only way for users other than root. fusermount3 prints its own errors. */
static bool umount_unmount_by_helper(const char *mountpoint)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        execlp("fusermount3", "fusermount3", "-u", "--", mountpoint, (char *)NULL);
        fprintf(stderr, "ddbfs: fusermount3 is not installed; install it: apt-get install fuse3\n");
        _exit(EXIT_FAILURE);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && status == 0;
}

static int umount_unmount(const char *mountpoint)
{
    bool root = geteuid() == 0;
    uid_t owner = mount_table_owner(mountpoint);
    if (root ? umount2(mountpoint, UMOUNT_NOFOLLOW) == 0 : umount_unmount_by_helper(mountpoint))
        return EXIT_SUCCESS;
    if (root && errno != EBUSY) {
        fprintf(stderr, "ddbfs: %s: %s\n", mountpoint, strerror(errno));
        return EXIT_FAILURE;
    }
    if (!root && owner != MOUNT_TABLE_NOBODY && owner != getuid()) {
        fprintf(stderr, "ddbfs: %s was mounted by user %u; only that user or root can unmount it\n",
                mountpoint, (unsigned)owner);
        return EXIT_FAILURE;
    }
    if (!root && access("/etc/mtab", F_OK) != 0) {
        fprintf(stderr, "ddbfs: fusermount3 needs /etc/mtab, which does not exist; as root: "
                        "ln -s /proc/self/mounts /etc/mtab\n");
        return EXIT_FAILURE;
    }
    fprintf(stderr,
            "ddbfs: %s is busy; close its files and leave its directories, or unmount it when it "
            "is no longer used: fusermount3 -uz %s\n",
            mountpoint, mountpoint);
    umount_print_users(mountpoint);
    return EXIT_FAILURE;
}

int umount_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf mountpoint = {0};
    (void)options;
    if (argc != 1)
        return app_usage("umount needs one mountpoint", "umount");
    char *path = mount_table_absolute(argv[0]);
    if (path && !mount_table_find(path, &mountpoint)) {
        free(path); /* the last segment may be a link to the mount */
        path = realpath(argv[0], NULL);
    }
    bool inside = path && mount_table_find(path, &mountpoint);
    int status = EXIT_FAILURE;
    if (!inside)
        fprintf(stderr, "ddbfs: %s is no mount of ddbfs; ddbfs status lists the mounts\n", argv[0]);
    else if (strcmp(buf_text(&mountpoint), path) != 0)
        fprintf(stderr, "ddbfs: %s is below a mountpoint; unmount that: ddbfs umount %s\n", argv[0],
                buf_text(&mountpoint));
    else
        status = umount_unmount(path);
    free(path);
    return status;
}
