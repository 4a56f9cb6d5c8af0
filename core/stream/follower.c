#include "core/stream/follower.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/instant.h"
#include "core/stream/shard.h"

enum {
    MOST_REQUESTS = 8,               /* of shards, at the same time */
    DESCRIBE_EACH_MS = 60 * 1000,    /* new shards are looked for, even if none has ended */
    DESCRIBE_LEAST_MS = 1000,        /* between two descriptions: the service allows 10 a second */
    DESCRIBE_AGAIN_MS = 5 * 1000,    /* after a failure */
    CHILDLESS_MS = 60 * 1000,        /* a shard that ended before gets no children */
    FORGET_MS = 48 * 60 * 60 * 1000, /* twice as long as a stream has its changes */
    STREAM_LATER_MS = 60 * 1000,     /* a stream that is made with its table is not younger */
};

/* The description of the table, or of the stream with its shards. */
enum follower_step { STEP_TABLE, STEP_SHARDS };

struct follower {
    struct follower_options options;
    char *table; /* owned */
    char *arn;   /* owned; NULL until the table is described */
    enum follow_view view;
    struct shard_context context;
    struct list shards;       /* of struct shard, owned; also those that have ended, while the
                               * stream has them */
    struct dict by_id;        /* the same */
    int64_t tip_ms;           /* of all of them, after the last event; see shard.h */
    enum follower_step step;  /* of READ */
    struct read *read;        /* owned; NULL: no description is under way */
    struct source_call *call; /* likewise */
    struct loop_timer *timer; /* until the next description */
    bool is_disabled;         /* the stream, as of the last description */
    bool has_shards;          /* the shards were read once */
    bool is_covered;
    bool is_paused;
    int64_t made_ms, made_wall_ms;
    int64_t table_wall_ms, stream_wall_ms; /* when they were made; 0: not known */
    /* When the last complete description was begun; and the one under way: */
    int64_t described_ms, described_wall_ms;
    int64_t began_ms, began_wall_ms;
    struct follower_stats stats;
    bool *gone; /* set by destroy, while a function of OPS runs */
};

static void follower_end_call(struct follower *follower)
{
    source_end(follower->call);
    read_destroy(follower->read);
    follower->call = NULL;
    follower->read = NULL;
}

static void follower_drop_shard(struct follower *follower, struct shard *shard)
{
    dict_remove(&follower->by_id, &shard->by_id);
    shard_destroy(shard);
}

void follower_destroy(struct follower *follower)
{
    if (!follower)
        return;
    if (follower->gone)
        *follower->gone = true;
    follower_end_call(follower);
    loop_remove_timer(follower->timer);
    LIST_EACH_SAFE (struct shard, each, &follower->shards, node)
        follower_drop_shard(follower, each);
    dict_clean_up(&follower->by_id);
    source_unref(follower->options.source);
    payer_unref(follower->options.payer);
    free(follower->table);
    free(follower->arn);
    free(follower);
}

/* Calls FN (may be NULL) of the options. False if that destroyed the follower. */
static bool follower_report(struct follower *follower, void (*fn)(void *, const struct error *),
                            const struct error *why)
{
    bool gone = false;
    if (!fn)
        return true;
    follower->gone = &gone;
    fn(follower->options.arg, why);
    if (!gone)
        follower->gone = NULL;
    return !gone;
}

/* Ends all requests; then no function of OPS is called any more. */
static void follower_end(struct follower *follower, const struct error *why)
{
    struct error copy = *why;
    follower_end_call(follower);
    loop_remove_timer(follower->timer);
    follower->timer = NULL;
    LIST_EACH_SAFE (struct shard, each, &follower->shards, node)
        follower_drop_shard(follower, each);
    follower_report(follower, follower->options.ops->ended, &copy);
}

static int64_t follower_wall_ms(const struct follower *follower)
{
    struct clock *clock = loop_clock(follower->options.loop);
    return clock->wall_ms(clock);
}

/* Lag. */

/* Whether SHARD may have changes that were not delivered. */
static bool follower_counts(const struct shard *shard)
{
    return shard->state != SHARD_ENDED || !shard->has_children;
}

/* All changes before this were delivered; 0: not known. On the monotonic clock. An enabled stream
 * has open shards: while none is known, nothing newer is certain than the end of the last one. */
