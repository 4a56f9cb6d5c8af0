#include "fs/cli/live_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "fs/cli/mount_facts.h"
#include "fs/cli/mount_table.h"
#include "fs/cli/output.h"

/* A daemon that runs responds within milliseconds, also on a busy machine. */
enum { LIVE_MOUNT_DEADLINE_MS = 3000 };

static bool live_mount_find_default(const char *command, struct buf *root)
{
    CLEAN_UP(buf_clean_up) struct buf whole = {0}, mounts = {0};
    if (mount_table_resolve(".", &whole, root))
        return true;
    buf_truncate(root, 0);
    size_t count = mount_table_list(true, &mounts);
    if (count == 0)
        fprintf(stderr, "ddbfs: there is no mount of ddbfs%s; make one: ddbfs mount MOUNTPOINT\n",
                mount_table_list(false, &mounts) > 0 ? " that you or root made" : "");
    if (count > 1)
        fprintf(stderr, "ddbfs: there are several mounts; name one: ddbfs %s MOUNTPOINT\n",
                command);
    for (size_t at = 0; count > 1 && at < mounts.size; at += strlen(mounts.data + at) + 1) {
        fputs("ddbfs:   ", stderr);
        app_print_safely(mounts.data + at);
        fputc('\n', stderr);
    }
    buf_add_text(root, count == 1 ? buf_text(&mounts) : "");
    return count == 1 && !root->failed;
}

bool live_mount_find(const char *path, const char *command, struct buf *root)
{
    CLEAN_UP(buf_clean_up) struct buf whole = {0};
    if (!path)
        return live_mount_find_default(command, root);
    if (mount_table_resolve(path, &whole, root))
        return true;
    app_fail(path, "is not in a mount of ddbfs; ddbfs status lists the mounts");
    return false;
}

/* Copies the file to OUT. Returns 0 or an errno; EPERM, if the mount that the open file is in is
 * not to be trusted: a name may have been moved since it was looked up. close() may wait for the
 * daemon, too. */
static int live_mount_copy(const char *file, int out)
{
    char bytes[4096];
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !mount_table_is_trusted(mount_table_owner_of_file(fd)))
        return EPERM;
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    while (got > 0 && write(out, bytes, (size_t)got) == got)
        got = read(fd, bytes, sizeof bytes);
    int error = got < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return error;
}

/* Starts a child process that reads: a request that a daemon has received cannot be interrupted,
 * not even by SIGKILL. The child has no stream of the caller, because it may outlive the caller.
 * Returns its pid, or -1 with errno. */
static pid_t live_mount_start_reader(const char *file, int *from)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGPIPE, SIG_DFL);
        output_leave_signals();
        dup2(ends[1], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        _exit(live_mount_copy(file, STDIN_FILENO));
    }
    int error = errno;
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    *from = ends[0];
    errno = error;
    return pid;
}

