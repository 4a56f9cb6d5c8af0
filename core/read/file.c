/* Files: the content of an item, its companions and its attributes, byte for byte. */
#include "core/read/file.h"

#include <limits.h>
#include <stdlib.h>

#include "core/base/quantity.h"
#include "core/base/spool.h"
#include "core/item/typed.h"
#include "core/read/fact.h"
#include "core/read/fetch.h"
#include "core/read/history.h"
#include "core/read/links.h"
#include "core/read/model_provider.h"
#include "core/read/resolve.h"
#include "core/read/similar.h"

void file_view(const struct tree *tree, const struct model *table,
               const char *first[KEY_MAX_BASE_ATTRIBUTES], struct record_view *view)
{
    for (size_t i = 0; i < table->key_count; i++)
        first[i] = table->keys[i].attribute;
    *view = (struct record_view){
        .first = first,
        .first_count = table->key_count,
        .secret = table->secrets,
        .secret_count = tree->show_secrets ? 0 : table->secret_count,
        .compact = tree->compact,
    };
}

bool file_write_record(const struct tree *tree, const struct model *table, struct json item,
                       struct buf *out)
{
    const char *first[KEY_MAX_BASE_ATTRIBUTES];
    struct record_view view;
    file_view(tree, table, first, &view);
    return item_write(item, &view, out);
}

bool file_write_attribute(const struct tree *tree, const struct model *table, struct span name,
                          struct json item, struct buf *out)
{
    struct json typed = item_attribute(item, name);
    if (tree->show_secrets || !model_is_secret(table, name))
        return item_write_value(typed, tree->compact, out);
    buf_add_text(out, RECORD_MASK "\n");
    return !out->failed;
}

struct instant file_mtime(const struct map_pattern *pattern, struct json item)
{
    return pattern->mtime ? when_read(item_attribute(item, span_text(pattern->mtime)))
                          : (struct instant){0};
}

/* The name of the attribute at PLACE. Of a shortened name, TEXT gets the name of the attribute that
 * has it; else it gets the shortened name. False when memory ran out. */
static bool file_find_attribute(const struct place *place, struct json item, struct buf *text,
                                struct span *out)
{
    *out = place->attribute;
    if (!place->attribute_shortened)
        return true;
    for (struct json name = json_first(item); json_present(name);
         name = json_next(json_next(name))) {
        CLEAN_UP(buf_clean_up) struct buf written = {0};
        buf_truncate(text, 0);
        json_read_string(name, text);
        if (text->failed || !names_write_attribute(buf_span(text), &written))
            return false;
        if (span_equal(buf_span(&written), place->attribute)) {
            *out = buf_span(text);
            return true;
        }
    }
    return true;
}

/* Appends the text of the item, and fills in whether it is secret. */
static bool file_write(const struct tree *tree, const struct place *place, struct record *record,
                       const struct tree_found *found, const struct error *stale, bool *secret,
                       struct buf *out, struct error *err)
{
    struct json item = record_item(record), typed;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const char *first[KEY_MAX_BASE_ATTRIBUTES];
    struct record_view view;
    struct span name;
    bool ok;
    *secret = false;
    file_view(tree, place->table, first, &view);
    switch (place->kind) {
    case PLACE_VALUE: /* a file that the map declares shows the value, even if it is secret */
        name = span_text(place->route->file->attribute);
        *secret = model_is_secret(place->table, name);
        typed = item_attribute(item, name);
        if (!json_present(typed))
            return error_set(err, ERROR_NOT_FOUND, "the item has no attribute %s",
                             place->route->file->attribute);
        ok = item_write_value(typed, tree->compact, out);
        break;
    case PLACE_ATTR:
        if (!file_find_attribute(place, item, &text, &name))
            return error_no_memory(err);
        *secret = model_is_secret(place->table, name);
        if (!json_present(item_attribute(item, name)))
            return error_set(err, ERROR_NOT_FOUND, "the item has no attribute \"%.*s\"",
                             name.size > 200 ? 200 : (int)name.size, name.data);
        ok = file_write_attribute(tree, place->table, name, item, out);
        break;
    case PLACE_LINK: {
        struct place *target = links_follow(place, place->link, item, &tree->names, out, err);
        place_destroy(target);
        return target;
    }
    case PLACE_INFO:
        return tree->texts->write_item_info(tree, place, record, found, stale, out) ||
               error_no_memory(err);
    case PLACE_TYPED:
        ok = item_write_typed(item, &view, out);
        break;
    default:
        ok = item_write(item, &view, out);
        break;
    }
    if (ok)
        return true;
    return out->failed ? error_no_memory(err)
                       : error_set(err, ERROR_BAD_ANSWER, "the response is no item of DynamoDB");
}

