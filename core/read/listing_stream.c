/* A file that is made of a listing's items, piece by piece: the listing is read, and each page of
 * it is written in the file's form. */
#include <stdlib.h>

#include "core/base/quantity.h"
#include "core/output/form.h"
#include "core/read/file.h"
#include "core/read/key_parts.h"
#include "core/read/resolve.h"
#include "core/read/tree.h"

struct tree_stream {
    const struct tree *tree;
    const struct place *place;
    const struct map_pattern *pattern; /* of the place's items */
    struct form *form;                 /* owned */
    struct arena arena;                /* owns the columns */
    struct span *columns;              /* that the path names */
    bool *filled;                      /* which of them an item had, or is a part of the keys */
    size_t column_count;
    struct key_parts parts;       /* of @sqlite */
    bool any;                     /* an item has come */
    struct tree_listing *listing; /* owned */
    struct buf bytes;             /* of the piece in hand */
    bool ending;                  /* the last item has come, and pieces remain */
    struct loop_timer *timer;     /* to the next of these */
    struct instant mtime;         /* of the youngest item so far */
    tree_piece_fn *fn;
    void *arg;
};

void tree_stream_end(struct tree_stream *stream)
{
    if (!stream)
        return;
    loop_remove_timer(stream->timer);
    tree_list_end(stream->listing);
    form_destroy(stream->form);
    arena_clean_up(&stream->arena);
    buf_clean_up_secret(&stream->bytes);
    free(stream);
}

/* The form of the place's items; NULL when memory ran out. */
static struct form *listing_stream_make_form(struct tree_stream *stream)
{
    static const enum form_kind kinds[] = {
        [COMPANION_JSONL] = FORM_JSONL,     [COMPANION_CSV] = FORM_CSV,
        [COMPANION_TABLE] = FORM_TABLE,     [COMPANION_COUNT] = FORM_COUNT,
        [COMPANION_SUMMARY] = FORM_SUMMARY, [COMPANION_SQLITE] = FORM_DATABASE,
    };
    const struct tree *tree = stream->tree;
    const struct place *place = stream->place;
    const char *first[KEY_MAX_BASE_ATTRIBUTES];
    struct record_view view;
    file_view(tree, place->table, first, &view);
    /* The place was found by its columns, so only memory can be missing. */
    if (!names_find_columns(place->columns, &stream->arena, &stream->columns, &stream->column_count,
                            NULL))
        return NULL;
    if (place->companion == COMPANION_SQLITE &&
        !key_parts_find(place, &stream->arena, &stream->parts))
        return NULL;
    stream->filled = arena_alloc(&stream->arena, stream->column_count * sizeof *stream->filled);
    struct form_setting setting = {
        .kind = kinds[place->companion],
        .view = &view,
        .dated_by = stream->pattern->mtime,
        .most = tree->snapshot_bytes,
        .width = tree->table_width,
        .columns = stream->columns,
        .column_count = stream->column_count,
        .parts = stream->parts.parts,
        .part_count = stream->parts.count,
    };
    for (size_t i = 0; stream->filled && i < stream->column_count; i++)
        stream->filled[i] = key_parts_has(&stream->parts, stream->columns[i]);
    return stream->filled || stream->column_count == 0 ? form_new(&setting) : NULL;
}

/* The rows, or the attributes of a summary, that a form holds until the last item are too large. */
static bool listing_stream_refuse(const struct tree_stream *stream, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf most = {0};
    size_write(stream->tree->snapshot_bytes, &most);
    if (stream->place->companion == COMPANION_SUMMARY)
        return error_set(err, ERROR_TOO_LARGE,
                         "the summary of the attributes would need more than %s, which is the "
                         "limit for one file; use …@count for the number of items, and "
                         "…@csv:status,created_at, with your attributes, to count values",
                         buf_text(&most));
    if (stream->place->companion == COMPANION_SQLITE)
        return error_set(
            err, ERROR_TOO_LARGE,
            "the database would need more than %s of memory; use "
            "…@sqlite:status,created_at, with your attributes, or …@jsonl, which ddbfs "
            "cat writes without a limit",
            buf_text(&most));
    return error_set(err, ERROR_TOO_LARGE,
                     "%s are known only after the last item, and the rows until then have more "
                     "than %s; use …@csv:status,created_at, with your attributes, or …@jsonl, "
                     "which ddbfs cat writes without a limit",
                     stream->place->companion == COMPANION_TABLE ? "the widths of the columns"
                                                                 : "the columns",
                     buf_text(&most));
}

/* Reports the piece in hand, or the error WHY. A misspelt column is empty, and no error, since
 * no item needs to have it: it is logged. */