/* Appends all bytes up to the end. False with errno. */
static bool live_mount_receive(int from, struct buf *out)
{
    char bytes[4096];
    struct clock *clock = clock_system();
    int64_t end_ms = clock->now_ms(clock) + LIVE_MOUNT_DEADLINE_MS;
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

bool live_mount_read(const char *root, const char *name, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf file = {0};
    int from, status = 0;
    buf_printf(&file, "%s/" CONTROL_NAME "/%s", root, name);
    if (file.failed)
        return errno = ENOMEM, false;
    signal(SIGCHLD, SIG_DFL); /* a parent may have ignored it, which would hide the status */
    pid_t pid = live_mount_start_reader(buf_text(&file), &from);
    if (pid < 0)
        return false;
    bool ok = live_mount_receive(from, out);
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

/* A mount that has ended leaves its folder empty, or not connected. */
bool live_mount_has_ended(int error, const char *root)
{
    CLEAN_UP(buf_clean_up) struct buf found = {0};
    if (error == ENOTCONN || error == ECONNABORTED || error == ENODEV)
        return true;
    return !mount_table_find(root, &found) || strcmp(buf_text(&found), root) != 0;
}

bool live_mount_check_owner(const char *root)
{
    if (mount_table_is_trusted(mount_table_owner(root)))
        return true;
    live_mount_fail(root, CONTROL_REFRESH, EPERM);
    return false;
}

/* Fills ERR with the failure ERROR of the control file NAME. Returns false. */
static bool live_mount_explain(const char *root, const char *name, int error, struct error *err)
{
    uid_t owner = mount_table_owner(root);
    bool is_denied = error == EPERM || error == EACCES;
    bool is_foreign = is_denied && !mount_table_is_trusted(owner) && owner != MOUNT_TABLE_NOBODY;
    if (is_foreign && strcmp(name, CONTROL_MOUNT) == 0)
        return error_set(
            err, ERROR_DENIED,
            "is a mount of user %u, whose settings are not used; pass --map, --profile",
            (unsigned)owner);
    if (is_foreign)
        return error_set(err, ERROR_DENIED,
                         "is a mount of user %u, whose control files are not used; run the command "
                         "as that user",
                         (unsigned)owner);
    if (live_mount_has_ended(error, root))
        return error_set(err, ERROR_INVALID, "the mount has ended; see ddbfs status");
    if (error == ETIMEDOUT)
        return error_set(err, ERROR_TIMED_OUT, "its daemon does not respond; see ddbfs status");
    if (error == EBADMSG)
        return error_set(err, ERROR_BAD_ANSWER,
                         "another version of ddbfs made the mount, and its %s cannot be read",
                         name);
    if (error == EPERM)
        return error_set(err, ERROR_DENIED,
                         "its %s is a file of a mount that covers it; unmount that one", name);
    if (error == EACCES)
        return error_set(err, ERROR_DENIED, "only the user who mounted it may read its %s", name);
    return error_set(err, ERROR_INVALID, "%s", strerror(error));
}

int live_mount_fail(const char *root, const char *name, int error)
{
    struct error why = {0};
    live_mount_explain(root, name, error, &why);
    return app_fail(root, why.text);
}

void mounted_paths_init(struct mounted_paths *mounted, const struct options *options)
{
    *mounted = (struct mounted_paths){.options = *options};
}

void mounted_paths_clean_up(struct mounted_paths *mounted)
{
    buf_clean_up(&mounted->root);
    arena_clean_up(&mounted->arena);
}

static char *mounted_paths_fail(const struct mounted_paths *mounted, const char *path,
                                const struct error *err)
{
    struct app app = {.options = &mounted->options};
    app_report_error(&app, path, err);
    return NULL;
}

/* The map is the text that the mount has read, or none. Of another user's mount nothing is taken:
 * the command line names the map, or a snapshot. */
static bool mounted_paths_join(struct mounted_paths *mounted, struct span root)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, map = {0}, name = {0};
    struct options *options = &mounted->options;
    bool has_map = options->map || options->no_map, is_mapped = false;
    struct error why = {0};
    buf_add_span(&mounted->root, root);
    const char *mountpoint = buf_text(&mounted->root), *file = CONTROL_MOUNT;
    if (!mount_table_is_trusted(mount_table_owner(mountpoint)) &&
        (has_map || options->snapshot_count))
        return true;
    int error = live_mount_read(mountpoint, file, &text) ? 0 : errno;
    if (!error && !mount_facts_apply(buf_span(&text), options, &mounted->arena, &is_mapped))
        error = EBADMSG;
    if (!error && !has_map && is_mapped) {
        file = CONTROL_MAP;
        error = live_mount_read(mountpoint, file, &map) ? 0 : errno;
        buf_printf(&name, "%s/" CONTROL_NAME "/%s", mountpoint, file);
        options->map = arena_text(&mounted->arena, buf_span(&name));
        options->map_text = arena_text(&mounted->arena, buf_span(&map));
    }
    options->no_map = options->no_map || (!has_map && !is_mapped);
    if (!error && (mounted->arena.failed || map.failed || name.failed))
        error = ENOMEM;
    if (error && !live_mount_explain(mountpoint, file, error, &why))
        mounted_paths_fail(mounted, mountpoint, &why);
    return !error;
}

char *mounted_paths_translate(struct mounted_paths *mounted, const char *path)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf whole = {0}, root = {0}, within = {0};
    bool local = path[0] == '/' || strcmp(path, ".") == 0 || strcmp(path, "..") == 0 ||
                 strncmp(path, "./", 2) == 0 || strncmp(path, "../", 3) == 0;
    bool is_mounted = local && mount_table_resolve(path, &whole, &root);
    const char *rest = is_mounted ? buf_text(&whole) + root.size : "";
    size_t control = sizeof("/" CONTROL_NAME) - 1;
    mounted->is_below = is_mounted;
    if (!is_mounted) {
        buf_add_text(&within, path);
    } else if (strncmp(rest, "/" CONTROL_NAME, control) == 0 &&
               (rest[control] == '/' || rest[control] == '\0')) {
        error_set(&why, ERROR_INVALID,
                  "is a control file of the mount at %s; read it without ddbfs", buf_text(&root));
        return mounted_paths_fail(mounted, path, &why);
    } else if (mounted->root.size > 0 && !span_equal(buf_span(&mounted->root), buf_span(&root))) {
        error_set(&why, ERROR_INVALID,
                  "is in the mount at %s, and an earlier path is in the mount at %s; a command "
                  "uses one map: name the paths of each mount in a command of their own",
                  buf_text(&root), buf_text(&mounted->root));
        return mounted_paths_fail(mounted, path, &why);
    } else {
        if (mounted->root.size == 0 && !mounted_paths_join(mounted, buf_span(&root)))
            return NULL;
        buf_add_text(&within, rest);
        bool slash = span_ends(span_text(path), SPAN_LITERAL("/"));
        buf_add_text(&within, slash || within.size == 0 ? "/" : "");
    }
    char *copy = arena_text(&mounted->arena, buf_span(&within));
    error_no_memory(&why);
    return mounted->arena.failed || within.failed ? mounted_paths_fail(mounted, path, &why) : copy;
}

