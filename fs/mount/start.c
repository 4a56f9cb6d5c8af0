/* Asking each environment once. DescribeTable of the map's first table costs no capacity and proves
 * credentials, region and the table's name; an environment that stands for any name lists the
 * tables, as the map's root does, and so does who has no map. */
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

#include "core/base/buf.h"
#include "core/base/nearest.h"
#include "core/base/printable.h"
#include "core/base/shell.h"
#include "core/sources.h"
#include "fs/cli/mount_table.h"
#include "fs/mount/control.h"

/* For how long the others are waited for when one has answered: they are asked anew when somebody
 * looks into them. */
enum { GRACE_MS = 3 * 1000 };

enum probe_state { PROBE_UNDER_WAY, PROBE_ANSWERED, PROBE_FAILED };

struct probe_call {
    struct probe *probe;
    const struct map_environment *environment; /* NULL without a map */
    struct source *source;
    struct read *read;        /* owned; what is asked */
    struct source_call *call; /* owned; ended when all is told */
    enum probe_state state;
    struct error err; /* of a failure, or one that is no reason not to mount */
};

struct probe {
    struct app *app;
    struct payer *payer;      /* borrowed; may be NULL */
    struct probe_call *calls; /* owned */
    size_t count;
    size_t under_way;
    size_t answered;
    struct loop_timer *grace; /* runs from the first answer on */
};

/* Who is known, and may not do this or finds no such table, may do other things: that is told, and
 * is no reason not to mount. */
static bool start_is_answer(const struct error *err)
{
    return !err || err->authenticated || err->kind == ERROR_NO_TABLE;
}

static void start_stop_waiting(void *arg)
{
    struct probe *probe = arg;
    probe->grace = NULL;
    loop_stop(probe->app->loop);
}

static void start_take_answer(void *arg, const struct page *page, const struct error *err)
{
    struct probe_call *call = arg;
    struct probe *probe = call->probe;
    (void)page;
    call->state = start_is_answer(err) ? PROBE_ANSWERED : PROBE_FAILED;
    if (err)
        call->err = *err;
    probe->under_way--;
    probe->answered += call->state == PROBE_ANSWERED;
    if (probe->answered > 0 && !probe->grace)
        probe->grace = loop_add_timer(probe->app->loop, GRACE_MS, start_stop_waiting, probe);
    if (probe->under_way == 0)
        loop_stop(probe->app->loop);
}

/* The first table of ENVIRONMENT; NULL when the environment stands for any name. */
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

static bool start_is_requested_already(const struct probe *probe, const struct source *source)
{
    for (size_t i = 0; i < probe->count; i++)
        if (probe->calls[i].source == source)
            return true;
    return false;
}

static bool start_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Settings that came to nothing, for the reason ERR: those of another environment were the same, or
 * what is wrong with them was. */
static bool start_failed_already(const struct probe *probe,
                                 const struct map_environment *environment, const struct error *err)
{
    for (size_t i = 0; i < probe->count; i++) {
        const struct probe_call *call = &probe->calls[i];
        const struct map_environment *other = call->environment;
        if (!call->source && (strcmp(call->err.text, err->text) == 0 ||
                              (start_same_text(other->profile, environment->profile) &&
                               start_same_text(other->region, environment->region) &&
                               start_same_text(other->endpoint_url, environment->endpoint_url))))
            return true;
    }
    return false;
}

static void start_start_call(struct probe *probe, const struct map_environment *environment)
{
    struct app *app = probe->app;
    struct probe_call *call = &probe->calls[probe->count];
    struct place any = {.map = app->map, .environment = environment};
    struct place *table = start_first_table(app, environment);
    char *name = table ? place_table_name(table) : NULL;
    struct error err = {0};
    struct source *source = sources_for(app->sources, table ? table : &any, &err);
    if (source ? !start_is_requested_already(probe, source)
               : !start_failed_already(probe, environment, &err)) {
        *call = (struct probe_call){
            .probe = probe, .environment = environment, .source = source, .err = err};
        if (source)
            call->read = name ? read_new(READ_TABLE, name, NULL) : read_new(READ_TABLES, "", NULL);
        if (call->read)
            call->call = source_start(source, call->read, probe->payer, start_take_answer, call);
        if (source && !call->call)
            error_no_memory(&call->err);
        call->state = call->call ? PROBE_UNDER_WAY : PROBE_FAILED;
        probe->under_way += call->call != NULL;
        probe->count++;
    }
    free(name);
    place_destroy(table);
}

/* Those that stand for any name come last: the environments that were given a name of their own
 * tell more about what the user has in mind. */
