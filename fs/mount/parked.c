#include "fs/mount/parked.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/printable.h"
#include "fs/mount/account.h"
#include "fs/mount/failures.h"
#include "fs/mount/journal.h"
#include "fs/mount/open_listing.h"

/* How long a question goes on that nobody waits for: long enough for the kernel to let in who has
 * queued behind its caller. It may be one of a thousand pages. */
enum { ABANDONED_MS = 1000 };

static void parked_free(struct parked *parked)
{
    struct mount *mount = parked->mount;
    *(parked->previous ? &parked->previous->next : &mount->parked) = parked->next;
    if (parked->next)
        parked->next->previous = parked->previous;
    tree_resolve_cancel(parked->resolution);
    tree_cancel(parked->call);
    account_release(parked->account);
    loop_remove_timer(parked->abandoned);
    nodes_unpin(mount->nodes, parked->node);
    place_destroy(parked->place);
    free((void *)(uintptr_t)parked->name.data);
    free(parked);
}

static void parked_end_with(struct parked *parked, int error)
{
    account_finish(parked->account, error);
    waiting_fail(&parked->waiting, error);
    parked_free(parked);
}

/* "table=prod-Jobs index=by-id ", as far as the path leads to one. */
static void parked_write_target(const struct place *place, struct buf *out)
{
    if (!place || !place->table)
        return;
    const struct map_pattern *pattern = place->route ? place->route->file : NULL;
    buf_add_text(out, "table=");
    printable_add(out, span_text(place->table_prefix), PRINTABLE_WORD);
    printable_add(out, span_text(place->table->base_name), PRINTABLE_WORD);
    if (pattern && pattern->index)
        buf_add_text(out, " index=");
    if (pattern && pattern->index)
        printable_add(out, span_text(pattern->index->name), PRINTABLE_WORD);
    buf_add_char(out, ' ');
}

/* One line for each request that had to ask somebody: who asked for what, what was read for it, how
 * long that took, and which request of the service brought it. */
