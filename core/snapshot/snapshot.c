#include "core/snapshot/snapshot.h"

#include <stdlib.h>

#include "core/base/nearest.h"
#include "core/base/printable.h"
#include "core/json/writer.h"
#include "core/snapshot/store_files.h"
#include "core/source/read_words.h"

enum { SHOWN_BYTES = 300 /* of names, in an error */ };

struct snapshot {
    struct source source;         /* first: a pointer to it is a pointer to this */
    struct snapshot_store *store; /* a reference */
    int64_t at_ms;
    uint64_t pages, items, fetched, failures;
};

/* The part of a call that the thread works on. It outlives the call if that ends meanwhile. */
struct snapshot_job {
    struct worker_job job;      /* first: a pointer to it is a pointer to this */
    struct snapshot_call *call; /* NULL: the call has ended */
    struct snapshot_reader *reader;
    struct snapshot_reading reading;
    struct read *read;          /* owned: a copy */
    struct snapshot_file *file; /* a reference */
    bool is_under_way;
    int64_t sent_ms;
    struct snapshot_page *page; /* owned: the result; NULL: WHY has the error */
    struct error why;
};

struct snapshot_call {
    struct source_call base;  /* first: a pointer to it is a pointer to this */
    struct snapshot_job *job; /* of a Read of items; else NULL */
    struct loop_timer *timer; /* before a page that needs no thread, or before WHY */
    struct error why;
};

static struct snapshot *snapshot_of(const struct snapshot_call *call)
{
    return (struct snapshot *)call->base.source;
}

static struct store_place snapshot_find(const struct snapshot_call *call, bool *found)
{
    struct store_place place;
    const struct snapshot *snapshot = snapshot_of(call);
    *found = store_find_table(snapshot->store, call->base.read->table, snapshot->at_ms, &place);
    return place;
}

/* Delivery. */

static void snapshot_fail(struct snapshot_call *call, const struct error *err)
{
    struct error why = *err; /* FN may end the call */
    const struct read *read = call->base.read;
    if (read->kind != READ_TABLES)
        printable_copy(why.table, sizeof why.table, span_text(read->table), "");
    printable_copy(why.index, sizeof why.index, span_text(read->index), "");
    snapshot_of(call)->failures++;
    call->base.fn(call->base.arg, NULL, &why);
}

static void snapshot_clean_up_owner(struct page_owner **owner)
{
    if (*owner)
        (*owner)->release(*owner);
}

/* Delivers FOUND, which is not the call's any more. */
static void snapshot_deliver(struct snapshot_call *call, struct snapshot_page *found,
                             int64_t took_ms)
{
    struct snapshot *snapshot = snapshot_of(call);
    CLEAN_UP(snapshot_clean_up_owner) struct page_owner *owner = &found->owner;
    struct page page = {
        .items = found->items,
        .item_count = found->item_count,
        .counted = found->counted,
        .scanned = found->scanned,
        .names = found->names,
        .name_count = found->name_count,
        .description = found->description,
        .more = found->more,
        .owner = &owner,
        .took_ms = took_ms,
        .request_id = "",
    };
    if (found->info.keys.partition_count > 0)
        page.table = &found->info;
    if (found->more)
        page.position = json_root(&found->key_doc);
    bool is_list = call->base.read->kind == READ_QUERY || call->base.read->kind == READ_SCAN;
    snapshot->pages += is_list;
    *(is_list ? &snapshot->items : &snapshot->fetched) += found->item_count + found->counted;
    call->base.fn(call->base.arg, &page, NULL);
}

/* Errors. */

/* Whether a state of the table exists at another moment decides the advice. */
static void snapshot_refuse_table(const struct snapshot_call *call, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf shown = {0}, meant = {0};
    const struct snapshot *snapshot = snapshot_of(call);
    const char *table = call->base.read->table;
    struct nearest nearest = nearest_to(span_text(table));
    struct span *names;
    size_t count, left;
    struct store_place later;
    if (!store_list_tables(snapshot->store, snapshot->at_ms, &arena, &names, &count)) {
        error_no_memory(err);
        return;
    }
    left = count;
    for (size_t i = 0; i < count; i++) {
        nearest_offer(&nearest, names[i]);
        if (shown.size + names[i].size >= SHOWN_BYTES)
            continue;
        buf_printf(&shown, "%s%.*s", shown.size ? ", " : "", (int)names[i].size, names[i].data);
        left--;
    }
    nearest_write(&nearest, &meant);
    if (store_find_table(snapshot->store, table, INT64_MAX, &later))
        error_set(err, ERROR_NO_TABLE,
                  "the snapshot has no state of the table %s at this time: all "
                  "are later",
                  table);
    else
        error_set(err, ERROR_NO_TABLE, "the snapshot has no table %s%s", table, buf_text(&meant));
    if (count == 0)
        error_add(err, "; there are no tables");
    else
        error_add(err, "; there %s: %s", count == 1 ? "is" : "are", buf_text(&shown));
    if (left > 0)
        error_add(err, " and %zu more", left);
}