static void start_start_calls(struct probe *probe)
{
    const struct map_environment *first = probe->app->map->environments, *each;
    size_t count = 0;
    for (each = first; each; each = each->next)
        count++;
    probe->calls = calloc(count + 1, sizeof *probe->calls);
    if (probe->calls && !first)
        start_start_call(probe, NULL);
    for (each = first; probe->calls && each; each = each->next)
        if (format_is_literal(&each->name))
            start_start_call(probe, each);
    for (each = first; probe->calls && each; each = each->next)
        if (!format_is_literal(&each->name))
            start_start_call(probe, each);
}

/* With others that answer, a failure is one of its environment alone. */
static void start_report(const struct probe *probe, const struct probe_call *call)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const char *why = call->err.text;
    if (call->environment)
        format_write(&call->environment->name, &name);
    else
        buf_add_text(&name, MAP_TABLES_NAME);
    if (call->state == PROBE_ANSWERED && call->err.kind != ERROR_NONE)
        fprintf(stderr, "ddbfs: warning: %s; mounting all the same\n", why);
    else if (call->state == PROBE_UNDER_WAY)
        fprintf(stderr, "ddbfs: warning: /%s has not answered yet; mounting all the same\n",
                buf_text(&name));
    else if (call->state == PROBE_FAILED && probe->answered > 0)
        fprintf(stderr, "ddbfs: warning: mounting without /%s for now: %s\n", buf_text(&name), why);
    else if (call->state == PROBE_FAILED && probe->count > 1)
        fprintf(stderr, "ddbfs: /%s: %s\n", buf_text(&name), why);
    else if (call->state == PROBE_FAILED)
        fprintf(stderr, "ddbfs: %s\n", why);
}

/* Before any time runs, and the only time that somebody is asked. What fails is told by the call.
 */
static void start_request_for_codes(struct app *app)
{
    struct error ignored;
    if (map_is_none(app->map))
        sources_session(app->sources, NULL, &ignored);
    for (const struct map_environment *each = app->map->environments; each; each = each->next)
        sources_session(app->sources, each, &ignored);
    sources_go_offline(app->sources);
}

bool start_check_environments(struct app *app, struct payer *payer)
{
    struct probe probe = {.app = app, .payer = payer};
    sources_prepare();
    start_request_for_codes(app);
    start_start_calls(&probe);
    if (!probe.calls)
        fprintf(stderr, "ddbfs: out of memory\n");
    if (probe.under_way > 0)
        loop_run(app->loop);
    for (size_t i = 0; i < probe.count; i++) {
        start_report(&probe, &probe.calls[i]);
        if (probe.calls[i].call)
            source_end(probe.calls[i].call);
        read_destroy(probe.calls[i].read);
    }
    loop_remove_timer(probe.grace);
    free(probe.calls);
    return probe.answered > 0;
}

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

/* What libfuse knows; with an equals sign where it takes a value. */
static const char *const words_of_fuse[] = {
    "allow_other",   "auto_unmount", "debug",       "default_permissions",
    "dirsync",       "symfollow",    "nosymfollow", "norelatime",
    "nostrictatime", "fsname=",      "subtype=",    "blksize=",
    "user=",         "context=",     "fscontext=",  "defcontext=",
    "rootcontext=",
};

/* Without the equals sign. */
static struct span mount_options_name_of(const char *word)
{
    return span_of(word, strcspn(word, "="));
}

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

/* Words of mount(8) and of fstab that say nothing to a read-only FUSE mount. */
static bool mount_options_is_for_others(struct span word)
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

static bool mount_options_report_unknown(struct span word)
{
    static const char *const own[] = {"uid", "gid", "umask", "unlistable", "nonempty"};
    CLEAN_UP(buf_clean_up) struct buf why = {0}, safe = {0};
    const char *equals = memchr(word.data, '=', word.size);
    struct nearest nearest =
        nearest_to(equals ? span_of(word.data, (size_t)(equals - word.data)) : word);
    options_offer(&nearest);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        nearest_offer(&nearest, span_text(own[i]));
    for (size_t i = 0; i < sizeof words_of_fuse / sizeof words_of_fuse[0]; i++)
        nearest_offer(&nearest, mount_options_name_of(words_of_fuse[i]));
    if (span_equal(nearest.best, word)) {
        buf_add_text(&why, "needs a value: NAME=VALUE");
    } else {
        buf_add_text(&why, "is no option of a mount");
        nearest_write(&nearest, &why);
        buf_add_text(&why, "; see ddbfs mount --help");
    }
    printable_add(&safe, word, "");
    return mount_options_report_error(buf_span(&safe), buf_text(&why));
}

/* The number behind NAME= in WORD. */
static bool mount_options_read_number(struct span word, struct span name, int base,
                                      unsigned long *out)
{
    char text[16], *end;
    struct span value = span_from(word, name.size);
    if (value.size == 0 || value.size >= sizeof text || value.data[0] < '0' || value.data[0] > '9')
        return mount_options_report_error(word, "is no number");
    memcpy(text, value.data, value.size);
    text[value.size] = '\0';
    *out = strtoul(text, &end, base);
    return (*end == '\0' && *out < UINT32_MAX) || mount_options_report_error(word, "is no number");
}