static void listing_stream_report(struct tree_stream *stream, bool more, const struct error *why)
{
    const struct log *log = stream->tree->log;
    struct tree_piece piece = {.bytes = buf_span(&stream->bytes), .more = more};
    if (!why && !more) {
        for (size_t i = 0; stream->any && i < stream->column_count; i++) {
            CLEAN_UP(buf_clean_up) struct buf words = {0};
            form_write_unfilled(stream->columns[i], &words);
            if (!stream->filled[i])
                log_line(log, LOG_LEVEL_WARNING, "%s", buf_text(&words));
        }
        size_t count = form_left_out(stream->form);
        if (count > 0)
            log_line(log, LOG_LEVEL_WARNING,
                     "%zu more column%s not fit; choose columns with …@table/status,created_at, or "
                     "use …@csv, which has all",
                     count, count == 1 ? " does" : "s do");
        /* The first page is the oldest. A file that has just been read is fresh for a moment in any
         * case; else two lookups of it would read all of it twice. */
        bool is_listing = place_is_listing(stream->place);
        int64_t ttl_ms = is_listing
                             ? tree_items_ttl_ms(stream->tree, stream->place, stream->pattern)
                             : stream->pattern->ttl_ms; /* no stream follows a search */
        struct walk_age age = tree_list_stats(stream->listing).age;
        int64_t left_ms = age.since_ms + ttl_ms - loop_now_ms(stream->tree->loop);
        int64_t least_ms = ttl_ms < MAP_MISSING_TTL_MS ? ttl_ms : MAP_MISSING_TTL_MS;
        if (age.is_replayed || age.is_dropped)
            least_ms = 0;
        piece.ttl_left_ms = left_ms > least_ms && !age.is_dropped ? left_ms : least_ms;
        piece.mtime = stream->mtime;
    }
    stream->fn(stream->arg, why ? NULL : &piece, why);
}

/* The last item has come. A form may have held all of them, and writes them piece by piece. */
static void listing_stream_report_rest(struct tree_stream *stream)
{
    struct error why;
    bool ok = form_end(stream->form, &stream->bytes, &stream->ending, &why);
    if (!ok && form_is_over(stream->form))
        listing_stream_refuse(stream, &why);
    listing_stream_report(stream, stream->ending, ok ? NULL : &why);
}

/* A printed item is shorter than its typed form. A buffer that grows in steps would be in memory
 * twice. */
static void listing_stream_reserve(struct tree_stream *stream, const struct tree_entry *entries,
                                   size_t count)
{
    size_t size = 0;
    if (stream->place->companion != COMPANION_JSONL)
        return;
    for (size_t i = 0; i < count; i++)
        size += json_raw(entries[i].item).size;
    buf_reserve(&stream->bytes, size);
}

static bool listing_stream_add(struct tree_stream *stream, const struct tree_entry *entry,
                               struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    if (stream->place->companion == COMPANION_SQLITE) {
        if (!key_parts_read(&stream->parts, stream->place, entry->item, &arena))
            return error_no_memory(err);
        form_name_next(stream->form, entry->name, stream->parts.values);
    }
    return form_add(stream->form, entry->item, &stream->bytes, err);
}

static void listing_stream_take_items(void *arg, const struct tree_entry *entries, size_t count,
                                      bool more, const struct error *err)
{
    struct tree_stream *stream = arg;
    struct error why;
    bool ok = !err;
    if (err)
        why = *err;
    buf_truncate(&stream->bytes, 0);
    listing_stream_reserve(stream, entries, count);
    bool dated = stream->place->companion != COMPANION_COUNT; /* its items may have keys alone */
    for (size_t i = 0; ok && i < count; i++) {
        struct json item = entries[i].item;
        struct instant mtime = {0};
        if (dated)
            mtime = file_mtime(stream->pattern, item);
        if (mtime.known && (!stream->mtime.known || mtime.ms > stream->mtime.ms))
            stream->mtime = mtime;
        stream->any = true;
        for (size_t k = 0; k < stream->column_count; k++)
            stream->filled[k] =
                stream->filled[k] || json_present(item_attribute(item, stream->columns[k]));
        ok = listing_stream_add(stream, &entries[i], &why);
    }
    if (!ok && form_is_over(stream->form))
        listing_stream_refuse(stream, &why);
    if (!ok || more) {
        listing_stream_report(stream, more, ok ? NULL : &why);
        return;
    }
    if (stream->place->companion == COMPANION_COUNT)
        form_add_unseen(stream->form, tree_list_stats(stream->listing).counted);
    listing_stream_report_rest(stream);
}

static void listing_stream_continue_ending(void *arg)
{
    struct tree_stream *stream = arg;
    stream->timer = NULL;
    buf_truncate(&stream->bytes, 0);
    listing_stream_report_rest(stream);
}

void tree_stream_set_steady(struct tree_stream *stream)
{
    tree_list_set_steady(stream->listing);
}

size_t tree_stream_memory(const struct tree_stream *stream)
{
    return form_memory(stream->form);
}

void tree_stream_more(struct tree_stream *stream)
{
    struct error why;
    buf_clean_up_secret(&stream->bytes); /* many streams may wait for their next page */
    if (!stream->ending) {
        tree_list_more(stream->listing);
        return;
    }
    stream->timer = loop_add_timer(stream->tree->loop, 0, listing_stream_continue_ending, stream);
    if (stream->timer)
        return;
    error_no_memory(&why);
    listing_stream_report(stream, false, &why);
}

struct tree_stream *tree_stream(const struct tree *tree, const struct place *place,
                                tree_piece_fn *fn, void *arg)
{
    struct tree_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    *stream = (struct tree_stream){.tree = tree, .place = place, .fn = fn, .arg = arg};
    stream->pattern = place->kind == PLACE_SIMILAR_FILE ? place->route->file : place->route->list;
    stream->form = listing_stream_make_form(stream);
    if (stream->form)
        stream->listing = tree_list_records(
            tree, place, place->companion == COMPANION_SQLITE ? TREE_NAMED : TREE_UNNAMED,
            listing_stream_take_items, stream);
    if (stream->listing)
        return stream;
    tree_stream_end(stream);
    return NULL;
}