static int64_t follower_find_tip_ms(const struct follower *follower)
{
    int64_t least_ms = INT64_MAX, most_ms = 0;
    if (!follower->has_shards)
        return 0;
    LIST_EACH (struct shard, each, &follower->shards, node) {
        if (follower_counts(each) && each->tip_ms < least_ms)
            least_ms = each->tip_ms;
        if (each->tip_ms > most_ms)
            most_ms = each->tip_ms;
    }
    if (least_ms != INT64_MAX)
        return least_ms;
    return most_ms && !follower->is_disabled ? most_ms : follower->described_ms;
}

int64_t follower_lag_ms(const struct follower *follower)
{
    int64_t since_ms = follower->tip_ms ? follower->tip_ms : follower->made_ms;
    return loop_now_ms(follower->options.loop) - since_ms;
}

bool follower_is_doubted(const struct follower *follower)
{
    return shard_context_is_doubted(&follower->context);
}

struct follower_stats follower_stats(const struct follower *follower)
{
    struct follower_stats stats = follower->stats;
    LIST_EACH (struct shard, each, &follower->shards, node) {
        stats.shards += each->state != SHARD_ENDED;
        stats.closed += each->state == SHARD_ENDED;
    }
    stats.requests += follower->context.requests;
    stats.duplicates = follower->context.duplicates;
    stats.lag_ms = follower_lag_ms(follower);
    return stats;
}

enum follow_view follower_view(const struct follower *follower)
{
    return follower->view;
}

/* Shards. */

static struct shard *follower_find_shard(const struct follower *follower, struct span id)
{
    return (struct shard *)dict_find(&follower->by_id, id);
}

/* A shard begins when its parent has ended, or is not known any more. */
static void follower_start_children(struct follower *follower)
{
    LIST_EACH (struct shard, each, &follower->shards, node) {
        const struct shard *parent =
            each->state == SHARD_WAITS ? follower_find_shard(follower, each->parent) : NULL;
        if (each->state == SHARD_WAITS && (!parent || parent->state == SHARD_ENDED))
            each->state = SHARD_QUEUED;
    }
}

/* The queued shard whose last request is the oldest; NULL for none. */
static struct shard *follower_next_shard(const struct follower *follower)
{
    struct shard *next = NULL;
    LIST_EACH (struct shard, each, &follower->shards, node)
        if (each->state == SHARD_QUEUED && (!next || each->sent_ms < next->sent_ms))
            next = each;
    return next;
}

static void follower_send(struct follower *follower)
{
    size_t busy = 0;
    struct shard *next;
    if (follower->is_paused)
        return;
    LIST_EACH (struct shard, each, &follower->shards, node)
        busy += shard_is_busy(each);
    for (; busy < MOST_REQUESTS && (next = follower_next_shard(follower)); busy++)
        shard_send(next);
}

static bool follower_lacks_children(const struct follower *follower)
{
    LIST_EACH (struct shard, each, &follower->shards, node)
        if (each->state == SHARD_ENDED && !each->has_children)
            return true;
    return false;
}

static void follower_describe(void *arg);

/* Sets the time of the next description. */
static void follower_describe_in(struct follower *follower, int64_t delay_ms)
{
    loop_remove_timer(follower->timer);
    follower->timer = loop_add_timer(follower->options.loop, delay_ms, follower_describe, follower);
}

/* A shard that has ended has children, which the stream's description names. */
static void follower_look_for_children(struct follower *follower)
{
    int64_t left_ms = follower->began_ms + DESCRIBE_LEAST_MS - loop_now_ms(follower->options.loop);
    if (!follower->call && follower_lacks_children(follower))
        follower_describe_in(follower, left_ms > 0 ? left_ms : 0);
}

/* All of the stream was delivered, and it gets no further changes. */
static bool follower_is_over(const struct follower *follower)
{
    if (!follower->is_disabled || !follower->has_shards || follower->call)
        return false;
    LIST_EACH (struct shard, each, &follower->shards, node)
        if (follower_counts(each))
            return false;
    return true;
}

static void follower_end_disabled(struct follower *follower)
{
    struct error why;
    error_set(&why, ERROR_NO_STREAM,
              "the stream of table %s was disabled, and all of its changes were read; enable a "
              "stream, and follow it again",
              follower->table);
    follower_end(follower, &why);
}

