#include "core/live/live_table.h"

#include <stdlib.h>
#include <string.h>

enum {
    POLL_LEAST_MS = 250,
    POLL_MOST_MS = 1000,
    LOOK_EACH_MS = 1000,        /* at the lag */
    UNREAD_MS = 10 * 60 * 1000, /* then polling stops */
    MOST_TABLES = 32,           /* that are followed at the same time */
    LOST_MS = 60 * 1000,        /* before it begins again */
    SHORT_MS = 60 * 1000,       /* after a result could not be stored */
    INDEXES_SETTLE = 5,         /* times as long as the table itself */
    DESCRIBED_MS = 10 * 1000,   /* the age of a description with which following may begin */
};

#define LIVE_DOUBTED                                                                               \
    "an empty page of the stream lacked a change that it should have had; for ten minutes only "   \
    "pages with changes show that none is missing"

bool live_shortage_lasts(const struct live_shortage *shortage, int64_t now_ms)
{
    return shortage->last_ms && now_ms - shortage->last_ms < SHORT_MS;
}

void live_shortage_note(struct live_shortage *shortage, int64_t now_ms)
{
    if (!live_shortage_lasts(shortage, now_ms))
        shortage->began_ms = now_ms;
    shortage->last_ms = now_ms;
}

static int64_t live_table_now_ms(const struct live_table *table)
{
    return loop_now_ms(table->context->loop);
}

struct live_table *live_table_new(struct live_context *context, const char *name)
{
    size_t size = strlen(name);
    struct live_table *table = calloc(1, sizeof *table + size + 1);
    if (!table)
        return NULL;
    memcpy(table->name, name, size);
    table->node.key = span_of(table->name, size);
    table->context = context;
    table->history.charge = context->budget->charge;
    table->history.charge_arg = context->budget->charge_arg;
    table->history.total = &context->history_bytes;
    return table;
}

/* Drops all that was known of the table. */
static void live_table_clear(struct live_table *table)
{
    live_memory_destroy(table->memory);
    table->memory = NULL;
    live_schema_unref(table->schema);
    table->schema = NULL;
    live_history_restart(&table->history, live_table_now_ms(table));
}

/* From now on not every change comes. */
static void live_table_end(struct live_table *table)
{
    if (table->state == LIVE_FOLLOWS)
        table->ended_ms = live_table_now_ms(table);
}

static void live_table_drop_description(struct live_table *table)
{
    if (!table->info)
        return;
    list_remove(&table->info_node);
    table->info_owner->release(table->info_owner);
    table->info = NULL;
}

/* Whether a description came a moment ago, as that of a path without a map does. */
static bool live_table_has_description(const struct live_table *table)
{
    return table->info && live_table_now_ms(table) - table->info_ms < DESCRIBED_MS;
}

static void live_table_stop(struct live_table *table)
{
    live_table_drop_description(table);
    table->context->followed -= table->follower != NULL;
    live_table_end(table);
    follower_destroy(table->follower);
    table->follower = NULL;
    live_table_clear(table);
}

void live_table_destroy(struct live_table *table)
{
    if (!table)
        return;
    loop_remove_timer(table->timer);
    live_table_stop(table);
    free(table);
}

/* States. */

static void live_table_look(void *arg);

/* Without memory for the timer the lag is not reported, and polling does not stop. */
static void live_table_look_in(struct live_table *table, int64_t delay_ms)
{
    loop_remove_timer(table->timer);
    table->timer = loop_add_timer(table->context->loop, delay_ms, live_table_look, table);
}

/* A table without a stream is no failure of the mount, but its user expects a report. */
static void live_table_lose(struct live_table *table, const struct error *why)
{
    if (table->state != LIVE_LOST && (table->why.kind != why->kind || !table->why.text[0]))
        log_line(table->context->log, LOG_LEVEL_WARNING,
                 "table %s is not live, and its items are reused for their ttl: %s", table->name,
                 why->text);
    table->why = *why;
    live_table_stop(table);
    table->state = LIVE_LOST;
    live_table_look_in(table, LOST_MS);
}

