#include "core/sql/sql_reads.h"

#include <stdlib.h>

#include "core/plan/item_match.h"
#include "core/sql/sql_scan.h"

enum { SQL_READS_MOST_QUERIES = 48, SQL_READS_WATCH_MS = 50 };

/* The rows of one page. */
struct sql_block {
    struct sql_block *next;
    struct buf rows; /* of each: its id, if these are needed; then the used columns */
};

/* The rows of one lookup. Those that are WANTED, READING or GATHERING are in a list of READS. */
enum sql_rows_state {
    SQL_ROWS_NEW,
    SQL_ROWS_WANTED,
    SQL_ROWS_READING,
    SQL_ROWS_GATHERING, /* an index returned keys, and the items are read by these */
    SQL_ROWS_PAUSED,    /* some pages have been read */
    SQL_ROWS_COMPLETE,
};

/* Two rows that follow each other, to compare them. */
struct sql_rows_order {
    struct sql_row rows[2];
    size_t count;           /* rows so far; the last one is ROWS[(COUNT + 1) % 2] */
    size_t proven;          /* of these, those that come before all others */
    bool is_open;           /* no further row is, until all came */
    struct buf text;        /* of the last item of the page before */
    struct json_doc parsed; /* of TEXT */
};

/* The items of an index that a query without hydration returned. */
struct sql_rows_keys {
    struct arena arena; /* of the keys */
    struct sql_rows_item {
        struct key key;
        struct buf line; /* its row */
        bool exists;
    } * items; /* owned */
    size_t count, capacity;
    size_t left; /* items that have not come */
    bool is_started;
    enum sql_rows_state after; /* the state of the rows when all came */
};

struct sql_rows {
    struct dict_node by_lookup;
    struct list_node node;
    struct sql_reads *reads;
    struct sql_choice *choice;
    struct arena arena;
    enum sql_rows_state state;
    enum sql_access_kind kind;
    struct key key;             /* of SQL_ACCESS_KEYS; in the arena */
    struct place *place;        /* owned; the table's own of a Scan; of KEYS in dry passes only */
    struct place *bare;         /* owned: PLACE without hydration; NULL: not used */
    struct sql_rows_keys *keys; /* owned; of the index, if BARE is read */
    const struct cond *filter;  /* of a Scan; in the arena */
    const struct map_index *index; /* of a Scan: only its items are rows; NULL: all */
    struct tree_listing *listing;
    struct sql_scan *scan;
    uint32_t limit;       /* of the listing's items; 0: none */
    bool is_over;         /* the read has ended, and is freed after the loop */
    unsigned pages, goal; /* GOAL: to be read before the rows are paused again */
    struct sql_block *first, *last;
    size_t count;                 /* rows, dropped ones included */
    uint64_t digest;              /* of the rows, if LIMIT was set */
    size_t skipped;               /* rows that a listing without LIMIT has to repeat; */
    uint64_t again;               /* and their digest */
    struct sql_rows_order *order; /* owned; NULL: no order is needed */
};

bool sql_reads_init(struct sql_reads *reads, const struct sql_reads_options *options)
{
    *reads = (struct sql_reads){
        .options = *options, .most_wanted = SIZE_MAX, .gather = {.tree = options->tree}};
    return dict_init(&reads->by_lookup) && dict_init(&reads->ids);
}

static void sql_rows_end_read(struct sql_rows *rows)
{
    if (rows->listing) {
        const struct selection *selection = rows->place->selection;
        if (selection && selection->filter)
            rows->choice->table->tested += tree_list_stats(rows->listing).read;
        tree_list_end(rows->listing);
    }
    sql_scan_end(rows->scan);
    rows->listing = NULL;
    rows->scan = NULL;
    rows->is_over = false;
}

static void sql_rows_drop_block(struct sql_rows *rows)
{
    struct sql_block *block = rows->first;
    rows->reads->stored -= block->rows.capacity + sizeof *block;
    rows->first = block->next;
    if (!rows->first)
        rows->last = NULL;
    buf_clean_up_secret(&block->rows);
    free(block);
}

