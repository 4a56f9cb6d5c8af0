/* ddbfs mount: start-up, readiness, signals, shutdown. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "core/sources.h"
#include "fs/mount/account.h"
#include "fs/mount/control.h"
#include "fs/mount/failures.h"
#include "fs/mount/journal.h"
#include "fs/mount/ledger.h"
#include "fs/mount/mount.h"
#include "fs/mount/notifier.h"
#include "fs/mount/open_listing.h"
#include "fs/mount/parked.h"
#include "fs/mount/read_ahead.h"
#include "fs/mount/refresh.h"
#include "fs/mount/start.h"

/* Of --cache-size, half is for records as they came, and half for files as they are read. */
enum { CACHE_SHARES = 2 };

/* Requests taken in one round, so that answers and timers have their turn. */
enum { REQUESTS_A_ROUND = 64 };

/* How long the end waits for the notifier between two looks at what the kernel asks; after how
 * long it aborts the connection, and after how long it waits no more. */
enum { DRAIN_MS = 10, ABORT_MS = 3000, GIVE_UP_MS = 6000 };

/* What a mount is started with; all of it is borrowed. */
struct start {
    const struct options *options;
    const struct mount_options *mount;
    const char *map; /* its file; NULL: there is none */
    const char *mountpoint;
    bool mounted;      /* by somebody else: the mountpoint is /dev/fd/N, an opened /dev/fuse */
    struct buf strays; /* descriptors (int) that the caller has left open, not for a daemon */
};

/* A mount, and what its operations need not know of. */
struct daemon {
    struct mount mount;      /* first: a pointer to it is a pointer to this */
    const char *mountpoint;  /* borrowed */
    unsigned connection;     /* its number for the kernel; 0: unknown */
    struct fuse_buf buf;     /* for what the kernel sends; its memory is owned */
    struct loop_io *kernel;  /* watches for its requests; owned */
    int signal_fd;           /* owned; -1 for none */
    struct loop_io *signals; /* watches it; owned */
    int ready_fd;            /* to tell who started this that the mount answers; -1 once told */
};

static void daemon_take_requests(void *arg, uint32_t events)
{
    struct daemon *daemon = arg;
    struct mount *mount = &daemon->mount;
    int size = 1;
    (void)events;
    for (int i = 0; i < REQUESTS_A_ROUND && size > 0; i++) {
        size = fuse_session_receive_buf(mount->session, &daemon->buf);
        if (size > 0)
            fuse_session_process_buf(mount->session, &daemon->buf);
    }
    bool gone = size <= 0 && size != -EAGAIN && size != -EINTR;
    if (gone || fuse_session_exited(mount->session))
        loop_stop(mount->app->loop);
}

/* The map, read again from its file. Where there was none, one may have been written since. */
static const struct map *daemon_read_again(const struct app *app, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf found = {0};
    if (!map_is_none(app->map))
        return map_load_again(app->map->file, err);
    if (app_look_for_map(app->options, &found))
        return map_load_again(buf_text(&found), err);
    return map_ref(app->map);
}

/* Reads the map's file and the settings of profiles again, and drops what is known; the old map
 * stays when the new one is wrong, and goes when the last directory, request or open listing that
 * is of it lets go. */
static void daemon_reload(struct mount *mount)
{
    struct error why;
    struct app *app = mount->app;
    const struct map *map = daemon_read_again(app, &why);
    sources_reload(app->sources);
    if (map && !names_suit(map, &app->tree.names, &why)) {
        map_unref(map);
        map = NULL;
    }
    struct place *root = map ? place_root(map) : NULL;
    if (!root) {
        log_line(&app->log, LOG_LEVEL_ERROR, "the map stays as it was: %s",
                 map ? "out of memory" : why.text);
        map_unref(map);
    } else {
        map_unref(app->map);
        app->map = map;
        app->tree.map = map;
        nodes_relocate(mount->nodes, root, &app->tree.names);
        log_line(&app->log, LOG_LEVEL_WARNING, "%s",
                 map_is_none(map) ? "there is still no map" : "the map has been read again");
    }
    refresh_path(mount->refresh, SPAN_LITERAL("/"), NULL);
    ledger_reopen(mount->ledger);
}

