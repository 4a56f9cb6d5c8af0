#include "core/sql/sql_reads.h"

#include <stdlib.h>

#include "core/plan/item_match.h"
#include "core/sql/sql_rows.h"

enum { SQL_READS_MOST_QUERIES = 48, SQL_READS_WATCH_MS = 50 };

bool sql_reads_init(struct sql_reads *reads, const struct sql_reads_options *options)
{
    *reads = (struct sql_reads){
        .options = *options, .most_wanted = SIZE_MAX, .gather = {.tree = options->tree}};
    return dict_init(&reads->by_lookup) && dict_init(&reads->ids);
}

void sql_reads_clear(struct sql_reads *reads)
{
    size_t from = 0;
    sql_gather_clear(&reads->gather);
    for (struct dict_node *node; (node = dict_any(&reads->by_lookup, &from));) {
        dict_remove(&reads->by_lookup, node);
        sql_rows_destroy((struct sql_rows *)node);
    }
    reads->wanted_count = 0;
    reads->reading_queries = 0;
}

void sql_reads_clean_up(struct sql_reads *reads)
{
    if (!reads->by_lookup.chains)
        return;
    sql_reads_clear(reads);
    loop_remove_timer(reads->watch);
    dict_clean_up(&reads->by_lookup);
    dict_clean_up(&reads->ids);
    arena_clean_up(&reads->id_arena);
    sql_row_clean_up(&reads->row);
    buf_clean_up_secret(&reads->line);
    buf_clean_up_secret(&reads->scratch);
    *reads = (struct sql_reads){0};
}

void sql_reads_begin_pass(struct sql_reads *reads)
{
    reads->is_full = false;
    reads->began = 0;
}

/* Failures. */

static bool sql_reads_fail(struct sql_reads *reads, const struct error *err)
{
    if (reads->failed.kind == ERROR_NONE)
        reads->failed = *err;
    return false;
}

bool sql_reads_goes_on(struct sql_reads *reads)
{
    struct error why;
    if (!reads->interrupted &&
        (!reads->options.goes_on || reads->options.goes_on(reads->options.arg)))
        return true;
    reads->interrupted = true;
    error_set(&why, ERROR_INTERRUPTED, "the statement was interrupted; rows may be missing");
    return sql_reads_fail(reads, &why);
}

/* Reads. */

static void sql_reads_start_more(struct sql_reads *reads);

/* All that was wanted came. */
static void sql_reads_check_end(struct sql_reads *reads)
{
    if (list_is_empty(&reads->reading) && list_is_empty(&reads->gathering))
        loop_stop(reads->options.tree->loop);
}

static void sql_reads_settle(struct sql_rows *rows, enum sql_rows_state state)
{
    struct sql_reads *reads = rows->reads;
    rows->state = state;
    list_remove(&rows->node);
    if (rows->is_over || state == SQL_ROWS_COMPLETE)
        list_append(&reads->over, &rows->node);
    sql_reads_check_end(reads);
}

/* The read, or its wanted pages, came. Items whose keys came are read when all queries have. */
static void sql_reads_leave(struct sql_rows *rows, enum sql_rows_state state)
{
    struct sql_reads *reads = rows->reads;
    reads->reading_queries -= rows->kind != SQL_ACCESS_KEYS;
    if (rows->keys && rows->keys->left > 0) {
        rows->keys->after = state;
        rows->state = SQL_ROWS_GATHERING;
        list_remove(&rows->node);
        list_append(&reads->gathering, &rows->node);
    } else {
        sql_reads_settle(rows, state);
    }
    sql_reads_start_more(reads);
}

/* All of the lookup came. A listing with a limit may have more items behind that. */
static void sql_reads_complete(struct sql_rows *rows)
{
    struct error why;
    rows->is_over = rows->listing || rows->scan;
    if (rows->limit > 0 && rows->count >= rows->limit) {
        sql_reads_leave(rows, SQL_ROWS_PAUSED);
        return;
    }
    if (rows->skipped > 0) {
        sql_rows_refuse_change(&why);
        sql_rows_fail(rows, &why);
        return;
    }
    sql_reads_leave(rows, SQL_ROWS_COMPLETE);
}