bool file_make(const struct tree *tree, const struct place *place, struct record *record,
               const struct tree_found *found, const struct error *stale, struct buf *bytes,
               struct tree_file *out, struct error *err)
{
    bool secret;
    if (!file_write(tree, place, record, found, stale, &secret, bytes, err))
        return false;
    *out = (struct tree_file){
        .bytes = buf_span(bytes),
        .secret = secret,
        .origin = record_origin(record),
        .stale = stale,
    };
    if (place->kind != PLACE_LINK) /* two links differ only in their targets */
        out->mtime = file_mtime(place->route->file, record_item(record));
    return true;
}

/* Facts. */

/* The content of a fact: one line of JSON. */
struct fact_text {
    size_t references;
    size_t size;
    char bytes[];
};

/* One request of a flight, and its response. */
struct fact_part {
    struct fact_flight *flight;
    struct read *read;        /* owned */
    struct source_call *call; /* NULL before it starts and after it ended */
    struct buf text;          /* the response's JSON; of a list, the elements of an array */
};

/* The requests for one fact. They belong to the cache's flight, and may outlive the first caller.
 */
struct fact_flight {
    enum fact fact;
    struct source *source; /* holds a reference */
    struct payer *payer;   /* holds a reference: of the first caller */
    struct cache_flight *cache_flight;
    struct fact_part parts[FACT_MOST_READS];
    size_t pending; /* requests without a response */
    /* Of FACT_STREAM, whose part 0 reads the stream. Part 1 reads the table, if that is not known.
     */
    struct buf table, stream; /* owned: their descriptions */
    bool is_enabled;
};

static void fact_flight_release(void *arg)
{
    struct fact_flight *flight = arg;
    for (size_t i = 0; i < FACT_MOST_READS; i++) {
        read_destroy(flight->parts[i].read);
        buf_clean_up(&flight->parts[i].text);
    }
    buf_clean_up(&flight->table);
    buf_clean_up(&flight->stream);
    payer_unref(flight->payer);
    source_unref(flight->source);
    free(flight);
}

static void fact_flight_abandon(void *arg)
{
    struct fact_flight *flight = arg;
    for (size_t i = 0; i < FACT_MOST_READS; i++) {
        if (flight->parts[i].call)
            source_end(flight->parts[i].call);
        flight->parts[i].call = NULL;
    }
}

static void fact_text_ref(void *data)
{
    struct fact_text *text = data;
    text->references++;
}

static void fact_text_unref(void *data)
{
    struct fact_text *text = data;
    if (--text->references == 0)
        free(text);
}

static void fact_flight_fail(struct fact_flight *flight, const struct error *err)
{
    struct error copy = *err;
    fact_flight_abandon(flight);
    cache_fail(flight->cache_flight, &copy);
}

/* Joins the responses, under the service's own names. */
static void fact_flight_write(const struct fact_flight *flight, struct buf *out)
{
    const struct fact_part *parts = flight->parts;
    const char *const *frame = fact_frame(flight->fact);
    if (flight->fact == FACT_STREAM) {
        if (!fact_write_stream(buf_span(&flight->table), buf_span(&flight->stream),
                               buf_span(&parts[0].text), out))
            out->failed = true;
        buf_add_char(out, '\n');
        return;
    }
    for (size_t i = 0; i < FACT_MOST_READS; i++) {
        buf_add_text(out, frame[i]);
        buf_add_span(out, buf_span(&parts[i].text));
    }
    buf_add_text(out, frame[FACT_MOST_READS]);
}