static void daemon_take_signal(void *arg, uint32_t events)
{
    struct daemon *daemon = arg;
    struct mount *mount = &daemon->mount;
    struct signalfd_siginfo info;
    (void)events;
    if (read(daemon->signal_fd, &info, sizeof info) != sizeof info)
        return;
    if (info.ssi_signo == SIGHUP)
        daemon_reload(mount);
    else
        loop_stop(mount->app->loop);
}

/* Whatever signal would end the process ends the mount first, or a dead one would be left behind.
 * Not among them: what tells of a crash, and what is ignored or stops a process. */
static bool daemon_watch_signals(struct daemon *daemon)
{
    static const int others[] = {SIGABRT, SIGBUS,  SIGFPE,  SIGILL,  SIGSEGV,
                                 SIGSYS,  SIGTRAP, SIGCHLD, SIGCONT, SIGPIPE,
                                 SIGTSTP, SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        sigdelset(&set, others[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    daemon->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (daemon->signal_fd >= 0)
        daemon->signals = loop_add_io(daemon->mount.app->loop, daemon->signal_fd, EPOLLIN,
                                      daemon_take_signal, daemon);
    return daemon->signals;
}

/* Without default_permissions the kernel checks no mode at all. */
static bool daemon_new_session(struct mount *mount, const struct mount_options *options)
{
    struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
    bool ok = fuse_opt_add_arg(&args, "ddbfs") == 0 &&
              fuse_opt_add_arg(&args, "-oro,default_permissions,fsname=ddbfs,subtype=ddbfs") == 0;
    if (options->fuse.size)
        ok = ok && fuse_opt_add_arg(&args, "-o") == 0 &&
             fuse_opt_add_arg(&args, buf_text(&options->fuse)) == 0;
    if (ok)
        mount->session = fuse_session_new(&args, &mount_ops, sizeof mount_ops, mount);
    fuse_opt_free_args(&args);
    return mount->session;
}

static bool daemon_mount_session(struct mount *mount, const struct start *wanted)
{
    if (wanted->mounted)
        return fuse_session_mount(mount->session, wanted->mountpoint) == 0;
    int lock = mountpoint_lock(wanted->mountpoint);
    bool ok = lock != -1 && mountpoint_is_free(wanted->mountpoint, wanted->mount->nonempty) &&
              fuse_session_mount(mount->session, wanted->mountpoint) == 0;
    if (lock >= 0)
        close(lock);
    return ok;
}

static bool daemon_watch_kernel(struct daemon *daemon, const struct start *wanted)
{
    struct mount *mount = &daemon->mount;
    if (!daemon_mount_session(mount, wanted) || !notifier_open_session(mount->session))
        return false;
    int fd = fuse_session_fd(mount->session);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    daemon->mountpoint = wanted->mountpoint;
    daemon->connection = wanted->mounted ? 0 : notifier_connection(wanted->mountpoint);
    daemon->kernel = loop_add_io(mount->app->loop, fd, EPOLLIN, daemon_take_requests, daemon);
    mount->notifier = notifier_new(mount->app->loop);
    mount->refresh = refresh_new(mount);
    mount->ahead = read_ahead_new(mount);
    return daemon->kernel && mount->notifier && mount->refresh && mount->ahead;
}

static bool daemon_start(struct daemon *daemon, const struct start *wanted)
{
    struct mount *mount = &daemon->mount;
    struct app *app = mount->app;
    struct clock *clock = loop_clock(app->loop);
    struct place *root = place_root(app->map);
    mount->budget.limit = (size_t)app->options->cache_bytes / CACHE_SHARES;
    mount->nodes = root ? nodes_new(root, &mount->budget) : NULL;
    mount->listings = listings_new(mount);
    mount->failures = failures_new();
    mount->recent = recent_paths_new();
    mount->journal = journal_new(clock, app->options->foreground ? NULL : _PATH_LOG);
    mount->started_ms = clock->now_ms(clock);
    mount->dated_ms = clock->wall_ms(clock);
    if (!mount->nodes || !mount->listings || !mount->failures || !mount->recent ||
        !mount->journal) {
        fprintf(stderr, "ddbfs: out of memory\n");
        return false;
    }
    app->tree.names.omit_placeholders = wanted->mount->unlistable_quiet;
    /* Whoever has mounted a device that was handed over may have let others in. */
    app->tree.names.hide_secrets =
        (wanted->mount->allow_other || wanted->mounted) && !app->options->show_secrets;
    return daemon_watch_signals(daemon) && daemon_new_session(mount, wanted->mount) &&
           daemon_watch_kernel(daemon, wanted);
}

/* The notifier may wait in the kernel for look-ups that nobody would answer any more, and
 * the kernel for the thread: so all are answered until the thread is through. Should that not help,
 * the connection is aborted, which lets everybody go. */
static void daemon_drain(struct daemon *daemon)
{
    struct mount *mount = &daemon->mount;
    if (!mount->notifier)
        return;
    int64_t from_ms = mount_now_ms(mount);
    bool aborted = false;
    if (mount->refresh)
        refresh_cancel_all(mount->refresh);
    while (notifier_is_busy(mount->notifier)) {
        int64_t waited_ms = mount_now_ms(mount) - from_ms;
        if (waited_ms > GIVE_UP_MS)
            return;
        if (waited_ms > ABORT_MS && !aborted) {
            notifier_abort_connection(daemon->connection, daemon->mountpoint);
            aborted = true;
        }
        daemon_take_requests(daemon, 0);
        parked_end_all(mount, ENOTCONN);
        listings_fail_readers(mount->listings, ENOTCONN);
        notifier_wait(mount->notifier, DRAIN_MS);
    }
}

static void daemon_stop(struct daemon *daemon)
{
    struct mount *mount = &daemon->mount;
    daemon_drain(daemon);
    if (mount->notifier && notifier_is_busy(mount->notifier)) {
        fuse_session_unmount(mount->session);
        _exit(EXIT_FAILURE); /* the thread is stuck in the kernel: what it uses can't be freed */
    }
    parked_end_all(mount, ENOTCONN);
    listings_destroy(mount->listings, ENOTCONN);
    ledger_leave_loop(mount->ledger);
    loop_remove_io(daemon->kernel);
    loop_remove_io(daemon->signals);
    if (daemon->signal_fd >= 0)
        close(daemon->signal_fd);
    notifier_destroy(mount->notifier); /* it writes to the session's descriptor */
    refresh_destroy(mount->refresh);
    read_ahead_destroy(mount->ahead);
    if (mount->session)
        fuse_session_unmount(mount->session);
    if (mount->session)
        fuse_session_destroy(mount->session);
    free(daemon->buf.mem);
    nodes_destroy(mount->nodes);
    failures_destroy(mount->failures);
    recent_paths_destroy(mount->recent);
    journal_destroy(mount->journal);
}

/* In the background nothing holds a terminal, a folder, a session, or somebody else's file. */
static bool daemon_detach(const struct buf *strays)
{
    int stray;
    for (size_t at = 0; at < strays->size; at += sizeof stray) {
        memcpy(&stray, strays->data + at, sizeof stray);
        close(stray);
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool ok = null >= 0 && setsid() >= 0 && chdir("/") == 0;
    for (int fd = STDIN_FILENO; ok && fd <= STDERR_FILENO; fd++)
        ok = dup2(null, fd) >= 0;
    if (null >= 0)
        close(null);
    return ok;
}

/* The kernel has its first answer: from now on the mount answers. */
static void daemon_describe_ready(struct mount *mount)
{
    struct daemon *daemon = (struct daemon *)mount;
    if (daemon->ready_fd < 0)
        return;
    if (write(daemon->ready_fd, "", 1) != 1)
        log_line(&mount->app->log, LOG_LEVEL_WARNING, "who started the mount has gone away");
    close(daemon->ready_fd);
    daemon->ready_fd = -1;
}

static bool daemon_open_books(struct mount *mount)
{
    struct error why;
    const char *file = mount->app->options->ledger;
    if (accounts_open(mount, file, &why))
        return true;
    app_report_error(mount->app, NULL, &why);
    return false;
}

/* What is asked before anybody could ask is on the mount's own account. */
static bool daemon_request_first(struct mount *mount)
{
    struct account *account = account_new(mount, getpid(), SPAN_LITERAL("/"));
    bool ok = start_check_environments(mount->app, account ? &account->payer : NULL);
    if (account)
        account_finish(account, ok ? 0 : EIO);
    account_release(account);
    return ok;
}

static int daemon_serve(const struct start *wanted, int ready_fd)
{
    struct app app;
    const struct options *options = wanted->options;
    struct daemon daemon = {
        .mount = {.app = &app,
                  .uid = wanted->mount->uid,
                  .gid = wanted->mount->gid,
                  .umask = wanted->mount->umask,
                  .on_greeting = daemon_describe_ready},
        .signal_fd = -1,
        .ready_fd = ready_fd,
    };
    int status = EXIT_FAILURE;
    size_t cache_bytes = (size_t)options->cache_bytes / CACHE_SHARES;
    bool has_map = wanted->map ? app_init(&app, options, wanted->map, cache_bytes)
                               : app_init_any(&app, options, cache_bytes);
    if (has_map && options->hedge)
        sources_hedge(app.sources);
    if (has_map && daemon_open_books(&daemon.mount) && daemon_request_first(&daemon.mount) &&
        daemon_start(&daemon, wanted) && (options->foreground || daemon_detach(&wanted->strays))) {
        app.log.write = journal_write;
        app.log.arg = daemon.mount.journal;
        status = loop_run(app.loop) && daemon.mount.greeted ? EXIT_SUCCESS : EXIT_FAILURE;
        app.log.level = LOG_LEVEL_ERROR; /* the journal goes before the sources */
    }
    daemon_stop(&daemon);
    app_clean_up(&app);
    accounts_close(&daemon.mount); /* sources may charge until they are gone */
    return status;
}

/* Waits until the child's mount answers, or the child has failed and said why. */
static int daemon_wait_until_ready(pid_t child, int fd)
{
    char byte;
    int status;
    ssize_t size;
    do
        size = read(fd, &byte, 1);
    while (size < 0 && errno == EINTR);
    close(fd);
    if (size == 1)
        return EXIT_SUCCESS;
    waitpid(child, &status, 0);
    return EXIT_FAILURE;
}

static int daemon_serve_in_background(const struct start *wanted)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        perror("ddbfs: pipe");
        return EXIT_FAILURE;
    }
    pid_t child = fork();
    if (child < 0) {
        perror("ddbfs: fork");
        return EXIT_FAILURE;
    }
    close(ends[child == 0 ? 0 : 1]);
    return child == 0 ? daemon_serve(wanted, ends[1]) : daemon_wait_until_ready(child, ends[0]);
}

/* Finds the descriptors that whoever started this has left open, but for DEVICE: numbers (int) in
 * OUT. No program that is started from here gets any of them. */
static void daemon_find_strays(int device, struct buf *out)
{
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        int fd = atoi(entry->d_name);
        if (fd <= STDERR_FILENO || fd == dirfd(folder))
            continue;
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        if (fd != device)
            buf_add(out, &fd, sizeof fd);
    }
    if (folder)
        closedir(folder);
}

static int daemon_mount_at(const struct options *options, const struct mount_options *mount,
                           const char *mountpoint)
{
    CLEAN_UP(buf_clean_up) struct buf found = {0}, strays = {0};
    int device = mountpoint_handed_over(mountpoint);
    daemon_find_strays(device, &strays);
    if (!(device >= 0 ? mountpoint_check_device(device)
                      : mountpoint_check(mountpoint, mount->nonempty)))
        return EXIT_FAILURE;
    /* The daemon leaves this folder; it reads the map again on SIGHUP, and unmounts at its end. */
    char *map = app_look_for_map(options, &found) ? start_absolute_path(buf_text(&found)) : NULL;
    char *folder = device >= 0 ? NULL : realpath(mountpoint, NULL);
    struct start wanted = {options,
                           mount,
                           map || !found.size ? map : buf_text(&found),
                           folder ? folder : mountpoint,
                           device >= 0,
                           strays};
    if (!options->foreground)
        start_make_variables_absolute();
    int status =
        options->foreground ? daemon_serve(&wanted, -1) : daemon_serve_in_background(&wanted);
    free(folder);
    free(map);
    return status;
}

const bool mount_is_built = true;

int mount_command(const struct options *given, int argc, char **argv)
{
    struct options options = *given;
    CLEAN_UP(mount_options_clean_up) struct mount_options mount;
    bool ok = mount_options_init(&mount, &options);
    if (ok && !options_check(&options))
        return EXIT_USAGE;
    if (argc == 1 && ok)
        return daemon_mount_at(&options, &mount, argv[0]);
    if (ok)
        fprintf(stderr, "ddbfs: mount needs one mountpoint; see ddbfs mount --help\n");
    return EXIT_USAGE;
}