static void live_table_report_lag(struct live_table *table)
{
    int64_t lag_ms = follower_lag_ms(table->follower);
    bool is_late = lag_ms > LIVE_MOST_LAG_MS;
    if (is_late && !table->was_late)
        log_line(table->context->log, LOG_LEVEL_WARNING,
                 "the stream of table %s lags by %lld ms; its items are reused for their ttl until "
                 "it has caught up",
                 table->name, (long long)lag_ms);
    if (!is_late && table->was_late)
        log_line(table->context->log, LOG_LEVEL_INFO, "the stream of table %s has caught up",
                 table->name);
    if (!is_late)
        table->why = (struct error){0};
    table->was_late = is_late;
}

static void live_table_begin(struct live_table *table);
static bool live_table_stores(const struct live_table *table);

/* Follows the table if there is room for one more; else it rests. */
static void live_table_try(struct live_table *table)
{
    if (table->context->followed < MOST_TABLES) {
        live_table_begin(table);
        return;
    }
    table->state = LIVE_RESTS;
    error_set(&table->why, ERROR_TOO_LARGE,
              "%d tables are followed already; one that is not read for ten minutes makes room",
              MOST_TABLES);
}

/* Polling costs requests, so it stops while the table is not read. */
static void live_table_look(void *arg)
{
    struct live_table *table = arg;
    bool is_unread = live_table_now_ms(table) - table->read_ms >= UNREAD_MS;
    table->timer = NULL;
    if (table->state == LIVE_LOST && !is_unread) {
        live_table_try(table);
        return;
    }
    if (is_unread) {
        live_table_stop(table);
        table->state = LIVE_RESTS;
        log_line(table->context->log, LOG_LEVEL_INFO,
                 "table %s was not read for ten minutes, and is not followed any more",
                 table->name);
        return;
    }
    live_history_age(&table->history, live_table_now_ms(table));
    if (table->state == LIVE_FOLLOWS)
        live_table_report_lag(table);
    if (live_table_stores(table))
        table->stored_ms = live_table_now_ms(table);
    live_table_look_in(table, LOOK_EACH_MS);
}

/* Changes. */

static bool live_table_read_image(const struct live_table *table, const struct change *change,
                                  struct buf *key, struct live_image *out)
{
    bool existed = change->kind != CHANGE_INSERT, exists = change->kind != CHANGE_REMOVE;
    if (!live_schema_write_key(table->schema, change->keys, key) || key->failed)
        return false;
    *out = (struct live_image){
        .key = buf_span(key),
        .hash = live_schema_hash(table->schema, buf_span(key)),
        .keys = change->keys,
        .before = existed ? change->before : (struct json){0},
        .after = exists ? change->after : (struct json){0},
        .before_known = !existed || json_present(change->before),
        .after_known = !exists || json_present(change->after),
    };
    return true;
}

/* A change whose key is not that of the table is of another table, which has the same name. */
static void live_table_on_changes(void *arg, const struct change *changes, size_t count)
{
    struct live_table *table = arg;
    struct error why;
    for (size_t i = 0; i < count; i++) {
        CLEAN_UP(buf_clean_up) struct buf key = {0};
        struct live_image image;
        if (!live_table_read_image(table, &changes[i], &key, &image)) {
            if (key.failed)
                error_no_memory(&why);
            else
                error_set(&why, ERROR_BAD_ANSWER,
                          "a change of its stream has another key than the table; look whether the "
                          "table was made anew");
            live_table_lose(table, &why);
            return;
        }
        table->context->changes++;
        live_history_add(&table->history, &image, live_table_now_ms(table));
        live_memory_apply(table->memory, &image);
    }
}

/* The follower describes the table before it delivers changes. */
static void live_table_on_described(void *arg, const struct table_info *info)
{
    struct live_table *table = arg;
    struct error why;
    live_table_clear(table);
    table->schema = live_schema_new(info);
    if (table->schema)
        table->memory = live_memory_new(table->schema, table->context->budget);
    if (table->memory)
        return;
    error_no_memory(&why);
    live_table_lose(table, &why);
}

static void live_table_on_covered(void *arg)
{
    struct live_table *table = arg;
    log_line(table->context->log, LOG_LEVEL_INFO, "table %s is live", table->name);
    live_table_drop_description(table);
    live_history_restart(&table->history, live_table_now_ms(table));
    table->covered_ms = live_table_now_ms(table);
    table->state = LIVE_FOLLOWS;
}