/* NULL when memory ran out. */
static struct fact_text *fact_text_new(const struct fact_flight *flight)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    const struct fact_part *parts = flight->parts;
    fact_flight_write(flight, &out);
    bool failed = out.failed || parts[0].text.failed || parts[1].text.failed ||
                  flight->table.failed || flight->stream.failed;
    struct fact_text *text = failed ? NULL : malloc(sizeof *text + out.size);
    if (!text)
        return NULL;
    *text = (struct fact_text){.references = 1, .size = out.size};
    memcpy(text->bytes, out.data, out.size);
    return text;
}

static void fact_flight_take_page(void *arg, const struct page *page, const struct error *err);

static bool fact_flight_start_part(struct fact_flight *flight, size_t i)
{
    struct fact_part *part = &flight->parts[i];
    part->flight = flight;
    part->call =
        source_start(flight->source, part->read, flight->payer, fact_flight_take_page, part);
    return part->call;
}

/* Requests the stream that the table's description names; without one nothing is pending. False
 * when memory ran out. */
static bool fact_flight_start_stream(struct fact_flight *flight)
{
    CLEAN_UP(buf_clean_up) struct buf arn = {0};
    struct read *read = flight->parts[0].read;
    if (!fact_find_stream(buf_span(&flight->table), &arn, &flight->is_enabled)) {
        flight->pending--;
        return !arn.failed;
    }
    read_set_stream(read, &(struct read_stream){.arn = buf_span(&arn)});
    return !read_failed(read) && fact_flight_start_part(flight, 0);
}

/* More than all backups of a table, or all its exports of 90 days. */
enum { FACT_MOST_BYTES = 16 << 20 };

/* False when memory ran out. */
static bool fact_flight_add_page(struct fact_part *part, const struct page *page)
{
    struct fact_flight *flight = part->flight;
    if (flight->fact != FACT_STREAM) {
        buf_add_span(&part->text, page->description);
    } else if (part->read->kind == READ_TABLE) {
        buf_add_span(&flight->table, page->description);
        return fact_flight_start_stream(flight);
    } else if (flight->stream.size == 0) {
        buf_add_span(&flight->stream, page->description);
    }
    for (size_t i = 0; i < page->item_count; i++) {
        buf_add_text(&part->text, part->text.size ? "," : "");
        buf_add_span(&part->text, json_raw(page->items[i]));
    }
    return true;
}

/* The shards of a stream that was disabled last for a day; their end is no failure. */
static bool fact_flight_forgives(const struct fact_flight *flight, const struct error *err)
{
    return flight->fact == FACT_STREAM && !flight->is_enabled && err->kind == ERROR_NO_STREAM;
}

static void fact_flight_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct fact_part *part = arg;
    struct fact_flight *flight = part->flight;
    struct error why;
    if (err && !fact_flight_forgives(flight, err)) {
        fact_flight_fail(flight, err);
        return;
    }
    if (page && !fact_flight_add_page(part, page)) {
        error_no_memory(&why);
        fact_flight_fail(flight, &why);
        return;
    }
    if (part->text.size > FACT_MOST_BYTES) {
        error_set(&why, ERROR_BAD_ANSWER,
                  "the service describes the table %s with more than %d MB, and has not ended; "
                  "check the endpoint: ddbfs config",
                  part->read->table, FACT_MOST_BYTES >> 20);
        fact_flight_fail(flight, &why);
        return;
    }
    if (page && page->more)
        source_more(part->call);
    if ((page && page->more) || --flight->pending > 0)
        return;
    struct fact_text *text = fact_text_new(flight);
    if (!text) {
        error_no_memory(&why);
        fact_flight_fail(flight, &why);
        return;
    }
    struct cache_value value = {text, fact_text_ref, fact_text_unref, sizeof *text + text->size};
    fact_flight_abandon(flight);
    cache_land(flight->cache_flight, &value);
    fact_text_unref(text);
}

static bool fact_flight_start(void *arg, struct cache_flight *cache_flight, struct error *err)
{
    struct fact_flight *flight = arg;
    bool is_stream = flight->fact == FACT_STREAM, ok = true;
    flight->cache_flight = cache_flight;
    for (size_t i = 0; i < FACT_MOST_READS; i++)
        flight->pending += flight->parts[i].read != NULL;
    if (is_stream && flight->table.size > 0)
        ok = fact_flight_start_stream(flight);
    else if (is_stream)
        ok = fact_flight_start_part(flight, 1);
    for (size_t i = 0; !is_stream && ok && i < flight->pending; i++)
        ok = fact_flight_start_part(flight, i);
    if (!ok)
        fact_flight_abandon(flight);
    return ok || error_no_memory(err);
}