/* Whether no event comes any more, because memory ran out for a timer. */
static bool follower_is_stuck(const struct follower *follower)
{
    if (follower->call || follower->timer)
        return false;
    LIST_EACH (struct shard, each, &follower->shards, node)
        if (each->call || each->timer)
            return false;
    return true;
}

static void follower_end_stuck(struct follower *follower)
{
    struct error why;
    error_no_memory(&why);
    follower_end(follower, &why);
}

/* After each event: what can go on goes on. */
static void follower_continue(struct follower *follower)
{
    if (follower_is_over(follower)) {
        follower_end_disabled(follower);
        return;
    }
    follower_start_children(follower);
    follower_look_for_children(follower);
    follower_send(follower);
    if (!follower->call && !follower->timer)
        follower_describe_in(follower, DESCRIBE_EACH_MS);
    if (follower_is_stuck(follower)) {
        follower_end_stuck(follower);
        return;
    }
    follower->tip_ms = follower_find_tip_ms(follower);
    if (follower->is_covered || follower->tip_ms == 0)
        return;
    follower->is_covered = true;
    if (follower->options.ops->covered)
        follower->options.ops->covered(follower->options.arg);
}

/* The time to resume. */

/* The service's time when the follower was made. */
static int64_t follower_made_wall_ms(const struct follower *follower)
{
    return follower->made_wall_ms + follower->context.skew_ms;
}

/* Changes from before this are not wanted. */
static int64_t follower_from_ms(const struct follower *follower)
{
    int64_t made_ms = follower_made_wall_ms(follower);
    return follower->options.from == FOLLOW_NOW     ? made_ms
           : follower->options.from == FOLLOW_SINCE ? follower->options.since_ms
                                                    : made_ms - SHARD_KEPT_MS;
}

static int64_t follower_delivered_ms(const struct follower *follower, const struct shard *shard)
{
    return shard->delivered_wall_ms ? shard->delivered_wall_ms : follower_from_ms(follower);
}

/* TIME_MS less the difference of clocks. */
static int64_t follower_allow(const struct follower *follower, int64_t time_ms)
{
    const struct follower_options *options = &follower->options;
    bool is_since =
        options->from == FOLLOW_SINCE && time_ms - SHARD_CLOCKS_DIFFER_MS < options->since_ms;
    return is_since ? options->since_ms : time_ms - SHARD_CLOCKS_DIFFER_MS;
}

int64_t follower_resume_ms(const struct follower *follower)
{
    int64_t resume_ms = INT64_MAX;
    LIST_EACH (struct shard, each, &follower->shards, node)
        if (follower_counts(each) && follower_delivered_ms(follower, each) < resume_ms)
            resume_ms = follower_delivered_ms(follower, each);
    resume_ms = resume_ms == INT64_MAX ? follower_from_ms(follower) : resume_ms;
    return follower_allow(follower, resume_ms);
}

/* Reports of shards. */

static void follower_on_moved(void *arg, struct shard *shard)
{
    (void)shard;
    follower_continue(arg);
}

static void follower_on_changes(void *arg, struct shard *shard, struct change *changes,
                                size_t count)
{
    struct follower *follower = arg;
    bool gone = false;
    int64_t resume_ms = follower_resume_ms(follower);
    int64_t own_ms = follower_allow(follower, follower_delivered_ms(follower, shard));
    resume_ms = own_ms < resume_ms ? own_ms : resume_ms; /* it may have ended */
    follower->stats.changes += count;
    for (size_t i = 0; i < count; i++)
        changes[i].resume_ms = resume_ms;
    follower->gone = &gone;
    follower->options.ops->changes(follower->options.arg, changes, count);
    if (gone)
        return;
    follower->gone = NULL;
    follower_continue(follower);
}

static void follower_on_gap(void *arg, struct shard *shard, const struct error *why)
{
    struct follower *follower = arg;
    (void)shard;
    follower->stats.gaps++;
    follower->is_covered = false;
    follower->tip_ms = follower_find_tip_ms(follower);
    if (follower_report(follower, follower->options.ops->gap, why))
        follower_continue(follower);
}

