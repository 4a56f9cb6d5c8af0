#include "core/sql/sql_rows.h"

#include <stdlib.h>

#include "core/plan/item_match.h"

void sql_rows_end_read(struct sql_rows *rows)
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

void sql_rows_drop_block(struct sql_rows *rows)
{
    struct sql_block *block = rows->first;
    rows->reads->stored -= block->rows.capacity + sizeof *block;
    rows->first = block->next;
    if (!rows->first)
        rows->last = NULL;
    buf_clean_up_secret(&block->rows);
    free(block);
}

void sql_rows_end_order(struct sql_rows *rows)
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

void sql_rows_end_keys(struct sql_rows *rows)
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

void sql_rows_end_places(struct sql_rows *rows)
{
    place_destroy(rows->place);
    place_destroy(rows->bare);
    rows->place = NULL;
    rows->bare = NULL;
}

void sql_rows_destroy(struct sql_rows *rows)
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

/* The first failure is reported, with the name of its table. */
void sql_rows_fail(struct sql_rows *rows, const struct error *err)
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

bool sql_rows_fit(const struct sql_reads *reads, struct error *err)
{
    uint64_t limit = reads->options.memory;
    return limit == 0 || reads->stored + reads->others <= limit ||
           error_set(err, ERROR_TOO_LARGE,
                     "the statement needs more than the %llu MB that its rows may take; select "
                     "fewer rows or columns, or raise the limit: --cache-size",
                     (unsigned long long)(limit >> 20));
}

/* Items become rows. */

/* The number of the item with ROW's key. */
static bool sql_rows_find_id(struct sql_reads *reads, const struct sql_row *row, int64_t *out)
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
    buf_add_char(out, (char)value->attribute);
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

size_t sql_rows_read_value(const char *from, struct sql_value *out)
{
    enum { HEAD = 2 };
    uint32_t size;
    *out = (struct sql_value){.type = (enum sql_value_type)from[0],
                              .attribute = (enum sql_attribute)from[1]};
    from += HEAD;
    switch (out->type) {
    case SQL_NULL:
        return HEAD;
    case SQL_INTEGER:
        memcpy(&out->integer, from, sizeof out->integer);
        return HEAD + sizeof out->integer;
    case SQL_REAL:
        memcpy(&out->real, from, sizeof out->real);
        return HEAD + sizeof out->real;
    case SQL_TEXT:
    case SQL_BLOB:
        memcpy(&size, from, sizeof size);
        out->bytes = span_of(from + sizeof size, size);
        return HEAD + sizeof size + size;
    }
    return HEAD;
}

/* Writes ROW's values to LINE. */
bool sql_rows_write(struct sql_rows *rows, struct sql_row *row, struct error *err)
{
    struct sql_reads *reads = rows->reads;
    const struct sql_choice *choice = rows->choice;
    buf_truncate(&reads->line, 0);
    if (*choice->needs_ids) {
        int64_t id;
        if (!sql_rows_find_id(reads, row, &id))
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

bool sql_rows_refuse_change(struct error *err)
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
bool sql_rows_store(struct sql_rows *rows, struct error *err)
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
bool sql_rows_add(struct sql_rows *rows, struct json item)
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
             sql_rows_fit(reads, &why);
    if (!ok && why.kind != ERROR_NONE)
        sql_rows_fail(rows, &why);
    return ok;
}

/* Makes room for a page. */
bool sql_rows_begin_page(struct sql_rows *rows)
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
bool sql_rows_end_page(struct sql_rows *rows)
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

struct sql_rows *sql_rows_new(struct sql_reads *reads, struct sql_choice *choice,
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