/* DESCRIPTION is the table's, of FACT_STREAM alone; empty: it is not known. */
static struct fact_flight *fact_flight_new(const struct place *place, struct source *source,
                                           struct payer *payer, struct span description)
{
    struct fact_flight *flight = calloc(1, sizeof *flight);
    if (!flight)
        return NULL;
    flight->fact = place->fact;
    flight->source = source_ref(source);
    flight->payer = payer_ref(payer);
    enum fact fact = place->fact;
    const char *table = place->table_name;
    buf_add_span(&flight->table, description);
    bool ok = !flight->table.failed;
    for (size_t i = 0; ok && i < fact_read_count(fact); i++)
        ok = (flight->parts[i].read = fact_read(fact, i, table, place->table->arn));
    if (ok && fact == FACT_STREAM && description.size == 0)
        ok = (flight->parts[1].read = read_new(READ_TABLE, table, NULL));
    if (ok)
        return flight;
    fact_flight_release(flight);
    return NULL;
}

/* Reads the fact at PLACE through the cache. FN is called once, later, with a struct fact_text,
 * unless cache_leave ends it. NULL with ERR filled. */
static struct cache_wait *file_read_fact(const struct tree *tree, const struct place *place,
                                         struct span description, cache_done_fn *fn, void *arg,
                                         struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    struct source *source = tree->source(tree->source_arg, place, err);
    if (!source)
        return NULL;
    struct fact_flight *flight = fact_flight_new(place, source, tree->payer, description);
    struct cache_wait *wait = NULL;
    source_identity(source, &key);
    buf_printf(&key, " %s of %s", fact_name(place->fact), place->table_name);
    if (key.failed && flight)
        fact_flight_release(flight);
    else if (flight)
        wait = cache_read(tree->cache,
                          &(struct cache_lookup){
                              .key = buf_span(&key),
                              .max_age_ms = MAP_STRUCTURE_TTL_MS,
                              .stale_ms = tree->stale_ms,
                              .fetch = fact_flight_start,
                              .abandon = fact_flight_abandon,
                              .fetch_arg = flight,
                              .release = fact_flight_release,
                          },
                          fn, arg);
    if (!wait)
        error_no_memory(err);
    return wait;
}

/* Calls. */

/* A file on its way. */
struct tree_call {
    const struct tree *tree;
    const struct place *place;
    struct fetch *fetch;
    struct loop_timer *timer;
    struct cache_wait *wait;      /* for a fact */
    struct error why;             /* of one that failed at once */
    struct tree_listing *listing; /* owned: it is read to its end for its @info */
    struct tree_stream *stream;   /* owned: a listing's items, whose file is collected in BYTES */
    struct history *history;      /* owned: of PLACE_VERSION */
    struct similar *similar;      /* owned: of PLACE_SIMILAR_ITEM, and of @info */
    struct place *version; /* owned: the item, at that moment or as it was found, which VERSION_CALL
                            * reads */
    struct tree_call *version_call; /* owned */
    struct buf bytes;
    struct spool *spool; /* owned: it has the file instead of BYTES; NULL: not */
    int64_t moved_ms;    /* when the last page came; 0: none */
    size_t charged;      /* to the cache, for the stream and BYTES */
    tree_file_fn *done;
    void *arg;
};

/* All files under way together may hold as much as two of the largest: half of --cache-size. One in
 * a temporary file holds next to nothing, and is not refused for those in memory. */
static bool file_charge(struct tree_call *call, size_t memory)
{
    const struct tree *tree = call->tree;
    size_t shares = call->spool ? 3 : 2;
    bool ok =
        cache_charge_making(tree->cache, memory, call->charged, shares * tree->snapshot_bytes);
    if (ok)
        call->charged = memory;
    return ok;
}