/* Pages that need no thread. */

static bool snapshot_read_tables(struct snapshot_call *call, struct snapshot_page *page,
                                 struct error *err)
{
    const struct snapshot *snapshot = snapshot_of(call);
    return store_check_files(snapshot->store, err) &&
           (store_list_tables(snapshot->store, snapshot->at_ms, &page->arena, &page->names,
                              &page->name_count) ||
            error_no_memory(err));
}

/* Copies DESCRIPTION with the counts of the moment in place of its own. */
static bool snapshot_write_description(const struct store_place *place, struct arena *arena,
                                       struct span *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const struct snapshot_moment *moment = place->moment;
    if (!json_parse(&doc, place->table->description, JSON_STRICT, NULL))
        return false;
    struct json_writer json = json_writer_to(&text);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    for (struct json name = json_first(json_root(&doc)), value; json_present(name);
         name = json_next(value)) {
        value = json_next(name);
        if (json_string_is(name, SPAN_LITERAL("ItemCount")) ||
            json_string_is(name, SPAN_LITERAL("TableSizeBytes")))
            continue;
        CLEAN_UP(buf_clean_up) struct buf plain = {0};
        json_read_string(name, &plain);
        json_writer_add_name(&json, buf_span(&plain));
        json_writer_add_raw(&json, NULL, json_raw(value));
        arena->failed |= plain.failed;
    }
    json_writer_add_integer(&json, "ItemCount", moment->item_count);
    json_writer_add_integer(&json, "TableSizeBytes", moment->size_bytes);
    json_writer_end(&json);
    arena->failed |= text.failed;
    *out = arena_copy(arena, buf_span(&text));
    return !arena->failed;
}

static bool snapshot_read_table(const struct store_place *place, struct snapshot_page *page,
                                struct error *err)
{
    page->info = *place->table->info;
    page->info.item_count = place->moment->item_count;
    page->info.size_bytes = place->moment->size_bytes;
    return snapshot_write_description(place, &page->arena, &page->description) ||
           error_no_memory(err);
}

static bool snapshot_read_expiry(const struct store_place *place, struct snapshot_page *page,
                                 struct error *err)
{
    page->description = place->table->expiry;
    return page->description.size > 0 ||
           error_set(
               err, ERROR_NOT_STORED,
               "%s does not state the expiry attribute of %s: exports do not have it; read it "
               "from the table itself",
               place->file->path, place->table->name);
}

static bool snapshot_read_fact(struct snapshot_call *call, struct snapshot_page *page,
                               struct error *err)
{
    bool found;
    struct store_place place = snapshot_find(call, &found);
    if (!found) {
        snapshot_refuse_table(call, err);
        return false;
    }
    if (!snapshot_file_check(place.file, err))
        return false;
    page->file = snapshot_file_ref(place.file);
    switch (call->base.read->kind) {
    case READ_TABLE:
        return snapshot_read_table(&place, page, err);
    case READ_EXPIRY:
        return snapshot_read_expiry(&place, page, err);
    case READ_SIMILAR:
        return error_set(err, ERROR_NOT_STORED,
                         "a snapshot has no vector index; search in the table %s itself",
                         place.table->name);
    case READ_TOGETHER:
        return error_set(err, ERROR_INVALID,
                         "a snapshot has no transactions; read the items of %s one by one",
                         place.table->name);
    case READ_STREAM:
    case READ_ITERATOR:
    case READ_CHANGES:
        return error_set(err, ERROR_NOT_STORED,
                         "a snapshot has no stream: its items do not change; follow the table %s "
                         "itself",
                         place.table->name);
    default:
        return error_set(err, ERROR_NOT_STORED,
                         "a snapshot does not have the %s of a table; read them from the table %s "
                         "itself",
                         call->base.read->kind == READ_EXPORTS ? "exports" : "backups",
                         place.table->name);
    }
}

static void snapshot_on_timer(void *arg)
{
    struct snapshot_call *call = arg;
    struct error why = call->why;
    bool is_list = call->base.read->kind == READ_TABLES;
    call->timer = NULL;
    struct snapshot_page *page = why.kind ? NULL : snapshot_page_new();
    bool ok = page && (is_list ? snapshot_read_tables(call, page, &why)
                               : snapshot_read_fact(call, page, &why));
    if (ok) {
        snapshot_deliver(call, page, 0);
        return;
    }
    if (!page && !why.kind)
        error_no_memory(&why);
    snapshot_page_destroy(page);
    snapshot_fail(call, &why);
}

