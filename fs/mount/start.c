#include "fs/mount/start.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/ascii.h"
#include "core/base/nearest.h"
#include "core/base/printable.h"
#include "core/base/shell.h"
#include "core/sources.h"
#include "fs/cli/live_mount.h"
#include "fs/cli/mount_table.h"

/* The words of -o that libfuse knows; with an equals sign if they take a value. */
static const char *const words_of_fuse[] = {
    "allow_other",   "auto_unmount", "debug",       "default_permissions",
    "dirsync",       "symfollow",    "nosymfollow", "norelatime",
    "nostrictatime", "fsname=",      "subtype=",    "blksize=",
    "user=",         "context=",     "fscontext=",  "defcontext=",
    "rootcontext=",
};

static bool mount_options_is_for_fuse(struct span word)
{
    for (size_t i = 0; i < sizeof words_of_fuse / sizeof words_of_fuse[0]; i++) {
        struct span known = span_text(words_of_fuse[i]);
        if (span_equal(word, known) ||
            (span_ends(known, SPAN_LITERAL("=")) && span_starts(word, known)))
            return true;
    }
    return false;
}

/* Words of mount(8) and of fstab that have no effect on a read-only FUSE mount. */
static bool mount_options_is_ignored(struct span word)
{
    static const char *const words[] = {
        "auto",    "noauto",   "defaults",   "user",   "nouser", "users", "owner",
        "group",   "nofail",   "_netdev",    "rw",     "ro",     "suid",  "nosuid",
        "dev",     "nodev",    "exec",       "noexec", "async",  "sync",  "atime",
        "noatime", "relatime", "nodiratime", "silent", "loud",
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (span_is(word, words[i]))
            return true;
    return span_starts(word, SPAN_LITERAL("x-")) || span_starts(word, SPAN_LITERAL("comment="));
}

static bool mount_options_report_error(struct span word, const char *why)
{
    fprintf(stderr, "ddbfs: -o %.*s %s\n", (int)word.size, word.data, why);
    return false;
}

static struct span mount_options_name_of(struct span word)
{
    const char *equals = memchr(word.data, '=', word.size);
    return equals ? span_of(word.data, (size_t)(equals - word.data)) : word;
}

static bool mount_options_report_unknown(struct span word)
{
    static const char *const own[] = {"uid", "gid", "umask", "unlistable", "nonempty"};
    CLEAN_UP(buf_clean_up) struct buf why = {0}, safe = {0};
    struct nearest nearest = nearest_to(mount_options_name_of(word));
    options_offer(&nearest);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        nearest_offer(&nearest, span_text(own[i]));
    for (size_t i = 0; i < sizeof words_of_fuse / sizeof words_of_fuse[0]; i++)
        nearest_offer(&nearest, mount_options_name_of(span_text(words_of_fuse[i])));
    if (span_equal(nearest.best, word)) {
        buf_add_text(&why, "needs a value: NAME=VALUE");
    } else {
        buf_add_text(&why, "is not an option of mount");
        nearest_write(&nearest, &why);
        buf_add_text(&why, "; see ddbfs mount --help");
    }
    printable_add(&safe, word, "");
    return mount_options_report_error(buf_span(&safe), buf_text(&why));
}

/* uid=, gid= and umask=: *IS_KNOWN. False after a message. */
static bool mount_options_set_mode(struct mount_options *mount, struct span word, bool *is_known)
{
    bool is_uid = span_starts(word, SPAN_LITERAL("uid=")),
         is_gid = span_starts(word, SPAN_LITERAL("gid=")),
         is_umask = span_starts(word, SPAN_LITERAL("umask="));
    char text[16], *end = text;
    unsigned long number = 0;
    *is_known = is_uid || is_gid || is_umask;
    if (!*is_known)
        return true;
    struct span value = span_from(word, mount_options_name_of(word).size + 1);
    if (value.size > 0 && value.size < sizeof text && ascii_is_digit(value.data[0])) {
        memcpy(text, value.data, value.size);
        text[value.size] = '\0';
        number = strtoul(text, &end, is_umask ? 8 : 10);
    }
    if (end == text || *end != '\0' || number >= UINT32_MAX)
        return mount_options_report_error(word, "is not a number");
    if (is_uid)
        mount->uid = (uid_t)number;
    else if (is_gid)
        mount->gid = (gid_t)number;
    else
        mount->umask = (mode_t)number & 0777;
    return true;
}

/* An option of ddbfs, as on the command line but without the dashes: *IS_KNOWN. False after a
 * message. */
static bool mount_options_set_own(struct mount_options *mount, struct options *options,
                                  struct span word, bool *is_known)
{
    struct span name = mount_options_name_of(word);
    bool has_value = name.size < word.size;
    struct span value = has_value ? span_from(word, name.size + 1) : span_text("");
    char *text = strndup(value.data, value.size);
    if (!text)
        return false;
    enum options_outcome outcome = options_set(options, name, has_value ? text : NULL);
    *is_known = outcome != OPTIONS_UNKNOWN;
    if (outcome == OPTIONS_SET)
        buf_add(&mount->texts, &text, sizeof text); /* the options point to it */
    else
        free(text);
    if (outcome == OPTIONS_WRONG && !has_value)
        return mount_options_report_error(word, "needs a value: NAME=VALUE");
    return outcome != OPTIONS_WRONG || mount_options_report_error(word, "has an invalid value");
}

static bool mount_options_parse_word(struct mount_options *mount, struct options *options,
                                     struct span word)
{
    bool is_known = false, ok;
    if (word.size == 0 || mount_options_is_ignored(word))
        return true;
    if (span_is(word, "unlistable=quiet"))
        return mount->unlistable_quiet = true;
    if (span_is(word, "nonempty"))
        return mount->nonempty = true;
    ok = mount_options_set_mode(mount, word, &is_known);
    if (is_known)
        return ok;
    if (span_starts(word, SPAN_LITERAL("max_read="))) /* libfuse would end the session with it */
        return mount_options_report_error(word, "does not work with ddbfs");
    /* ddbfs refresh and umount find its mounts by their type; with blkdev that is fuseblk. */
    if ((span_starts(word, SPAN_LITERAL("subtype=")) && !span_is(word, "subtype=ddbfs")) ||
        span_is(word, "blkdev"))
        return mount_options_report_error(
            word, "does not work with ddbfs, which finds its mounts by their type");
    /* libfuse checks the caller of each request, but the kernel's cache serves all users. */
    if (span_is(word, "allow_root"))
        return mount_options_report_error(
            word, "would admit all users, not only root; to admit them, use allow_other");
    ok = mount_options_set_own(mount, options, word, &is_known);
    if (!ok || is_known)
        return ok;
    if (!mount_options_is_for_fuse(word))
        return mount_options_report_unknown(word);
    mount->allow_other = mount->allow_other || span_is(word, "allow_other");
    buf_printf(&mount->fuse, "%s%.*s", mount->fuse.size ? "," : "", (int)word.size, word.data);
    return !mount->fuse.failed;
}

bool mount_options_init(struct mount_options *mount, struct options *options)
{
    *mount = (struct mount_options){.uid = getuid(), .gid = getgid()};
    for (unsigned i = 0; i < options->fuse_option_count; i++) {
        struct span rest = span_text(options->fuse_options[i]);
        while (rest.size > 0) {
            const char *comma = memchr(rest.data, ',', rest.size);
            struct span word = comma ? span_of(rest.data, (size_t)(comma - rest.data)) : rest;
            if (!mount_options_parse_word(mount, options, word))
                return false;
            rest = span_from(rest, word.size + (comma ? 1 : 0));
        }
    }
    return true;
}

void mount_options_clean_up(struct mount_options *mount)
{
    char *text;
    for (size_t at = 0; at < mount->texts.size; at += sizeof text) {
        memcpy(&text, mount->texts.data + at, sizeof text);
        free(text);
    }
    buf_clean_up(&mount->texts);
    buf_clean_up(&mount->fuse);
}

/* How long another process may hold the lock on the mountpoint. One that mounts there needs less,
 * and its mount is reported afterwards. */
enum { LOCK_MS = 10000, LOCK_STEP_MS = 20 };

/* The numbers of /dev/fuse are the same everywhere. */
enum { FUSE_MAJOR = 10, FUSE_MINOR = 229 };

/* Whether the kernel has a mount of ddbfs there; also for a user who may not look into it. */
static bool mountpoint_is_in_table(const char *mountpoint)
{
    CLEAN_UP(buf_clean_up) struct buf root = {0};
    char *whole = realpath(mountpoint, NULL);
    bool found = whole && mount_table_find(whole, &root) && strcmp(buf_text(&root), whole) == 0;
    free(whole);
    return found;
}

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

/* The kernel's cache may make a dead mount look alive, so a name is looked up that it caches for a
 * moment only. */
bool mountpoint_is_free(const char *mountpoint, bool nonempty)
{
    CLEAN_UP(buf_clean_up) struct buf stats = {0};
    buf_printf(&stats, "%s/" CONTROL_NAME "/stats.json", mountpoint);
    bool responds = !stats.failed && access(buf_text(&stats), F_OK) == 0;
    if (!responds && errno == ENOTCONN) {
        fprintf(stderr,
                "ddbfs: %s is a mount whose daemon has ended; unmount it first: ddbfs umount %s\n",
                mountpoint, mountpoint);
        return false;
    }
    bool is_taken = responds || mountpoint_is_in_table(mountpoint);
    bool is_filled = !is_taken && !nonempty && mountpoint_has_entries(mountpoint);
    /* another process may have mounted between the two checks */
    if (is_taken || (is_filled && mountpoint_is_in_table(mountpoint))) {
        fprintf(stderr, "ddbfs: %s is a live mount already; unmount it first: ddbfs umount %s\n",
                mountpoint, mountpoint);
        return false;
    }
    if (is_filled)
        fprintf(stderr,
                "ddbfs: %s is not empty, and a mount hides its entries; use an empty directory, or "
                "-o nonempty\n",
                mountpoint);
    return !is_filled;
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

bool mountpoint_check(const char *mountpoint, bool nonempty)
{
    struct stat stat_buf = {0};
    if (stat(mountpoint, &stat_buf) != 0 && errno != ENOTCONN) {
        bool is_absent = errno == ENOENT;
        CLEAN_UP(buf_clean_up) struct buf word = {0};
        fprintf(stderr, "ddbfs: %s: %s", mountpoint, strerror(errno));
        shell_word(&word, span_text(mountpoint));
        if (is_absent)
            fprintf(stderr, "; make it: mkdir %s", buf_text(&word));
        fputs("\n", stderr);
        return false;
    }
    if (!mountpoint_is_free(mountpoint, nonempty))
        return false;
    if (!S_ISDIR(stat_buf.st_mode)) {
        fprintf(stderr, "ddbfs: %s is not a directory\n", mountpoint);
        return false;
    }
    if (access("/dev/fuse", F_OK) != 0) {
        fprintf(stderr, "ddbfs: there is no /dev/fuse; load the module: modprobe fuse\n");
        return false;
    }
    if (geteuid() != 0 && access("/usr/bin/fusermount3", X_OK) != 0 &&
        access("/bin/fusermount3", X_OK) != 0) {
        fprintf(stderr, "ddbfs: fusermount3 is not installed; install it: apt-get install fuse3\n");
        return false;
    }
    return true;
}

int mountpoint_device(const char *mountpoint)
{
    char *end;
    static const char folder[] = "/dev/fd/";
    const char *digits = mountpoint + sizeof folder - 1;
    if (strncmp(mountpoint, folder, sizeof folder - 1) != 0 || *digits < '0' || *digits > '9')
        return -1;
    long fd = strtol(digits, &end, 10);
    return *end == '\0' && fd <= INT_MAX ? (int)fd : -1;
}

/* The kernel reports an error for a device until it is mounted. */
bool mountpoint_check_device(int fd)
{
    struct stat stat_buf;
    struct pollfd device = {.fd = fd};
    if (fstat(fd, &stat_buf) != 0 || !S_ISCHR(stat_buf.st_mode) ||
        stat_buf.st_rdev != makedev(FUSE_MAJOR, FUSE_MINOR)) {
        fprintf(stderr, "ddbfs: /dev/fd/%d is not an open /dev/fuse\n", fd);
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

/* How long the mount waits for other environments when one has responded. The others get a new
 * request when a program looks into them. */
enum { GRACE_MS = 3 * 1000 };

enum start_call_state { START_CALL_UNDER_WAY, START_CALL_OK, START_CALL_FAILED };

struct start_call {
    struct start_check *check;
    const struct map_environment *environment; /* NULL without a map */
    struct source *source;
    struct read *read;        /* owned */
    struct source_call *call; /* owned; ended after the report */
    enum start_call_state state;
    struct error err; /* of a failure, or of a response that permits the mount */
};

struct start_check {
    struct app *app;
    struct payer *payer;      /* borrowed; may be NULL */
    struct start_call *calls; /* owned */
    size_t count;
    size_t under_way;
    size_t ok;
    struct loop_timer *grace; /* runs from the first response on */
};

static void start_on_grace(void *arg)
{
    struct start_check *check = arg;
    check->grace = NULL;
    loop_stop(check->app->loop);
}

/* An authenticated user without this permission, or without this table, may have others: the mount
 * is useful all the same. So is one with more tables than --max-entries, and a recording without
 * this table. */
static void start_on_response(void *arg, const struct page *page, const struct error *err)
{
    struct start_call *call = arg;
    struct start_check *check = call->check;
    bool is_ok = !err || err->authenticated || err->kind == ERROR_NO_TABLE ||
                 err->kind == ERROR_TOO_LARGE || err->kind == ERROR_NOT_STORED;
    (void)page;
    call->state = is_ok ? START_CALL_OK : START_CALL_FAILED;
    if (err && err->kind != ERROR_NOT_STORED)
        call->err = *err;
    check->under_way--;
    check->ok += is_ok;
    if (check->ok > 0 && !check->grace)
        check->grace = loop_add_timer(check->app->loop, GRACE_MS, start_on_grace, check);
    if (check->under_way == 0)
        loop_stop(check->app->loop);
}

/* The first table of ENVIRONMENT; NULL if the environment has no literal name. */
static struct place *start_first_table(const struct app *app,
                                       const struct map_environment *environment)
{
    struct error ignored;
    if (!environment || !format_is_literal(&environment->name) || app->map->model_count == 0)
        return NULL;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_add_char(&path, '/');
    buf_add_span(&path, format_literal(&environment->name));
    struct place *root = place_resolve(app->map, buf_span(&path), &app->tree.names, &ignored);
    struct place *table = root ? place_table(root, app->map->models[0]) : NULL;
    place_destroy(root);
    return table;
}

static bool start_equal_texts(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Whether an environment before has the same source; or, without one for the reason ERR, the same
 * settings or the same reason. */
static bool start_is_repeated(const struct start_check *check, const struct source *source,
                              const struct map_environment *environment, const struct error *err)
{
    for (size_t i = 0; i < check->count; i++) {
        const struct start_call *call = &check->calls[i];
        const struct map_environment *other = call->environment;
        if (call->source != source)
            continue;
        if (source || strcmp(call->err.text, err->text) == 0 ||
            (start_equal_texts(other->profile, environment->profile) &&
             start_equal_texts(other->region, environment->region) &&
             start_equal_texts(other->snapshot, environment->snapshot) &&
             start_equal_texts(other->endpoint_url, environment->endpoint_url)))
            return true;
    }
    return false;
}

/* DescribeTable of the map's first table costs no RCU and proves credentials, region and the
 * table's name. An environment without a literal name lists the tables, and so does a mount without
 * a map. */
static void start_add_call(struct start_check *check, const struct map_environment *environment)
{
    struct app *app = check->app;
    struct start_call *call = &check->calls[check->count];
    struct place any = {.map = app->map, .environment = environment};
    struct place *table = start_first_table(app, environment);
    char *name = table ? place_table_name(table) : NULL;
    struct error err = {0};
    struct source *source = sources_for(app->sources, table ? table : &any, &err);
    if (!start_is_repeated(check, source, environment, &err)) {
        *call = (struct start_call){
            .check = check, .environment = environment, .source = source, .err = err};
        if (source)
            call->read = name ? read_new(READ_TABLE, name, NULL) : read_new(READ_TABLES, "", NULL);
        if (call->read)
            call->call = source_start(source, call->read, check->payer, start_on_response, call);
        if (source && !call->call)
            error_no_memory(&call->err);
        call->state = call->call ? START_CALL_UNDER_WAY : START_CALL_FAILED;
        check->under_way += call->call != NULL;
        check->count++;
    }
    free(name);
    place_destroy(table);
}

/* Environments with a literal name come first: their errors are more specific. */
static void start_add_calls(struct start_check *check)
{
    const struct map_environment *first = check->app->map->environments, *each;
    size_t count = 0;
    for (each = first; each; each = each->next)
        count++;
    check->calls = calloc(count + 1, sizeof *check->calls);
    if (check->calls && !first)
        start_add_call(check, NULL);
    for (each = first; check->calls && each; each = each->next)
        if (format_is_literal(&each->name))
            start_add_call(check, each);
    for (each = first; check->calls && each; each = each->next)
        if (!format_is_literal(&each->name))
            start_add_call(check, each);
}

/* If another environment responds, a failure concerns its environment only. */
static void start_report_call(const struct start_check *check, const struct start_call *call)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const char *why = call->err.text;
    if (call->environment)
        format_write(&call->environment->name, &name);
    else
        buf_add_text(&name, MAP_TABLES_NAME);
    if (call->state == START_CALL_OK && call->err.kind != ERROR_NONE)
        fprintf(stderr, "ddbfs: warning: %s; mounting anyway\n", why);
    else if (call->state == START_CALL_UNDER_WAY)
        fprintf(stderr, "ddbfs: warning: /%s has not responded yet; mounting anyway\n",
                buf_text(&name));
    else if (call->state == START_CALL_FAILED && check->ok > 0)
        fprintf(stderr, "ddbfs: warning: mounting without /%s for now: %s\n", buf_text(&name), why);
    else if (call->state == START_CALL_FAILED && check->count > 1)
        fprintf(stderr, "ddbfs: /%s: %s\n", buf_text(&name), why);
    else if (call->state == START_CALL_FAILED)
        fprintf(stderr, "ddbfs: %s\n", why);
}

/* Whether each environment is a snapshot, so that nothing of AWS is looked for. */
static bool start_needs_no_aws(const struct app *app)
{
    const struct snapshots *snapshots = sources_snapshots(app->sources);
    for (const struct map_environment *each = app->map->environments; each; each = each->next)
        if (!snapshots_are_present(snapshots, each))
            return false;
    return snapshots_are_present(snapshots, NULL) || !map_is_none(app->map);
}

/* A folder of snapshots that cannot be read concerns the past only. */
static void start_check_moments(struct app *app)
{
    const struct moments *moments = app->tree.names.moments;
    for (const struct map_environment *each = app->map->environments; each; each = each->next) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        struct error why;
        const int64_t *times;
        size_t count;
        format_write(&each->name, &name);
        if (each->snapshots && !moments->list(moments->arg, each, &times, &count, &why))
            fprintf(stderr, "ddbfs: warning: mounting without /%s@at for now: %s\n",
                    buf_text(&name), why.text);
    }
}

bool start_check_environments(struct app *app, struct payer *payer)
{
    struct start_check check = {.app = app, .payer = payer};
    struct error ignored;
    if (!start_needs_no_aws(app))
        sources_prepare();
    /* Sessions prompt for MFA codes now, before any deadline runs, and never later. The request
     * reports a failure. */
    if (map_is_none(app->map))
        sources_session(app->sources, NULL, &ignored);
    for (const struct map_environment *each = app->map->environments; each; each = each->next)
        sources_session(app->sources, each, &ignored);
    sources_go_offline(app->sources);
    start_add_calls(&check);
    start_check_moments(app);
    if (!check.calls)
        fprintf(stderr, "ddbfs: out of memory\n");
    if (check.under_way > 0)
        loop_run(app->loop);
    for (size_t i = 0; i < check.count; i++) {
        start_report_call(&check, &check.calls[i]);
        if (check.calls[i].call)
            source_end(check.calls[i].call);
        read_destroy(check.calls[i].read);
    }
    loop_remove_timer(check.grace);
    free(check.calls);
    return check.ok > 0;
}

char *start_absolute_path(const char *file)
{
    struct buf path = {0};
    char *folder = file[0] == '/' ? NULL : getcwd(NULL, 0);
    if (folder)
        buf_printf(&path, "%s/", folder);
    buf_add_text(&path, file);
    if (path.failed || (file[0] != '/' && !folder))
        buf_clean_up(&path);
    free(folder);
    return path.size > 0 ? buf_steal(&path, NULL) : NULL;
}

/* A value that begins with ~ or $ is expanded later, and an empty one has its own meaning. */
void start_make_variables_absolute(void)
{
    static const char *const names[] = {
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_LOGIN_CACHE_DIRECTORY",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        "AWS_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        char *path = value && *value && !strchr("/~$", *value) ? start_absolute_path(value) : NULL;
        if (path)
            setenv(names[i], path, 1);
        free(path);
    }
}