static void file_call_destroy(struct tree_call *call)
{
    file_charge(call, 0);
    fetch_cancel(call->fetch);
    loop_remove_timer(call->timer);
    if (call->wait)
        cache_leave(call->wait);
    tree_list_end(call->listing);
    tree_stream_end(call->stream);
    history_close(call->history);
    similar_cancel(call->similar);
    tree_cancel(call->version_call);
    place_destroy(call->version);
    buf_clean_up_secret(&call->bytes);
    spool_unref(call->spool);
    free(call);
}

static void file_take_record(void *arg, struct record *record, const struct tree_found *found,
                             int64_t ttl_left_ms, const struct error *err)
{
    struct tree_call call = *(struct tree_call *)arg;
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    struct tree_file file;
    struct error why;
    free(arg);
    if (record && file_make(call.tree, call.place, record, found, err, &bytes, &file, &why)) {
        file.ttl_left_ms = ttl_left_ms;
        call.done(call.arg, &file, NULL);
        return;
    }
    if (!err && ttl_left_ms > MAP_MISSING_TTL_MS)
        ttl_left_ms = MAP_MISSING_TTL_MS;
    if (err)
        why = *err;
    why.ttl_left_ms = ttl_left_ms < INT_MAX ? (int)ttl_left_ms : INT_MAX;
    call.done(call.arg, NULL, &why);
}

/* Reports a file that needs no request: a README, or a link whose target is known from its path. */
static void file_report_local(void *arg)
{
    struct tree_call call = *(struct tree_call *)arg;
    const struct tree *tree = call.tree;
    const struct place *place = call.place;
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    struct error why = {0};
    bool ok;
    free(arg);
    if (place->kind == PLACE_README) {
        struct model_provider *models = place->table_name ? tree->models : NULL;
        struct model_provider_description description;
        bool known = models && models->ops->describe(models, place, &description);
        ok = tree->texts->write_readme(place, &tree->names, known ? &description : NULL, &bytes) ||
             error_no_memory(&why);
    } else {
        struct json no_item = {0};
        struct place *target =
            links_follow(place, place->link, no_item, &tree->names, &bytes, &why);
        ok = target;
        place_destroy(target);
        why.ttl_left_ms = MAP_MISSING_TTL_MS;
    }
    struct tree_file file = {.bytes = buf_span(&bytes)};
    if (ok)
        file.ttl_left_ms = tree_structure_ttl_ms(tree, place);
    call.done(call.arg, ok ? &file : NULL, ok ? NULL : &why);
}

static void file_take_fact(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    struct tree_call call = *(struct tree_call *)arg;
    const struct fact_text *text = data;
    free(arg);
    struct tree_file file = {.ttl_left_ms = ttl_left_ms, .stale = err};
    if (text)
        file.bytes = span_of(text->bytes, text->size);
    call.done(call.arg, text ? &file : NULL, text ? NULL : err);
}

static void file_refuse_fact(void *arg)
{
    struct tree_call call = *(struct tree_call *)arg;
    free(arg);
    call.done(call.arg, NULL, &call.why);
}

/* Reports a fact that needs no request. */
static void file_report_fact(struct tree_call *call, struct span bytes)
{
    struct tree_file file = {.bytes = bytes,
                             .ttl_left_ms = tree_structure_ttl_ms(call->tree, call->place)};
    struct tree_call ended = *call;
    free(call);
    ended.done(ended.arg, &file, NULL);
}

/* Reports what the description that the catalog has implies, while it is fresh; else reads it. That
 * is a schema, and the fact that a table has no stream. */
static void file_report_described(void *arg)
{
    struct tree_call *call = arg;
    struct model_provider *models = call->tree->models;
    CLEAN_UP(buf_clean_up) struct buf bytes = {0}, arn = {0};
    struct model_provider_description known;
    bool is_enabled, is_schema = call->place->fact == FACT_SCHEMA;
    struct span text = span_text("");
    call->timer = NULL;
    if (models->ops->describe(models, call->place, &known))
        text = known.text;
    bool ok = text.size > 0;
    if (ok && is_schema)
        buf_add_span(&bytes, text);
    else if (ok)
        ok = !fact_find_stream(text, &arn, &is_enabled) && !arn.failed &&
             fact_write_stream(text, span_text(""), span_text(""), &bytes);
    buf_add_char(&bytes, '\n');
    if (ok && !bytes.failed) {
        file_report_fact(call, buf_span(&bytes));
        return;
    }
    call->wait = file_read_fact(call->tree, call->place, is_schema ? span_text("") : text,
                                file_take_fact, call, &call->why);
    if (!call->wait)
        file_refuse_fact(call);
}