static bool snapshot_start_timer(struct snapshot_call *call)
{
    call->timer = loop_add_timer(store_loop(snapshot_of(call)->store), 0, snapshot_on_timer, call);
    return call->timer;
}

/* Pages of items. */

static void snapshot_free_job(struct snapshot_job *job)
{
    snapshot_page_destroy(job->page);
    snapshot_reading_clean_up(&job->reading);
    read_destroy(job->read);
    snapshot_file_unref(job->file);
    free(job);
}

static void snapshot_run(struct worker_job *base)
{
    struct snapshot_job *job = (struct snapshot_job *)base;
    job->why = (struct error){0};
    job->page = snapshot_reader_read(job->reader, &job->reading, &job->why);
}

static void snapshot_on_done(struct worker_job *base)
{
    struct snapshot_job *job = (struct snapshot_job *)base;
    struct snapshot_call *call = job->call;
    struct snapshot_page *page = job->page;
    job->is_under_way = false;
    if (!call) {
        snapshot_free_job(job);
        return;
    }
    int64_t took_ms = loop_now_ms(store_loop(snapshot_of(call)->store)) - job->sent_ms;
    job->page = NULL;
    if (page)
        snapshot_deliver(call, page, took_ms);
    else
        snapshot_fail(call, &job->why);
}

static void snapshot_send(struct snapshot_call *call)
{
    struct snapshot_store *store = snapshot_of(call)->store;
    call->job->is_under_way = true;
    call->job->sent_ms = loop_now_ms(store_loop(store));
    worker_send(store_worker(store), &call->job->job);
}

static bool snapshot_start_job(struct snapshot_call *call)
{
    bool found;
    struct store_place place = snapshot_find(call, &found);
    struct snapshot_store *store = snapshot_of(call)->store;
    if (!found) {
        snapshot_refuse_table(call, &call->why);
        return snapshot_start_timer(call);
    }
    struct snapshot_job *job = calloc(1, sizeof *job);
    if (!job)
        return false;
    call->job = job;
    job->read = read_copy(call->base.read, NULL);
    if (!job->read || !store_start(store))
        return false;
    job->job = (struct worker_job){.run = snapshot_run, .done = snapshot_on_done};
    job->call = call;
    job->reader = store_reader(store);
    job->file = snapshot_file_ref(place.file);
    job->reading.read = job->read;
    job->reading.file = place.file;
    job->reading.table = place.table;
    job->reading.at_ms = place.moment->at_ms;
    snapshot_send(call);
    return true;
}

/* The source. */

static bool snapshot_start(struct source_call *base)
{
    struct snapshot_call *call = (struct snapshot_call *)base;
    switch (base->read->kind) {
    case READ_ITEMS:
    case READ_QUERY:
    case READ_SCAN:
        return snapshot_start_job(call);
    default:
        return snapshot_start_timer(call);
    }
}

static void snapshot_more(struct source_call *base)
{
    snapshot_send((struct snapshot_call *)base);
}

static void snapshot_end(struct source_call *base)
{
    struct snapshot_call *call = (struct snapshot_call *)base;
    struct snapshot_job *job = call->job;
    loop_remove_timer(call->timer);
    if (!job)
        return;
    job->call = NULL;
    atomic_store(&job->reading.is_ended, true);
    struct worker *worker = store_worker(snapshot_of(call)->store);
    if (!job->is_under_way || worker_take_back(worker, &job->job))
        snapshot_free_job(job);
}

static void snapshot_destroy(struct source *source)
{
    struct snapshot *snapshot = (struct snapshot *)source;
    snapshot_store_unref(snapshot->store);
    free(snapshot);
}

static void snapshot_add_stats(const struct source *source, struct source_stats *sum)
{
    const struct snapshot *snapshot = (const struct snapshot *)source;
    if (!snapshot)
        return;
    sum->pages += snapshot->pages;
    sum->items += snapshot->pages > 0 ? snapshot->items : snapshot->fetched;
    sum->failures += snapshot->failures;
}

const struct source_ops snapshot_ops = {
    .layer = SOURCE_SERVICE,
    .call_size = sizeof(struct snapshot_call),
    .start = snapshot_start,
    .more = snapshot_more,
    .end = snapshot_end,
    .destroy = snapshot_destroy,
    .add_stats = snapshot_add_stats,
    .write_words = read_write_words,
};

struct source *snapshot_new(struct snapshot_store *store, int64_t at_ms)
{
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot)
        return NULL;
    snapshot->source.ops = &snapshot_ops;
    snapshot->store = snapshot_store_ref(store);
    snapshot->at_ms = at_ms;
    return &snapshot->source;
}
