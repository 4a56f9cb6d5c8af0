#include "fs/cli/sample_reader.h"

#include "core/plan/item_match.h"
#include "core/read/fetch.h"
#include "core/sources.h"

/* One path. */
struct sample_reading {
    struct sample_reader *reader;
    const char *path;
    struct plan *plan;        /* owned reference */
    bool takes_keys;          /* its items are read again by their keys */
    size_t items;             /* so far */
    bool is_empty;            /* proven: there is no item */
    struct source *source;    /* holds a reference */
    struct source_call *call; /* under way */
    bool is_by_keys;          /* the call reads items by their keys */
    struct arena arena;
    struct key keys[READ_MAX_KEYS];
    size_t key_count;
};

static void sample_reader_report_memory(struct sample_reading *reading)
{
    struct error why;
    error_no_memory(&why);
    app_report_error(reading->reader->app, reading->path, &why);
}

static void sample_reader_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct sample_reading *reading = arg;
    struct sample_reader *reader = reading->reader;
    if (err) {
        loop_stop(reader->app->loop);
        app_report_error(reader->app, reading->path, err);
        return;
    }
    reading->items += page->item_count;
    reading->is_empty = reading->items == 0 && !page->more;
    reader->requests += page->requests;
    source_add_page(&reader->spent, page);
    for (size_t i = 0; i < page->item_count && i < reader->most; i++) {
        bool keyed = reading->takes_keys && reading->key_count < READ_MAX_KEYS &&
                     item_match_key(reading->plan->table, page->items[i], &reading->arena,
                                    &reading->keys[reading->key_count]);
        if (keyed)
            reading->key_count++;
        else if (!reader->take(reader->arg, reading->plan, page->items[i]))
            sample_reader_report_memory(reading);
        reader->items += !keyed;
    }
    if (page->more && reading->is_by_keys)
        source_more(reading->call);
    else
        loop_stop(reader->app->loop);
}

/* Reads one page of a query, or all pages of items by their keys, which may have unprocessed keys.
 */
static void sample_reader_request(struct sample_reading *reading, const struct read *read)
{
    reading->is_by_keys = read->kind == READ_ITEMS;
    reading->call = source_start(reading->source, read, NULL, sample_reader_take_page, reading);
    if (!reading->call) {
        sample_reader_report_memory(reading);
        return;
    }
    loop_run(reading->reader->app->loop);
    source_end(reading->call);
}

/* Reads all attributes of the items with KEYS. */
static void sample_reader_request_keys(struct sample_reading *reading, const struct key *keys,
                                       size_t count)
{
    struct error why;
    struct read *read = plan_items(reading->plan, keys, count, &why);
    reading->takes_keys = false;
    if (!read) {
        app_report_error(reading->reader->app, reading->path, &why);
        return;
    }
    read->attribute_count = 0;
    sample_reader_request(reading, read);
    read_destroy(read);
}

/* Changes the query of the plan, which nothing else uses: the sample has items that the filter of
 * the path leaves out, and all their attributes. */
static void sample_reader_execute(struct sample_reading *reading)
{
    struct plan *plan = reading->plan;
    reading->takes_keys = plan->reads_again;
    if (plan->kind == PLAN_KEY) {
        sample_reader_request_keys(reading, &plan->key, 1);
        return;
    }
    plan->query->filter_count = 0;
    plan->query->attribute_count = 0;
    plan->query->limit = reading->reader->most;
    sample_reader_request(reading, plan->query);
    if (reading->key_count > 0)
        sample_reader_request_keys(reading, reading->keys, reading->key_count);
    arena_clean_up(&reading->arena);
}

void sample_reader_read(struct sample_reader *reader, const char *path, bool named)
{
    struct error why = {0};
    struct sample_reading reading = {.reader = reader, .path = path};
    struct place *place = app_resolve(reader->app, path, &why);
    if (place && !fetch_is_needed(place))
        error_set(&why, ERROR_NOT_LISTABLE, "has no item to read; name an item or a listing");
    else if (place)
        reading.source = source_ref(sources_for(reader->app->sources, place, &why));
    reading.plan = reading.source ? place_new_plan(place, &why) : NULL;
    if (reading.plan && reading.plan->kind == PLAN_SEARCH)
        error_set(&why, ERROR_INVALID, "is a shortened name, which has no key; name its directory");
    else if (reading.plan && (!reader->begin || reader->begin(reader->arg, path, reading.plan)))
        sample_reader_execute(&reading);
    if (reading.is_empty && named && !place_is_directory(place))
        error_set(&why, ERROR_NOT_FOUND, "no such item");
    if (why.kind != ERROR_NONE)
        app_report_error(reader->app, path, &why);
    plan_unref(reading.plan);
    source_unref(reading.source);
    place_destroy(place);
}

void sample_reader_write_cost(const struct sample_reader *reader, struct buf *out)
{
    buf_printf(out, "%u item%s read: %u request%s, ", reader->items,
               reader->items == 1 ? " was" : "s were", reader->requests,
               reader->requests == 1 ? "" : "s");
    spent_write(&reader->spent, out);
}
