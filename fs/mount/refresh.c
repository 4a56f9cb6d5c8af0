#include "fs/mount/refresh.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/read/resolve.h"
#include "core/sources.h"
#include "fs/cli/live_mount.h"
#include "fs/mount/notifier.h"
#include "fs/mount/open_listing.h"
#include "fs/mount/parked.h"
#include "fs/mount/waiting.h"

/* The most names that are forgotten one by one. For more of them the kernel forgets all names, if
 * it can: it then looks up the others again, which shortens their time in its cache. */
enum { FEW_NAMES = 64 };

/* A name for the kernel to forget. */
struct refresh_name {
    struct refresh_name *next;
    fuse_ino_t parent;
    size_t size;
    char text[];
};

/* One refresh, whose names the kernel forgets one by one. It is
 *   collected  by the loop, then
 *   sent       by the notifier's thread, which owns NAMES until the refresh is
 *   done       in the loop.
 * A cancelled one ends with the current name; the others stay valid until their time. */
struct refresh_job {
    struct notice notice;        /* first, so that a notice is a job */
    struct waiting waiting;      /* the request; idle without one, or when it has its reply */
    struct loop_timer *deadline; /* NULL once it has passed */
    int result;                  /* the errno for the request */
    struct refresh_name *names;  /* owned */
    size_t count;
    atomic_bool is_cancelled;    /* set by the loop, read by the thread */
    bool is_refused;             /* no memory for a name; set by the loop, then by the thread */
    refresh_refused_fn *refused; /* NULL: none; called in the loop with its two arguments */
    void *refused_arg;
    uint64_t ino;
    struct fuse_session *session;
    struct refresh *refresh; /* for the loop only */
    struct list_node node;   /* among the jobs that are sent */
};

struct refresh {
    struct mount *mount;
    struct list jobs;       /* of struct refresh_job, owned: sent, not done */
    bool cannot_forget_all; /* the kernel is too old */
};

static void refresh_free_first_name(struct refresh_job *job)
{
    struct refresh_name *first = job->names;
    job->names = first->next;
    free(first);
}

static void refresh_free_names(struct refresh_job *job)
{
    while (job->names)
        refresh_free_first_name(job);
    job->count = 0;
}

/* Each name may wait for its directory, which the kernel holds while one of its look-ups or a part
 * of its listing is under way. */
static void refresh_send_names(struct notice *notice)
{
    struct refresh_job *job = (struct refresh_job *)notice;
    for (; job->names && !atomic_load(&job->is_cancelled); refresh_free_first_name(job))
        if (fuse_lowlevel_notify_inval_entry(job->session, job->names->parent, job->names->text,
                                             job->names->size) == -ENOMEM)
            job->is_refused = true;
}

static void refresh_finish(struct refresh_job *job, int error)
{
    list_remove(&job->node);
    loop_remove_timer(job->deadline);
    waiting_fail(&job->waiting, error);
    refresh_free_names(job);
    free(job);
}

static void refresh_on_sent(struct notice *notice)
{
    struct refresh_job *job = (struct refresh_job *)notice;
    if ((job->is_refused || job->names) && job->refused)
        job->refused(job->refused_arg, job->ino);
    refresh_finish(job, job->is_refused ? ENOMEM : job->result);
}

static void refresh_cancel(struct refresh_job *job, int error)
{
    atomic_store(&job->is_cancelled, true);
    waiting_fail(&job->waiting, error);
}

static void refresh_on_deadline(void *arg)
{
    struct refresh_job *job = arg;
    job->deadline = NULL;
    log_line(&job->refresh->mount->app->log, LOG_LEVEL_WARNING,
             "a refresh of %zu name%s took too long and was cancelled: the rest are valid until "
             "their time",
             job->count, job->count == 1 ? "" : "s");
    refresh_cancel(job, ETIMEDOUT);
}

/* The caller has gone, or has waited as long as the job itself may take, which has its own
 * deadline. Until then the kernel still forgets names. */
static void refresh_on_abandoned(void *arg, int error)
{
    (void)arg;
    (void)error;
}

void refresh_cancel_all(struct refresh *refresh)
{
    LIST_EACH (struct refresh_job, job, &refresh->jobs, node)
        refresh_cancel(job, ENOTCONN);
}

struct refresh *refresh_new(struct mount *mount)
{
    struct refresh *refresh = calloc(1, sizeof *refresh);
    if (refresh)
        refresh->mount = mount;
    return refresh;
}

void refresh_destroy(struct refresh *refresh)
{
    free(refresh);
}

/* Without memory for it the name stays valid until its time. */
static void refresh_add_name(struct refresh_job *job, const struct node *parent, struct span text)
{
    nodes_lose_name(job->refresh->mount->nodes, parent, text);
    struct refresh_name *name = calloc(1, sizeof *name + text.size + 1);
    if (!name) {
        job->is_refused = true;
        return;
    }
    name->parent = parent->ino;
    name->size = text.size;
    memcpy(name->text, text.data, text.size);
    name->next = job->names;
    job->names = name;
    job->count++;
}

struct refresh_search {
    struct span path;
    struct span directory, name; /* the path in two: its directory, and the last name */
    struct refresh_job *job;
    size_t most; /* names to collect */
};

/* Names below /.ddbfs are always current. The look-up that requests a refresh holds one of its
 * directories: to make the kernel forget a name there would be a deadlock. A "not found" has no
 * node, so the path's own name is forgotten in any case. */