static void sql_rows_end_order(struct sql_rows *rows)
{
    struct sql_rows_order *order = rows->order;
    rows->order = NULL;
    if (!order)
        return;
    for (size_t i = 0; i < 2; i++)
        sql_row_clean_up(&order->rows[i]);
    json_clean_up(&order->parsed);
    buf_clean_up_secret(&order->text);
    free(order);
}

static void sql_rows_end_keys(struct sql_rows *rows)
{
    struct sql_rows_keys *keys = rows->keys;
    rows->keys = NULL;
    if (!keys)
        return;
    for (size_t i = 0; i < keys->count; i++)
        buf_clean_up_secret(&keys->items[i].line);
    free(keys->items);
    arena_clean_up(&keys->arena);
    free(keys);
}

static void sql_rows_end_places(struct sql_rows *rows)
{
    place_destroy(rows->place);
    place_destroy(rows->bare);
    rows->place = NULL;
    rows->bare = NULL;
}

static void sql_rows_destroy(struct sql_rows *rows)
{
    struct sql_reads *reads = rows->reads;
    list_remove(&rows->node);
    sql_rows_end_read(rows);
    sql_rows_end_order(rows);
    while (rows->first)
        sql_rows_drop_block(rows);
    sql_rows_end_keys(rows);
    sql_rows_end_places(rows);
    reads->stored -= sizeof *rows + arena_memory(&rows->arena);
    arena_clean_up(&rows->arena);
    free(rows);
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

/* The first failure is reported, with the name of its table. */
static void sql_rows_fail(struct sql_rows *rows, const struct error *err)
{
    struct sql_reads *reads = rows->reads;
    char text[sizeof err->text];
    if (reads->failed.kind == ERROR_NONE) {
        memcpy(text, err->text, sizeof text);
        reads->failed = *err;
        reads->failed.text[0] = '\0';
        error_add(&reads->failed, "%s: %s", rows->choice->table->shown, text);
    }
    loop_stop(reads->options.tree->loop);
}

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

static bool sql_reads_fits(struct sql_reads *reads, struct error *err)
{
    uint64_t limit = reads->options.memory;
    return limit == 0 || reads->stored + reads->others <= limit ||
           error_set(err, ERROR_TOO_LARGE,
                     "the statement needs more than the %llu MB that its rows may take; select "
                     "fewer rows or columns, or raise the limit: --cache-size",
                     (unsigned long long)(limit >> 20));
}

/* Rows. */

/* The number of the item with ROW's key. */
static bool sql_reads_find_id(struct sql_reads *reads, const struct sql_row *row, int64_t *out)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key;
    buf_truncate(&reads->scratch, 0);
    if (!item_match_key(row->columns->model, row->item, &arena, &key))
        return false;
    buf_printf(&reads->scratch, "%p", (const void *)row->columns);
    for (size_t i = 0; i < key.count; i++) {
        buf_add_char(&reads->scratch, ' ');
        value_write_identity(key.attributes[i].value, &reads->scratch);
    }
    struct sql_id {
        struct dict_node node;
        int64_t number;
    } *id = (struct sql_id *)dict_find(&reads->ids, buf_span(&reads->scratch));
    if (!id) {
        id = arena_alloc(&reads->id_arena, sizeof *id);
        if (!id || reads->scratch.failed)
            return false;
        id->node.key = arena_copy(&reads->id_arena, buf_span(&reads->scratch));
        id->number = ++reads->last_id;
        reads->stored += sizeof *id + reads->scratch.size;
        dict_add(&reads->ids, &id->node);
    }
    *out = id->number;
    return !reads->id_arena.failed;
}

static void sql_rows_write_value(struct buf *out, const struct sql_value *value)
{
    uint32_t size = (uint32_t)value->bytes.size;
    buf_add_char(out, (char)value->type);
    switch (value->type) {
    case SQL_NULL:
        break;
    case SQL_INTEGER:
        buf_add(out, &value->integer, sizeof value->integer);
        break;
    case SQL_REAL:
        buf_add(out, &value->real, sizeof value->real);
        break;
    case SQL_TEXT:
    case SQL_BLOB:
        buf_add(out, &size, sizeof size);
        buf_add_span(out, value->bytes);
        break;
    }
}