static void follower_on_trouble(void *arg, struct shard *shard, const struct error *why)
{
    struct follower *follower = arg;
    (void)shard;
    if (follower_report(follower, follower->options.ops->trouble, why))
        follower_continue(follower);
}

static void follower_on_refused(void *arg, struct shard *shard, const struct error *why)
{
    (void)shard;
    follower_end(arg, why);
}

static const struct shard_ops follower_shard_ops = {
    .changes = follower_on_changes,
    .gap = follower_on_gap,
    .trouble = follower_on_trouble,
    .refused = follower_on_refused,
    .moved = follower_on_moved,
};

/* The stream's description. */

/* Where a shard begins that the first description has, unless only later changes are wanted. */
static void follower_place_first(const struct follower *follower, struct shard *shard)
{
    const struct follower_options *options = &follower->options;
    shard->at = options->from == FOLLOW_NOW ? STREAM_LATEST : STREAM_OLDEST;
    shard->not_before_ms = options->from == FOLLOW_SINCE ? options->since_ms : INT64_MIN;
    shard->takes_any = options->from == FOLLOW_OLDEST;
}

/* A shard that appears later is read from its beginning. Changes that its parent has
 * delivered, or that happened before the last description, are not in it. */
static void follower_place_later(const struct follower *follower, struct shard *shard)
{
    const struct shard *parent = follower_find_shard(follower, shard->parent);
    shard->at = STREAM_OLDEST;
    shard->tip_ms = parent ? parent->tip_ms : follower->described_ms;
    shard->delivered_wall_ms = parent ? follower_delivered_ms(follower, parent)
                                      : follower->described_wall_ms + follower->context.skew_ms;
    shard->takes_any = follower->options.from == FOLLOW_OLDEST;
    if (follower->options.from == FOLLOW_SINCE)
        shard->not_before_ms = follower->options.since_ms;
}

/* Adds the shard that DESCRIBED describes, unless it is known. False with ERR filled. */
static bool follower_add_shard(struct follower *follower, struct json described, struct error *err)
{
    struct span id, parent = span_text("");
    struct json named = json_member(described, "ParentShardId");
    if (!json_plain_string(json_member(described, "ShardId"), &id) || id.size == 0 ||
        (json_is(named, JSON_STRING) && !json_plain_string(named, &parent)))
        return error_set(err, ERROR_BAD_ANSWER,
                         "a shard of the stream of table %s has no id; look for a proxy that "
                         "changes responses",
                         follower->table);
    struct shard *shard = follower_find_shard(follower, id);
    if (shard) {
        shard->seen_ms = follower->began_ms;
        return true;
    }
    shard = shard_new(&follower->context, id, parent);
    if (!shard)
        return error_no_memory(err);
    if (follower->has_shards)
        follower_place_later(follower, shard);
    else
        follower_place_first(follower, shard);
    shard->seen_ms = follower->began_ms;
    shard->by_id.key = shard->id;
    dict_add(&follower->by_id, &shard->by_id);
    list_append(&follower->shards, &shard->node);
    return true;
}

/* From now on only shards without children get changes. Some servers state an end of shards that
 * are open, so it does not count. */
static void follower_skip_parents(struct follower *follower)
{
    LIST_EACH (struct shard, each, &follower->shards, node) {
        struct shard *parent = follower_find_shard(follower, each->parent);
        if (parent && parent != each)
            parent->state = SHARD_ENDED;
    }
}

/* Some servers describe a shard's children some time after its end. */
static void follower_note_children(struct follower *follower)
{
    LIST_EACH (struct shard, each, &follower->shards, node) {
        struct shard *parent = follower_find_shard(follower, each->parent);
        if (parent)
            parent->has_children = true;
        if (each->state == SHARD_ENDED &&
            (follower->is_disabled || follower->began_ms - each->ended_ms > CHILDLESS_MS))
            each->has_children = true;
    }
}

/* Removes shards that have ended and that the stream no longer has. One that a single description
 * lacks may come back, and must not be read again. */
static void follower_forget_shards(struct follower *follower)
{
    LIST_EACH_SAFE (struct shard, each, &follower->shards, node)
        if (each->state == SHARD_ENDED && each->has_children &&
            follower->began_ms - each->seen_ms > FORGET_MS)
            follower_drop_shard(follower, each);
}

