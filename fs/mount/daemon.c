/* ddbfs mount: the process of a mount, its signals, and its end. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "core/sources.h"
#include "core/stored_map.h"
#include "fs/mount/account.h"
#include "fs/mount/changes.h"
#include "fs/mount/control.h"
#include "fs/mount/failures.h"
#include "fs/mount/journal.h"
#include "fs/mount/ledger.h"
#include "fs/mount/notifier.h"
#include "fs/mount/open_listing.h"
#include "fs/mount/parked.h"
#include "fs/mount/polls.h"
#include "fs/mount/read_ahead.h"
#include "fs/mount/refresh.h"
#include "fs/mount/spooled.h"
#include "fs/mount/start.h"

/* Of --cache-size, half is for responses, and half for files. */
enum { CACHE_SHARES = 2 };

/* The most requests of the kernel in one round, so that responses and timers have their turn. */
enum { REQUESTS_A_ROUND = 64 };

/* At the end: the pause between two looks for requests while the notifier is busy; the time until
 * the connection is aborted, and until the end waits no longer. */
enum { DRAIN_MS = 10, ABORT_MS = 3000, GIVE_UP_MS = 6000 };

/* The arguments of a mount; all borrowed. */
struct daemon_start {
    const struct options *options;
    const struct mount_options *mount;
    const char *map; /* its file; NULL: there is no map */
    const char *mountpoint;
    bool is_mounted;   /* by another process: the mountpoint is /dev/fd/N, an open /dev/fuse */
    struct buf strays; /* inherited descriptors (int), which a daemon closes */
};

struct daemon {
    struct mount mount;      /* first: a pointer to it is a pointer to this */
    const char *mountpoint;  /* borrowed */
    unsigned connection;     /* its number for the kernel; 0: unknown */
    struct fuse_buf buf;     /* for requests of the kernel; its memory is owned */
    struct loop_io *kernel;  /* owned */
    int signal_fd;           /* owned; -1: none */
    struct loop_io *signals; /* owned */
    int ready_fd;            /* one byte means to the parent process: the mount is live; -1: sent */
};

static void daemon_on_request(void *arg, uint32_t events)
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

/* The map of the same file. A mount without a map looks for one again. */
static const struct map *daemon_load_map_again(const struct app *app, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf found = {0};
    if (!map_is_none(app->map))
        return stored_map_load_again(app->map->file, app->map->is_stored, err);
    if (app_look_for_map(app->options, &found))
        return stored_map_load_again(buf_text(&found),
                                     app_map_is_of_snapshot(app->options, buf_text(&found)), err);
    return map_ref(app->map);
}

/* Reads the map and the settings of profiles again, and drops all cached data. If the new map is
 * wrong, the old one stays. An old map is freed with the last directory, request or listing that
 * uses it. */