static size_t sql_rows_read_value(const char *from, struct sql_value *out)
{
    uint32_t size;
    *out = (struct sql_value){.type = (enum sql_value_type)from[0]};
    switch (out->type) {
    case SQL_NULL:
        return 1;
    case SQL_INTEGER:
        memcpy(&out->integer, from + 1, sizeof out->integer);
        return 1 + sizeof out->integer;
    case SQL_REAL:
        memcpy(&out->real, from + 1, sizeof out->real);
        return 1 + sizeof out->real;
    case SQL_TEXT:
    case SQL_BLOB:
        memcpy(&size, from + 1, sizeof size);
        out->bytes = span_of(from + 1 + sizeof size, size);
        return 1 + sizeof size + size;
    }
    return 1;
}

/* Writes ROW's values to LINE. */
static bool sql_rows_write(struct sql_rows *rows, struct sql_row *row, struct error *err)
{
    struct sql_reads *reads = rows->reads;
    const struct sql_choice *choice = rows->choice;
    buf_truncate(&reads->line, 0);
    if (*choice->needs_ids) {
        int64_t id;
        if (!sql_reads_find_id(reads, row, &id))
            return error_no_memory(err);
        buf_add(&reads->line, &id, sizeof id);
    }
    for (size_t i = 0; i < choice->used_count; i++) {
        struct sql_value value;
        if (!sql_row_read(row, choice->used[i], &value, err))
            return false;
        sql_rows_write_value(&reads->line, &value);
    }
    return sql_table_note(choice->table, row) || error_no_memory(err);
}

/* FNV-1a: the rows are no secrets from their own statement. */
static uint64_t sql_rows_add_digest(uint64_t digest, struct span bytes)
{
    digest ^= bytes.size;
    for (size_t i = 0; i < bytes.size; i++)
        digest = (digest ^ (unsigned char)bytes.data[i]) * 0x100000001b3U;
    return digest;
}

static bool sql_rows_refuse_change(struct error *err)
{
    return error_set(err, ERROR_REPLACED,
                     "its items changed while the statement read them; start it again");
}

/* Whether LINE repeats a row that is stored. */
static bool sql_rows_skip(struct sql_rows *rows, struct error *err)
{
    rows->again = sql_rows_add_digest(rows->again, buf_span(&rows->reads->line));
    return --rows->skipped > 0 || rows->again == rows->digest || sql_rows_refuse_change(err);
}

/* Adds LINE to the page's block. */
static bool sql_rows_store(struct sql_rows *rows, struct error *err)
{
    struct sql_reads *reads = rows->reads;
    struct buf *out = &rows->last->rows;
    size_t before = out->capacity;
    if (rows->limit > 0)
        rows->digest = sql_rows_add_digest(rows->digest, buf_span(&reads->line));
    buf_add_span(out, buf_span(&reads->line));
    reads->stored += out->capacity - before;
    rows->count++;
    return (!out->failed && !reads->line.failed) || error_no_memory(err);
}

/* Whether ROW may follow the row before. If not, the statement has to be planned anew. */
static bool sql_rows_check_order(struct sql_rows *rows, struct error *err)
{
    struct sql_rows_order *order = rows->order;
    if (!order || order->count++ == 0)
        return true;
    struct sql_row *row = &order->rows[(order->count + 1) % 2],
                   *before = &order->rows[order->count % 2];
    err->kind = ERROR_NONE;
    enum sql_order_proof proof;
    if (sql_access_keeps_order(rows->choice->access, before, row, err)) {
        if (order->is_open)
            return true;
        if (!sql_access_prove_order(rows->choice->access, before, row, &proof, err))
            return false;
        order->is_open = proof == SQL_ORDER_NEVER;
        if (proof == SQL_ORDER_PROVEN)
            order->proven = order->count - 1;
        return true;
    }
    if (err->kind == ERROR_NONE) {
        rows->reads->unordered = rows->choice->table;
        rows->reads->is_full = true;
        loop_stop(rows->reads->options.tree->loop);
    }
    return false;
}

