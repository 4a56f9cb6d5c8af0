#include "core/live/live.h"

#include <stdlib.h>
#include <string.h>

#include "core/live/live_page.h"
#include "core/live/live_table.h"

enum {
    REUSED_MS = 60 * 60 * 1000, /* a result is read again after an hour */
};

struct live {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct live_context context;
    struct live_budget budget;
    struct dict tables; /* of struct live_table, owned */
    uint64_t reused;    /* Reads that needed no request */
};

enum live_call_state {
    LIVE_PASSES,   /* the Read is the inner source's, and no result is stored */
    LIVE_COLLECTS, /* likewise, and the result is stored when it is complete */
    LIVE_ANSWERS, /* ROWS are delivered; then, of a read by keys, those that are missing are read */
};

/* A key of a read by keys. */
struct live_wanted_key {
    uint64_t hash;
    bool came; /* its item came */
};

struct live_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    struct live_table *table;
    enum live_call_state state;
    struct source_call *inner; /* owned; NULL: not begun, or not needed */
    struct read *own;          /* owned: the Read of INNER, unless that is the caller's */
    int64_t since_ms;          /* when INNER was begun */
    bool reads_all;
    /* Of LIVE_ANSWERS: */
    struct live_row **rows; /* owned, each by a reference */
    size_t count, at;
    struct live_schema *schema; /* of ROWS; a reference */
    uint64_t counted;
    size_t scanned;
    int64_t lag_ms;
    int64_t found_ms;         /* when ROWS were found: later changes are not in them */
    bool is_complete;         /* nothing follows the rows */
    struct loop_timer *timer; /* before the next page */
    struct json *left;        /* owned; of INNER's page, the items that were not delivered before */
    /* Of LIVE_COLLECTS: */
    struct live_query *query;     /* owned; of a query, the rows so far */
    size_t charged;               /* to the mount's memory, for QUERY */
    struct live_wanted_key *keys; /* owned; of a read by keys */
};

static struct live *live_of(const struct live_call *call)
{
    return (struct live *)call->base.source;
}

/* Tables. */

static struct live_table *live_find_table(const struct live *live, const char *name)
{
    return (struct live_table *)dict_find(&live->tables, span_text(name));
}

static struct live_table *live_get_table(struct live *live, const char *name)
{
    struct live_table *table = live_find_table(live, name);
    if (table)
        return table;
    table = live_table_new(&live->context, name);
    if (table)
        dict_add(&live->tables, &table->node);
    return table;
}

/* Whether a result of READ can be used again. A consistent read wants the present itself. */
static bool live_can_store(const struct read *read)
{
    return (read->kind == READ_ITEMS || read->kind == READ_QUERY) && !read->consistent &&
           !read->unstored;
}

/* Memory. */

static bool live_add_row(struct live_call *call, struct live_row *row)
{
    struct live_row **rows = reallocarray(call->rows, call->count + 1, sizeof(*rows));
    if (!rows) {
        live_row_unref(row);
        return false;
    }
    call->rows = rows;
    call->rows[call->count++] = row;
    return true;
}

/* Fills in the rows of the keys that are stored; the others become the Read OWN. False, with
 * neither, if none is stored, or memory ran out. */
static bool live_find_items(struct live_call *call)
{
    const struct read *read = call->base.read;
    size_t known = 0;
    int64_t oldest_ms = loop_now_ms(live_of(call)->context.loop) - REUSED_MS;
    struct read *missing = read_new(READ_ITEMS, read->table, NULL);
    bool ok = missing;
    for (size_t i = 0; ok && i < read->key_count; i++) {
        struct live_row *row = NULL;
        if (live_memory_find_item(call->table->memory, &read->keys[i], oldest_ms, &row)) {
            known++;
            ok = !row || live_add_row(call, row);
        } else {
            read_add_key(missing, &read->keys[i]);
        }
    }
    ok = ok && !read_failed(missing);
    call->is_complete = ok && missing->key_count == 0;
    if (!ok || known == 0 || call->is_complete) {
        read_destroy(missing);
        return ok && call->is_complete;
    }
    missing->pattern = read->pattern;
    missing->once = read->once;
    call->own = missing;
    return true;
}