/* The listing has been read to its end for its @info, which has its costs. A directory that was
 * left out for its name is a note in the @info, and no failure. A replayed listing is as old as its
 * transcript. */
static void file_take_listing(void *arg, const struct tree_entry *entries, size_t count, bool more,
                              const struct error *err)
{
    struct tree_call *call = arg;
    const struct tree *tree = call->tree;
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    struct error why;
    (void)entries, (void)count;
    bool left_out = err && err->kind == ERROR_LONG_NAME;
    call->moved_ms = loop_now_ms(tree->loop);
    if (more) {
        tree_list_more(call->listing);
        return;
    }
    if (err)
        why = *err;
    bool ok = !err || left_out;
    if (ok && !tree->texts->write_list_info(tree, call->place, call->listing,
                                            left_out ? &why : NULL, &bytes))
        ok = error_no_memory(&why);
    struct walk_age age = tree_list_stats(call->listing).age;
    int64_t ttl_ms = tree_items_ttl_ms(tree, call->place, call->place->route->list);
    if (age.is_replayed)
        ttl_ms += age.since_ms - loop_now_ms(tree->loop);
    struct tree_file file = {.bytes = buf_span(&bytes),
                             .ttl_left_ms = ttl_ms > 0 && !age.is_dropped ? ttl_ms : 0};
    tree_file_fn *done = call->done;
    void *done_arg = call->arg;
    file_call_destroy(call);
    done(done_arg, ok ? &file : NULL, ok ? NULL : &why);
}

/* Unmasked secrets never reach a disk. */
static bool file_may_spool(const struct tree_call *call)
{
    const struct tree *tree = call->tree;
    return tree->spool && !(tree->show_secrets && call->place->table->secret_count > 0);
}

/* A file this large becomes a temporary file at the latest. One write of it holds the loop for up
 * to 5 ms, and the kernel has the bytes of any file in its own cache. */
enum { SPOOLED_FROM = 4 << 20 };

/* Moves BYTES to a temporary file. */
static bool file_begin_spool(struct tree_call *call, struct error *err)
{
    call->spool = spool_new(call->tree->spool, call->tree->spool_limit, err);
    if (!call->spool || !spool_add(call->spool, buf_span(&call->bytes), err))
        return false;
    buf_clean_up_secret(&call->bytes);
    return true;
}

static bool file_refuse_size(const struct tree_call *call, struct error *err)
{
    const struct tree *tree = call->tree;
    CLEAN_UP(buf_clean_up) struct buf most = {0};
    size_write(tree->snapshot_bytes, &most);
    return error_set(err, ERROR_TOO_LARGE,
                     "this file would be larger than %s, a quarter of --cache-size, and %s; use "
                     "ddbfs cat with the same path, which has no limit, %sor a larger --cache-size",
                     buf_text(&most),
                     tree->spool ? "its secrets must not be written to a temporary file"
                                 : "there is no folder for temporary files",
                     tree->spool ? "" : "--spool DIR, ");
}

/* Adds PIECE in memory, unless the file becomes too large, or other files leave it no memory. */
static bool file_collect_piece(struct tree_call *call, struct span piece, struct error *err)
{
    const struct tree *tree = call->tree;
    CLEAN_UP(buf_clean_up) struct buf most = {0};
    bool may_spool = file_may_spool(call);
    size_t limit =
        may_spool && tree->snapshot_bytes > SPOOLED_FROM ? SPOOLED_FROM : tree->snapshot_bytes;
    if (!call->spool && piece.size > limit - call->bytes.size &&
        !(may_spool ? file_begin_spool(call, err) : file_refuse_size(call, err)))
        return false;
    if (!call->spool)
        buf_add_span(&call->bytes, piece);
    else if (!spool_add(call->spool, piece, err))
        return false;
    if (call->bytes.failed)
        return error_no_memory(err);
    if (file_charge(call, call->bytes.capacity + tree_stream_memory(call->stream)))
        return true;
    if (!call->spool && file_may_spool(call) && !file_begin_spool(call, err))
        return false;
    if (call->spool && file_charge(call, tree_stream_memory(call->stream)))
        return true;
    size_write(2 * tree->snapshot_bytes, &most);
    return error_set(err, ERROR_THROTTLED,
                     "other files are being made of listings at the same time, and together they "
                     "would need more than %s, half of --cache-size; read it again when they are "
                     "done, read fewer at once, or use ddbfs cat with the same path, which has no "
                     "limit",
                     buf_text(&most));
}