static void parked_note(const struct parked *parked, const struct tree_file *file,
                        const struct error *err)
{
    struct mount *mount = parked->mount;
    CLEAN_UP(buf_clean_up) struct buf path = {0}, word = {0}, target = {0};
    const char *request_id = err ? err->request_id : file->origin ? file->origin->request_id : "";
    nodes_path(parked->node, parked->name, &path);
    printable_add(&word, buf_span(&path), PRINTABLE_WORD);
    parked_write_target(parked->place, &target);
    if (file && file->stale)
        journal_stale(mount->journal, parked->waiting.pid, buf_span(&path),
                      file->origin->fetched_wall_ms, file->stale);
    if (err && err->kind != ERROR_NOT_FOUND)
        journal_error(mount->journal, parked->waiting.pid, buf_span(&path), reply_errno(err->kind),
                      err);
    log_line(&mount->app->log, LOG_LEVEL_INFO, "pid=%d path=%s %s%s ms=%lld%s%s",
             (int)parked->waiting.pid, buf_text(&word), buf_text(&target),
             err           ? error_word(err->kind)
             : file->stale ? "stale"
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

/* Before a request gets ERROR: who asks for the same next may be told, too. The kernel repeats a
 * look-up only of a name that it knew, and of a read the page that it failed to fill. What its
 * caller may not read is nothing to those who have queued behind him. */
static void parked_report_failure(const struct parked *parked, int error)
{
    struct mount *mount = parked->mount;
    struct failures_request request = parked_as_request(parked, parked->waiting.pid);
    if (error == EINTR || error == ENOMEM) { /* the kernel keeps the name, and asks no more */
        failures_add(mount->failures, &request, error, parked->waiting.since_ms, false);
        return;
    }
    bool is_repeated =
        !parked->name.size || nodes_lose_name(mount->nodes, parked->node, parked->name);
    int64_t since_ms = error == EDQUOT ? request.now_ms : parked->waiting.since_ms;
    if (error != ENOENT)
        failures_add(mount->failures, &request, error, since_ms, is_repeated);
}

static void parked_on_abandoned(void *arg)
{
    struct parked *parked = arg;
    parked->abandoned = NULL;
    parked_free(parked);
}

/* After an interrupt the answer may still come, for those whom the kernel lets ask for the same
 * name one by one: the next of them joins the question that is under way. */
static void parked_abandon(void *arg, int error)
{
    struct parked *parked = arg;
    struct error why;
    account_finish(parked->account, error);
    parked_report_failure(parked, error);
    if (error == EINTR) {
        parked->abandoned =
            loop_add_timer(parked->mount->app->loop, ABANDONED_MS, parked_on_abandoned, parked);
        if (!parked->abandoned)
            parked_free(parked);
        return;
    }
    error_set(&why, ERROR_TIMED_OUT, "no answer in time");
    parked_note(parked, NULL, &why);
    parked_free(parked);
}

/* In an outage a look-up is answered with what a listing has told of the name, if that is not too
 * old even for this. */
static bool parked_substitute(struct parked *parked, const struct error *err)
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

static void parked_take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct parked *parked = arg;
    parked->call = NULL;
    if (err && parked_substitute(parked, err))
        return;
    parked_note(parked, file, err);
    account_finish(parked->account, err ? reply_errno(err->kind) : 0);
    fuse_req_t req = waiting_take(&parked->waiting);
    if (req && err) {
        parked_report_failure(parked, reply_errno(err->kind));
        parked->fail(req, err);
    } else if (req) {
        parked->answer(parked, req, file);
    }
    parked_free(parked);
}

/* What the path means is known. */
static void parked_take_place(void *arg, struct place *place, const struct error *err)
{
    struct parked *parked = arg;
    parked->resolution = NULL;
    if (err) {
        parked_take_file(parked, NULL, err);
        return;
    }
    if (!place_is_directory(place)) {
        parked->place = place;
        account_note_read(parked->account, place);
        parked->call = tree_read(&parked->account->tree, place, parked_take_file, parked);
        if (!parked->call)
            parked_end_with(parked, ENOMEM);
        return;
    }
    account_finish(parked->account, 0);
    fuse_req_t req = waiting_take(&parked->waiting);
    if (req)
        parked->directory(parked, req, place);
    else
        place_destroy(place);
    parked_free(parked);
}

static bool parked_request(struct parked *parked)
{
    const struct tree *tree = &parked->account->tree;
    const struct node *node = parked->node;
    if (parked->place)
        account_note_read(parked->account, parked->place);
    if (parked->place)
        parked->call = tree_read(tree, parked->place, parked_take_file, parked);
    else if (parked->name.size)
        parked->resolution =
            tree_resolve(tree, node->place, parked->name, parked_take_place, parked);
    else
        parked->resolution =
            tree_resolve(tree, node->parent->place, node->name, parked_take_place, parked);
    return parked->call || parked->resolution;
}

static bool parked_open_account(struct parked *parked, fuse_req_t req)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    nodes_path(parked->node, parked->name, &path);
    if (!path.failed)
        parked->account = account_new(parked->mount, fuse_req_ctx(req)->pid, buf_span(&path));
    return parked->account;
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
    nodes_pin(parked->node);
    parked->next = mount->parked;
    if (parked->next)
        parked->next->previous = parked;
    mount->parked = parked;
    return parked;
}

/* What just failed for the caller itself, or for one behind whom it has queued, is its answer. An
 * interrupted caller left a question: who queued behind that one has waited since it was asked. */
static bool parked_answer_at_once(const struct parked *parked, fuse_req_t req, int64_t *since_ms)
{
    struct failures_request request = parked_as_request(parked, fuse_req_ctx(req)->pid);
    int error = failures_find(parked->mount->failures, &request, since_ms);
    if (error)
        fuse_reply_err(req, error);
    return error;
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
    if (parked_answer_at_once(parked, req, &since_ms)) {
        parked_free(parked);
        return;
    }
    if (!parked_open_account(parked, req) || !parked_request(parked)) {
        fuse_reply_err(req, ENOMEM);
        parked_free(parked);
        return;
    }
    if (!waiting_start(&parked->waiting, mount, req, since_ms, parked_abandon, parked))
        parked_free(parked);
}

static bool parked_is_lookup_in(const struct parked *parked, uint64_t ino)
{
    return parked->waiting.req && parked->name.size > 0 && parked->node->ino == ino;
}

bool parked_waits_in(const struct mount *mount, const struct node *directory)
{
    for (const struct parked *each = mount->parked; each; each = each->next)
        if (parked_is_lookup_in(each, directory->ino))
            return true;
    return false;
}

void parked_send_back(struct mount *mount, uint64_t ino)
{
    struct parked *next;
    for (struct parked *each = mount->parked; each; each = next) {
        next = each->next;
        if (parked_is_lookup_in(each, ino) &&
            failures_may_restart(mount->failures, each->waiting.pid, mount_now_ms(mount)))
            parked_end_with(each, ESTALE);
    }
}

void parked_end_all(struct mount *mount, int error)
{
    while (mount->parked)
        parked_end_with(mount->parked, error);
}
