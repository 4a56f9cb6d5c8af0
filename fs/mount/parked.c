#include "fs/mount/parked.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/printable.h"
#include "core/read/resolve.h"
#include "fs/mount/account.h"
#include "fs/mount/failures.h"
#include "fs/mount/journal.h"
#include "fs/mount/open_listing.h"

/* How long work without a request continues: long enough for the kernel to admit the next caller of
 * the same name. It may be one of a thousand pages. */
enum { ABANDONED_MS = 1000 };

static void parked_release_followers(struct parked *parked);

static void parked_free(struct parked *parked)
{
    list_remove(&parked->list_node);
    list_remove(&parked->follower_node);
    parked_release_followers(parked);
    tree_resolve_cancel(parked->resolution);
    tree_cancel(parked->call);
    account_release(parked->account);
    loop_remove_timer(parked->abandoned);
    nodes_unpin(parked->mount->nodes, parked->node);
    place_destroy(parked->place);
    free((void *)(uintptr_t)parked->name.data);
    free(parked);
}

static void parked_fail(struct parked *parked, int error)
{
    account_finish(parked->account, error);
    waiting_fail(&parked->waiting, error);
    parked_free(parked);
}

/* "table=prod-Jobs index=by-id ", as far as the path has them. */
static void parked_write_table(const struct place *place, struct buf *out)
{
    if (!place || !place->table)
        return;
    const struct map_pattern *pattern = place->route ? place->route->file : NULL;
    buf_add_text(out, "table=");
    printable_add(out, span_text(place->table_prefix), PRINTABLE_WORD);
    printable_add(out, span_text(place->table->base_name), PRINTABLE_WORD);
    if (pattern && pattern->index) {
        buf_add_text(out, " index=");
        printable_add(out, span_text(pattern->index->name), PRINTABLE_WORD);
    }
    buf_add_char(out, ' ');
}

/* Adds the outcome to the journal, and one log line per request that waited: caller, path, table,
 * result, duration, and the service's request id. A caller that has an error finds its reason in
 * the log, so this precedes the reply. */
static void parked_log(const struct parked *parked, const struct tree_file *file,
                       const struct error *err)
{
    struct mount *mount = parked->mount;
    bool is_stale = file && file->stale, is_error = err && err->kind != ERROR_NOT_FOUND;
    bool is_logged = log_has_level(&mount->app->log, LOG_LEVEL_INFO);
    CLEAN_UP(buf_clean_up) struct buf path = {0}, word = {0}, table = {0};
    if (!is_stale && !is_error && !is_logged)
        return;
    const char *request_id = err ? err->request_id : file->origin ? file->origin->request_id : "";
    nodes_path(parked->node, parked->name, &path);
    if (is_stale)
        journal_stale(mount->journal, parked->waiting.pid, buf_span(&path),
                      file->origin->fetched_wall_ms, file->stale);
    if (is_error)
        journal_error(mount->journal, parked->waiting.pid, buf_span(&path), error_errno(err->kind),
                      err);
    printable_add(&word, buf_span(&path), PRINTABLE_WORD);
    parked_write_table(parked->place, &table);
    log_line(&mount->app->log, LOG_LEVEL_INFO, "pid=%d path=%s %s%s ms=%lld%s%s",
             (int)parked->waiting.pid, buf_text(&word), buf_text(&table),
             err        ? error_word(err->kind)
             : is_stale ? "stale"
                        : "ok",
             (long long)(mount_now_ms(mount) - parked->waiting.since_ms),
             request_id[0] ? " request=" : "", request_id);
}

static struct failures_request parked_as_request(const struct parked *parked, pid_t pid)
{
    return (struct failures_request){.ino = parked->node->ino,
                                     .name = parked->name,
                                     .pid = pid,
                                     .now_ms = mount_now_ms(parked->mount)};
}

/* Before a request gets ERROR: records it for a repetition. The kernel repeats a look-up only of a
 * name that it knew, and a read only of the page that it failed to fill. A caller's own limit does
 * not concern the callers that wait behind it. */
static void parked_note_failure(const struct parked *parked, int error)
{
    struct mount *mount = parked->mount;
    struct failures_request request = parked_as_request(parked, parked->waiting.pid);
    if (error == EINTR || error == ENOMEM) { /* the kernel keeps the name, and does not repeat */
        failures_add(mount->failures, &request, error, parked->waiting.since_ms, false);
        return;
    }
    bool is_repeated =
        !parked->name.size || nodes_lose_name(mount->nodes, parked->node, parked->name);
    int64_t since_ms = error == EDQUOT ? request.now_ms : parked->waiting.since_ms;
    if (error != ENOENT)
        failures_add(mount->failures, &request, error, since_ms, is_repeated);
}

static void parked_on_abandoned_timer(void *arg)
{
    struct parked *parked = arg;
    parked->abandoned = NULL;
    if (!list_is_empty(&parked->followers))
        parked->abandoned = loop_add_timer(parked->mount->app->loop, ABANDONED_MS,
                                           parked_on_abandoned_timer, parked);
    if (!parked->abandoned)
        parked_free(parked);
}