/* A result that is not complete serves a reader who stops at its limit. */
static bool live_find_query(struct live_call *call)
{
    int64_t oldest_ms = loop_now_ms(live_of(call)->context.loop) - REUSED_MS;
    const struct live_query *query =
        live_memory_find_query(call->table->memory, call->base.read, oldest_ms);
    if (!query)
        return false;
    call->rows = calloc(query->count + 1, sizeof(*call->rows));
    if (!call->rows)
        return false;
    for (; call->count < query->count; call->count++)
        call->rows[call->count] = live_row_ref(query->rows[call->count]);
    call->schema = live_schema_ref(call->table->schema);
    call->is_complete = query->is_complete;
    call->counted = query->counted;
    call->scanned = query->scanned;
    return true;
}

static void live_drop_rows(struct live_call *call)
{
    for (size_t i = 0; i < call->count; i++)
        live_row_unref(call->rows[i]);
    free(call->rows);
    call->rows = NULL;
    call->count = 0;
    live_schema_unref(call->schema);
    call->schema = NULL;
}

/* Collecting. */

/* Rows that are not stored yet have no entry, and belong to the mount's memory all the same. */
static void live_charge(struct live_call *call, size_t bytes)
{
    const struct live_budget *budget = &live_of(call)->budget;
    if (budget->charge && bytes != call->charged)
        budget->charge(budget->charge_arg, bytes, call->charged);
    call->charged = bytes;
}

static void live_stop_collecting(struct live_call *call)
{
    live_charge(call, 0);
    live_query_destroy(call->query);
    call->query = NULL;
    free(call->keys);
    call->keys = NULL;
    call->state = LIVE_PASSES;
}

/* A result of the table can't be stored. */
static void live_note_short(const struct live_call *call)
{
    live_shortage_note(&call->table->shortage, loop_now_ms(live_of(call)->context.loop));
}

/* NULL when memory ran out. */
static struct live_wanted_key *live_hash_keys(const struct live_schema *schema,
                                              const struct read *read)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct live_wanted_key *keys = calloc(read->key_count, sizeof *keys);
    for (size_t i = 0; keys && i < read->key_count; i++) {
        buf_truncate(&text, 0);
        live_schema_write_read_key(&read->keys[i], &text);
        keys[i].hash = live_schema_hash(schema, buf_span(&text));
    }
    if (!text.failed)
        return keys;
    free(keys);
    return NULL;
}

static void live_begin_collecting(struct live_call *call, const struct read *read)
{
    struct live_table *table = call->table;
    if (!table || !live_can_store(read))
        return;
    if (!live_table_may_store(table, read->index, call->since_ms)) {
        if (live_table_is_settled(table, call->since_ms))
            live_note_short(call);
        return;
    }
    call->state = LIVE_COLLECTS;
    if (read->kind == READ_ITEMS)
        call->keys = live_hash_keys(table->schema, read);
    else if (live_schema_find(table->schema, read->index))
        call->query =
            live_query_new(table->schema, live_schema_find(table->schema, read->index), read);
    if (!call->keys && !call->query) {
        live_note_short(call); /* as of an index that is made later */
        live_stop_collecting(call);
    }
}

/* False if it is not known which key the item has: then no key must pass for one without an item.
 */
static bool live_collect_item(struct live_call *call, const struct read *read, struct json item)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    if (!live_schema_write_key(call->table->schema, item, &key) || key.failed)
        return false;
    uint64_t hash = live_schema_hash(call->table->schema, buf_span(&key));
    for (size_t i = 0; i < read->key_count; i++)
        if (call->keys[i].hash == hash) {
            call->keys[i].came = true;
            live_table_store_item(call->table, buf_span(&key), json_raw(item), call->since_ms);
            return true;
        }
    return false;
}

/* The keys of a whole response that did not come do not exist. */
static void live_store_missing(struct live_call *call, const struct read *read)
{
    for (size_t i = 0; i < read->key_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf key = {0};
        if (call->keys[i].came)
            continue;
        live_schema_write_read_key(&read->keys[i], &key);
        if (!key.failed)
            live_table_store_item(call->table, buf_span(&key), span_text(""), call->since_ms);
    }
}

