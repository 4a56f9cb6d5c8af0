#include "core/recording/recording.h"

#include <stdlib.h>

#include "core/item/item.h"
#include "core/json/writer.h"

struct recording {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct recording_options options;
};

struct recording_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    struct source_call *inner;
    uint64_t number;
    unsigned pages;
    struct recorded *items; /* of a READ_ITEMS: those of its pages so far; owned */
    struct buf body;        /* likewise: their array, without its end */
};

static struct recording *recording_of(const struct source_call *call)
{
    return (struct recording *)call->source;
}

/* NULL: what cannot be replayed. */
static const char *const recording_kinds[] = {
    [READ_ITEMS] = "items",       [READ_QUERY] = "query",    [READ_TABLES] = "tables",
    [READ_TABLE] = "table",       [READ_EXPIRY] = "expiry",  [READ_BACKUPS] = "backups",
    [READ_RECOVERY] = "recovery", [READ_SCAN] = "scan",      [READ_STREAM] = "stream",
    [READ_SIMILAR] = "similar",   [READ_ITERATOR] = NULL,    [READ_CHANGES] = NULL,
    [READ_TOGETHER] = "items",    [READ_EXPORTS] = "exports"};

/* Secrets. */

static bool recording_is_secret(const struct read *read, struct span attribute)
{
    for (size_t i = 0; i < read->secret_count; i++)
        if (span_is(attribute, read->secrets[i]))
            return true;
    return false;
}

struct recording_look {
    const struct read *read;
};

static bool recording_is_plain(void *arg, struct span attribute)
{
    const struct recording_look *look = arg;
    return !recording_is_secret(look->read, attribute);
}

/* Whether the results of a search, keys and the index's partition, have a secret. */
static bool recording_is_secret_search(const struct read *read)
{
    for (size_t i = 0; read->kind == READ_SIMILAR && i < read->attribute_count; i++)
        if (recording_is_secret(read, read->attributes[i]))
            return true;
    for (size_t i = 0; read->kind == READ_SIMILAR && i < read->where_count; i++)
        if (recording_is_secret(read, read->where[i].attribute))
            return true;
    return false;
}

/* Whether the Read has a condition on a secret: then its path holds the secret, too. */
static bool recording_reveals(const struct read *read)
{
    struct recording_look look = {read};
    for (size_t i = 0; i < read->where_count; i++)
        if (!cond_each_attribute(&read->where[i], recording_is_plain, &look))
            return true;
    for (size_t i = 0; i < read->filter_count; i++)
        if (!cond_each_attribute(&read->filter[i], recording_is_plain, &look))
            return true;
    for (size_t i = 0; read->key_count > 0 && i < read->keys[0].count; i++)
        if (recording_is_secret(read, read->keys[0].attributes[i].name))
            return true;
    return false;
}

/* Parts of a response. */

/* The attributes of the table's own key, as far as the Read names them. */
static void recording_add_key_names(struct recorded *recorded, const struct read *read)
{
    struct span names[KEY_MAX_BASE_ATTRIBUTES];
    size_t count = 0;
    if (read->key_count > 0)
        for (; count < read->keys[0].count; count++)
            names[count] = read->keys[0].attributes[count].name;
    else if (read->index)
        for (; count < read->own_key_count; count++)
            names[count] = read->own_key[count];
    else
        for (size_t i = 0; i < read->where_count && count == 0; i++)
            if (read->sort_count == 0 || !span_equal(read->where[i].attribute, read->sort[0]))
                names[count++] = read->where[i].attribute;
    if (!read->index && read->key_count == 0 && count == 1 && read->sort_count == 1)
        names[count++] = read->sort[0];
    for (size_t i = 0; i < count; i++)
        if (recording_is_secret(read, names[i]))
            return;
    for (size_t i = 0; i < count; i++)
        recorded->key_names[i] = arena_copy(&recorded->arena, names[i]);
    recorded->key_name_count = count;
}