static void sql_reads_take_page(struct sql_rows *rows, bool more, bool ends)
{
    rows->pages++;
    if (!more) {
        sql_reads_complete(rows);
    } else if (rows->pages >= rows->goal && !ends) {
        sql_reads_leave(rows, SQL_ROWS_PAUSED);
    } else if (rows->listing) {
        tree_list_more(rows->listing);
    } else {
        sql_scan_more(rows->scan);
    }
}

/* Adds the key of ITEM, which an index returned. */
static bool sql_reads_add_key(struct sql_rows *rows, struct json item)
{
    struct sql_rows_keys *keys = rows->keys;
    struct error why;
    if (!keys)
        keys = rows->keys = calloc(1, sizeof *keys);
    if (keys && keys->count == keys->capacity) {
        size_t capacity = keys->capacity ? 2 * keys->capacity : 4;
        struct sql_rows_item *items = realloc(keys->items, capacity * sizeof *items);
        if (items) {
            keys->items = items;
            keys->capacity = capacity;
        }
    }
    bool ok = keys && keys->count < keys->capacity;
    if (ok) {
        struct sql_rows_item *added = &keys->items[keys->count];
        *added = (struct sql_rows_item){0};
        ok = item_match_key(rows->choice->table->raw, item, &keys->arena, &added->key);
        keys->count += ok;
        keys->left += ok;
    }
    if (ok)
        return true;
    error_no_memory(&why); /* the listing has read the key before */
    sql_rows_fail(rows, &why);
    return false;
}

static void sql_reads_take_entries(void *arg, const struct tree_entry *entries, size_t count,
                                   bool more, const struct error *err)
{
    struct sql_rows *rows = arg;
    if (err) {
        sql_rows_fail(rows, err);
        return;
    }
    if (count > 0 && !rows->bare && !sql_rows_begin_page(rows))
        return;
    for (size_t i = 0; i < count; i++) {
        struct json item = entries[i].item;
        if (json_present(item) &&
            !(rows->bare ? sql_reads_add_key(rows, item) : sql_rows_add(rows, item)))
            return;
    }
    if (sql_rows_end_page(rows))
        sql_reads_take_page(rows, more, tree_list_is_ending(rows->listing));
}

/* Whether the rows have ITEM: a Scan for an index reads the table, which has all attributes. */
static bool sql_reads_have(const struct sql_rows *rows, struct json item)
{
    const struct map_key *key;
    for (size_t i = 0; rows->index && (key = model_index_key(rows->index, i)); i++) {
        struct json typed = item_attribute(item, span_text(key->attribute));
        if (!json_present(json_member(typed, value_type_name(key->type))))
            return false;
    }
    return true;
}

static void sql_reads_take_scanned(void *arg, const struct json *items, size_t count, bool more,
                                   const struct error *err)
{
    struct sql_rows *rows = arg;
    if (err) {
        sql_rows_fail(rows, err);
        return;
    }
    if (count > 0 && !sql_rows_begin_page(rows))
        return;
    for (size_t i = 0; i < count; i++)
        if (sql_reads_have(rows, items[i]) && !sql_rows_add(rows, items[i]))
            return;
    sql_reads_take_page(rows, more, false);
}

/* All items of the keys came: they become rows, in the order of the index. */
static void sql_reads_end_gathering(struct sql_rows *rows)
{
    struct sql_rows_keys *keys = rows->keys;
    struct sql_reads *reads = rows->reads;
    enum sql_rows_state after = keys->after;
    struct error why;
    if (!sql_rows_begin_page(rows))
        return;
    for (size_t i = 0; i < keys->count; i++) {
        if (!keys->items[i].exists)
            continue;
        buf_truncate(&reads->line, 0);
        buf_add_span(&reads->line, buf_span(&keys->items[i].line));
        if (!sql_rows_store(rows, &why) || !sql_rows_fit(reads, &why)) {
            sql_rows_fail(rows, &why);
            return;
        }
    }
    sql_rows_end_keys(rows);
    sql_reads_settle(rows, after);
}

/* An item by one of the keys that an index returned; it may have been deleted since. */
static void sql_reads_take_gathered(void *arg, size_t number, struct json item,
                                    const struct error *err)
{
    struct sql_rows *rows = arg;
    struct sql_reads *reads = rows->reads;
    struct sql_rows_item *of = &rows->keys->items[number];
    struct error why = {0};
    bool ok = !err;
    of->exists = json_present(item);
    if (ok && of->exists) {
        ok = sql_row_begin(&reads->row, rows->choice->table->columns, item, &why) &&
             sql_rows_write(rows, &reads->row, &why);
        if (ok)
            buf_add_span(&of->line, buf_span(&reads->line));
        ok = ok && ((!of->line.failed && !reads->line.failed) || error_no_memory(&why));
    }
    ok = ok && sql_gather_start(&reads->gather, &why);
    if (!ok)
        sql_rows_fail(rows, err ? err : &why);
    else if (--rows->keys->left == 0)
        sql_reads_end_gathering(rows);
}

