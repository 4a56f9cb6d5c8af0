#include "fs/mount/refresh.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/read/resolve.h"
#include "fs/cli/control_path.h"
#include "fs/mount/notifier.h"
#include "fs/mount/open_listing.h"
#include "fs/mount/parked.h"
#include "fs/mount/waiting.h"

/* So many names are told one by one; beyond that the kernel is made to forget all, where it can. It
 * asks for the others again then, which costs them their time in its cache. */
enum { FEW_NAMES = 64 };

/* A name for the kernel to forget. */
struct doomed {
    struct doomed *next;
    fuse_ino_t parent;
    size_t size;
    char name[];
};

/* What a refresh has the kernel told, name by name. It is
 *   collected  by the loop, then
 *   told       by the notifier, to which NAMES belong until it is
 *   done       in the loop.
 * Once BROKEN_OFF it is done with the name in hand; those left out are good until their time. */
struct order {
    struct notice notice;        /* first, so that an notice is an order */
    struct waiting waiting;      /* who asked for it; idle when nobody did, or has had a reply */
    struct loop_timer *deadline; /* NULL once it has passed */
    int result;                  /* what who asked is told at the end: an errno */
    struct doomed *names;
    size_t count;
    atomic_bool broken_off; /* set by the loop, read by the notifier */
    struct fuse_session *session;
    struct refresh *refresh;       /* for the loop alone */
    struct order *previous, *next; /* all that have not come back */
};

struct refresh {
    struct mount *mount;
    struct order *latest;   /* of those that have not come back */
    bool cannot_forget_all; /* the kernel is too old for it */
};

static void refresh_free_first(struct order *order)
{
    struct doomed *gone = order->names;
    order->names = gone->next;
    free(gone);
}

/* Each name may wait for its directory: the kernel holds that while one of its look-ups, or a part
 * of its listing, is waited for. */
static void refresh_report(struct notice *notice)
{
    struct order *order = (struct order *)notice;
    for (; order->names && !atomic_load(&order->broken_off); refresh_free_first(order))
        fuse_lowlevel_notify_inval_entry(order->session, order->names->parent, order->names->name,
                                         order->names->size);
}

static void refresh_finish(struct order *order, int error)
{
    loop_remove_timer(order->deadline);
    waiting_fail(&order->waiting, error);
    while (order->names)
        refresh_free_first(order);
    free(order);
}

static void refresh_on_reported(struct notice *notice)
{
    struct order *order = (struct order *)notice;
    *(order->previous ? &order->previous->next : &order->refresh->latest) = order->next;
    if (order->next)
        order->next->previous = order->previous;
    refresh_finish(order, order->result);
}

/* The notifier may be about to be through: what it says then makes no difference. */
static void refresh_cancel(struct order *order, int error)
{
    atomic_store(&order->broken_off, true);
    waiting_fail(&order->waiting, error);
}

static void refresh_on_deadline(void *arg)
{
    struct order *order = arg;
    order->deadline = NULL;
    log_line(&order->refresh->mount->app->log, LOG_LEVEL_WARNING,
             "a refresh of %zu name%s took too long and was broken off: the rest are good until "
             "their time",
             order->count, order->count == 1 ? "" : "s");
    refresh_cancel(order, ETIMEDOUT);
}

/* Whoever asked goes away, or has waited for as long as the order itself may take, which has a
 * deadline of its own. Until then the kernel is still told. */
static void refresh_abandon(void *arg, int error)
{
    (void)arg;
    (void)error;
}