static void daemon_reload(struct mount *mount)
{
    struct error why;
    struct app *app = mount->app;
    const struct map *map = daemon_load_map_again(app, &why);
    sources_reload(app->sources);
    if (map && !names_suit(map, &app->tree.names, &why)) {
        map_unref(map);
        map = NULL;
    }
    struct place *root = map ? place_root(map) : NULL;
    if (!root) {
        log_line(&app->log, LOG_LEVEL_ERROR,
                 "the map can't be read again: %s; the old map stays in use",
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

static void daemon_on_signal(void *arg, uint32_t events)
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

/* Each signal that would end the process ends the mount first: otherwise a dead mount would remain.
 * Exceptions: signals of a crash, ignored signals, and those that stop a process. An ignored signal
 * must not be blocked: it would end the mount. The one of a file's size is ignored by spooled.c. */
static bool daemon_watch_signals(struct daemon *daemon)
{
    static const int others[] = {SIGABRT, SIGBUS,  SIGFPE,   SIGILL,  SIGSEGV, SIGSYS,
                                 SIGTRAP, SIGCHLD, SIGCONT,  SIGPIPE, SIGTSTP, SIGTTIN,
                                 SIGTTOU, SIGURG,  SIGWINCH, SIGXFSZ};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        sigdelset(&set, others[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    daemon->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (daemon->signal_fd >= 0)
        daemon->signals = loop_add_io(daemon->mount.app->loop, daemon->signal_fd, EPOLLIN,
                                      daemon_on_signal, daemon);
    return daemon->signals;
}

/* Without default_permissions the kernel would check no mode. */
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

static bool daemon_mount_session(struct daemon *daemon, const struct daemon_start *start)
{
    struct mount *mount = &daemon->mount;
    int lock = start->is_mounted ? MOUNTPOINT_NO_LOCK : mountpoint_lock(start->mountpoint);
    bool ok = start->is_mounted ||
              (lock != -1 && mountpoint_is_free(start->mountpoint, start->mount->nonempty));
    ok = ok && fuse_session_mount(mount->session, start->mountpoint) == 0;
    if (lock >= 0)
        close(lock);
    if (!ok || !notifier_open_session(mount->session))
        return false;
    int fd = fuse_session_fd(mount->session);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    daemon->mountpoint = start->mountpoint;
    daemon->connection = start->is_mounted ? 0 : notifier_connection(start->mountpoint);
    daemon->kernel = loop_add_io(mount->app->loop, fd, EPOLLIN, daemon_on_request, daemon);
    mount->notifier = notifier_new(mount->app->loop);
    mount->refresh = refresh_new(mount);
    mount->ahead = read_ahead_new(mount);
    return daemon->kernel && mount->notifier && mount->refresh && mount->ahead;
}

/* Of a page, at once: as many as two replies to the kernel hold. */
enum { PART_ITEMS = 300 };

static bool daemon_mount(struct daemon *daemon, const struct daemon_start *start)
{
    struct mount *mount = &daemon->mount;
    struct app *app = mount->app;
    struct clock *clock = loop_clock(app->loop);
    struct place *root = place_root(app->map);
    app->tree.part_items = PART_ITEMS;
    mount->budget.limit = (size_t)app->options->cache_bytes / CACHE_SHARES;
    mount->nodes = root ? nodes_new(root, &mount->budget) : NULL;
    mount->listings = listings_new(mount);
    mount->changes = changes_new(mount);
    mount->failures = failures_new();
    mount->recent = recent_paths_new();
    mount->journal = journal_new(clock, app->options->foreground ? NULL : _PATH_LOG);
    mount->started_ms = clock->now_ms(clock);
    mount->dated_ms = clock->wall_ms(clock);
    if (!mount->nodes || !mount->listings || !mount->changes || !mount->failures ||
        !mount->recent || !mount->journal) {
        fprintf(stderr, "ddbfs: out of memory\n");
        return false;
    }
    app->tree.names.opens_probed = false;
    app->tree.names.omit_placeholders = start->mount->unlistable_quiet;
    /* The process that mounted the device may have admitted other users. */
    app->tree.names.hide_secrets =
        (start->mount->allow_other || start->is_mounted) && !app->options->show_secrets;
    return daemon_watch_signals(daemon) && daemon_new_session(mount, start->mount) &&
           daemon_mount_session(daemon, start);
}

/* The notifier may wait in the kernel for look-ups that the mount no longer serves. So requests are
 * failed until the notifier is idle. As the last resort the connection is aborted, which releases
 * all callers. */
static void daemon_drain(struct daemon *daemon)
{
    struct mount *mount = &daemon->mount;
    if (!mount->notifier)
        return;
    int64_t since_ms = mount_now_ms(mount);
    bool is_aborted = false;
    if (mount->refresh)
        refresh_cancel_all(mount->refresh);
    while (notifier_is_busy(mount->notifier)) {
        int64_t waited_ms = mount_now_ms(mount) - since_ms;
        if (waited_ms > GIVE_UP_MS)
            return;
        if (waited_ms > ABORT_MS && !is_aborted) {
            notifier_abort_connection(daemon->connection, daemon->mountpoint);
            is_aborted = true;
        }
        daemon_on_request(daemon, 0);
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
        _exit(EXIT_FAILURE); /* the thread still uses the session and cannot be ended */
    }
    parked_end_all(mount, ENOTCONN);
    changes_destroy(mount->changes);
    listings_destroy(mount->listings, ENOTCONN);
    polls_leave_loop(mount->polls);
    accounts_leave_loop(mount);
    loop_remove_io(daemon->kernel);
    loop_remove_io(daemon->signals);
    if (daemon->signal_fd >= 0)
        close(daemon->signal_fd);
    notifier_destroy(mount->notifier); /* it writes to the session's descriptor */
    refresh_destroy(mount->refresh);
    read_ahead_destroy(mount->ahead);
    spooled_destroy(mount->spooled);
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

/* A daemon holds no terminal, directory, session, or inherited file. */
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

static void daemon_on_greeting(struct mount *mount)
{
    struct daemon *daemon = (struct daemon *)mount;
    if (daemon->ready_fd < 0)
        return;
    if (write(daemon->ready_fd, "", 1) != 1)
        log_line(&mount->app->log, LOG_LEVEL_WARNING,
                 "the process that started the mount has ended");
    close(daemon->ready_fd);
    daemon->ready_fd = -1;
}

static bool daemon_open_spool(struct mount *mount)
{
    struct error why;
    mount->spooled = spooled_new(mount, mount->app->options->spool, &why);
    if (!mount->spooled)
        app_report_error(mount->app, NULL, &why);
    return mount->spooled;
}

/* Opens the accounts. The first requests are on an account of the mount itself. */
static bool daemon_check_environments(struct mount *mount)
{
    struct error why;
    if (!accounts_open(mount, mount->app->options->ledger, &why)) {
        app_report_error(mount->app, NULL, &why);
        return false;
    }
    mount->polls = polls_new(mount);
    struct account *account = account_new(mount, getpid(), SPAN_LITERAL("/"));
    bool ok = start_check_environments(mount->app, account ? &account->payer : NULL);
    if (account)
        account_finish(account, ok ? 0 : EIO);
    account_release(account);
    return ok;
}

/* The memory of a page's body is used for the next one: a block that returns to the system is
 * cleared by it again. Holes that pages leave return at the end of a listing (open_listing_become).
 * Larger blocks, of batches, return at once. */
enum { LARGE_BLOCK = 2 << 20 };

static int daemon_serve(const struct daemon_start *start, int ready_fd)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
    struct app app;
    const struct options *options = start->options;
    struct daemon daemon = {
        .mount = {.app = &app,
                  .uid = start->mount->uid,
                  .gid = start->mount->gid,
                  .umask = start->mount->umask,
                  .on_greeting = daemon_on_greeting},
        .signal_fd = -1,
        .ready_fd = ready_fd,
    };
    int status = EXIT_FAILURE;
    size_t cache_bytes = (size_t)options->cache_bytes / CACHE_SHARES;
    bool has_app = start->map ? app_init(&app, options, start->map, cache_bytes)
                              : app_init_any(&app, options, cache_bytes);
    if (has_app && options->hedge)
        sources_hedge(app.sources);
    if (has_app && daemon_open_spool(&daemon.mount) && daemon_check_environments(&daemon.mount) &&
        daemon_mount(&daemon, start) && (options->foreground || daemon_detach(&start->strays))) {
        app.log.write = journal_write;
        app.log.arg = daemon.mount.journal;
        status = loop_run(app.loop) && daemon.mount.greeted ? EXIT_SUCCESS : EXIT_FAILURE;
        if (!sources_end_recording(app.sources)) /* the journal gets the reason */
            status = EXIT_FAILURE;
        app.log.level = LOG_LEVEL_ERROR; /* the journal goes before the sources */
    }
    daemon_stop(&daemon);
    app_clean_up(&app);
    polls_destroy(daemon.mount.polls);
    accounts_close(&daemon.mount); /* sources charge accounts until they end */
    return status;
}

/* Forks; the parent waits until the child's mount is live, or the child has printed an error. */
static int daemon_serve_in_background(const struct daemon_start *start)
{
    int ends[2], status;
    char byte;
    ssize_t size;
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
    if (child == 0)
        return daemon_serve(start, ends[1]);
    do
        size = read(ends[0], &byte, 1);
    while (size < 0 && errno == EINTR);
    close(ends[0]);
    if (size == 1)
        return EXIT_SUCCESS;
    waitpid(child, &status, 0);
    return EXIT_FAILURE;
}

/* Finds the descriptors that this process has inherited, except DEVICE: numbers (int) in OUT. No
 * child process gets any of them. */
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
    int device = mountpoint_device(mountpoint);
    daemon_find_strays(device, &strays);
    if (!(device >= 0 ? mountpoint_check_device(device)
                      : mountpoint_check(mountpoint, mount->nonempty)))
        return EXIT_FAILURE;
    /* The daemon leaves this directory; it reads the map again on SIGHUP, and unmounts at its end.
     */
    char *map = app_look_for_map(options, &found) ? start_absolute_path(buf_text(&found)) : NULL;
    char *folder = device >= 0 ? NULL : realpath(mountpoint, NULL);
    struct daemon_start start = {.options = options,
                                 .mount = mount,
                                 .map = map || !found.size ? map : buf_text(&found),
                                 .mountpoint = folder ? folder : mountpoint,
                                 .is_mounted = device >= 0,
                                 .strays = strays};
    if (!options->foreground)
        start_make_variables_absolute();
    int status =
        options->foreground ? daemon_serve(&start, -1) : daemon_serve_in_background(&start);
    free(folder);
    free(map);
    return status;
}

const bool mount_is_built = true;

/* Relative names of snapshots and of the recording become absolute: a daemon leaves this directory,
 * and commands below the mount have another. TEXTS owns them. False when memory ran out. */
static bool daemon_take_snapshots(struct options *options, struct buf *texts)
{
    const char *variable = options_snapshot_variable(options);
    if (variable && !options_add_snapshot(options, variable))
        return false;
    for (unsigned i = 0; i < options->snapshot_count; i++) {
        char *path = start_absolute_path(options->snapshots[i]);
        if (!path)
            return false;
        buf_add(texts, &path, sizeof path);
        options->snapshots[i] = path;
    }
    char *record = options->record ? start_absolute_path(options->record) : NULL;
    if (options->record && !record)
        return false;
    if (record)
        buf_add(texts, &record, sizeof record);
    options->record = record;
    return !texts->failed;
}

static bool daemon_refuse_snapshots(void)
{
    fprintf(stderr, "ddbfs: at most %d snapshots are mounted together; name a folder instead\n",
            OPTIONS_SNAPSHOTS);
    return false;
}

static void daemon_refuse_operands(int count, char **operands)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct stat status;
    const char *file = NULL;
    for (int i = 0; i < count && !file; i++)
        if (stat(operands[i], &status) == 0 && S_ISREG(status.st_mode))
            file = operands[i];
    buf_add_text(&text, "mount needs one mountpoint");
    if (file)
        buf_printf(&text, "; to mount the snapshot or recording %s: --snapshot %s", file, file);
    app_usage(buf_text(&text), "mount");
}

int mount_command(const struct options *given, int argc, char **argv)
{
    struct options options = *given;
    CLEAN_UP(mount_options_clean_up) struct mount_options mount;
    bool ok = mount_options_init(&mount, &options);
    /* As in --snapshot *.ddb MOUNTPOINT. */
    for (; ok && argc > 1 && options.snapshot_count > 0; argc--)
        ok = options_add_snapshot(&options, *argv++) || daemon_refuse_snapshots();
    ok = ok && daemon_take_snapshots(&options, &mount.texts);
    if (ok && !options_check(&options))
        return EXIT_USAGE;
    if (argc == 1 && ok)
        return daemon_mount_at(&options, &mount, argv[0]);
    if (ok)
        daemon_refuse_operands(argc, argv);
    return EXIT_USAGE;
}
