#include "fs/mount/kernel_refresh.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/read/resolve.h"
#include "fs/cli/control_path.h"
#include "fs/mount/kernel_channel.h"
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
 *   told       by the courier, to which NAMES belong until it is
 *   done       in the loop.
 * Once BROKEN_OFF it is done with the name in hand; those left out are good until their time. */
struct order {
    struct notice errand;        /* first, so that an errand is an order */
    struct waiting waiting;      /* who asked for it; idle when nobody did, or has had a reply */
    struct loop_timer *deadline; /* NULL once it has passed */
    int result;                  /* what who asked is told at the end: an errno */
    struct doomed *names;
    size_t count;
    atomic_bool broken_off; /* set by the loop, read by the courier */
    struct fuse_session *session;
    struct refresher *refresher;   /* for the loop alone */
    struct order *previous, *next; /* all that have not come back */
};

struct refresher {
    struct mount *mount;
    struct order *latest;   /* of those that have not come back */
    bool cannot_forget_all; /* the kernel is too old for it */
};

static void kernel_refresh_free_first(struct order *order)
{
    struct doomed *gone = order->names;
    order->names = gone->next;
    free(gone);
}

/* Each name may wait for its directory: the kernel holds that while one of its look-ups, or a part
 * of its listing, is waited for. */
static void kernel_refresh_report(struct notice *errand)
{
    struct order *order = (struct order *)errand;
    for (; order->names && !atomic_load(&order->broken_off); kernel_refresh_free_first(order))
        fuse_lowlevel_notify_inval_entry(order->session, order->names->parent, order->names->name,
                                         order->names->size);
}

static void kernel_refresh_finish(struct order *order, int error)
{
    loop_remove_timer(order->deadline);
    waiting_fail(&order->waiting, error);
    while (order->names)
        kernel_refresh_free_first(order);
    free(order);
}

static void kernel_refresh_on_reported(struct notice *errand)
{
    struct order *order = (struct order *)errand;
    *(order->previous ? &order->previous->next : &order->refresher->latest) = order->next;
    if (order->next)
        order->next->previous = order->previous;
    kernel_refresh_finish(order, order->result);
}

/* The courier may be about to be through: what it says then makes no difference. */
static void kernel_refresh_break_off(struct order *order, int error)
{
    atomic_store(&order->broken_off, true);
    waiting_fail(&order->waiting, error);
}

static void kernel_refresh_on_deadline(void *arg)
{
    struct order *order = arg;
    order->deadline = NULL;
    log_line(&order->refresher->mount->app->log, LOG_LEVEL_WARNING,
             "a refresh of %zu name%s took too long and was broken off: the rest are good until "
             "their time",
             order->count, order->count == 1 ? "" : "s");
    kernel_refresh_break_off(order, ETIMEDOUT);
}

/* Whoever asked goes away, or has waited for as long as the order itself may take, which has a
 * deadline of its own. Until then the kernel is still told. */
static void kernel_refresh_abandon(void *arg, int error)
{
    (void)arg;
    (void)error;
}

void refresher_break_off(struct refresher *refresher)
{
    for (struct order *order = refresher->latest; order; order = order->next)
        kernel_refresh_break_off(order, ENOTCONN);
}

struct refresher *refresher_new(struct mount *mount)
{
    struct refresher *refresher = calloc(1, sizeof *refresher);
    if (refresher)
        refresher->mount = mount;
    return refresher;
}

void refresher_destroy(struct refresher *refresher)
{
    free(refresher);
}

struct refresh_search {
    struct span path;
    struct span above, name; /* the path in two: its directory, and the rest */
    struct order *order;
    size_t most; /* names to collect */
};