static void live_store_query(struct live_call *call, bool is_complete)
{
    struct live_query *query = call->query;
    query->is_complete = is_complete;
    call->query = NULL;
    live_table_store_query(call->table, query, call->since_ms);
    live_stop_collecting(call);
}

static void live_collect_query(struct live_call *call, const struct page *page)
{
    struct live_query *query = call->query;
    struct live_budget *budget = &live_of(call)->budget;
    bool ok = query->bytes <= budget->most / 2;
    if (!ok)
        live_note_short(call);
    query->counted += page->counted;
    query->scanned += page->scanned;
    for (size_t i = 0; ok && i < page->item_count; i++)
        ok = live_query_add(query, page->items[i]);
    live_charge(call, query->bytes);
    if (!ok)
        live_stop_collecting(call);
    else if (!page->more)
        live_store_query(call, true);
}

/* Without the table's state, or after a gap, nothing can be stored. */
static void live_collect(struct live_call *call, const struct read *read, const struct page *page)
{
    if (!live_table_may_store(call->table, read->index, call->since_ms)) {
        live_stop_collecting(call);
        return;
    }
    if (read->kind == READ_QUERY) {
        live_collect_query(call, page);
        return;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < page->item_count; i++)
        ok = live_collect_item(call, read, page->items[i]);
    if (ok && !page->more)
        live_store_missing(call, read);
    if (!ok || !page->more)
        live_stop_collecting(call);
}

/* Passing on. */

static void live_report_no_memory(struct live_call *call)
{
    struct error err;
    error_no_memory(&err);
    call->base.fn(call->base.arg, NULL, &err);
}

/* Whether ITEM is among the rows that were delivered. FAILED when memory ran out. */
static bool live_was_delivered(const struct live_call *call, struct json item, bool *failed)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    bool has_key = live_schema_write_key(call->schema, item, &key);
    *failed = *failed || key.failed;
    if (!has_key || key.failed)
        return false;
    uint64_t hash = live_schema_hash(call->schema, buf_span(&key));
    for (size_t i = 0; i < call->count; i++)
        if (call->rows[i]->hash == hash)
            return true;
    return false;
}

/* Delivers PAGE. A query that was begun anew behind the rows delivers other items alone. */
static void live_deliver_inner(struct live_call *call, const struct page *page)
{
    struct page part = *page;
    if (call->base.read->kind != READ_QUERY || call->count == 0) {
        call->base.fn(call->base.arg, page, NULL);
        return;
    }
    free(call->left);
    call->left = calloc(page->item_count + 1, sizeof *call->left);
    part.items = call->left;
    part.item_count = 0;
    part.owner = NULL;
    bool failed = !call->left;
    for (size_t i = 0; !failed && i < page->item_count; i++)
        if (!live_was_delivered(call, page->items[i], &failed))
            call->left[part.item_count++] = page->items[i];
    if (!failed)
        call->base.fn(call->base.arg, &part, NULL);
    else
        live_report_no_memory(call);
}

/* Delivers the attributes of whole items that the caller wants. */
static void live_deliver_projected(struct live_call *call, const struct page *page)
{
    struct live_page *own = live_page_of_items(call->base.read, page->items, page->item_count);
    if (!own) {
        live_report_no_memory(call);
        return;
    }
    struct page part = *page;
    struct page_owner *owner = &own->owner;
    part.items = own->items;
    part.owner = &owner;
    call->base.fn(call->base.arg, &part, NULL);
    if (owner)
        owner->release(owner);
}

static void live_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct live_call *call = arg;
    const struct read *read = call->own ? call->own : call->base.read;
    struct live_table *table =
        page && page->table ? live_get_table(live_of(call), read->table) : NULL;
    if (table)
        live_table_take_description(table, page);
    if (err) {
        live_stop_collecting(call);
        call->base.fn(call->base.arg, NULL, err);
        return;
    }
    if (call->state == LIVE_COLLECTS)
        live_collect(call, read, page);
    if (call->base.read->attribute_count > read->attribute_count)
        live_deliver_projected(call, page);
    else
        live_deliver_inner(call, page);
}

/* Items come whole, so that they serve every reader: it costs the same. False when memory ran out.
 */