/* Adds ITEM. False: the reads have failed, or have to begin anew. */
static bool sql_rows_add(struct sql_rows *rows, struct json item)
{
    struct sql_reads *reads = rows->reads;
    struct sql_rows_order *order = rows->order;
    struct error why = {0};
    struct sql_row *row = order ? &order->rows[order->count % 2] : &reads->row;
    bool ok = sql_row_begin(row, rows->choice->table->columns, item, &why) &&
              sql_rows_write(rows, row, &why);
    if (ok && rows->skipped > 0)
        ok = sql_rows_skip(rows, &why);
    else if (ok)
        ok = sql_rows_check_order(rows, &why) && sql_rows_store(rows, &why) &&
             sql_reads_fits(reads, &why);
    if (!ok && why.kind != ERROR_NONE)
        sql_rows_fail(rows, &why);
    return ok;
}

/* Makes room for a page. */
static bool sql_rows_begin_page(struct sql_rows *rows)
{
    struct sql_block *block = calloc(1, sizeof *block);
    struct error why;
    if (!block) {
        error_no_memory(&why);
        sql_rows_fail(rows, &why);
        return false;
    }
    rows->reads->stored += sizeof *block;
    if (rows->last)
        rows->last->next = block;
    else
        rows->first = block;
    rows->last = block;
    return true;
}

/* Stores the page's last item, with which the first one of the next page is compared. */
static bool sql_rows_end_page(struct sql_rows *rows)
{
    struct sql_rows_order *order = rows->order;
    struct error why;
    if (!order || order->count == 0)
        return true;
    struct sql_row *last = &order->rows[(order->count + 1) % 2];
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    struct json_doc parsed = {0};
    buf_add_span(&text, json_raw(last->item));
    if (text.failed || !json_parse(&parsed, buf_span(&text), JSON_STRICT, NULL)) {
        json_clean_up(&parsed);
        error_no_memory(&why);
        sql_rows_fail(rows, &why);
        return false;
    }
    json_clean_up(&order->parsed);
    buf_clean_up_secret(&order->text);
    order->parsed = parsed;
    order->text = text;
    text = (struct buf){0};
    if (sql_row_begin(last, rows->choice->table->columns, json_root(&order->parsed), &why))
        return true;
    sql_rows_fail(rows, &why);
    return false;
}

/* Reads. */

static void sql_reads_start_more(struct sql_reads *reads);

/* All that was wanted came. */
static void sql_reads_check_end(struct sql_reads *reads)
{
    if (list_is_empty(&reads->reading) && list_is_empty(&reads->gathering))
        loop_stop(reads->options.tree->loop);
}

static void sql_rows_settle(struct sql_rows *rows, enum sql_rows_state state)
{
    struct sql_reads *reads = rows->reads;
    rows->state = state;
    list_remove(&rows->node);
    if (rows->is_over || state == SQL_ROWS_COMPLETE)
        list_append(&reads->over, &rows->node);
    sql_reads_check_end(reads);
}

/* The read, or its wanted pages, came. Items whose keys came are read when all queries have. */
static void sql_rows_leave(struct sql_rows *rows, enum sql_rows_state state)
{
    struct sql_reads *reads = rows->reads;
    reads->reading_queries -= rows->kind != SQL_ACCESS_KEYS;
    if (rows->keys && rows->keys->left > 0) {
        rows->keys->after = state;
        rows->state = SQL_ROWS_GATHERING;
        list_remove(&rows->node);
        list_append(&reads->gathering, &rows->node);
    } else {
        sql_rows_settle(rows, state);
    }
    sql_reads_start_more(reads);
}

/* All of the lookup came. A listing with a limit may have more items behind that. */
static void sql_rows_complete(struct sql_rows *rows)
{
    struct error why;
    rows->is_over = rows->listing || rows->scan;
    if (rows->limit > 0 && rows->count >= rows->limit) {
        sql_rows_leave(rows, SQL_ROWS_PAUSED);
        return;
    }
    if (rows->skipped > 0) {
        sql_rows_refuse_change(&why);
        sql_rows_fail(rows, &why);
        return;
    }
    sql_rows_leave(rows, SQL_ROWS_COMPLETE);
}

