/* ddbfs umount MOUNTPOINT: takes a mount away, also one whose daemon is dead, and says who keeps
 * it when it is busy. */
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

/* Who keeps a mount busy is told by name up to so many. */
enum { MOST_HOLDERS = 5 };

/* Where the link /proc/PID/WHAT leads, when that is within MOUNTPOINT. The link is read and never
 * followed: what it leads to may not answer. */
static bool umount_leads_into(const char *pid, const char *what, const char *mountpoint,
                              struct buf *target)
{
    char link[512], path[PATH_MAX];
    size_t size = strlen(mountpoint);
    snprintf(link, sizeof link, "/proc/%s/%s", pid, what);
    ssize_t got = readlink(link, path, sizeof path);
    buf_truncate(target, 0);
    buf_add(target, path, got > 0 ? (size_t)got : 0);
    struct span there = buf_span(target);
    return span_starts(there, span_text(mountpoint)) &&
           (there.size == size || there.data[size] == '/');
}

static void umount_print_holder(const char *pid, const char *how, const char *target)
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

static bool umount_holds_a_file(const char *pid, const char *mountpoint, struct buf *target)
{
    char folder[64], what[300];
    bool holds = false;
    snprintf(folder, sizeof folder, "/proc/%.20s/fd", pid);
    DIR *fds = opendir(folder);
    struct dirent *entry;
    while (fds && !holds && (entry = readdir(fds))) {
        snprintf(what, sizeof what, "fd/%s", entry->d_name);
        holds = umount_leads_into(pid, what, mountpoint, target);
    }
    if (fds)
        closedir(fds);
    return holds;
}

/* Other users' processes can't be looked into, unless by root. */
static void umount_print_holders(const char *mountpoint)
{
    CLEAN_UP(buf_clean_up) struct buf target = {0};
    unsigned told = 0;
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    while (processes && told < MOST_HOLDERS && (entry = readdir(processes))) {
        const char *pid = entry->d_name;
        if (pid[0] < '0' || pid[0] > '9' || atol(pid) == (long)getpid())
            continue;
        bool stands = umount_leads_into(pid, "cwd", mountpoint, &target) ||
                      umount_leads_into(pid, "root", mountpoint, &target);
        bool holds = stands || umount_holds_a_file(pid, mountpoint, &target);
        if (holds)
            umount_print_holder(pid, stands ? "stands in" : "has open", buf_text(&target));
        told += holds;
    }
    if (processes)
        closedir(processes);
}

/* Whoever is not root may unmount by the help of fusermount3 alone, which says itself why not. */
static bool umount_unmount_by_helper(const char *mountpoint)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        execlp("fusermount3", "fusermount3", "-u", "--", mountpoint, (char *)NULL);
        fprintf(stderr, "ddbfs: fusermount3 is missing; install it: apt-get install fuse3\n");
        _exit(EXIT_FAILURE);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && status == 0;
}

static int umount_unmount(const char *mountpoint)
{
    bool root = geteuid() == 0;
    uid_t owner;
    if (root ? umount2(mountpoint, UMOUNT_NOFOLLOW) == 0 : umount_unmount_by_helper(mountpoint))
        return EXIT_SUCCESS;
    if (root && errno != EBUSY) {
        fprintf(stderr, "ddbfs: %s: %s\n", mountpoint, strerror(errno));
        return EXIT_FAILURE;
    }
    if (!root && mount_table_owner(mountpoint, &owner) && owner != getuid()) {
        fprintf(stderr,
                "ddbfs: %s was mounted by user %u; only that user or root can take it away\n",
                mountpoint, (unsigned)owner);
        return EXIT_FAILURE;
    }
    fprintf(stderr,
            "ddbfs: %s is still mounted; leave it, and close what is open there; "
            "fusermount3 -uz %s unmounts once that is done\n",
            mountpoint, mountpoint);
    umount_print_holders(mountpoint);
    return EXIT_FAILURE;
}

int umount_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf mountpoint = {0};
    (void)options;
    if (argc != 1) {
        fprintf(stderr, "ddbfs: umount needs one mountpoint; see ddbfs umount --help\n");
        return EXIT_USAGE;
    }
    char *path = mount_table_absolute(argv[0]);
    if (path && !mount_table_find(path, &mountpoint)) {
        free(path); /* the last segment may be a link to it */
        path = realpath(argv[0], NULL);
    }
    bool inside = path && mount_table_find(path, &mountpoint);
    int status = EXIT_FAILURE;
    if (!inside)
        fprintf(stderr, "ddbfs: %s is no mount of ddbfs; ddbfs status lists them\n", argv[0]);
    else if (strcmp(buf_text(&mountpoint), path) != 0)
        fprintf(stderr,
                "ddbfs: %s is in a mount and not its root; take that away: "
                "ddbfs umount %s\n",
                argv[0], buf_text(&mountpoint));
    else
        status = umount_unmount(path);
    free(path);
    return status;
}
