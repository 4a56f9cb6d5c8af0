#include "fs/cli/sample_reader.h"

#include "core/plan/item_match.h"
#include "core/read/fetch.h"
#include "core/sources.h"

/* Of the path that is being read. */
struct sample_reading {
    struct peek *peek;
    const char *path;
    struct plan *plan;
    bool takes_keys;          /* its records are read again by their keys */
    size_t items;             /* that came so far */
    bool is_empty;            /* proven: no record came, and none would */
    struct source *source;    /* holds a reference */
    struct source_call *call; /* under way */
    bool is_by_keys;          /* and reads items by their keys */
    struct arena arena;
    struct key keys[READ_MAX_KEYS];
    size_t key_count;
};

static void sample_reader_report_error(struct sample_reading *reading, const struct error *err)
{
    app_report_error(reading->peek->app, reading->path, err);
}

static void sample_reader_report_memory(struct sample_reading *reading)
{
    struct error why;
    error_no_memory(&why);
    sample_reader_report_error(reading, &why);
}

static void sample_reader_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct sample_reading *reading = arg;
    struct peek *peek = reading->peek;
    if (err) {
        loop_stop(peek->app->loop);
        sample_reader_report_error(reading, err);
        return;
    }
    reading->items += page->item_count;
    reading->is_empty = reading->items == 0 && !page->more;
    peek->requests += page->requests;
    source_add_page(&peek->spent, page);
    for (size_t i = 0; i < page->item_count && i < peek->most; i++) {
        bool keyed = reading->takes_keys && reading->key_count < READ_MAX_KEYS &&
                     item_match_key(reading->plan->table, page->items[i], &reading->arena,
                                    &reading->keys[reading->key_count]);
        if (keyed)
            reading->key_count++;
        else if (!peek->take(peek->arg, reading->plan, page->items[i]))
            sample_reader_report_memory(reading);
        peek->records += !keyed;
    }
    if (page->more && reading->is_by_keys)
        source_more(reading->call);
    else
        loop_stop(peek->app->loop);
}

/* One page of a query. Of items by their keys all: what a page leaves unprocessed is in the next.
 */
static void sample_reader_request(struct sample_reading *reading, const struct read *read)
{
    reading->is_by_keys = read->kind == READ_ITEMS;
    reading->call = source_start(reading->source, read, NULL, sample_reader_take_page, reading);
    if (!reading->call) {
        sample_reader_report_memory(reading);
        return;
    }
    loop_run(reading->peek->app->loop);
    source_end(reading->call);
}

/* The records with the keys that are known now, with all their attributes. */
static void sample_reader_request_for_keys(struct sample_reading *reading, const struct key *keys,
                                           size_t count)
{
    struct error why;
    struct read *read = plan_items(reading->plan, keys, count, &why);
    reading->takes_keys = false;
    if (!read) {
        sample_reader_report_error(reading, &why);
        return;
    }
    read->attribute_count = 0;
    sample_reader_request(reading, read);
    read_destroy(read);
}

/* The plan is our own, so its query may be changed: what a filter leaves out is to be
 * seen too, and all attributes of a few records. */
static void sample_reader_read_records(struct sample_reading *reading)
{
    struct plan *plan = reading->plan;
    reading->key_count = 0;
    reading->takes_keys = plan->reads_again;
    if (plan->kind == PLAN_KEY) {
        sample_reader_request_for_keys(reading, &plan->key, 1);
        return;
    }
    plan->query->filter_count = 0;
    plan->query->attribute_count = 0;
    plan->query->limit = reading->peek->most;
    sample_reader_request(reading, plan->query);
    if (reading->key_count > 0)
        sample_reader_request_for_keys(reading, reading->keys, reading->key_count);
    arena_clean_up(&reading->arena);
}

void sample_reader_path(struct peek *peek, const char *path, bool named)
{
    struct error why = {0};
    struct sample_reading reading = {.peek = peek, .path = path};
    struct place *place = app_resolve(peek->app, path, &why);
    if (place && !fetch_is_needed(place))
        error_set(&why, ERROR_NOT_LISTABLE, "no record is read for this; name one, or a listing");
    else if (place)
        reading.source = source_ref(sources_for(peek->app->sources, place, &why));
    reading.plan = reading.source ? place_new_plan(place, &why) : NULL;
    if (reading.plan && reading.plan->kind == PLAN_SEARCH)
        error_set(&why, ERROR_INVALID, "a name that is cut can't be sampled; name its directory");
    else if (reading.plan && (!peek->look || peek->look(peek->arg, path, reading.plan)))
        sample_reader_read_records(&reading);
    if (reading.is_empty && named && !place_is_directory(place))
        error_set(&why, ERROR_NOT_FOUND, "there is no such record to look at");
    if (why.kind != ERROR_NONE)
        sample_reader_report_error(&reading, &why);
    plan_unref(reading.plan);
    source_unref(reading.source);
    place_destroy(place);
}