static void live_table_on_gap(void *arg, const struct error *why)
{
    struct live_table *table = arg;
    table->context->gaps++;
    live_table_end(table);
    table->state = LIVE_BEGINS;
    table->why = *why;
    log_line(table->context->log, LOG_LEVEL_WARNING,
             "the stream of table %s has a gap, and its stored items are dropped: %s", table->name,
             why->text);
    live_table_forget(table);
}

static void live_table_on_trouble(void *arg, const struct error *why)
{
    ((struct live_table *)arg)->why = *why;
}

static void live_table_on_ended(void *arg, const struct error *why)
{
    live_table_lose(arg, why);
}

static void live_table_begin(struct live_table *table)
{
    static const struct follower_ops ops = {
        .described = live_table_on_described,
        .changes = live_table_on_changes,
        .covered = live_table_on_covered,
        .gap = live_table_on_gap,
        .trouble = live_table_on_trouble,
        .ended = live_table_on_ended,
    };
    struct live_context *context = table->context;
    struct error why;
    bool has_info = live_table_has_description(table);
    table->follower = follower_new(&(struct follower_options){.loop = context->loop,
                                                              .source = context->source,
                                                              .table = table->name,
                                                              .payer = context->payer,
                                                              .log = context->log,
                                                              .info = has_info ? table->info : NULL,
                                                              .from = FOLLOW_NOW,
                                                              .poll_least_ms = POLL_LEAST_MS,
                                                              .poll_most_ms = POLL_MOST_MS,
                                                              .ops = &ops,
                                                              .arg = table});
    if (!table->follower) {
        error_no_memory(&why);
        live_table_lose(table, &why);
        return;
    }
    context->followed++;
    table->state = LIVE_BEGINS;
    live_table_look_in(table, LOOK_EACH_MS);
}

void live_table_touch(struct live_table *table)
{
    table->read_ms = live_table_now_ms(table);
    if (table->state != LIVE_RESTS && !table->timer) /* memory ran out for it */
        live_table_look_in(table, table->state == LIVE_LOST ? LOST_MS : LOOK_EACH_MS);
    if (table->state != LIVE_RESTS)
        return;
    live_table_try(table);
}

/* Results. */

/* Whether the kernel still holds results that were used while the table was not current. */
static bool live_table_is_held(const struct live_table *table)
{
    return live_table_now_ms(table) < table->held_until_ms;
}

static int64_t live_table_settle_ms(const struct live_table *table, bool of_index);

/* Whether results that are read now can be stored. Else a reader that used them for a moment only
 * would send more requests than without this source. */
static bool live_table_stores(const struct live_table *table)
{
    bool has_indexes = table->schema && table->schema->index_count > 1;
    return table->state == LIVE_FOLLOWS &&
           live_table_now_ms(table) - live_table_settle_ms(table, has_indexes) >=
               table->history.from_ms;
}

bool live_table_is_short(const struct live_table *table)
{
    int64_t now_ms = live_table_now_ms(table);
    return live_shortage_lasts(&table->shortage, now_ms) ||
           live_shortage_lasts(&table->context->shortage, now_ms);
}

/* When the shortage began: until then no older results were used than those of a moment before. */
static int64_t live_table_short_since_ms(const struct live_table *table)
{
    const struct live_shortage *own = &table->shortage, *all = &table->context->shortage;
    int64_t now_ms = live_table_now_ms(table);
    if (!live_shortage_lasts(own, now_ms))
        return all->began_ms;
    return live_shortage_lasts(all, now_ms) && all->began_ms < own->began_ms ? all->began_ms
                                                                             : own->began_ms;
}

/* Until the table ceased to be current, or to have room, no older result was used than those of a
 * moment before. An older one, which its ttl would allow, must not be used afterwards: a reader
 * would see an earlier state than before. */
