/* Files: what a record, its companions and its attributes look like, byte for byte. */
#include "core/read/file.h"

#include <limits.h>
#include <stdlib.h>

#include "core/base/size.h"
#include "core/item/when.h"
#include "core/read/fact_text.h"
#include "core/read/fetch.h"
#include "core/read/links.h"
#include "core/read/model_provider.h"
#include "core/read/resolve.h"

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

static bool file_write_typed(const struct tree *tree, const struct model *table, struct json item,
                             struct buf *out, struct error *err)
{
    const char *first[KEY_MAX_BASE_ATTRIBUTES];
    struct record_view view;
    file_view(tree, table, first, &view);
    if (item_write_typed(item, &view, out))
        return true;
    return out->failed ? error_no_memory(err)
                       : error_set(err, ERROR_BAD_ANSWER, "the record is no item of DynamoDB's");
}

/* The bare value of an attribute that the map declares as a file: secrets included. */
static bool file_write_value(const struct tree *tree, const char *name, struct json item,
                             struct buf *out, struct error *err)
{
    struct json typed = item_attribute(item, span_text(name));
    if (!json_present(typed))
        return error_set(err, ERROR_NOT_FOUND, "the record has no attribute %s", name);
    if (item_write_value(typed, tree->compact, out))
        return true;
    return out->failed
               ? error_no_memory(err)
               : error_set(err, ERROR_BAD_ANSWER, "attribute %s is no value of DynamoDB's", name);
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

/* Appends the name of the attribute at PLACE: nothing when its name is a shortened one and no
 * attribute of ITEM bears it. */
static void file_add_attribute_name(const struct place *place, struct json item, struct buf *out)
{
    if (!place->attribute_shortened) {
        buf_add_span(out, place->attribute);
        return;
    }
    for (struct json name = json_first(item); json_present(name);
         name = json_next(json_next(name))) {
        CLEAN_UP(buf_clean_up) struct buf text = {0}, written = {0};
        json_read_string(name, &text);
        out->failed =
            out->failed || text.failed || !names_write_attribute(buf_span(&text), &written);
        if (!out->failed && span_equal(buf_span(&written), place->attribute)) {
            buf_add_span(out, buf_span(&text));
            return;
        }
    }
}

static bool file_write_attribute_it(const struct tree *tree, const struct place *place,
                                    struct json item, struct buf *out, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf attribute = {0};
    file_add_attribute_name(place, item, &attribute);
    struct span name = attribute.size ? buf_span(&attribute) : place->attribute;
    if (attribute.failed)
        return error_no_memory(err);
    if (!json_present(item_attribute(item, name)))
        return error_set(err, ERROR_NOT_FOUND, "the record has no attribute \"%.*s\"",
                         name.size > 200 ? 200 : (int)name.size, name.data);
    if (file_write_attribute(tree, place->table, name, item, out))
        return true;
    return out->failed
               ? error_no_memory(err)
               : error_set(err, ERROR_BAD_ANSWER, "the attribute is no value of DynamoDB's");
}

/* A link's content is the way to what it leads to. */
static bool file_write_link(const struct tree *tree, const struct place *place, struct json item,
                            struct buf *out, struct error *err)
{
    struct place *target = links_follow(place, place->link, item, &tree->names, out, err);
    place_destroy(target);
    return target;
}

static bool file_write_content(const struct tree *tree, const struct place *place,
                               struct record *record, double found_units, const struct error *stale,
                               struct buf *out, struct error *err)
{
    struct json item = record_item(record);
    switch (place->kind) {
    case PLACE_VALUE:
        return file_write_value(tree, place->route->file->attribute, item, out, err);
    case PLACE_ATTR:
        return file_write_attribute_it(tree, place, item, out, err);
    case PLACE_LINK:
        return file_write_link(tree, place, item, out, err);
    case PLACE_TYPED:
        return file_write_typed(tree, place->table, item, out, err);
    case PLACE_INFO:
        return tree->texts->write_item_info(tree, place, record, found_units, stale, out) ||
               error_no_memory(err);
    default:
        if (file_write_record(tree, place->table, item, out))
            return true;
        return out->failed
                   ? error_no_memory(err)
                   : error_set(err, ERROR_BAD_ANSWER, "the record is no item of DynamoDB's");
    }
}

static bool file_is_secret(const struct place *place, struct json item)
{
    CLEAN_UP(buf_clean_up) struct buf attribute = {0};
    if (place->kind == PLACE_VALUE)
        return model_is_secret(place->table, span_text(place->route->file->attribute));
    if (place->kind != PLACE_ATTR)
        return false;
    file_add_attribute_name(place, item, &attribute);
    return attribute.failed || model_is_secret(place->table, buf_span(&attribute));
}

struct instant file_mtime(const struct map_pattern *pattern, struct json item)
{
    return pattern->mtime ? when_read(item_attribute(item, span_text(pattern->mtime)))
                          : (struct instant){0};
}

bool file_make(const struct tree *tree, const struct place *place, struct record *record,
               double found_units, const struct error *stale, struct buf *bytes,
               struct tree_file *out, struct error *err)
{
    if (!file_write_content(tree, place, record, found_units, stale, bytes, err))
        return false;
    *out = (struct tree_file){
        .bytes = buf_span(bytes),
        .secret = file_is_secret(place, record_item(record)),
        .version = record_version(record),
        .origin = record_origin(record),
        .stale = stale,
    };
    if (place->kind != PLACE_LINK) /* where it leads is all that tells two apart */
        out->mtime = file_mtime(place->route->file, record_item(record));
    return true;
}

/* A record on its way to becoming a file; or a file that needs none. */
struct tree_call {
    const struct tree *tree;
    const struct place *place;
    struct fetch *fetch;
    struct loop_timer *timer;
    struct cache_wait *wait;      /* for a fact */
    struct error why;             /* of one that could not be asked for */
    struct tree_listing *listing; /* owned: it is read to its end for its @info */
    struct tree_stream *stream;   /* owned: a listing's records on their way into BYTES */
    struct buf bytes;
    size_t charged; /* to the cache, for the stream and BYTES */
    tree_file_fn *done;
    void *arg;
};

/* Files that are being made have no more together than two of the largest would: half of
 * --cache-size. */
static bool file_charge(struct tree_call *call, size_t memory)
{
    const struct tree *tree = call->tree;
    bool ok = cache_charge_making(tree->cache, memory, call->charged, 2 * tree->snapshot_bytes);
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
    buf_clean_up_secret(&call->bytes);
    free(call);
}

static void file_take_record(void *arg, struct record *record, double found_units,
                             int64_t ttl_left_ms, const struct error *err)
{
    struct tree_call call = *(struct tree_call *)arg;
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    struct tree_file file;
    struct error why;
    free(arg);
    if (record && file_make(call.tree, call.place, record, found_units, err, &bytes, &file, &why)) {
        file.ttl_left_ms = ttl_left_ms;
        call.done(call.arg, &file, NULL);
        return;
    }
    if (!err && ttl_left_ms > MAP_MISSING_TTL_MS)
        ttl_left_ms = MAP_MISSING_TTL_MS;
    struct error told = err ? *err : why;
    told.ttl_left_ms = ttl_left_ms < INT_MAX ? (int)ttl_left_ms : INT_MAX;
    call.done(call.arg, NULL, &told);
}

/* The map alone says what a README says. */
static void file_deliver_readme(void *arg)
{
    struct tree_call call = *(struct tree_call *)arg;
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    struct error why;
    free(arg);
    struct model_provider *models = call.place->table_name ? call.tree->models : NULL;
    struct model_provider_description told;
    bool known = models && models->ops->describe(models, call.place, &told);
    if (!call.tree->texts->write_readme(call.place, &call.tree->names, known ? &told : NULL,
                                        &bytes)) {
        error_no_memory(&why);
        call.done(call.arg, NULL, &why);
        return;
    }
    struct tree_file file = {.bytes = buf_span(&bytes),
                             .ttl_left_ms = tree_structure_ttl_ms(call.tree, call.place)};
    call.done(call.arg, &file, NULL);
}

/* Nor is anybody asked where a link leads that its path tells. */
static void file_deliver_link(void *arg)
{
    struct tree_call call = *(struct tree_call *)arg;
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    struct json no_item = {0};
    struct error why;
    free(arg);
    if (!file_write_link(call.tree, call.place, no_item, &bytes, &why)) {
        why.ttl_left_ms = MAP_MISSING_TTL_MS;
        call.done(call.arg, NULL, &why);
        return;
    }
    struct tree_file file = {.bytes = buf_span(&bytes),
                             .ttl_left_ms = tree_structure_ttl_ms(call.tree, call.place)};
    call.done(call.arg, &file, NULL);
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

/* What was said of the table when it was looked at is told again for as long as it is believed. */
static void file_deliver_schema(void *arg)
{
    struct tree_call *call = arg;
    struct model_provider *models = call->tree->models;
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    struct model_provider_description told;
    call->timer = NULL;
    if (models->ops->describe(models, call->place, &told) && told.text.size > 0) {
        buf_add_span(&bytes, told.text);
        buf_add_char(&bytes, '\n');
    }
    if (bytes.size == 0 || bytes.failed) {
        call->wait = fact_text_start(call->tree, call->place, file_take_fact, call, &call->why);
        if (!call->wait)
            file_refuse_fact(call);
        return;
    }
    struct tree_file file = {.bytes = buf_span(&bytes),
                             .ttl_left_ms = tree_structure_ttl_ms(call->tree, call->place)};
    struct tree_call ended = *call;
    free(call);
    ended.done(ended.arg, &file, NULL);
}

static void file_start_fact(struct tree_call *call)
{
    const struct tree *tree = call->tree;
    if (call->place->fact == FACT_SCHEMA && tree->models)
        call->timer = loop_add_timer(tree->loop, 0, file_deliver_schema, call);
    else
        call->wait = fact_text_start(tree, call->place, file_take_fact, call, &call->why);
    if (!call->timer && !call->wait && call->why.kind != ERROR_NONE)
        call->timer = loop_add_timer(tree->loop, 0, file_refuse_fact, call);
}

/* What is told again is as old as it was then, but good for a moment if it has just been made.
 */
static int64_t file_list_ttl_left_ms(const struct tree_call *call)
{
    int64_t ttl_ms = call->place->route->list->ttl_ms;
    struct walk_age age = tree_list_stats(call->listing).age;
    if (!age.is_told_again)
        return age.is_dropped ? 0 : ttl_ms;
    int64_t left_ms = age.since_ms + ttl_ms - loop_now_ms(call->tree->loop);
    return left_ms > 0 && !age.is_dropped ? left_ms : 0;
}

/* What a listing took is known when it has been read to its end. That a directory is left out for
 * its name is something to tell of it. */
static void file_take_listing(void *arg, const struct tree_entry *entries, size_t count, bool more,
                              const struct error *err)
{
    struct tree_call *call = arg;
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    struct error why;
    (void)entries, (void)count;
    bool left_out = err && err->kind == ERROR_LONG_NAME;
    if (more) {
        tree_list_more(call->listing);
        return;
    }
    if (err)
        why = *err;
    bool ok = !err || left_out;
    if (ok && !call->tree->texts->write_list_info(call->tree, call->place, call->listing,
                                                  left_out ? &why : NULL, &bytes))
        ok = error_no_memory(&why);
    struct tree_file file = {.bytes = buf_span(&bytes), .ttl_left_ms = file_list_ttl_left_ms(call)};
    tree_file_fn *done = call->done;
    void *done_arg = call->arg;
    file_call_destroy(call);
    done(done_arg, ok ? &file : NULL, ok ? NULL : &why);
}

static bool file_refuse_as_too_large(const struct tree *tree, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf most = {0};
    size_write(tree->snapshot_bytes, &most);
    return error_set(err, ERROR_TOO_LARGE,
                     "this file would be larger than %s, a quarter of --cache-size, which is as "
                     "much as is held of one; ddbfs cat of the same path writes it whatever its "
                     "size, and a larger --cache-size lets it open here",
                     buf_text(&most));
}

static bool file_refuse_beside_others(const struct tree *tree, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf most = {0};
    size_write(2 * tree->snapshot_bytes, &most);
    return error_set(err, ERROR_THROTTLED,
                     "other files are being made of listings at the same time, and together they "
                     "would hold more than %s, half of --cache-size; read it again when they are "
                     "done, or fewer of them at once; ddbfs cat of the same path holds none of it",
                     buf_text(&most));
}

static bool file_hold_piece(struct tree_call *call, struct span piece, struct error *err)
{
    const struct tree *tree = call->tree;
    if (piece.size > tree->snapshot_bytes - call->bytes.size)
        return file_refuse_as_too_large(tree, err);
    buf_add_span(&call->bytes, piece);
    if (call->bytes.failed)
        return error_no_memory(err);
    return file_charge(call, call->bytes.capacity + tree_stream_memory(call->stream)) ||
           file_refuse_beside_others(tree, err);
}

/* All of the file is held before its size is told. */
static void file_take_piece(void *arg, const struct tree_piece *piece, const struct error *err)
{
    struct tree_call *call = arg;
    struct error why;
    if (err)
        why = *err;
    bool ok = !err && file_hold_piece(call, piece->bytes, &why);
    if (ok && piece->more) {
        tree_stream_more(call->stream);
        return;
    }
    struct tree_call ended = *call;
    struct cache *cache = call->tree->cache; /* the tree may be gone when this is told */
    struct tree_file file = {.bytes = buf_span(&call->bytes)};
    if (ok) {
        file.mtime = piece->mtime;
        file.ttl_left_ms = piece->ttl_left_ms;
    }
    free(call);
    ended.done(ended.arg, ok ? &file : NULL, ok ? NULL : &why);
    tree_stream_end(ended.stream);
    buf_clean_up_secret(&ended.bytes);
    cache_charge_making(cache, 0, ended.charged, 0);
}

struct tree_call *tree_read(const struct tree *tree, const struct place *place, tree_file_fn *done,
                            void *arg)
{
    struct tree_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (struct tree_call){.tree = tree, .place = place, .done = done, .arg = arg};
    if (place->kind == PLACE_README)
        call->timer = loop_add_timer(tree->loop, 0, file_deliver_readme, call);
    else if (place->kind == PLACE_LINK && !place_is_read(place))
        call->timer = loop_add_timer(tree->loop, 0, file_deliver_link, call);
    else if (place->kind == PLACE_FACT)
        file_start_fact(call);
    else if (place->kind == PLACE_LIST_INFO)
        call->listing = tree_list(tree, place, false, file_take_listing, call);
    else if (place->kind == PLACE_LIST_FILE)
        call->stream = tree_stream(tree, place, file_take_piece, call);
    else
        call->fetch = fetch_start(tree, place, file_take_record, call);
    if (call->listing)
        tree_list_hold_on(call->listing);
    if (call->stream)
        tree_stream_hold_on(call->stream);
    if (call->fetch || call->timer || call->listing || call->wait || call->stream)
        return call;
    file_call_destroy(call);
    return NULL;
}

void tree_cancel(struct tree_call *call)
{
    if (call)
        file_call_destroy(call);
}