static bool live_read_whole(struct live_call *call)
{
    const struct read *read = call->own ? call->own : call->base.read;
    if (call->own || read->kind != READ_ITEMS || read->attribute_count == 0 || !call->table ||
        !live_table_may_store(call->table, read->index, call->since_ms))
        return true;
    struct read *whole = read_new(READ_ITEMS, read->table, NULL);
    for (size_t i = 0; whole && i < read->key_count; i++)
        read_add_key(whole, &read->keys[i]);
    call->own = whole;
    if (!whole || read_failed(whole))
        return false;
    whole->pattern = read->pattern;
    whole->once = read->once;
    return true;
}

static bool live_pass_on(struct live_call *call)
{
    call->state = LIVE_PASSES;
    call->since_ms = loop_now_ms(live_of(call)->context.loop);
    if (!live_read_whole(call))
        return false;
    const struct read *read = call->own ? call->own : call->base.read;
    live_begin_collecting(call, read);
    call->inner =
        source_start(call->base.source->inner, read, call->base.payer, live_take_page, call);
    if (call->inner && call->reads_all)
        source_read_all(call->inner);
    return call->inner;
}

/* Answering. */

/* Delivers the next rows. Nothing was requested for them. */
static void live_answer(void *arg)
{
    struct live_call *call = arg;
    size_t taken;
    call->timer = NULL;
    struct live_page *own =
        live_page_new(call->base.read, call->rows + call->at, call->count - call->at, &taken);
    if (!own) {
        live_report_no_memory(call);
        return;
    }
    struct page_owner *owner = &own->owner;
    struct page page = {
        .items = own->items,
        .item_count = own->count,
        .counted = call->counted,
        .scanned = call->at == 0 && call->scanned > call->count
                       ? taken + call->scanned - call->count
                       : taken,
        .more = call->at + taken < call->count || !call->is_complete,
        .owner = &owner,
        .age_ms = loop_now_ms(live_of(call)->context.loop) - call->found_ms,
        .capacity = 0,
        .request_id = "",
    };
    call->at += taken;
    call->base.fn(call->base.arg, &page, NULL);
    if (owner)
        owner->release(owner);
}

static bool live_answer_later(struct live_call *call)
{
    call->state = LIVE_ANSWERS;
    call->timer = loop_add_timer(live_of(call)->context.loop, 0, live_answer, call);
    return call->timer;
}

/* The source's operations. */

static bool live_start(struct source_call *base)
{
    struct live_call *call = (struct live_call *)base;
    const struct read *read = base->read;
    if (!live_can_store(read))
        return live_pass_on(call);
    call->table = live_get_table(live_of(call), read->table);
    if (!call->table)
        return live_pass_on(call);
    live_table_touch(call->table);
    call->found_ms = loop_now_ms(live_of(call)->context.loop);
    bool known = live_table_use(call->table, &call->lag_ms) &&
                 (read->kind == READ_ITEMS ? live_find_items(call) : live_find_query(call));
    if (known) {
        live_of(call)->reused += call->is_complete || read->kind == READ_QUERY;
        return live_answer_later(call);
    }
    live_drop_rows(call);
    return live_pass_on(call);
}

/* Behind the rows: the missing keys are read; a query whose reader wants more than was stored is
 * read from its start, less the rows that were delivered. */
static void live_more(struct source_call *base)
{
    struct live_call *call = (struct live_call *)base;
    bool ok = true;
    if (call->inner) {
        source_more(call->inner);
    } else if (call->at < call->count) {
        ok = live_answer_later(call);
    } else {
        ok = live_pass_on(call);
    }
    if (!ok)
        live_report_no_memory(call);
}

static void live_read_all(struct source_call *base, bool all)
{
    struct live_call *call = (struct live_call *)base;
    call->reads_all = all;
    if (!call->inner)
        return;
    if (all)
        source_read_all(call->inner);
    else
        source_read_some(call->inner);
}

/* A reader who stops at its limit leaves a result that serves the next one. */
static void live_end(struct source_call *base)
{
    struct live_call *call = (struct live_call *)base;
    const struct read *read = base->read;
    if (call->state == LIVE_COLLECTS && call->query && !read->counts && read->limit > 0 &&
        call->query->count >= read->limit &&
        live_table_may_store(call->table, read->index, call->since_ms))
        live_store_query(call, false);
    live_stop_collecting(call);
    source_end(call->inner);
    loop_remove_timer(call->timer);
    live_drop_rows(call);
    free(call->left);
    read_destroy(call->own);
}