/* PATH, of a mount of snapshots, as one of their newest state. NULL when memory ran out. */
static char *mounted_paths_date(struct mounted_paths *mounted, const char *path)
{
    CLEAN_UP(buf_clean_up) struct buf dated = {0};
    struct span rest = span_text(path), first;
    bool any = place_next_segment(&rest, &first);
    if (!any || span_ends(first, SPAN_LITERAL(PLACE_TIMES_ENDING)))
        return arena_text(&mounted->arena, span_text(path));
    buf_printf(&dated, "/%.*s" PLACE_TIMES_ENDING "/9999", (int)first.size, first.data);
    buf_add_span(&dated, rest);
    return dated.failed ? NULL : arena_text(&mounted->arena, buf_span(&dated));
}

/* DDBFS_SNAPSHOT, for the paths of a command that are not in the mount. NULL for none. */
static const char *mounted_paths_variable(const struct options *given)
{
    const char *value = getenv("DDBFS_SNAPSHOT");
    bool other = given->profile || given->region || given->endpoint_url;
    return value && value[0] && !other ? value : NULL;
}

/* Whether FILE is all that the mount has. */
static bool mounted_paths_has_file(const struct mounted_paths *mounted, const char *file)
{
    struct stat one, other;
    return mounted->options.snapshot_count == 1 && stat(file, &one) == 0 &&
           stat(mounted->options.snapshots[0], &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Whether PATH of the tree names a time. */
static bool mounted_paths_is_past(const char *path)
{
    struct span rest = span_text(path), first;
    bool any = place_next_segment(&rest, &first);
    return (any && span_ends(first, SPAN_LITERAL(PLACE_TIMES_ENDING))) ||
           strstr(path, "@history") != NULL;
}

/* For paths in the mount and others: the snapshots of the mount, or those of DDBFS_SNAPSHOT beside
 * a live mount, are the past, and the other paths are of the present. AT gets the path that ERR
 * concerns. */
static bool mounted_paths_mix(struct mounted_paths *mounted, const char *variable, char **paths,
                              const bool *are_below, int count, int *at, struct error *err)
{
    struct options *options = &mounted->options;
    bool is_live = options->snapshot_count == 0;
    if (is_live && !variable)
        return true;
    if (!is_live && variable && mounted_paths_has_file(mounted, variable))
        return true;
    if (!is_live && variable)
        return error_set(err, ERROR_INVALID,
                         "is of DDBFS_SNAPSHOT, and another path is of the snapshots in the mount "
                         "at %s; unset the variable, or name the paths in commands of their own",
                         buf_text(&mounted->root));
    if (is_live && !options_add_snapshot(options, variable))
        return error_no_memory(err);
    options->snapshots_are_past = true;
    for (*at = 0; *at < count; ++*at) {
        char **path = &paths[*at];
        bool is_dated = are_below[*at] != is_live;
        if (!is_dated && mounted_paths_is_past(*path))
            return error_set(err, ERROR_INVALID,
                             "is of the past, and another path is of the snapshot %s; name the "
                             "paths in commands of their own",
                             options->snapshots[0]);
        if (is_dated && !(*path = mounted_paths_date(mounted, *path)))
            return error_no_memory(err);
    }
    return true;
}

bool mounted_paths_take(struct mounted_paths *mounted, char **paths, int count)
{
    struct error why;
    struct options *options = &mounted->options;
    const char *variable = mounted_paths_variable(options);
    bool own_server = options->profile || options->region || options->endpoint_url;
    bool own = options->snapshot_count;
    bool *are_below = arena_array(&mounted->arena, (size_t)count + 1, sizeof *are_below);
    int other = -1; /* the last path that is not in the mount */
    for (int i = 0; are_below && i < count; i++) {
        char *path = mounted_paths_translate(mounted, paths[i]);
        if (!path)
            return false;
        are_below[i] = mounted->is_below;
        paths[i] = path;
        other = mounted->is_below ? other : i;
    }
    if (are_below && (own || mounted->root.size == 0))
        return true;
    if (are_below && other >= 0 &&
        mounted_paths_mix(mounted, variable, paths, are_below, count, &other, &why))
        return true;
    if (are_below && other < 0) { /* a command with its own server reads that instead */
        options->snapshot_count = own_server ? 0 : options->snapshot_count;
        return true;
    }
    if (!are_below)
        error_no_memory(&why);
    return mounted_paths_fail(mounted, paths[other < 0 ? 0 : other], &why);
}