static void sql_rows_take_page(struct sql_rows *rows, bool more, bool ends)
{
    rows->pages++;
    if (!more) {
        sql_rows_complete(rows);
    } else if (rows->pages >= rows->goal && !ends) {
        sql_rows_leave(rows, SQL_ROWS_PAUSED);
    } else if (rows->listing) {
        tree_list_more(rows->listing);
    } else {
        sql_scan_more(rows->scan);
    }
}

/* Adds the key of ITEM, which an index returned. */
static bool sql_rows_add_key(struct sql_rows *rows, struct json item)
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

static void sql_rows_take_entries(void *arg, const struct tree_entry *entries, size_t count,
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
            !(rows->bare ? sql_rows_add_key(rows, item) : sql_rows_add(rows, item)))
            return;
    }
    if (sql_rows_end_page(rows))
        sql_rows_take_page(rows, more, tree_list_is_ending(rows->listing));
}

/* Whether the rows have ITEM: a Scan for an index reads the table, which has all attributes. */
static bool sql_rows_have(const struct sql_rows *rows, struct json item)
{
    const struct map_key *key;
    for (size_t i = 0; rows->index && (key = model_index_key(rows->index, i)); i++) {
        struct json typed = item_attribute(item, span_text(key->attribute));
        if (!json_present(json_member(typed, value_type_name(key->type))))
            return false;
    }
    return true;
}

static void sql_rows_take_scanned(void *arg, const struct json *items, size_t count, bool more,
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
        if (sql_rows_have(rows, items[i]) && !sql_rows_add(rows, items[i]))
            return;
    sql_rows_take_page(rows, more, false);
}

/* All items of the keys came: they become rows, in the order of the index. */
static void sql_rows_end_gathering(struct sql_rows *rows)
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
        if (!sql_rows_store(rows, &why) || !sql_reads_fits(reads, &why)) {
            sql_rows_fail(rows, &why);
            return;
        }
    }
    sql_rows_end_keys(rows);
    sql_rows_settle(rows, after);
}

/* An item by one of the keys that an index returned; it may have been deleted since. */
static void sql_rows_take_gathered(void *arg, size_t number, struct json item,
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
        sql_rows_end_gathering(rows);
}

/* The item of a lookup by key. */
static void sql_rows_take_item(void *arg, size_t number, struct json item, const struct error *err)
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
        sql_rows_complete(rows);
}

/* Starts to read the items of all keys that came. */
static bool sql_reads_gather(struct sql_reads *reads, struct error *err)
{
    LIST_EACH (struct sql_rows, rows, &reads->gathering, node) {
        struct sql_rows_keys *keys = rows->keys;
        for (size_t i = 0; !keys->is_started && i < keys->count; i++)
            if (!sql_gather_add(&reads->gather, rows->choice->table, &keys->items[i].key,
                                sql_rows_take_gathered, rows, i))
                return error_no_memory(err);
        keys->is_started = true;
    }
    return sql_gather_start(&reads->gather, err);
}

/* The place without its limit. */
static bool sql_rows_widen(struct sql_rows *rows, struct error *err)
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

static bool sql_rows_start_listing(struct sql_rows *rows, struct error *err)
{
    const struct tree *tree = rows->reads->options.tree;
    if (rows->count > 0 && rows->limit > 0 && !sql_rows_widen(rows, err))
        return false;
    if (rows->reads->streams) { /* the listing reads the items of its pages by itself */
        place_destroy(rows->bare);
        rows->bare = NULL;
    }
    rows->listing = tree_list_records(tree, rows->bare ? rows->bare : rows->place, false,
                                      sql_rows_take_entries, rows);
    if (!rows->listing)
        return error_no_memory(err);
    tree_list_read_some(rows->listing);
    return true;
}

/* Starts the read, or its next pages. */
static bool sql_rows_start(struct sql_rows *rows, struct error *err)
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
        return sql_rows_start_listing(rows, err);
    if (rows->kind == SQL_ACCESS_KEYS)
        return sql_gather_add(&rows->reads->gather, rows->choice->table, &rows->key,
                              sql_rows_take_item, rows, 0) ||
               error_no_memory(err);
    rows->scan =
        sql_scan_start(options->tree, rows->place, rows->filter, sql_rows_take_scanned, rows);
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
        if (!sql_rows_start(rows, &why)) {
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
static void sql_reads_settle(struct sql_reads *reads)
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
    sql_reads_settle(reads);
    if (reads->failed.kind != ERROR_NONE)
        *err = reads->failed;
    return reads->failed.kind == ERROR_NONE;
}