/* After an interrupt the response may still come, for the callers that the kernel admits one by one
 * to the same name: the next of them joins the request under way. */
static void parked_on_abandoned(void *arg, int error)
{
    struct parked *parked = arg;
    struct error why;
    account_finish(parked->account, error);
    parked_note_failure(parked, error);
    if (error == EINTR) {
        parked->abandoned = loop_add_timer(parked->mount->app->loop, ABANDONED_MS,
                                           parked_on_abandoned_timer, parked);
        if (!parked->abandoned)
            parked_free(parked);
        return;
    }
    if (error == ENOMEM)
        error_no_memory(&why);
    else
        error_set(&why, ERROR_TIMED_OUT, "no response in time");
    parked_log(parked, NULL, &why);
    parked_free(parked);
}

static int64_t parked_moved_ms(const void *arg)
{
    const struct parked *parked = arg;
    return tree_call_moved_ms((parked->leader ? parked->leader : parked)->call);
}

/* In an outage a look-up may get the entry of an older listing. False without one. */
static bool parked_reply_stale(struct parked *parked, const struct error *err)
{
    struct mount *mount = parked->mount;
    struct clock *clock = loop_clock(mount->app->loop);
    int64_t ttl_ms, read_ms;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct node *node = parked->name.size > 0 && error_is_outage(err)
                            ? open_listing_find_stale(parked->node, parked->name, &ttl_ms, &read_ms)
                            : NULL;
    fuse_req_t req = node ? waiting_take(&parked->waiting) : NULL;
    if (!req)
        return false;
    account_finish(parked->account, 0);
    nodes_path(parked->node, parked->name, &path);
    journal_stale(mount->journal, parked->waiting.pid, buf_span(&path),
                  clock->wall_ms(clock) - (mount_now_ms(mount) - read_ms), err);
    reply_entry(req, mount, node, ttl_ms);
    parked_free(parked);
    return true;
}

static void parked_on_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct parked *parked = arg;
    parked->call = NULL;
    /* A caller's own limit does not concern its followers: the first of them makes the file. */
    while (!list_is_empty(&parked->followers) && !(err && error_is_of_caller(err))) {
        struct parked *each = LIST_FIRST(&parked->followers, struct parked, follower_node);
        list_remove(&each->follower_node);
        each->leader = NULL;
        parked_on_file(each, file, err);
    }
    if (err && parked_reply_stale(parked, err))
        return;
    parked_log(parked, file, err);
    account_finish(parked->account, err ? error_errno(err->kind) : 0);
    fuse_req_t req = waiting_take(&parked->waiting);
    if (req && err) {
        parked_note_failure(parked, error_errno(err->kind));
        struct error held = *err;
        if (parked->place)
            held.ttl_left_ms =
                (int)tree_hold_ms(&parked->mount->app->tree, parked->place, err->ttl_left_ms);
        parked->reply_error(req, &held);
    } else if (req) {
        parked->reply_file(parked, req, file);
    }
    parked_free(parked);
}

/* Whether a caller of now may get what PARKED reads: its first page is within the ttl. */
static bool parked_is_fresh(const struct parked *parked)
{
    const struct plan *plan = parked->account->plan;
    int64_t age_ms = mount_now_ms(parked->mount) - parked->reads_since_ms;
    const struct tree *tree = &parked->mount->app->tree;
    return !plan || age_ms < tree_items_ttl_ms(tree, parked->place, plan->pattern);
}

/* The oldest that makes the same file of a listing; NULL: none. */
static struct parked *parked_find_leader(const struct parked *parked)
{
    struct parked *found = NULL;
    LIST_EACH (struct parked, each, &parked->mount->parked, list_node)
        if (each != parked && each->call && each->node == parked->node &&
            each->refreshes == parked->refreshes && each->place->kind == PLACE_LIST_FILE &&
            span_equal(each->name, parked->name) && parked_is_fresh(each))
            found = each;
    return found;
}

/* All callers of one file of a listing get it from one reading of the listing. */
static bool parked_read_file(struct parked *parked)
{
    account_note_read(parked->account, parked->place);
    parked->leader = parked->place->kind == PLACE_LIST_FILE ? parked_find_leader(parked) : NULL;
    if (parked->leader) {
        list_append(&parked->leader->followers, &parked->follower_node);
        return true;
    }
    parked->reads_since_ms = mount_now_ms(parked->mount);
    parked->call = tree_read(&parked->account->tree, parked->place, parked_on_file, parked);
    return parked->call;
}

/* The first of them makes the file, and leads the others. One whose caller has gone reads nothing
 * anew: its timer frees it. */
static void parked_release_followers(struct parked *parked)
{
    LIST_EACH_SAFE (struct parked, each, &parked->followers, follower_node) {
        list_remove(&each->follower_node);
        each->leader = NULL;
        if (each->waiting.req && !parked_read_file(each))
            parked_fail(each, ENOMEM);
    }
}

static void parked_on_place(void *arg, struct place *place, const struct error *err);