static void live_destroy(struct source *source)
{
    struct live *live = (struct live *)source;
    struct dict_node *node;
    for (size_t from = 0; (node = dict_any(&live->tables, &from));) {
        dict_remove(&live->tables, node);
        live_table_destroy((struct live_table *)node);
    }
    dict_clean_up(&live->tables);
    payer_unref(live->context.payer);
    free(live);
}

/* Entries were dropped for lack of room. */
static void live_note_budget(struct live *live)
{
    if (live->budget.was_short)
        live_shortage_note(&live->context.shortage, loop_now_ms(live->context.loop));
    live->budget.was_short = false;
}

/* Results of a current table are taken from here again after a moment. */
static int64_t live_ttl_ms(struct source *source, const char *name, int64_t ttl_ms)
{
    struct live *live = (struct live *)source;
    const struct live_table *table = live_find_table(live, name);
    live_note_budget(live);
    return table ? live_table_ttl_ms(table, ttl_ms) : ttl_ms;
}

static void live_present(struct source *source, const char *name, struct source_present *out)
{
    struct live *live = (struct live *)source;
    const struct live_table *table = live_find_table(live, name);
    *out = (struct source_present){.state = "off", .assumption = "", .why = ""};
    live_note_budget(live);
    if (table)
        live_table_present(table, out);
}

static int64_t live_hold_ms(struct source *source, const char *name, int64_t left_ms)
{
    struct live *live = (struct live *)source;
    struct live_table *table = live_find_table(live, name);
    live_note_budget(live);
    return table ? live_table_hold_ms(table, left_ms) : left_ms;
}

static void live_add_table_stats(const struct live_table *table, struct source_live *sum)
{
    struct source_present now;
    live_table_present(table, &now);
    if (table->state == LIVE_RESTS)
        return;
    sum->tables++;
    sum->late += strcmp(now.state, "live") != 0;
    if (table->state == LIVE_FOLLOWS && now.lag_ms > sum->lag_ms)
        sum->lag_ms = now.lag_ms;
}

static void live_add_stats(const struct source *source, struct source_stats *sum)
{
    const struct live *live = (const struct live *)source;
    for (size_t i = 0; i < live->tables.chain_count; i++)
        for (struct dict_node *node = live->tables.chains[i]; node; node = node->next)
            live_add_table_stats((const struct live_table *)node, &sum->live);
    sum->live.bytes += live->budget.used;
    sum->live.reused += live->reused;
    sum->live.changes += live->context.changes;
    sum->live.gaps += live->context.gaps;
}

static const struct source_ops live_ops = {
    .layer = SOURCE_LIVE,
    .call_size = sizeof(struct live_call),
    .start = live_start,
    .more = live_more,
    .read_all = live_read_all,
    .end = live_end,
    .destroy = live_destroy,
    .add_stats = live_add_stats,
    .ttl_ms = live_ttl_ms,
    .present = live_present,
    .hold_ms = live_hold_ms,
};

struct source *live_new(const struct live_options *options)
{
    struct live *live = calloc(1, sizeof *live);
    if (!live || !dict_init(&live->tables)) {
        free(live);
        return NULL;
    }
    live->source = (struct source){.ops = &live_ops, .inner = options->source};
    live->budget.most = options->most_bytes;
    live->budget.charge = options->charge;
    live->budget.charge_arg = options->charge_arg;
    live->context = (struct live_context){
        .loop = options->loop,
        .source = options->source,
        .payer = payer_ref(options->payer),
        .log = options->log,
        .budget = &live->budget,
        .settle_ms = options->settle_ms,
    };
    return &live->source;
}

void live_forget(struct source *source)
{
    for (; source; source = source->inner) {
        struct live *live = source->ops == &live_ops ? (struct live *)source : NULL;
        for (size_t i = 0; live && i < live->tables.chain_count; i++)
            for (struct dict_node *node = live->tables.chains[i]; node; node = node->next)
                live_table_forget((struct live_table *)node);
    }
}