/* Lookups. */

struct sql_rows_index {
    const struct model *model;
    const struct map_index *index;
};

static bool sql_rows_index_holds(void *arg, struct span attribute)
{
    const struct sql_rows_index *of = arg;
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    buf_add_span(&name, attribute);
    return !name.failed && model_index_holds(of->model, of->index, buf_text(&name));
}

/* The place of LOOKUP without hydration: the items of several lookups are then read together. A
 * filter on attributes that the index lacks is left to SQLite. */
static bool sql_rows_find_bare(struct sql_rows *rows, const struct sql_lookup *lookup,
                               struct error *err)
{
    struct sql_table *table = rows->choice->table;
    struct sql_rows_index of = {table->columns->model, lookup->index};
    struct sql_lookup bare = *lookup;
    bare.hydrates = false;
    if (bare.filter && !cond_each_attribute(bare.filter, sql_rows_index_holds, &of))
        bare.filter = NULL;
    rows->bare = sql_table_find(table, &bare, 0, err);
    return rows->bare;
}

static bool sql_rows_copy_key(struct sql_rows *rows, const struct key *key, struct error *err)
{
    rows->key = *key;
    for (size_t i = 0; i < key->count; i++) {
        struct key_attribute *each = &rows->key.attributes[i];
        each->name = arena_copy(&rows->arena, each->name);
        each->value.bytes = arena_copy(&rows->arena, each->value.bytes);
    }
    return !rows->arena.failed || error_no_memory(err);
}

static bool sql_rows_copy_lookup(struct sql_rows *rows, const struct sql_lookup *lookup,
                                 struct error *err)
{
    struct sql_table *table = rows->choice->table;
    if (lookup->kind == SQL_ACCESS_SCAN) {
        struct cond *filter = lookup->filter ? arena_alloc(&rows->arena, sizeof *filter) : NULL;
        if (lookup->filter && (!filter || !cond_copy(lookup->filter, &rows->arena, filter)))
            return error_no_memory(err);
        rows->filter = filter;
        rows->index = lookup->index;
        rows->place = place_copy(table->place);
        return rows->place || error_no_memory(err);
    }
    if (lookup->kind == SQL_ACCESS_KEYS)
        return sql_rows_copy_key(rows, &lookup->key, err);
    bool is_ordered = rows->choice->is_ordered;
    if (lookup->first > 0 && lookup->first < UINT32_MAX && !lookup->filter &&
        rows->choice->is_exact)
        rows->limit = lookup->first + is_ordered; /* the last row waits for the next one */
    rows->place = sql_table_find(table, lookup, rows->limit, err);
    return rows->place && (!lookup->hydrates || !lookup->index || is_ordered || rows->limit > 0 ||
                           sql_rows_find_bare(rows, lookup, err));
}

static struct sql_rows *sql_rows_new(struct sql_reads *reads, struct sql_choice *choice,
                                     const struct sql_lookup *lookup, struct span identity,
                                     struct error *err)
{
    struct sql_rows *rows = calloc(1, sizeof *rows);
    if (!rows) {
        error_no_memory(err);
        return NULL;
    }
    *rows = (struct sql_rows){.reads = reads, .choice = choice, .kind = lookup->kind};
    rows->by_lookup.key = arena_copy(&rows->arena, identity);
    if (choice->is_ordered && lookup->kind != SQL_ACCESS_KEYS) {
        rows->order = calloc(1, sizeof *rows->order);
        rows->arena.failed = rows->arena.failed || !rows->order;
    }
    if (rows->arena.failed)
        error_no_memory(err);
    bool ok = !rows->arena.failed && sql_rows_copy_lookup(rows, lookup, err);
    reads->stored += sizeof *rows + arena_memory(&rows->arena);
    if (ok)
        return rows;
    sql_rows_destroy(rows);
    return NULL;
}