static void refresh_visit_node(void *arg, struct node *node)
{
    struct refresh_search *search = arg;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    bool is_of_map = node->kind == NODE_DIRECTORY || node->kind == NODE_FILE;
    if (search->job->count >= search->most || !is_of_map)
        return;
    nodes_path(node, span_text(""), &path);
    if (path.failed) {
        search->job->is_refused = true;
        return;
    }
    if (node->parent && nodes_is_below(buf_span(&path), search->path))
        refresh_add_name(search->job, node->parent, node_name(node));
    if (node_is_directory(node) && search->name.size &&
        span_equal(buf_span(&path), search->directory))
        refresh_add_name(search->job, node, search->name);
}

/* Collects the names to forget, MOST of them at the most. */
static void refresh_collect_names(struct refresh_job *job, struct span path, size_t most)
{
    size_t slash = path.size;
    while (slash > 0 && path.data[slash - 1] != '/')
        slash--;
    struct refresh_search search = {.path = path,
                                    .directory = span_of(path.data, slash > 1 ? slash - 1 : slash),
                                    .name = span_from(path, slash),
                                    .job = job,
                                    .most = most};
    struct nodes *nodes = job->refresh->mount->nodes;
    refresh_free_names(job);
    job->is_refused = false;
    refresh_visit_node(&search, nodes_root(nodes));
    nodes_each(nodes, refresh_visit_node, &search);
}

static bool refresh_has_waiter_in(const struct mount *mount, const struct node *directory)
{
    return parked_waits_in(mount, directory) || listings_wait_for(mount->listings, directory);
}

/* Whether a request waits in one of the directories: to forget a name there would wait, too, and
 * block all other callers of the directory meanwhile. */
static bool refresh_has_waiters(const struct refresh_job *job)
{
    const struct mount *mount = job->refresh->mount;
    for (const struct refresh_name *each = job->names; each; each = each->next) {
        const struct node *directory = nodes_find(mount->nodes, each->parent);
        if (directory && refresh_has_waiter_in(mount, directory))
            return true;
    }
    return false;
}

/* Look-ups that wait in one of the directories begin again, after the notifier's turn. */
static bool refresh_send(struct refresh_job *job)
{
    struct mount *mount = job->refresh->mount;
    for (const struct refresh_name *each = job->names; each; each = each->next)
        parked_restart(mount, each->parent);
    job->deadline =
        loop_add_timer(mount->app->loop, waiting_longest_ms(mount), refresh_on_deadline, job);
    if (job->deadline && notifier_send(mount->notifier, &job->notice)) {
        list_prepend(&job->refresh->jobs, &job->node);
        return true;
    }
    refresh_finish(job, job->deadline ? EAGAIN : ENOMEM);
    return false;
}

/* The errno after a success. Only the map is checked for the path: to look for an item would read
 * it. A path that is not in the map is forgotten all the same, for an old map may have had it. */
static int refresh_result_for(const struct mount *mount, struct span path)
{
    struct place *place = NULL;
    struct error why = {0};
    if (span_starts(path, SPAN_LITERAL("/" CONTROL_NAME)))
        return ENOENT;
    if (tree_resolve_now(&mount->app->tree, NULL, path, &place, &why))
        place_destroy(place);
    if (why.kind == ERROR_NOT_FOUND || why.kind == ERROR_NOT_DIRECTORY)
        return CONTROL_NO_SUCH_PATH;
    return why.kind == ERROR_INVALID ? EINVAL : ENOENT;
}

static struct refresh_job *refresh_job_new(struct refresh *refresh)
{
    struct refresh_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->notice = (struct notice){refresh_send_names, refresh_on_sent};
    job->session = refresh->mount->session;
    job->refresh = refresh;
    return job;
}

bool refresh_forget(struct refresh *refresh, const struct node *node, refresh_refused_fn *refused,
                    void *arg)
{
    struct mount *mount = refresh->mount;
    bool has_waiters = refresh_has_waiter_in(mount, node->parent);
    struct refresh_job *job = has_waiters ? NULL : refresh_job_new(refresh);
    if (!job)
        return false;
    job->refused = refused;
    job->refused_arg = arg;
    job->ino = node->ino;
    refresh_add_name(job, node->parent, node_name(node));
    if (job->names)
        return refresh_send(job);
    free(job);
    return false;
}

void refresh_path(struct refresh *refresh, struct span path, fuse_req_t req)
{
    struct mount *mount = refresh->mount;
    struct refresh_job *job = refresh_job_new(refresh);
    mount->refreshes++;
    cache_drop(mount->app->cache);
    sources_forget_live(mount->app->sources);
    walks_drop(mount->app->walks);
    catalog_forget(mount->app->catalog);
    listings_forget(mount->listings, path);
    if (!job) {
        if (req)
            fuse_reply_err(req, ENOMEM);
        return;
    }
    job->result = req ? refresh_result_for(mount, path) : ENOENT;
    if (req) /* an interrupt, or no memory for this, does not prevent the refresh */
        waiting_start(&job->waiting, mount, req, mount_now_ms(mount), refresh_on_abandoned, job);
    /* The one write does not need the names: FEW_NAMES + 1 show that there are many. */
    refresh_collect_names(job, path, FEW_NAMES + 1);
    bool is_few = job->count <= FEW_NAMES && !refresh_has_waiters(job);
    if (!is_few && !refresh->cannot_forget_all) {
        if (notifier_forget_all_names(mount->session)) {
            nodes_lose_all_names(mount->nodes);
            refresh_finish(job, job->result);
            return;
        }
        refresh->cannot_forget_all = errno == EINVAL;
    }
    if (job->count > FEW_NAMES)
        refresh_collect_names(job, path, SIZE_MAX);
    refresh_send(job);
}