int64_t live_table_ttl_ms(const struct live_table *table, int64_t ttl_ms)
{
    int64_t now_ms = live_table_now_ms(table), past_ms;
    int64_t ended_ms = table->ended_ms > table->stored_ms ? table->ended_ms : table->stored_ms;
    bool was_live = ended_ms > 0;
    if (live_table_stores(table) && !live_table_is_short(table)) {
        int64_t lag_ms = follower_lag_ms(table->follower);
        past_ms = lag_ms > LIVE_MOST_LAG_MS ? lag_ms - LIVE_MOST_LAG_MS : 0;
        if (table->ended_ms &&
            past_ms > now_ms - table->ended_ms) /* behind a gap it lags by more */
            past_ms = now_ms - table->ended_ms;
    } else if (!was_live) {
        return ttl_ms;
    } else {
        int64_t short_ms = live_table_is_short(table) ? live_table_short_since_ms(table) : now_ms;
        int64_t since_ms = live_table_stores(table) || short_ms < ended_ms ? short_ms : ended_ms;
        past_ms = now_ms - since_ms;
    }
    return past_ms + SOURCE_REUSE_MS < ttl_ms ? past_ms + SOURCE_REUSE_MS : ttl_ms;
}

/* While a table is lost its results have their ttl, but no longer than it stays lost. Else it may
 * become current at any time; then results that were used before are held for the rest of the time.
 */
int64_t live_table_hold_ms(struct live_table *table, int64_t left_ms)
{
    int64_t lag_ms, most_ms = table->state == LIVE_LOST ? LOST_MS : SOURCE_REUSE_MS;
    int64_t hold_ms = left_ms < most_ms ? left_ms : most_ms;
    int64_t until_ms = live_table_now_ms(table) + hold_ms + SOURCE_HOLD_MS - SOURCE_REUSE_MS;
    bool is_old = live_table_is_short(table) || !live_table_stores(table) ||
                  !live_table_is_current(table, &lag_ms);
    if (is_old && until_ms > table->held_until_ms)
        table->held_until_ms = until_ms;
    return hold_ms;
}

bool live_table_is_current(const struct live_table *table, int64_t *lag_ms)
{
    if (table->state != LIVE_FOLLOWS)
        return false;
    *lag_ms = follower_lag_ms(table->follower);
    return *lag_ms <= LIVE_MOST_LAG_MS;
}

bool live_table_use(struct live_table *table, int64_t *lag_ms)
{
    int64_t now_ms = live_table_now_ms(table);
    if (!live_table_is_current(table, lag_ms))
        return false;
    if (now_ms - table->uses[0].from_ms < SOURCE_HOLD_MS)
        return true;
    table->uses[1] = table->uses[0];
    table->uses[0] = (struct live_use){now_ms, now_ms - *lag_ms};
    return true;
}

/* The most that a result lags which a reader may hold, or gets now: when the stream catches up,
 * those of a moment ago are still as old as they were. */
static int64_t live_table_most_lag_ms(const struct live_table *table, int64_t lag_ms)
{
    int64_t now_ms = live_table_now_ms(table), most_ms = lag_ms + SOURCE_HOLD_MS;
    for (size_t i = 0; i < 2; i++) {
        const struct live_use *use = &table->uses[i];
        if (now_ms < use->from_ms + (int64_t)2 * SOURCE_HOLD_MS && now_ms - use->tip_ms > most_ms)
            most_ms = now_ms - use->tip_ms;
    }
    return most_ms;
}

static const char *live_table_shortage_why(const struct live_table *table)
{
    if (live_shortage_lasts(&table->context->shortage, live_table_now_ms(table)))
        return "the results of the last minute have more than a quarter of --cache-size; raise it, "
               "or read less";
    return "some results of the table can't be kept: one has more than half of the room for all, "
           "or "
           "an index is newer than the mount's view of the table, or the table changes too fast";
}

void live_table_present(const struct live_table *table, struct source_present *out)
{
    static const char *const words[] = {[LIVE_RESTS] = "off",
                                        [LIVE_BEGINS] = "starts",
                                        [LIVE_FOLLOWS] = "live",
                                        [LIVE_LOST] = "lost"};
    *out = (struct source_present){.state = words[table->state], .assumption = "", .why = ""};
    if (table->follower)
        out->lag_ms = follower_lag_ms(table->follower);
    bool follows = table->state == LIVE_FOLLOWS;
    bool lags = follows && out->lag_ms > LIVE_MOST_LAG_MS;
    bool is_doubted = follows && follower_is_doubted(table->follower);
    bool is_full = follows && !lags && live_table_stores(table) && live_table_is_short(table);
    if (lags)
        out->state = "lags";
    else if (is_full)
        out->state = "full";
    else if (follows && (live_table_is_held(table) || !live_table_stores(table)))
        out->state = words[LIVE_BEGINS];
    out->lag_ms = live_table_most_lag_ms(table, out->lag_ms);
    out->assumption = follows && !is_doubted ? FOLLOWER_ASSUMPTION : "";
    if (lags || !follows)
        out->why = is_doubted ? LIVE_DOUBTED : table->why.text;
    else if (is_full)
        out->why = live_table_shortage_why(table);
}