/* The whole file is collected before its size is reported. */
static void file_take_piece(void *arg, const struct tree_piece *piece, const struct error *err)
{
    struct tree_call *call = arg;
    struct error why;
    if (err)
        why = *err;
    call->moved_ms = loop_now_ms(call->tree->loop);
    bool ok = !err && file_collect_piece(call, piece->bytes, &why);
    if (ok && !piece->more && call->spool && !spool_end(call->spool))
        ok = error_no_memory(&why);
    if (ok && piece->more) {
        tree_stream_more(call->stream);
        return;
    }
    struct tree_call ended = *call;
    struct cache *cache = call->tree->cache; /* DONE may free the tree */
    struct tree_file file = {.bytes = buf_span(&call->bytes), .spool = call->spool};
    if (ok) {
        file.mtime = piece->mtime;
        file.ttl_left_ms = piece->ttl_left_ms;
    }
    free(call);
    ended.done(ended.arg, ok ? &file : NULL, ok ? NULL : &why);
    tree_stream_end(ended.stream);
    buf_clean_up_secret(&ended.bytes);
    spool_unref(ended.spool);
    cache_charge_making(cache, 0, ended.charged, 0);
}

/* Versions of an item. */

/* Reports FILE or ERR, and ends CALL. */
static void file_report_version(struct tree_call *call, const struct tree_file *file,
                                const struct error *err)
{
    struct tree_call ended = *call;
    struct error why;
    if (err)
        why = *err;
    free(call);
    ended.done(ended.arg, file, err ? &why : NULL);
    history_close(ended.history);
    place_destroy(ended.version);
    buf_clean_up_secret(&ended.bytes);
}

static void file_take_companion(void *arg, const struct tree_file *file, const struct error *err)
{
    struct tree_call *call = arg;
    call->version_call = NULL;
    file_report_version(call, file, err);
}

/* The item's own file is here; its companion is read like any other. A deletion has an @info, and
 * an empty @typed. */
static void file_take_version(void *arg, const struct history_version *version,
                              const struct error *err)
{
    struct tree_call *call = arg;
    const struct place *place = call->place;
    struct error why;
    if (err || !version) {
        if (!err)
            error_set(&why, ERROR_NOT_FOUND, "the item has no such version");
        file_report_version(call, NULL, err ? err : &why);
        return;
    }
    struct tree_file file = {.bytes = version->bytes,
                             .mtime = instant_of(version->moment_ms),
                             .ttl_left_ms = version->ttl_left_ms};
    if (version->deleted && place->companion == COMPANION_INFO) {
        if (!call->tree->texts->write_deletion_info(call->tree, place, &call->bytes)) {
            error_no_memory(&why);
            file_report_version(call, NULL, &why);
            return;
        }
        file.bytes = buf_span(&call->bytes);
    }
    if (version->deleted || place->companion == COMPANION_NONE) {
        file_report_version(call, &file, NULL);
        return;
    }
    call->version = place_copy_at(place, version->moment_ms, place->companion);
    call->version_call =
        call->version ? tree_read(call->tree, call->version, file_take_companion, call) : NULL;
    if (call->version_call)
        return;
    error_no_memory(&why);
    file_report_version(call, NULL, &why);
}

/* Similar items. */