static bool mount_options_add_fuse(struct mount_options *mount, struct span word)
{
    buf_printf(&mount->fuse, "%s%.*s", mount->fuse.size ? "," : "", (int)word.size, word.data);
    return !mount->fuse.failed;
}

/* An option of ddbfs, as on the command line but for the dashes. */
static bool mount_options_set_own(struct mount_options *mount, struct options *options,
                                  struct span word, bool *known)
{
    const char *equals = memchr(word.data, '=', word.size);
    struct span name = equals ? span_of(word.data, (size_t)(equals - word.data)) : word;
    struct span value = equals ? span_from(word, name.size + 1) : span_text("");
    char *text = strndup(value.data, value.size);
    if (!text)
        return false;
    enum options_outcome outcome = options_set(options, name, equals ? text : NULL);
    *known = outcome != OPTIONS_UNKNOWN;
    if (outcome == OPTIONS_SET)
        buf_add(&mount->texts, &text, sizeof text); /* kept: the options point to it */
    else
        free(text);
    if (outcome == OPTIONS_WRONG && !equals)
        return mount_options_report_error(word, "needs a value: NAME=VALUE");
    return outcome != OPTIONS_WRONG ||
           mount_options_report_error(word, "has a value that it can't have");
}

static bool mount_options_is_about_modes(struct span word)
{
    return span_starts(word, SPAN_LITERAL("uid=")) || span_starts(word, SPAN_LITERAL("gid=")) ||
           span_starts(word, SPAN_LITERAL("umask="));
}

/* Whose files are, and what others may do with them. */
static bool mount_options_take_modes(struct mount_options *mount, struct span word)
{
    struct span uid = SPAN_LITERAL("uid="), gid = SPAN_LITERAL("gid="),
                umask = SPAN_LITERAL("umask=");
    bool is_uid = span_starts(word, uid), is_gid = span_starts(word, gid);
    unsigned long number;
    if (!mount_options_read_number(word,
                                   is_uid   ? uid
                                   : is_gid ? gid
                                            : umask,
                                   is_uid || is_gid ? 10 : 8, &number))
        return false;
    if (is_uid)
        mount->uid = (uid_t)number;
    else if (is_gid)
        mount->gid = (gid_t)number;
    else
        mount->umask = (mode_t)number & 0777;
    return true;
}

static bool mount_options_take_word(struct mount_options *mount, struct options *options,
                                    struct span word)
{
    bool own = false;
    if (word.size == 0 || mount_options_is_for_others(word))
        return true;
    if (span_is(word, "unlistable=quiet"))
        return mount->unlistable_quiet = true;
    if (span_is(word, "nonempty"))
        return mount->nonempty = true;
    if (mount_options_is_about_modes(word))
        return mount_options_take_modes(mount, word);
    if (span_starts(word, SPAN_LITERAL("max_read=")))
        return mount_options_report_error(
            word, "does not go with ddbfs"); /* libfuse would end at the greeting */
    /* ddbfs refresh and umount know its mounts by their type; with blkdev it is fuseblk's. */
    if ((span_starts(word, SPAN_LITERAL("subtype=")) && !span_is(word, "subtype=ddbfs")) ||
        span_is(word, "blkdev"))
        return mount_options_report_error(
            word, "does not go with ddbfs, whose mounts are known by their type");
    /* libfuse keeps it by looking at who asks; what the kernel has cached it gives to everybody. */
    if (span_is(word, "allow_root"))
        return mount_options_report_error(
            word, "would let in everybody, not only root; take allow_other if that is "
                  "meant");
    if (!mount_options_set_own(mount, options, word, &own))
        return false;
    if (own)
        return true;
    if (!mount_options_is_for_fuse(word))
        return mount_options_report_unknown(word);
    mount->allow_other = mount->allow_other || span_is(word, "allow_other");
    return mount_options_add_fuse(mount, word);
}

bool mount_options_init(struct mount_options *mount, struct options *options)
{
    *mount = (struct mount_options){.uid = getuid(), .gid = getgid()};
    for (unsigned i = 0; i < options->fuse_option_count; i++) {
        struct span rest = span_text(options->fuse_options[i]);
        while (rest.size > 0) {
            const char *comma = memchr(rest.data, ',', rest.size);
            struct span word = comma ? span_of(rest.data, (size_t)(comma - rest.data)) : rest;
            if (!mount_options_take_word(mount, options, word))
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

/* What begins with ~ or $ is put in later, and an empty value means something of its own. */
static bool rooted_is_relative(const char *value)
{
    return value && *value && !strchr("/~$", *value);
}

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
        char *path = rooted_is_relative(value) ? start_absolute_path(value) : NULL;
        if (path)
            setenv(names[i], path, 1);
        free(path);
    }
}