/* The item of a lookup by key. */
static void sql_reads_take_item(void *arg, size_t number, struct json item, const struct error *err)
{
    struct sql_rows *rows = arg;
    struct error why;
    (void)number;
    if (err) {
        sql_rows_fail(rows, err);
        return;
    }
    if (json_present(item) && (!sql_rows_begin_page(rows) || !sql_rows_add(rows, item)))
        return;
    if (!sql_gather_start(&rows->reads->gather, &why))
        sql_rows_fail(rows, &why);
    else
        sql_reads_complete(rows);
}

/* Starts to read the items of all keys that came. */
static bool sql_reads_gather(struct sql_reads *reads, struct error *err)
{
    LIST_EACH (struct sql_rows, rows, &reads->gathering, node) {
        struct sql_rows_keys *keys = rows->keys;
        for (size_t i = 0; !keys->is_started && i < keys->count; i++)
            if (!sql_gather_add(&reads->gather, rows->choice->table, &keys->items[i].key,
                                sql_reads_take_gathered, rows, i))
                return error_no_memory(err);
        keys->is_started = true;
    }
    return sql_gather_start(&reads->gather, err);
}

/* The place without its limit. */
static bool sql_reads_widen(struct sql_rows *rows, struct error *err)
{
    struct selection selection = *rows->place->selection;
    struct place *place = place_copy(rows->place);
    selection.limit = 0;
    if (!place)
        return error_no_memory(err);
    if (!place_select(place, &selection, true, err)) {
        place_destroy(place);
        return false;
    }
    place_destroy(rows->place);
    rows->place = place;
    rows->limit = 0;
    rows->skipped = rows->count;
    rows->again = 0;
    return true;
}

static bool sql_reads_start_listing(struct sql_rows *rows, struct error *err)
{
    const struct tree *tree = rows->reads->options.tree;
    if (rows->count > 0 && rows->limit > 0 && !sql_reads_widen(rows, err))
        return false;
    if (rows->reads->streams) { /* the listing reads the items of its pages by itself */
        place_destroy(rows->bare);
        rows->bare = NULL;
    }
    rows->listing = tree_list_records(tree, rows->bare ? rows->bare : rows->place, false,
                                      sql_reads_take_entries, rows);
    if (!rows->listing)
        return error_no_memory(err);
    tree_list_read_some(rows->listing);
    return true;
}

/* Starts the read, or its next pages. */
static bool sql_reads_start(struct sql_rows *rows, struct error *err)
{
    const struct sql_reads_options *options = &rows->reads->options;
    rows->goal = rows->pages ? (rows->reads->streams ? rows->pages + 1 : 2 * rows->pages) : 1;
    if (rows->listing) {
        if (options->reads_ahead)
            tree_list_read_all(rows->listing);
        tree_list_more(rows->listing);
        return true;
    }
    if (rows->scan) {
        sql_scan_more(rows->scan);
        return true;
    }
    if (rows->kind == SQL_ACCESS_QUERY)
        return sql_reads_start_listing(rows, err);
    if (rows->kind == SQL_ACCESS_KEYS)
        return sql_gather_add(&rows->reads->gather, rows->choice->table, &rows->key,
                              sql_reads_take_item, rows, 0) ||
               error_no_memory(err);
    rows->scan =
        sql_scan_start(options->tree, rows->place, rows->filter, sql_reads_take_scanned, rows);
    return rows->scan || error_no_memory(err);
}