void refresh_cancel_all(struct refresh *refresh)
{
    for (struct order *order = refresh->latest; order; order = order->next)
        refresh_cancel(order, ENOTCONN);
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

struct refresh_search {
    struct span path;
    struct span above, name; /* the path in two: its directory, and the rest */
    struct order *order;
    size_t most; /* names to collect */
};

static struct refresh_search refresh_search_for(struct span path, struct order *order)
{
    size_t slash = path.size;
    while (slash > 0 && path.data[slash - 1] != '/')
        slash--;
    return (struct refresh_search){.path = path,
                                   .above = span_of(path.data, slash > 1 ? slash - 1 : slash),
                                   .name = span_from(path, slash),
                                   .order = order,
                                   .most = SIZE_MAX};
}

/* Without memory for it, its TTL has to pass. */
static void refresh_doom_name(struct order *order, const struct node *parent, struct span name)
{
    nodes_lose_name(order->refresh->mount->nodes, parent, name);
    struct doomed *doomed = calloc(1, sizeof *doomed + name.size + 1);
    if (!doomed)
        return;
    doomed->parent = parent->ino;
    doomed->size = name.size;
    memcpy(doomed->name, name.data, name.size);
    doomed->next = order->names;
    order->names = doomed;
    order->count++;
}

/* Names below /.ddbfs are never old. The look-up that asks for a refresh holds one of its
 * directories: to make the kernel forget a name there would be to wait for oneself. */
static bool refresh_is_control(const struct node *node)
{
    return node->kind != NODE_DIRECTORY && node->kind != NODE_FILE;
}

/* What is known as missing has no node: the path's own name is forgotten in any case. */
static void refresh_doom(void *arg, struct node *node)
{
    struct refresh_search *search = arg;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (search->order->count >= search->most || refresh_is_control(node))
        return;
    nodes_path(node, span_text(""), &path);
    if (path.failed)
        return;
    if (node->parent && nodes_is_below(buf_span(&path), search->path))
        refresh_doom_name(search->order, node->parent, node->name);
    if (node_is_directory(node) && search->name.size && span_equal(buf_span(&path), search->above))
        refresh_doom_name(search->order, node, search->name);
}

/* Whether somebody waits for an answer of ours in one of the directories: to have a name there
 * forgotten means to wait as well, and to keep everybody else out of it meanwhile. */
static bool refresh_has_waiters(const struct refresh *refresh, const struct order *order)
{
    const struct mount *mount = refresh->mount;
    for (const struct doomed *each = order->names; each; each = each->next) {
        const struct node *directory = nodes_find(mount->nodes, each->parent);
        if (directory &&
            (parked_waits_in(mount, directory) || listings_wait_for(mount->listings, directory)))
            return true;
    }
    return false;
}

/* One write, which waits for nobody. */
static bool refresh_forget_all(struct refresh *refresh)
{
    if (refresh->cannot_forget_all)
        return false;
    bool done = notifier_forget_all_names(refresh->mount->session);
    if (done)
        nodes_lose_all_names(refresh->mount->nodes);
    refresh->cannot_forget_all = !done && errno == EINVAL;
    return done;
}

/* Hands ORDER to the notifier. Whoever waits for a name in one of the directories is sent back: the
 * kernel asks for it again, after the notifier has had its turn. */
static void refresh_report_names(struct refresh *refresh, struct order *order)
{
    struct mount *mount = refresh->mount;
    for (const struct doomed *each = order->names; each; each = each->next)
        parked_send_back(mount, each->parent);
    order->deadline =
        loop_add_timer(mount->app->loop, waiting_longest_ms(mount), refresh_on_deadline, order);
    if (!order->deadline || !notifier_send(mount->notifier, &order->notice)) {
        refresh_finish(order, EAGAIN);
        return;
    }
    order->next = refresh->latest;
    if (order->next)
        order->next->previous = order;
    refresh->latest = order;
}

/* Collects the names that are to be forgotten, MOST of them at the most. */
static void refresh_collect(const struct refresh *refresh, struct order *order, struct span path,
                            size_t most)
{
    struct refresh_search search = refresh_search_for(path, order);
    search.most = most;
    while (order->names)
        refresh_free_first(order);
    order->count = 0;
    refresh_doom(&search, nodes_root(refresh->mount->nodes));
    nodes_each(refresh->mount->nodes, refresh_doom, &search);
}

/* The kernel is told of the names, one way or the other. That there are many is known before all
 * are collected, which the one write does not need. */
static void refresh_carry_out(struct refresh *refresh, struct order *order, struct span path)
{
    refresh_collect(refresh, order, path, FEW_NAMES + 1);
    bool few = order->count <= FEW_NAMES && !refresh_has_waiters(refresh, order);
    if (!few && refresh_forget_all(refresh)) {
        refresh_finish(order, order->result);
        return;
    }
    if (order->count > FEW_NAMES)
        refresh_collect(refresh, order, path, SIZE_MAX);
    refresh_report_names(refresh, order);
}

/* What a refresh that went well is answered with. Whether there is such a path, the map alone is
 * asked: to look for a record would be to read it. What it does not have is forgotten all the same,
 * for another map may have had it. */
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

void refresh_path(struct refresh *refresh, struct span path, fuse_req_t req)
{
    struct mount *mount = refresh->mount;
    struct order *order = calloc(1, sizeof *order);
    cache_drop(mount->app->cache);
    walks_drop(mount->app->walks);
    catalog_forget(mount->app->catalog);
    listings_forget(mount->listings, path);
    if (!order) {
        if (req)
            fuse_reply_err(req, ENOMEM);
        return;
    }
    order->notice = (struct notice){refresh_report, refresh_on_reported};
    order->session = mount->session;
    order->refresh = refresh;
    order->result = req ? refresh_result_for(mount, path) : ENOENT;
    if (req) /* an interrupt, or no memory for this, keeps nothing from being done */
        waiting_start(&order->waiting, mount, req, mount_now_ms(mount), refresh_abandon, order);
    refresh_carry_out(refresh, order, path);
}