static struct refresh_search kernel_refresh_search_for(struct span path, struct order *order)
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
static void kernel_refresh_doom_name(struct order *order, const struct node *parent,
                                     struct span name)
{
    nodes_lose_name(order->refresher->mount->nodes, parent, name);
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
static bool kernel_refresh_is_control(const struct node *node)
{
    return node->kind != NODE_DIRECTORY && node->kind != NODE_FILE;
}

/* What is known as missing has no node: the path's own name is forgotten in any case. */
static void kernel_refresh_doom(void *arg, struct node *node)
{
    struct refresh_search *search = arg;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (search->order->count >= search->most || kernel_refresh_is_control(node))
        return;
    nodes_path(node, span_text(""), &path);
    if (path.failed)
        return;
    if (node->parent && nodes_is_below(buf_span(&path), search->path))
        kernel_refresh_doom_name(search->order, node->parent, node->name);
    if (node_is_directory(node) && search->name.size && span_equal(buf_span(&path), search->above))
        kernel_refresh_doom_name(search->order, node, search->name);
}

/* Whether somebody waits for an answer of ours in one of the directories: to have a name there
 * forgotten means to wait as well, and to keep everybody else out of it meanwhile. */
static bool kernel_refresh_has_waiters(const struct refresher *refresher, const struct order *order)
{
    const struct mount *mount = refresher->mount;
    for (const struct doomed *each = order->names; each; each = each->next) {
        const struct node *directory = nodes_find(mount->nodes, each->parent);
        if (directory &&
            (parked_waits_in(mount, directory) || listings_wait_for(mount->listings, directory)))
            return true;
    }
    return false;
}

/* One write, which waits for nobody. */
static bool kernel_refresh_forget_all(struct refresher *refresher)
{
    if (refresher->cannot_forget_all)
        return false;
    bool done = kernel_channel_forget_all(refresher->mount->session);
    if (done)
        nodes_lose_all_names(refresher->mount->nodes);
    refresher->cannot_forget_all = !done && errno == EINVAL;
    return done;
}

/* Hands ORDER to the courier. Whoever waits for a name in one of the directories is sent back: the
 * kernel asks for it again, after the courier has had its turn. */
static void kernel_refresh_report_names(struct refresher *refresher, struct order *order)
{
    struct mount *mount = refresher->mount;
    for (const struct doomed *each = order->names; each; each = each->next)
        parked_send_back(mount, each->parent);
    order->deadline = loop_add_timer(mount->app->loop, mount_longest_wait_ms(mount),
                                     kernel_refresh_on_deadline, order);
    if (!order->deadline || !notifier_send(mount->courier, &order->errand)) {
        kernel_refresh_finish(order, EAGAIN);
        return;
    }
    order->next = refresher->latest;
    if (order->next)
        order->next->previous = order;
    refresher->latest = order;
}

/* Collects the names that are to be forgotten, MOST of them at the most. */
static void kernel_refresh_collect(const struct refresher *refresher, struct order *order,
                                   struct span path, size_t most)
{
    struct refresh_search search = kernel_refresh_search_for(path, order);
    search.most = most;
    while (order->names)
        kernel_refresh_free_first(order);
    order->count = 0;
    kernel_refresh_doom(&search, nodes_root(refresher->mount->nodes));
    nodes_each(refresher->mount->nodes, kernel_refresh_doom, &search);
}

/* The kernel is told of the names, one way or the other. That there are many is known before all
 * are collected, which the one write does not need. */
static void kernel_refresh_carry_out(struct refresher *refresher, struct order *order,
                                     struct span path)
{
    kernel_refresh_collect(refresher, order, path, FEW_NAMES + 1);
    bool few = order->count <= FEW_NAMES && !kernel_refresh_has_waiters(refresher, order);
    if (!few && kernel_refresh_forget_all(refresher)) {
        kernel_refresh_finish(order, order->result);
        return;
    }
    if (order->count > FEW_NAMES)
        kernel_refresh_collect(refresher, order, path, SIZE_MAX);
    kernel_refresh_report_names(refresher, order);
}

/* What a refresh that went well is answered with. Whether there is such a path, the map alone is
 * asked: to look for a record would be to read it. What it does not have is forgotten all the same,
 * for another map may have had it. */
static int kernel_refresh_result_for(const struct mount *mount, struct span path)
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

void refresher_drop(struct refresher *refresher, struct span path, fuse_req_t req)
{
    struct mount *mount = refresher->mount;
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
    order->errand = (struct notice){kernel_refresh_report, kernel_refresh_on_reported};
    order->session = mount->session;
    order->refresher = refresher;
    order->result = req ? kernel_refresh_result_for(mount, path) : ENOENT;
    if (req) /* an interrupt, or no memory for this, keeps nothing from being done */
        waiting_start(&order->waiting, mount, req, mount_now_ms(mount), kernel_refresh_abandon,
                      order);
    kernel_refresh_carry_out(refresher, order, path);
}