static void recording_add_keys(struct recorded *recorded, const struct read *read)
{
    CLEAN_UP(buf_clean_up) struct buf shape = {0};
    struct arena *arena = &recorded->arena;
    request_shape_write(read, &shape);
    recorded->shape = arena_copy(arena, buf_span(&shape));
    recorded->keys = arena_array(arena, read->key_count, sizeof *recorded->keys);
    arena->failed = arena->failed || shape.failed;
    for (size_t i = 0; !arena->failed && i < read->key_count; i++) {
        struct recorded_key *to = &recorded->keys[recorded->key_count++];
        const struct key *from = &read->keys[i];
        to->key = *from;
        for (size_t k = 0; k < from->count; k++) {
            to->key.attributes[k].name = arena_copy(arena, from->attributes[k].name);
            to->key.attributes[k].value.bytes = arena_copy(arena, from->attributes[k].value.bytes);
        }
        if (!request_digest_key(recorded->name, from, &to->digest))
            arena->failed = true;
    }
}

/* A response to CALL without its page, as one to READ: the call's own, or a part of it. NULL when
 * memory ran out. */
static struct recorded *recording_begin(const struct recording_call *call, const struct read *read)
{
    const struct recording_options *options = &recording_of(&call->base)->options;
    struct span path = payer_path(call->base.payer);
    struct recorded *recorded = recorded_new();
    if (!recorded)
        return NULL;
    bool hides = !options->show_secrets && recording_reveals(read);
    recorded->at_ms = options->clock->wall_ms(options->clock);
    recorded->source = options->number;
    recorded->kind = recording_kinds[read->kind];
    recorded->name = arena_copy(&recorded->arena, span_text(read->table));
    recorded->index = arena_copy(&recorded->arena, span_text(read->index));
    recorded->path =
        arena_copy(&recorded->arena, path.size > 0 && !hides ? path : span_text(read->pattern));
    recorded->call = call->number;
    recorded->page = call->pages;
    recorded->is_typed =
        read->kind == READ_ITEMS || read->kind == READ_QUERY || read->kind == READ_SCAN;
    recorded->units = -1;
    if (recorded->is_typed)
        recording_add_key_names(recorded, read);
    recorded->is_whole = read->kind == READ_QUERY && read->whole && read->attribute_count == 0 &&
                         !read->counts && recorded->key_name_count > 0;
    if (read->kind == READ_ITEMS)
        recording_add_keys(recorded, read);
    else if (!request_digest_of(read, &recorded->digest))
        recorded->arena.failed = true;
    return recorded;
}

/* Takes over RECORDED; NULL: memory ran out. */
static void recording_hand_over(const struct recording_call *call, struct recorded *recorded)
{
    struct recorder *recorder = recording_of(&call->base)->options.recorder;
    if (recorded && !recorded->arena.failed) {
        recorder_add(recorder, recorded);
        return;
    }
    recorded_free(recorded);
    recorder_lack_memory(recorder);
}

/* Appends the items of PAGE, which are of READ; the secrets of typed items are masked. */
static void recording_write_items(const struct recording_call *call, const struct read *read,
                                  const struct page *page, bool is_typed, struct buf *out)
{
    const struct recording_options *options = &recording_of(&call->base)->options;
    bool masks = is_typed && read->secret_count > 0 && !options->show_secrets;
    const struct record_view view = {.secret = read->secrets, .secret_count = read->secret_count};
    for (size_t i = 0; i < page->item_count; i++) {
        if (out->size > 1)
            buf_add_char(out, ',');
        if (masks && item_write_typed(page->items[i], &view, out))
            buf_truncate(out, out->size - 1);
        else if (!masks && (options->show_secrets || !recording_is_secret_search(read)))
            buf_add_span(out, json_raw(page->items[i]));
        else /* no typed item: every reader refuses it */
            buf_add_text(out, "{}");
    }
}