/* The time to the next description: soon, while no shard is open. */
static int64_t follower_rest_ms(const struct follower *follower)
{
    LIST_EACH (struct shard, each, &follower->shards, node)
        if (each->state != SHARD_ENDED)
            return DESCRIBE_EACH_MS;
    return DESCRIBE_LEAST_MS;
}

static void follower_take_shards(struct follower *follower)
{
    if (!follower->has_shards && follower->options.from == FOLLOW_NOW)
        follower_skip_parents(follower);
    follower_note_children(follower);
    follower_forget_shards(follower);
    follower->has_shards = true;
    follower->described_ms = follower->began_ms;
    follower->described_wall_ms = follower->began_wall_ms;
}

/* The description of the whole stream was refused, and not a place in it. */
static void follower_report_deletion(const struct follower *follower, struct error *err)
{
    struct error why = *err;
    if (why.kind != ERROR_NO_STREAM || follower->step != STEP_SHARDS)
        return;
    error_set(err, ERROR_NO_STREAM,
              "the stream of table %s was deleted, perhaps with its table; check the table, and "
              "follow it again",
              follower->table);
    memcpy(err->code, why.code, sizeof err->code);
    memcpy(err->request_id, why.request_id, sizeof err->request_id);
    err->http_status = why.http_status;
}

/* A description that has more shards than --max-entries has no fewer at once. While it is followed,
 * shards expire. */
static bool follower_is_final(const struct follower *follower, const struct error *why)
{
    return error_is_refusal(why) || (why->kind == ERROR_TOO_LARGE && !follower->has_shards);
}

static void follower_fail(struct follower *follower, const struct error *why)
{
    struct error err = *why;
    follower_report_deletion(follower, &err);
    follower_end_call(follower);
    if (follower_is_final(follower, why)) {
        follower_end(follower, &err);
        return;
    }
    follower_describe_in(follower, DESCRIBE_AGAIN_MS);
    if (follower_is_stuck(follower)) {
        follower_end(follower, &err);
        return;
    }
    follower_report(follower, follower->options.ops->trouble, &err);
}

static enum follow_view follower_read_view(struct span text)
{
    return span_is(text, "NEW_AND_OLD_IMAGES") ? VIEW_BOTH
           : span_is(text, "NEW_IMAGE")        ? VIEW_NEW
           : span_is(text, "OLD_IMAGE")        ? VIEW_OLD
                                               : VIEW_KEYS;
}

/* The description of a table whose stream was disabled does not have the view. */
static void follower_read_state(struct follower *follower, struct span description)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf view = {0};
    if (!json_parse(&doc, description, JSON_STRICT, NULL))
        return;
    struct json status = json_member(json_root(&doc), "StreamStatus");
    follower->is_disabled = json_string_is(status, SPAN_LITERAL("DISABLED"));
    if (json_read_string(json_member(json_root(&doc), "StreamViewType"), &view))
        follower->view = follower_read_view(buf_span(&view));
    change_read_time(json_member(json_root(&doc), "CreationRequestDateTime"),
                     &follower->stream_wall_ms);
}

/* A stream that was enabled anew lacks the changes that the one before it may still have. False if
 * the report of that destroyed the follower. */
static bool follower_check_past(struct follower *follower)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf time = {0};
    int64_t born_ms = follower->stream_wall_ms;
    if (follower->options.from != FOLLOW_SINCE || follower->has_shards ||
        born_ms <= follower->options.since_ms ||
        (follower->table_wall_ms && born_ms < follower->table_wall_ms + STREAM_LATER_MS))
        return true;
    instant_write(&time, born_ms);
    error_set(&why, ERROR_NOT_STORED,
              "the stream of table %s exists since %s; changes from before that are not in it, and "
              "a stream that was disabled is not read; read the table itself",
              follower->table, buf_text(&time));
    follower->stats.gaps++;
    return follower_report(follower, follower->options.ops->gap, &why);
}

static void follower_on_shards(struct follower *follower, const struct page *page)
{
    struct error err;
    bool more = page->more;
    follower_read_state(follower, page->description);
    for (size_t i = 0; i < page->item_count; i++)
        if (!follower_add_shard(follower, page->items[i], &err)) {
            follower_fail(follower, &err);
            return;
        }
    if (more) {
        source_more(follower->call);
        return;
    }
    follower_end_call(follower);
    if (!follower_check_past(follower))
        return;
    follower_take_shards(follower);
    follower_describe_in(follower, follower_rest_ms(follower));
    follower_continue(follower);
}

