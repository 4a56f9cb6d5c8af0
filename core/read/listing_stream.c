/* A file that is made of a listing's records, piece by piece: the listing is read, and each page of
 * it told in the file's form. */
#include <stdlib.h>

#include "core/base/quantity.h"
#include "core/output/form.h"
#include "core/read/file.h"
#include "core/read/tree.h"

struct tree_stream {
    const struct tree *tree;
    const struct place *place;
    struct form *form;    /* owned */
    struct arena arena;   /* owns the columns */
    struct span *columns; /* that were asked for */
    bool *filled;         /* which of them a record had */
    size_t column_count;
    bool any;                     /* a record has come */
    struct tree_listing *listing; /* owned */
    struct buf bytes;             /* of the piece in hand */
    bool ending;                  /* the last record has come, and not all is told */
    struct loop_timer *timer;     /* the next piece of that is asked for */
    struct instant mtime;         /* of the youngest record so far */
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

static enum form_kind listing_stream_form_of(enum companion companion)
{
    static const enum form_kind kinds[] = {
        [COMPANION_JSONL] = FORM_JSONL,     [COMPANION_CSV] = FORM_CSV,
        [COMPANION_TABLE] = FORM_TABLE,     [COMPANION_COUNT] = FORM_COUNT,
        [COMPANION_SUMMARY] = FORM_SUMMARY,
    };
    return kinds[companion];
}

/* The form of the place's records; NULL when memory ran out. */
static struct form *listing_stream_make_form(struct tree_stream *stream)
{
    const struct tree *tree = stream->tree;
    const struct place *place = stream->place;
    const char *first[KEY_MAX_BASE_ATTRIBUTES];
    struct record_view view;
    struct form_setting setting = {
        .kind = listing_stream_form_of(place->companion),
        .view = &view,
        .dated_by = place->route->list->mtime,
        .most = tree->snapshot_bytes,
        .width = tree->table_width,
    };
    file_view(tree, place->table, first, &view);
    if (!names_find_columns(place->columns, &stream->arena, &stream->columns, &stream->column_count,
                            NULL))
        return NULL; /* the place has been found by them */
    stream->filled = arena_alloc(&stream->arena, stream->column_count * sizeof *stream->filled);
    setting.columns = stream->columns;
    setting.column_count = stream->column_count;
    return stream->filled || stream->column_count == 0 ? form_new(&setting) : NULL;
}

static bool listing_stream_refuse_summary(const struct tree_stream *stream, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf most = {0};
    size_write(stream->tree->snapshot_bytes, &most);
    return error_set(err, ERROR_TOO_LARGE,
                     "what the summary would say of the attributes is more than %s, which is as "
                     "much as is held of one file; …@count says how many records there are, and "
                     "…@csv:status,created_at, with attributes of the records in place of these, "
                     "has what is to be counted",
                     buf_text(&most));
}

/* Rows that are held until the last one has come are too large for a form. */
static bool listing_stream_refuse_rows(const struct tree_stream *stream, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf most = {0};
    bool table = stream->place->companion == COMPANION_TABLE;
    size_write(stream->tree->snapshot_bytes, &most);
    return error_set(err, ERROR_TOO_LARGE,
                     "only the last record tells %s, and the rows that would be held until then "
                     "have more than %s; …@csv:status,created_at, with attributes of the records "
                     "in place of these, and …@jsonl hold none: ddbfs cat writes them whatever "
                     "their size",
                     table ? "how wide the columns are" : "which columns there are",
                     buf_text(&most));
}

static void listing_stream_note_columns(struct tree_stream *stream, struct json item)
{
    stream->any = true;
    for (size_t i = 0; i < stream->column_count; i++)
        stream->filled[i] =
            stream->filled[i] || json_present(item_attribute(item, stream->columns[i]));
}

/* A misspelt column is empty, and no error: records need not have it. */
static void listing_stream_describe_unfilled(const struct tree_stream *stream)
{
    for (size_t i = 0; stream->any && i < stream->column_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf words = {0};
        form_write_unfilled(stream->columns[i], &words);
        if (!stream->filled[i])
            log_line(stream->tree->log, LOG_LEVEL_WARNING, "%s", buf_text(&words));
    }
}

/* Columns that were not asked for and do not fit. */
static void listing_stream_describe_left_out(const struct tree_stream *stream)
{
    size_t count = form_left_out(stream->form);
    if (count > 0)
        log_line(stream->tree->log, LOG_LEVEL_WARNING,
                 "%zu more column%s not fit; name those to see: …@table/status,created_at; "
                 "…@csv has all",
                 count, count == 1 ? " does" : "s do");
}

/* Only what is held until the end is too large for a form. */
static bool listing_stream_refuse_as_held(const struct tree_stream *stream, struct error *err)
{
    bool summary = stream->place->companion == COMPANION_SUMMARY;
    return summary ? listing_stream_refuse_summary(stream, err)
                   : listing_stream_refuse_rows(stream, err);
}

/* What is counted tells no dates, so a count has none. */
static bool listing_stream_add_record(struct tree_stream *stream, struct json item,
                                      struct error *err)
{
    bool dated = stream->place->companion != COMPANION_COUNT;
    struct instant mtime = {0};
    if (dated)
        mtime = file_mtime(stream->place->route->list, item);
    if (mtime.known && (!stream->mtime.known || mtime.ms > stream->mtime.ms))
        stream->mtime = mtime;
    listing_stream_note_columns(stream, item);
    return form_add(stream->form, item, &stream->bytes, err);
}

/* How long what was told may be believed: its first page is the oldest. What has just been read is
 * believed for a moment in any case, or whoever looks twice would read all of it twice. */
static int64_t listing_stream_ttl_left_ms(const struct tree_stream *stream)
{
    int64_t ttl_ms = stream->place->route->list->ttl_ms;
    struct walk_age age = tree_list_stats(stream->listing).age;
    int64_t left_ms = age.since_ms + ttl_ms - loop_now_ms(stream->tree->loop);
    int64_t least_ms = ttl_ms < MAP_MISSING_TTL_MS ? ttl_ms : MAP_MISSING_TTL_MS;
    if (age.is_replayed || age.is_dropped)
        least_ms = 0;
    return left_ms > least_ms && !age.is_dropped ? left_ms : least_ms;
}

/* What is in hand of the file is told, or WHY nothing of it is; MORE of it can be asked for. */
static void listing_stream_report_piece(struct tree_stream *stream, bool more,
                                        const struct error *why)
{
    struct tree_piece piece = {.bytes = buf_span(&stream->bytes), .more = more};
    if (!why && !more) {
        listing_stream_describe_unfilled(stream);
        listing_stream_describe_left_out(stream);
        piece.mtime = stream->mtime;
        piece.ttl_left_ms = listing_stream_ttl_left_ms(stream);
    }
    stream->fn(stream->arg, why ? NULL : &piece, why);
}

/* The last record has come: a form may have kept all of them until now, and tells them piece by
 * piece. */
static void listing_stream_report_rest(struct tree_stream *stream)
{
    struct error why;
    bool ok = form_end(stream->form, &stream->bytes, &stream->ending, &why);
    if (!ok && why.kind == ERROR_TOO_LARGE)
        listing_stream_refuse_as_held(stream, &why);
    listing_stream_report_piece(stream, stream->ending, ok ? NULL : &why);
}

static void listing_stream_take_records(void *arg, const struct tree_entry *entries, size_t count,
                                        bool more, const struct error *err)
{
    struct tree_stream *stream = arg;
    struct error why;
    bool ok = !err;
    if (err)
        why = *err;
    buf_truncate(&stream->bytes, 0);
    for (size_t i = 0; ok && i < count; i++)
        ok = listing_stream_add_record(stream, entries[i].item, &why);
    if (!ok && !err && why.kind == ERROR_TOO_LARGE)
        listing_stream_refuse_as_held(stream, &why);
    if (ok && !more && stream->place->companion == COMPANION_COUNT)
        form_add_unseen(stream->form, tree_list_stats(stream->listing).counted);
    if (ok && !more)
        listing_stream_report_rest(stream);
    else
        listing_stream_report_piece(stream, more, ok ? NULL : &why);
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
    return form_memory(stream->form) + stream->bytes.capacity;
}

void tree_stream_more(struct tree_stream *stream)
{
    struct error why;
    if (!stream->ending) {
        tree_list_more(stream->listing);
        return;
    }
    stream->timer = loop_add_timer(stream->tree->loop, 0, listing_stream_continue_ending, stream);
    if (stream->timer)
        return;
    error_no_memory(&why);
    listing_stream_report_piece(stream, false, &why);
}

struct tree_stream *tree_stream(const struct tree *tree, const struct place *place,
                                tree_piece_fn *fn, void *arg)
{
    struct tree_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    *stream = (struct tree_stream){.tree = tree, .place = place, .fn = fn, .arg = arg};
    stream->form = listing_stream_make_form(stream);
    if (stream->form)
        stream->listing =
            tree_list_records(tree, place, false, listing_stream_take_records, stream);
    if (stream->listing)
        return stream;
    tree_stream_end(stream);
    return NULL;
}