static void recording_write_names(const struct page *page, struct buf *out)
{
    for (size_t i = 0; i < page->name_count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        json_write_string(out, page->names[i]);
    }
}

static void recording_write_body(const struct recording_call *call, const struct page *page,
                                 bool is_typed, struct buf *out)
{
    if (page->description.size > 0) {
        buf_add_span(out, page->description);
        return;
    }
    buf_add_char(out, '[');
    recording_write_items(call, call->base.read, page, is_typed, out);
    recording_write_names(page, out);
    buf_add_char(out, ']');
}

static void recording_add_cost(struct recorded *recorded, const struct page *page)
{
    recorded->requests += page->requests;
    if (page->capacity >= 0)
        recorded->units = page->capacity + (recorded->units > 0 ? recorded->units : 0);
    recorded->doubted += page->doubted;
    recorded->took_ms += page->took_ms;
    recorded->request_id = arena_copy(&recorded->arena, span_text(page->request_id));
}

static void recording_adopt_body(struct recorded *recorded, struct buf *body)
{
    if (body->failed)
        recorded->arena.failed = true;
    else
        recorded->body = arena_adopt(&recorded->arena, body);
}

static void recording_store_page(const struct recording_call *call, const struct page *page)
{
    struct recorded *recorded = recording_begin(call, call->base.read);
    CLEAN_UP(buf_clean_up_secret) struct buf body = {0};
    if (recorded) {
        recording_write_body(call, page, recorded->is_typed, &body);
        recording_adopt_body(recorded, &body);
        recording_add_cost(recorded, page);
        recorded->more = page->more;
        recorded->continues = page->continues;
        recorded->counted = page->counted;
        recorded->scanned = page->scanned;
        recorded->scanned_twice = page->scanned_twice;
    }
    recording_hand_over(call, recorded);
}

/* The keys of a READ_ITEMS are handed over when all pages have come, or the call ends. */
static void recording_hand_over_items(struct recording_call *call, bool is_complete)
{
    struct recorded *items = call->items;
    call->items = NULL;
    if (!items)
        return;
    buf_add_char(&call->body, ']');
    /* Masked keys are all equal. */
    items->is_complete = is_complete && (items->key_name_count > 0 || items->key_count == 1);
    recording_adopt_body(items, &call->body);
    recording_hand_over(call, items);
}

static void recording_store_items(struct recording_call *call, const struct page *page)
{
    if (!call->items) {
        call->items = recording_begin(call, call->base.read);
        buf_add_char(&call->body, '[');
    }
    if (!call->items) {
        recording_hand_over(call, NULL);
        return;
    }
    recording_write_items(call, call->base.read, page, true, &call->body);
    recording_add_cost(call->items, page);
    if (!page->more)
        recording_hand_over_items(call, true);
}

/* The parts of a READ_TOGETHER are stored as reads of one item each, so that a replay finds them by
 * their keys. Each has an equal share of the cost. */
static void recording_store_parts(const struct recording_call *call, const struct page *page)
{
    const struct read *read = call->base.read;
    struct page share = *page;
    share.capacity /= (double)page->item_count;
    share.doubted /= (double)page->item_count;
    for (size_t i = 0; i < page->item_count; i++) {
        CLEAN_UP(buf_clean_up_secret) struct buf body = {0};
        struct recorded *recorded = recording_begin(call, read->parts[i]);
        share.items = &page->items[i];
        share.item_count = json_present(page->items[i]);
        if (recorded) {
            buf_add_char(&body, '[');
            recording_write_items(call, read->parts[i], &share, true, &body);
            buf_add_char(&body, ']');
            recording_adopt_body(recorded, &body);
            recording_add_cost(recorded, &share);
            recorded->is_complete = true;
        }
        recording_hand_over(call, recorded);
        share.requests = 0;
    }
}

/* Errors that concern this process alone are no evidence, nor is the failure of a transaction for
 * its items, which may be read one by one. */