/* The key of the result whose name PLACE has; NULL without one. */
static const struct key *file_find_similar(const struct tree *tree, const struct place *place,
                                           const struct similar_result *result, struct error *err)
{
    for (size_t i = 0; i < result->count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        similar_write_name(place, &tree->names, i + 1, &result->hits[i], &name);
        if (name.failed) {
            error_no_memory(err);
            return NULL;
        }
        if (span_equal(buf_span(&name), place->similar_name))
            return &result->hits[i].key;
    }
    error_set(err, ERROR_NOT_FOUND,
              "the search does not find an item of this name now; list the directory again");
    err->ttl_left_ms = MAP_MISSING_TTL_MS;
    return NULL;
}

/* The item is read by its key, like any other. */
static void file_take_similar(void *arg, const struct similar_found *found, const struct error *err)
{
    struct tree_call *call = arg;
    const struct tree *tree = call->tree;
    const struct place *place = call->place;
    struct error why;
    call->similar = NULL;
    if (err) {
        file_report_version(call, NULL, err);
        return;
    }
    if (place->kind == PLACE_SIMILAR_FILE) { /* @info */
        struct tree_file file = {.ttl_left_ms = found->ttl_left_ms};
        bool ok = tree->texts->write_similar_info(tree, place, found, &call->bytes);
        file.bytes = buf_span(&call->bytes);
        if (!ok)
            error_no_memory(&why);
        file_report_version(call, ok ? &file : NULL, ok ? NULL : &why);
        return;
    }
    const struct key *key = file_find_similar(tree, place, found->result, &why);
    if (key) {
        call->version = place_of_similar(place, key);
        call->version_call =
            call->version ? tree_read(tree, call->version, file_take_companion, call) : NULL;
        if (call->version_call)
            return;
        error_no_memory(&why);
    }
    file_report_version(call, NULL, &why);
}

/* A mount serves the file before it gets here. */
static void file_refuse_changes(struct error *err)
{
    error_set(err, ERROR_INVALID,
              "grows with each change of the table, without an end; use ddbfs tail with the "
              "directory of the table, or tail -f in a mount");
}

struct tree_call *tree_read(const struct tree *tree, const struct place *place, tree_file_fn *done,
                            void *arg)
{
    struct tree_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (struct tree_call){.tree = tree, .place = place, .done = done, .arg = arg};
    if (place->kind == PLACE_README || (place->kind == PLACE_LINK && !fetch_is_needed(place)))
        call->timer = loop_add_timer(tree->loop, 0, file_report_local, call);
    else if (place->kind == PLACE_FACT && tree->models &&
             (place->fact == FACT_SCHEMA || place->fact == FACT_STREAM))
        call->timer = loop_add_timer(tree->loop, 0, file_report_described, call);
    else if (place->kind == PLACE_CHANGES)
        file_refuse_changes(&call->why);
    else if (place->kind == PLACE_VERSION)
        call->history = history_start(tree, place, file_take_version, call, &call->why);
    else if (place->kind == PLACE_FACT)
        call->wait = file_read_fact(tree, place, span_text(""), file_take_fact, call, &call->why);
    else if (place->kind == PLACE_LIST_INFO)
        call->listing = tree_list(tree, place, false, file_take_listing, call);
    else if (place->kind == PLACE_SIMILAR_ITEM ||
             (place->kind == PLACE_SIMILAR_FILE && place->companion == COMPANION_INFO))
        call->similar = similar_start(tree, place, false, file_take_similar, call);
    else if (place->kind == PLACE_LIST_FILE || place->kind == PLACE_SIMILAR_FILE)
        call->stream = tree_stream(tree, place, file_take_piece, call);
    else
        call->fetch = fetch_start(tree, place, file_take_record, call);
    if (call->why.kind != ERROR_NONE)
        call->timer = loop_add_timer(tree->loop, 0, file_refuse_fact, call);
    if (call->listing)
        tree_list_set_steady(call->listing);
    if (call->stream)
        tree_stream_set_steady(call->stream);
    if (call->fetch || call->timer || call->listing || call->wait || call->stream ||
        call->history || call->similar)
        return call;
    file_call_destroy(call);
    return NULL;
}

void tree_cancel(struct tree_call *call)
{
    if (call)
        file_call_destroy(call);
}

int64_t tree_call_moved_ms(const struct tree_call *call)
{
    return call ? call->moved_ms : 0;
}