static void follower_refuse_table(struct follower *follower, bool had_stream)
{
    struct error why;
    error_set(&why, ERROR_NO_STREAM,
              "table %s %s; a person who may change the table enables one: aws dynamodb "
              "update-table --table-name %s --stream-specification "
              "StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES",
              follower->table, had_stream ? "has a stream that was disabled" : "has no stream",
              follower->table);
    follower_fail(follower, &why);
}

/* False if that destroyed the follower. */
static bool follower_report_table(struct follower *follower, const struct table_info *info)
{
    bool gone = false;
    if (!follower->options.ops->described)
        return true;
    follower->gone = &gone;
    follower->options.ops->described(follower->options.arg, info);
    if (!gone)
        follower->gone = NULL;
    return !gone;
}

static void follower_take_table(struct follower *follower, const struct table_info *info)
{
    struct error err;
    bool has_past = info->stream_arn.size > 0 && follower->options.from != FOLLOW_NOW;
    if (!info->stream_enabled && !has_past) {
        follower_refuse_table(follower, info->stream_arn.size > 0);
        return;
    }
    if (!follower_report_table(follower, info))
        return;
    follower->view = follower_read_view(info->stream_view);
    follower->table_wall_ms = info->created_ms;
    follower->arn = strndup(info->stream_arn.data, info->stream_arn.size);
    follower->options.info = NULL;
    follower_end_call(follower);
    if (!follower->arn) {
        error_no_memory(&err);
        follower_fail(follower, &err);
        return;
    }
    follower->context.stream = span_text(follower->arn);
    follower->step = STEP_SHARDS;
    follower_describe(follower);
}

static void follower_on_page(void *arg, const struct page *page, const struct error *err)
{
    struct follower *follower = arg;
    follower->stats.requests += page ? page->requests : 1;
    if (err)
        follower_fail(follower, err);
    else if (follower->step == STEP_TABLE)
        follower_take_table(follower, page->table);
    else
        follower_on_shards(follower, page);
}

/* Requests the description of the table, then that of the stream. */
static void follower_describe(void *arg)
{
    struct follower *follower = arg;
    bool is_table = follower->step == STEP_TABLE;
    struct error err;
    follower->timer = NULL;
    follower->began_ms = loop_now_ms(follower->options.loop);
    follower->began_wall_ms = follower_wall_ms(follower);
    if (is_table && follower->options.info) {
        follower_take_table(follower, follower->options.info);
        return;
    }
    follower->read = read_new(is_table ? READ_TABLE : READ_STREAM, follower->table, NULL);
    if (follower->read && !is_table)
        read_set_stream(follower->read, &(struct read_stream){.arn = follower->context.stream});
    if (follower->read && !read_failed(follower->read))
        follower->call = source_start(follower->options.source, follower->read,
                                      follower->options.payer, follower_on_page, follower);
    if (follower->call)
        return;
    error_no_memory(&err);
    follower_fail(follower, &err);
}

void follower_pause(struct follower *follower, bool pauses)
{
    follower->is_paused = pauses;
    follower_send(follower);
}

struct follower *follower_new(const struct follower_options *options)
{
    struct follower *follower = calloc(1, sizeof *follower);
    if (!follower)
        return NULL;
    follower->options = *options;
    source_ref(options->source);
    payer_ref(options->payer);
    follower->table = strdup(options->table);
    follower->made_ms = loop_now_ms(options->loop);
    follower->made_wall_ms = follower_wall_ms(follower);
    follower->context = (struct shard_context){
        .loop = options->loop,
        .source = options->source,
        .table = follower->table,
        .payer = options->payer,
        .poll_least_ms = options->poll_least_ms,
        .poll_most_ms = options->poll_most_ms,
        .ops = &follower_shard_ops,
        .arg = follower,
    };
    follower->timer = loop_add_timer(options->loop, 0, follower_describe, follower);
    if (follower->table && follower->timer && dict_init(&follower->by_id))
        return follower;
    follower_destroy(follower);
    return NULL;
}