static bool recording_takes(const struct read *read, const struct error *err)
{
    return read->kind != READ_TOGETHER && !error_is_of_caller(err) &&
           err->kind != ERROR_NO_MEMORY && err->kind != ERROR_NO_DESCRIPTORS;
}

static void recording_store_error(struct recording_call *call, const struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    recording_hand_over_items(call, false);
    if (!recording_takes(call->base.read, err))
        return;
    struct recorded *recorded = recording_begin(call, call->base.read);
    if (recorded) {
        struct json_writer json = json_writer_to(&text);
        json_writer_begin_object(&json, NULL, JSON_TIGHT);
        json_writer_add_text(&json, "kind", error_word(err->kind));
        json_writer_add_text(&json, "text", err->text);
        json_writer_add_text(&json, "code", err->code);
        json_writer_add_integer(&json, "http_status", err->http_status);
        json_writer_add_bool(&json, "authenticated", err->authenticated);
        json_writer_end(&json);
        recorded->request_id = arena_copy(&recorded->arena, span_text(err->request_id));
        recorded->error = arena_copy(&recorded->arena, buf_span(&text));
        recorded->arena.failed = recorded->arena.failed || text.failed;
    }
    recording_hand_over(call, recorded);
}

/* Calls. */

/* Stored before the caller gets it: then the caller may take the page's items over, or end the
 * call. */
static void recording_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct recording_call *call = arg;
    bool can_replay = recording_kinds[call->base.read->kind];
    if (can_replay && recorder_check(recording_of(&call->base)->options.recorder, NULL)) {
        call->pages++;
        if (err)
            recording_store_error(call, err);
        else if (call->base.read->kind == READ_ITEMS)
            recording_store_items(call, page);
        else if (call->base.read->kind == READ_TOGETHER)
            recording_store_parts(call, page);
        else
            recording_store_page(call, page);
    }
    call->base.fn(call->base.arg, page, err);
}

static bool recording_start(struct source_call *base)
{
    struct recording_call *call = (struct recording_call *)base;
    struct recording *recording = recording_of(base);
    call->number = recorder_count_call(recording->options.recorder);
    call->inner =
        source_start(base->source->inner, base->read, base->payer, recording_take_page, call);
    return call->inner;
}

static void recording_more(struct source_call *base)
{
    source_more(((struct recording_call *)base)->inner);
}

static void recording_read_all(struct source_call *base, bool all)
{
    struct source_call *inner = ((struct recording_call *)base)->inner;
    if (all)
        source_read_all(inner);
    else
        source_read_some(inner);
}

static void recording_end(struct source_call *base)
{
    struct recording_call *call = (struct recording_call *)base;
    source_end(call->inner);
    recording_hand_over_items(call, false);
    buf_clean_up_secret(&call->body);
}

static void recording_destroy(struct source *source)
{
    free(source);
}

static const struct source_ops recording_ops = {
    .layer = SOURCE_RECORDING,
    .call_size = sizeof(struct recording_call),
    .start = recording_start,
    .more = recording_more,
    .read_all = recording_read_all,
    .end = recording_end,
    .destroy = recording_destroy,
};

struct source *recording_new(const struct recording_options *options)
{
    struct recording *recording = calloc(1, sizeof *recording);
    if (!recording)
        return NULL;
    recording->source = (struct source){.ops = &recording_ops, .inner = options->source};
    recording->options = *options;
    return &recording->source;
}

void recording_add_environment(struct recorder *recorder, struct clock *clock, struct span name,
                               unsigned number, struct span settings)
{
    struct recorded *recorded = recorded_new();
    if (recorded) {
        recorded->at_ms = clock->wall_ms(clock);
        recorded->source = number;
        recorded->name = arena_copy(&recorded->arena, name);
        recorded->settings = arena_copy(&recorded->arena, settings);
    }
    if (recorded && !recorded->arena.failed) {
        recorder_add(recorder, recorded);
        return;
    }
    recorded_free(recorded);
    recorder_lack_memory(recorder);
}