static int64_t live_table_settle_ms(const struct live_table *table, bool of_index)
{
    return table->context->settle_ms * (of_index ? INDEXES_SETTLE : 1);
}

bool live_table_is_settled(const struct live_table *table, int64_t since_ms)
{
    return table->state == LIVE_FOLLOWS &&
           since_ms - live_table_settle_ms(table, true) >= table->covered_ms;
}

bool live_table_may_store(const struct live_table *table, const char *index, int64_t since_ms)
{
    return table->state == LIVE_FOLLOWS &&
           since_ms - live_table_settle_ms(table, index) >= table->history.from_ms;
}

/* The response may lack changes that came before it, so these are made again. It may also have a
 * change that has not come yet; then it is undone until that one comes, which is within the lag. */
struct live_replay {
    struct live_query *query; /* NULL: of an item */
    struct span key;
    struct buf text; /* of an item that was changed */
    bool is_changed, is_lost;
};

static void live_table_change_item(void *arg, const struct live_image *image)
{
    struct live_replay *replay = arg;
    if (!span_equal(image->key, replay->key))
        return;
    replay->is_changed = true;
    replay->is_lost = !image->after_known;
    buf_truncate(&replay->text, 0);
    buf_add_span(&replay->text, json_raw(image->after));
}

void live_table_store_item(struct live_table *table, struct span key, struct span text,
                           int64_t since_ms)
{
    struct live_replay replay = {.key = key};
    uint64_t hash = live_schema_hash(table->schema, key);
    live_history_replay(&table->history, since_ms - live_table_settle_ms(table, false),
                        &(struct live_wanted_past){.hash = &hash}, live_table_change_item, &replay);
    if (!replay.is_lost && !replay.text.failed)
        live_memory_store_item(table->memory, key,
                               replay.is_changed ? buf_span(&replay.text) : text, since_ms);
    buf_clean_up_secret(&replay.text);
}

static void live_table_change_query(void *arg, const struct live_image *image)
{
    struct live_replay *replay = arg;
    if (!replay->is_lost)
        replay->is_lost = !live_query_patch(replay->query, image);
}

void live_table_store_query(struct live_table *table, struct live_query *query, int64_t since_ms)
{
    struct live_replay replay = {.query = query};
    bool of_index = query->index->name.size > 0;
    live_history_replay(&table->history, since_ms - live_table_settle_ms(table, of_index),
                        &(struct live_wanted_past){.text = live_query_partition_text(query)},
                        live_table_change_query, &replay);
    if (replay.is_lost)
        live_query_destroy(query);
    else
        live_memory_store_query(table->memory, query, since_ms);
}

void live_table_forget(struct live_table *table)
{
    if (table->memory)
        live_memory_clear(table->memory);
    live_history_restart(&table->history, live_table_now_ms(table));
    table->covered_ms = live_table_now_ms(table); /* nothing can be stored at first, as then */
}

static void live_table_check(struct live_table *table, const struct table_info *info)
{
    if (!table->schema || live_schema_is_of(table->schema, info))
        return;
    log_line(table->context->log, LOG_LEVEL_INFO,
             "table %s has other keys or indexes than before, and is followed anew", table->name);
    live_table_stop(table);
    table->why = (struct error){0};
    live_table_try(table);
}

void live_table_take_description(struct live_table *table, const struct page *page)
{
    struct live_context *context = table->context;
    LIST_EACH_SAFE (struct live_table, each, &context->described, info_node)
        if (!live_table_has_description(each))
            live_table_drop_description(each);
    if (table->follower) {
        live_table_check(table, page->table);
        return;
    }
    live_table_drop_description(table);
    if (!page->owner || !*page->owner)
        return;
    table->info = page->table;
    table->info_owner = *page->owner;
    *page->owner = NULL;
    table->info_ms = live_table_now_ms(table);
    list_append(&context->described, &table->info_node);
}