/* The place from which the request's name is found. */
static const struct place *parked_origin(const struct parked *parked)
{
    const struct node *node = parked->node;
    return node_place(parked->name.size > 0 ? node : node->parent);
}

static bool parked_resolve(struct parked *parked)
{
    struct span name = parked->name.size > 0 ? parked->name : node_name(parked->node);
    parked->resolution =
        tree_resolve(&parked->account->tree, parked_origin(parked), name, parked_on_place, parked);
    return parked->resolution;
}

static void parked_on_place(void *arg, struct place *place, const struct error *err)
{
    struct parked *parked = arg;
    parked->resolution = NULL;
    if (err) {
        parked_on_file(parked, NULL, err);
        return;
    }
    /* The map was read again meanwhile: the new directory would describe tables with the secrets of
     * the old one. */
    if (place->map != parked_origin(parked)->map) {
        place_destroy(place);
        if (!parked_resolve(parked))
            parked_fail(parked, ENOMEM);
        return;
    }
    if (!place_is_directory(place) && place->kind != PLACE_CHANGES) {
        parked->place = place;
        if (!parked_read_file(parked))
            parked_fail(parked, ENOMEM);
        return;
    }
    account_finish(parked->account, 0);
    fuse_req_t req = waiting_take(&parked->waiting);
    if (req)
        parked->reply_directory(parked, req, place);
    else
        place_destroy(place);
    parked_free(parked);
}

/* Opens the account and starts the tree's work. False when memory ran out. */
static bool parked_start_work(struct parked *parked, fuse_req_t req)
{
    const struct node *node = parked->node;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    nodes_path(node, parked->name, &path);
    if (!path.failed)
        parked->account = account_new(parked->mount, fuse_req_ctx(req)->pid, buf_span(&path));
    if (!parked->account)
        return false;
    if (parked->place)
        return parked_read_file(parked);
    return parked_resolve(parked);
}

static struct parked *parked_new(struct mount *mount, const struct parked *wanted)
{
    struct parked *parked = calloc(1, sizeof *parked);
    char *name = malloc(wanted->name.size + 1);
    if (!parked || !name) {
        free(parked);
        free(name);
        return NULL;
    }
    *parked = *wanted;
    if (wanted->name.size)
        memcpy(name, wanted->name.data, wanted->name.size);
    parked->name = span_of(name, wanted->name.size);
    parked->mount = mount;
    parked->refreshes = mount->refreshes;
    nodes_pin(parked->node);
    list_prepend(&mount->parked, &parked->list_node);
    return parked;
}

void parked_start(struct mount *mount, fuse_req_t req, const struct parked *wanted)
{
    int64_t since_ms;
    struct parked *parked = parked_new(mount, wanted);
    if (!parked) {
        place_destroy(wanted->place);
        fuse_reply_err(req, ENOMEM);
        return;
    }
    /* A recent failure of this caller, or of the caller before it in the kernel's queue. Behind an
     * interrupted caller, its wait counts from the beginning of that one. */
    struct failures_request request = parked_as_request(parked, fuse_req_ctx(req)->pid);
    int error = failures_find(mount->failures, &request, &since_ms);
    if (!error && !parked_start_work(parked, req))
        error = ENOMEM;
    accounts_identify_soon(mount);
    if (error) {
        parked_free(parked);
        fuse_reply_err(req, error);
        return;
    }
    parked->waiting.moved_ms = parked_moved_ms;
    if (!waiting_start(&parked->waiting, mount, req, since_ms, parked_on_abandoned, parked))
        parked_free(parked);
}

static bool parked_is_lookup_in(const struct parked *parked, uint64_t ino)
{
    return parked->waiting.req && parked->name.size > 0 && parked->node->ino == ino;
}

bool parked_waits_in(const struct mount *mount, const struct node *directory)
{
    LIST_EACH (const struct parked, each, &mount->parked, list_node)
        if (parked_is_lookup_in(each, directory->ino))
            return true;
    LIST_EACH (const struct waiting_lookup, each, &mount->lookups, node)
        if (each->directory == directory)
            return true;
    return false;
}

void parked_restart(struct mount *mount, uint64_t ino)
{
    LIST_EACH_SAFE (struct parked, each, &mount->parked, list_node)
        if (parked_is_lookup_in(each, ino) &&
            failures_may_restart(mount->failures, each->waiting.pid, mount_now_ms(mount)))
            parked_fail(each, ESTALE);
    LIST_EACH_SAFE (struct waiting_lookup, each, &mount->lookups, node)
        if (each->directory->ino == ino &&
            failures_may_restart(mount->failures, each->waiting.pid, mount_now_ms(mount)))
            waiting_end(&each->waiting, ESTALE);
}

void parked_end_all(struct mount *mount, int error)
{
    while (!list_is_empty(&mount->parked))
        parked_fail(LIST_FIRST(&mount->parked, struct parked, list_node), error);
    while (!list_is_empty(&mount->lookups))
        waiting_end(&LIST_FIRST(&mount->lookups, struct waiting_lookup, node)->waiting, error);
}