static void sql_reads_start_more(struct sql_reads *reads)
{
    struct error why;
    bool ok = true;
    if (reads->failed.kind != ERROR_NONE || reads->unordered)
        return;
    LIST_EACH_SAFE (struct sql_rows, rows, &reads->wanted, node) {
        bool is_query = rows->kind != SQL_ACCESS_KEYS;
        if (is_query && reads->reading_queries >= SQL_READS_MOST_QUERIES)
            continue;
        list_remove(&rows->node);
        list_append(&reads->reading, &rows->node);
        reads->wanted_count--;
        reads->reading_queries += is_query;
        rows->state = SQL_ROWS_READING;
        if (!sql_reads_start(rows, &why)) {
            sql_rows_fail(rows, &why);
            return;
        }
    }
    ok = sql_gather_start(&reads->gather, &why);
    if (ok && reads->reading_queries == 0)
        ok = sql_reads_gather(reads, &why);
    if (!ok) {
        sql_reads_fail(reads, &why);
        loop_stop(reads->options.tree->loop);
    }
}

static void sql_reads_watch(void *arg)
{
    struct sql_reads *reads = arg;
    struct loop *loop = reads->options.tree->loop;
    reads->watch = NULL;
    if (sql_reads_goes_on(reads))
        reads->watch = loop_add_timer(loop, SQL_READS_WATCH_MS, sql_reads_watch, reads);
    else
        loop_stop(loop);
}

/* Frees the reads that have ended; after a failure, all. */
static void sql_reads_free_ended(struct sql_reads *reads)
{
    LIST_EACH_SAFE (struct sql_rows, rows, &reads->over, node) {
        list_remove(&rows->node);
        sql_rows_end_read(rows);
        if (rows->state != SQL_ROWS_COMPLETE)
            continue;
        sql_rows_end_places(rows);
        sql_rows_end_order(rows);
    }
    if (reads->failed.kind == ERROR_NONE && !reads->unordered)
        return;
    sql_gather_clear(&reads->gather);
    LIST_EACH (struct sql_rows, rows, &reads->reading, node)
        sql_rows_end_read(rows);
}

bool sql_reads_wait(struct sql_reads *reads, bool (*is_over)(void *arg), void *arg)
{
    struct loop *loop = reads->options.tree->loop;
    if (!sql_reads_goes_on(reads))
        return false;
    reads->watch = loop_add_timer(loop, SQL_READS_WATCH_MS, sql_reads_watch, reads);
    while (!is_over(arg) && !reads->interrupted && loop_run(loop)) {
    }
    loop_remove_timer(reads->watch);
    reads->watch = NULL;
    return is_over(arg);
}

static bool sql_reads_are_over(void *arg)
{
    const struct sql_reads *reads = arg;
    return (list_is_empty(&reads->reading) && list_is_empty(&reads->gathering)) ||
           reads->failed.kind != ERROR_NONE || reads->unordered;
}

bool sql_reads_run(struct sql_reads *reads, struct error *err)
{
    sql_reads_start_more(reads);
    sql_reads_wait(reads, sql_reads_are_over, reads);
    sql_reads_free_ended(reads);
    if (reads->failed.kind != ERROR_NONE)
        *err = reads->failed;
    return reads->failed.kind == ERROR_NONE;
}

/* Lookups. */

/* The rows of LOOKUP, which are added if they are not there. */
struct sql_rows *sql_reads_find(struct sql_reads *reads, struct sql_choice *choice,
                                const struct sql_lookup *lookup, struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf identity = {0};
    buf_printf(&identity, "%d ", choice->number);
    sql_lookup_write_identity(lookup, &identity);
    if (identity.failed) {
        error_no_memory(err);
        return NULL;
    }
    struct dict_node *node = dict_find(&reads->by_lookup, buf_span(&identity));
    if (node)
        return (struct sql_rows *)node;
    struct sql_rows *rows = sql_rows_new(reads, choice, lookup, buf_span(&identity), err);
    if (!rows)
        return NULL;
    dict_add(&reads->by_lookup, &rows->by_lookup);
    choice->lookups++;
    if (reads->is_dry && !choice->at && rows->kind == SQL_ACCESS_KEYS) {
        rows->place = sql_table_find(choice->table, lookup, 0, err);
        if (!rows->place)
            return NULL;
    }
    if (reads->is_dry && !choice->at && rows->kind != SQL_ACCESS_SCAN)
        choice->at = rows->place;
    return rows;
}

void sql_reads_want(struct sql_rows *rows)
{
    struct sql_reads *reads = rows->reads;
    if (rows->state != SQL_ROWS_NEW && rows->state != SQL_ROWS_PAUSED)
        return;
    rows->state = SQL_ROWS_WANTED;
    list_append(&reads->wanted, &rows->node);
    reads->wanted_count++;
}
