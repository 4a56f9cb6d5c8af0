/* Files that a mount makes when they are read, and what may be wrong with it. */
#include "fs/cli/control_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "fs/cli/app.h"
#include "fs/cli/mount_table.h"

/* A daemon that runs responds within milliseconds, also on a busy machine. */
enum { CONTROL_FILE_DEADLINE_MS = 3000 };

int control_file_report(const char *path, const char *what)
{
    fflush(stdout);
    fputs("ddbfs: ", stderr);
    app_print_safely(path);
    fprintf(stderr, ": %s\n", what);
    return EXIT_FAILURE;
}

static void control_file_report_choice(const char *command, struct span mounts)
{
    fprintf(stderr, "ddbfs: there are several mounts; say of which: ddbfs %s MOUNTPOINT\n",
            command);
    for (size_t at = 0; at < mounts.size; at += strlen(mounts.data + at) + 1) {
        fputs("ddbfs:   ", stderr);
        app_print_safely(mounts.data + at);
        fputc('\n', stderr);
    }
}

static bool control_file_find_any(const char *command, struct buf *root)
{
    CLEAN_UP(buf_clean_up) struct buf whole = {0}, mounts = {0};
    if (mount_table_resolve(".", &whole, root))
        return true;
    buf_truncate(root, 0);
    size_t count = mount_table_list(&mounts);
    if (count > 1) {
        control_file_report_choice(command, buf_span(&mounts));
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
        return control_file_find_any(command, root);
    if (mount_table_resolve(path, &whole, root))
        return true;
    control_file_report(path, "is not in a mount of ddbfs; ddbfs status lists them");
    return false;
}

/* Writes the file to OUT. 0, or an errno. Closing may wait for the daemon as well. */
static int control_file_copy(const char *file, int out)
{
    char bytes[4096];
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    while (got > 0 && write(out, bytes, (size_t)got) == got)
        got = read(fd, bytes, sizeof bytes);
    int error = got < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return error;
}

/* A process of its own reads, since a request that a daemon has received can't be interrupted, not
 * even by SIGKILL. That process holds no stream of the caller: it may outlive the caller. The pid,
 * or -1 with errno. */
static pid_t control_file_start(const char *file, int *from)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGPIPE, SIG_DFL);
        dup2(ends[1], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        _exit(control_file_copy(file, STDIN_FILENO));
    }
    int error = errno;
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    *from = ends[0];
    errno = error;
    return pid;
}

/* Appends what comes until the end. False with errno. */
static bool control_file_receive(int from, struct buf *out)
{
    char bytes[4096];
    struct clock *clock = clock_system();
    int64_t end_ms = clock->now_ms(clock) + CONTROL_FILE_DEADLINE_MS;
    struct pollfd ready = {.fd = from, .events = POLLIN};
    for (;;) {
        int64_t left_ms = end_ms - clock->now_ms(clock);
        int count = left_ms > 0 ? poll(&ready, 1, (int)left_ms) : 0;
        if (count < 0 && errno == EINTR)
            continue;
        errno = count == 0 ? ETIMEDOUT : errno;
        ssize_t got = count > 0 ? read(from, bytes, sizeof bytes) : -1;
        if (got <= 0)
            return got == 0;
        buf_add(out, bytes, (size_t)got);
    }
}

bool control_file_read(const char *file, struct buf *out)
{
    int from, status = 0;
    signal(SIGCHLD, SIG_DFL); /* a parent may leave it ignored, which would hide the status */
    pid_t pid = control_file_start(file, &from);
    if (pid < 0)
        return false;
    bool ok = control_file_receive(from, out);
    int error = errno;
    close(from);
    if (!ok)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, ok ? 0 : WNOHANG) < 0 && errno == EINTR) {
    }
    if (ok)
        error = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
    errno = out->failed ? ENOMEM : error;
    return errno == 0;
}

/* A mount that has ended leaves its folder empty, or not connected to anybody. */
bool control_file_mount_has_ended(int error, const char *root)
{
    CLEAN_UP(buf_clean_up) struct buf found = {0};
    if (error == ENOTCONN || error == ECONNABORTED || error == ENODEV)
        return true;
    return !mount_table_find(root, &found) || strcmp(buf_text(&found), root) != 0;
}

int control_file_refuse(const char *root, const char *what, int error)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (control_file_mount_has_ended(error, root))
        return control_file_report(root, "the mount has ended; ddbfs status says what to do");
    if (error == ETIMEDOUT)
        return control_file_report(root,
                                   "its daemon does not answer; ddbfs status says what to do");
    buf_printf(&text, "only who has mounted it may read its %s", what);
    return control_file_report(root, error == EACCES ? buf_text(&text) : strerror(error));
}