/* The rows of LOOKUP, which are added if they are not there. */
static struct sql_rows *sql_reads_find(struct sql_reads *reads, struct sql_choice *choice,
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

static void sql_rows_want(struct sql_rows *rows)
{
    struct sql_reads *reads = rows->reads;
    if (rows->state != SQL_ROWS_NEW && rows->state != SQL_ROWS_PAUSED)
        return;
    rows->state = SQL_ROWS_WANTED;
    list_append(&reads->wanted, &rows->node);
    reads->wanted_count++;
}

/* Readers. */

/* The rows of ROWS that may be returned: ordered ones wait for the proof of their order. */
static size_t sql_rows_visible(const struct sql_rows *rows)
{
    bool waits = rows->order && rows->state != SQL_ROWS_COMPLETE;
    return waits ? rows->order->proven : rows->count;
}

static void sql_reader_read_row(struct sql_reader *reader)
{
    const struct sql_choice *choice = reader->choice;
    const char *data = reader->block->rows.data;
    if (*choice->needs_ids) {
        memcpy(&reader->id, data + reader->offset, sizeof reader->id);
        reader->offset += sizeof reader->id;
    }
    for (size_t i = 0; i < choice->used_count; i++)
        reader->offset += sql_rows_read_value(data + reader->offset, &reader->values[i]);
    reader->index++;
}

/* Moves to the next row of ROWS, which has one. */
static void sql_reader_take(struct sql_reader *reader, struct sql_rows *rows)
{
    if (!reader->block) {
        reader->block = rows->first;
        reader->offset = 0;
    }
    /* Without columns and ids a row has no bytes, so that blocks are passed by their ends alone. */
    bool is_empty = !*reader->choice->needs_ids && reader->choice->used_count == 0;
    while (!is_empty && reader->offset == reader->block->rows.size) {
        struct sql_block *next = reader->block->next;
        if (reader->reads->streams)
            sql_rows_drop_block(rows);
        reader->block = next;
        reader->offset = 0;
    }
    sql_reader_read_row(reader);
}

bool sql_reader_next(struct sql_reader *reader, struct error *err)
{
    struct sql_reads *reads = reader->reads;
    while (reader->at < reader->count) {
        struct sql_rows *rows = reader->rows[reader->at];
        if (reader->index < sql_rows_visible(rows)) {
            sql_reader_take(reader, rows);
            return true;
        }
        if (rows->state != SQL_ROWS_COMPLETE && reads->streams) {
            sql_rows_want(rows);
            if (!sql_reads_run(reads, err) || reads->is_full)
                return false;
            continue;
        }
        if (rows->state != SQL_ROWS_COMPLETE)
            sql_rows_want(rows);
        if (reads->wanted_count >= reads->most_wanted) {
            reads->is_full = true;
            return false;
        }
        reader->at++;
        reader->index = 0;
        reader->block = NULL;
    }
    reader->is_at_end = true;
    return true;
}

bool sql_reader_begin(struct sql_reader *reader, struct sql_reads *reads, struct sql_choice *choice,
                      const struct sql_lookup *lookups, size_t count, struct error *err)
{
    if (count > reader->capacity) {
        struct sql_rows **rows = realloc(reader->rows, count * sizeof *rows);
        if (!rows)
            return error_no_memory(err);
        reader->rows = rows;
        reader->capacity = count;
    }
    if (!reader->values)
        reader->values = calloc(choice->used_count + 1, sizeof *reader->values);
    if (!reader->values)
        return error_no_memory(err);
    reader->reads = reads;
    reader->choice = choice;
    reader->count = 0;
    reader->at = 0;
    reader->index = 0;
    reader->block = NULL;
    reader->is_at_end = false;
    for (size_t i = 0; i < count; i++) {
        struct sql_rows *rows = sql_reads_find(reads, choice, &lookups[i], err);
        if (!rows || !sql_reads_fits(reads, err))
            return false;
        reader->rows[reader->count++] = rows;
    }
    if (reads->streams && count > 0 && reads->began > 0) {
        reads->repeats = true;
        reads->is_full = true;
        return false;
    }
    reads->began += count > 0;
    return sql_reader_next(reader, err);
}

void sql_reader_clean_up(struct sql_reader *reader)
{
    free(reader->rows);
    free(reader->values);
    *reader = (struct sql_reader){0};
}
