#include "core/snapshot/snapshot_query.h"

#include <inttypes.h>

#include "core/base/nearest.h"
#include "core/snapshot/sort_text.h"

void snapshot_query_clean_up(struct snapshot_query *query)
{
    arena_clean_up(&query->arena);
    buf_clean_up_secret(&query->sql);
}

bool column_value_of(struct value value, enum value_type type, struct arena *arena,
                     struct column_value *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    *out = (struct column_value){type == VALUE_B, value.bytes};
    if (value.type != type || (type == VALUE_N && number_fault(value.bytes)))
        return false;
    if (type != VALUE_N)
        return true;
    sort_text_write(value.bytes, &text);
    arena->failed |= text.failed;
    out->bytes = arena_copy(arena, buf_span(&text));
    return !arena->failed;
}

bool snapshot_query_refuse_index(const struct snapshot_table *table, const char *index,
                                 struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf shown = {0}, meant = {0};
    struct nearest nearest = nearest_to(span_text(index));
    const struct table_info *info = table->info;
    for (size_t i = 0; i < info->index_count; i++) {
        struct span name = info->indexes[i].name;
        nearest_offer(&nearest, name);
        buf_printf(&shown, "%s%.*s", i ? ", " : "", (int)name.size, name.data);
    }
    nearest_write(&nearest, &meant);
    error_set(err, ERROR_NO_TABLE, "the table %s has no index %s in this snapshot%s", table->name,
              index, buf_text(&meant));
    if (info->index_count == 0)
        error_add(err, "; the table has no index");
    else
        error_add(err, "; there %s: %s", info->index_count == 1 ? "is" : "are", buf_text(&shown));
    return false;
}

/* Appends the parameter for VALUE, whose bytes must outlive the query. */
static void snapshot_query_bind(struct snapshot_query *query, struct column_value value)
{
    if (query->bind_count == QUERY_MOST_BINDS) {
        query->sql.failed = true;
        return;
    }
    query->binds[query->bind_count++] = value;
    buf_printf(&query->sql, "?%zu", query->bind_count);
}

/* The number of the result's column of the table's column COLUMN. */
static size_t snapshot_query_find(const struct snapshot_query *query, size_t column)
{
    size_t i = 0;
    while (i < query->column_count && query->columns[i] != column)
        i++;
    return i;
}

static void snapshot_query_add_columns(struct snapshot_query *query,
                                       const struct snapshot_table *table,
                                       const struct key_schema *keys)
{
    for (size_t i = 0; i < keys->partition_count + keys->sort_count; i++) {
        struct span name = i < keys->partition_count ? keys->partition[i].name
                                                     : keys->sort[i - keys->partition_count].name;
        size_t column = schema_find_column(&table->columns, name);
        if (snapshot_query_find(query, column) == query->column_count)
            query->columns[query->column_count++] = column;
    }
}

/* Finds the index and begins the statement. */
static bool snapshot_query_begin(struct snapshot_query *query, const struct snapshot_table *table,
                                 const char *index, bool rows_only, struct error *err)
{
    const struct table_info *info = table->info;
    size_t number = 0;
    *query = (struct snapshot_query){0};
    while (index && number < info->index_count && !span_is(info->indexes[number].name, index))
        number++;
    if (index && number == info->index_count)
        return snapshot_query_refuse_index(table, index, err);
    if (index) {
        query->index = &info->indexes[number];
        snapshot_query_add_columns(query, table, &query->index->keys);
    }
    snapshot_query_add_columns(query, table, &info->keys);
    buf_add_text(&query->sql, rows_only ? "SELECT " : "SELECT item, ");
    for (size_t i = 0; i < query->column_count; i++)
        buf_printf(&query->sql, "%sk%zu", i ? ", " : "", query->columns[i] + 1);
    buf_printf(&query->sql, " FROM items_%" PRId64 " INDEXED BY items_%" PRId64, table->number,
               table->number);
    if (index)
        buf_printf(&query->sql, "_by_%zu WHERE ", number + 1);
    else
        buf_add_text(&query->sql, "_key WHERE ");
    return true;
}

/* The version of each item at the moment. */
static void snapshot_query_add_moment(struct snapshot_query *query, int64_t at_ms)
{
    buf_printf(&query->sql,
               "from_ms <= %" PRId64 " AND (until_ms IS NULL OR until_ms > %" PRId64 ")", at_ms,
               at_ms);
}

static bool snapshot_query_end(const struct snapshot_query *query, struct error *err)
{
    return (!query->sql.failed && !query->arena.failed) || error_no_memory(err);
}

bool snapshot_query_init_items(struct snapshot_query *query, const struct snapshot_table *table,
                               int64_t at_ms, struct error *err)
{
    if (!snapshot_query_begin(query, table, NULL, false, err))
        return false;
    for (size_t i = 0; i < table->columns.own_count; i++)
        buf_printf(&query->sql, "k%zu = ?%zu AND ", i + 1, i + 1);
    snapshot_query_add_moment(query, at_ms);
    return snapshot_query_end(query, err);
}

bool snapshot_query_set_key(struct snapshot_query *query, const struct snapshot_table *table,
                            const struct key *key, struct error *err)
{
    bool fits = key->count == table->columns.own_count;
    query->bind_count = key->count;
    for (size_t i = 0; fits && i < key->count; i++) {
        size_t column = schema_find_column(&table->columns, key->attributes[i].name);
        fits = column < key->count &&
               column_value_of(key->attributes[i].value, table->columns.list[column].type,
                               &query->arena, &query->binds[column]);
    }
    if (query->arena.failed)
        return error_no_memory(err);
    return fits || error_set(err, ERROR_INVALID,
                             "the requested key does not fit to the key of the table %s; compare "
                             "the map with the table: ddbfs check",
                             table->name);
}

/* The least text or bytes behind all that begin with PREFIX; empty if all texts are. No byte of
 * UTF-8 is 0xFF. */
static struct span snapshot_query_end_of_prefix(struct snapshot_query *query, struct span prefix)
{
    while (prefix.size > 0 && (unsigned char)prefix.data[prefix.size - 1] == 0xFF)
        prefix.size--;
    struct span end = arena_copy(&query->arena, prefix);
    if (end.size > 0)
        ((char *)(uintptr_t)end.data)[end.size - 1]++;
    return end;
}

static void snapshot_query_add_comparison(struct snapshot_query *query, size_t column,
                                          const char *operator, struct column_value value)
{
    buf_printf(&query->sql, "k%zu %s ", column + 1, operator);
    snapshot_query_bind(query, value);
    buf_add_text(&query->sql, " AND ");
}

static bool snapshot_query_refuse_cond(const struct cond *cond, const char *what, struct error *err)
{
    return error_set(err, ERROR_INVALID, "the condition on the key attribute %.*s %s",
                     (int)cond->attribute.size, cond->attribute.data, what);
}

static bool snapshot_query_add_cond(struct snapshot_query *query,
                                    const struct snapshot_table *table, const struct cond *cond,
                                    struct error *err)
{
    static const char *const operators[] = {
        [COND_EQ] = "=",  [COND_BEGINS] = ">=", [COND_BETWEEN] = ">=", [COND_LT] = "<",
        [COND_LE] = "<=", [COND_GT] = ">",      [COND_GE] = ">="};
    size_t column = schema_find_column(&table->columns, cond->attribute);
    struct column_value value, upper;
    if (column == table->columns.count || snapshot_query_find(query, column) == query->column_count)
        return snapshot_query_refuse_cond(cond, "is on an attribute that is not of the key", err);
    enum value_type type = table->columns.list[column].type;
    if (cond->op > COND_GE || cond->step_count > 0 || (cond->op == COND_BEGINS && type == VALUE_N))
        return snapshot_query_refuse_cond(cond, "has an operator that a key condition can't have",
                                          err);
    if (!column_value_of(cond->value, type, &query->arena, &value) ||
        (cond->op == COND_BETWEEN && !column_value_of(cond->upper, type, &query->arena, &upper)))
        return query->arena.failed ? error_no_memory(err)
                                   : snapshot_query_refuse_cond(
                                         cond, "has a value of another type than the key", err);
    if (cond->op == COND_BETWEEN && span_compare(value.bytes, upper.bytes) > 0)
        return snapshot_query_refuse_cond(
            cond, "has a lower bound that is greater than the upper bound", err);
    snapshot_query_add_comparison(query, column, operators[cond->op], value);
    if (cond->op == COND_BETWEEN)
        snapshot_query_add_comparison(query, column, "<=", upper);
    if (cond->op == COND_BEGINS) {
        upper = value;
        upper.bytes = snapshot_query_end_of_prefix(query, value.bytes);
        if (upper.bytes.size > 0)
            snapshot_query_add_comparison(query, column, "<", upper);
    }
    return true;
}

static bool snapshot_query_is_equal(const struct read *read, struct span attribute)
{
    for (size_t i = 0; i < read->where_count; i++)
        if (read->where[i].op == COND_EQ && span_equal(read->where[i].attribute, attribute))
            return true;
    return false;
}

/* The order is that of the key's columns without a fixed value. */
static void snapshot_query_find_order(struct snapshot_query *query,
                                      const struct snapshot_table *table, const struct read *read)
{
    for (size_t i = 0; i < query->column_count; i++)
        if (!snapshot_query_is_equal(read, table->columns.list[query->columns[i]].attribute))
            query->order[query->order_count++] = i;
}

static bool snapshot_query_check_partition(const struct snapshot_query *query,
                                           const struct snapshot_table *table,
                                           const struct read *read, struct error *err)
{
    const struct key_schema *keys = query->index ? &query->index->keys : &table->info->keys;
    for (size_t i = 0; i < keys->partition_count; i++)
        if (!snapshot_query_is_equal(read, keys->partition[i].name))
            return error_set(err, ERROR_INVALID,
                             "the query of the table %s has no value for the partition key %.*s",
                             table->name, (int)keys->partition[i].name.size,
                             keys->partition[i].name.data);
    if (query->index && !query->index->local && read->consistent)
        return error_set(err, ERROR_INVALID,
                         "a global index has no consistent reads: read the index %s without them",
                         read->index);
    return true;
}

/* Appends "(k2, k1) > (?1, ?2) AND ". */
static void snapshot_query_add_place(struct snapshot_query *query, const struct query_place *place,
                                     bool descending)
{
    for (size_t i = 0; i < query->order_count; i++)
        buf_printf(&query->sql, "%sk%zu", i ? ", " : "(", query->columns[query->order[i]] + 1);
    buf_add_text(&query->sql, descending ? ") < (" : ") > (");
    for (size_t i = 0; i < query->order_count; i++) {
        buf_add_text(&query->sql, i ? ", " : "");
        snapshot_query_bind(query, place->values[i]);
    }
    buf_add_text(&query->sql, ") AND ");
}

bool snapshot_query_init(struct snapshot_query *query, const struct snapshot_table *table,
                         const struct read *read, int64_t at_ms, const struct query_place *place,
                         bool rows_only, struct error *err)
{
    if (!snapshot_query_begin(query, table, read->index, rows_only, err))
        return false;
    if (read->kind == READ_QUERY && !snapshot_query_check_partition(query, table, read, err))
        return false;
    for (size_t i = 0; i < read->where_count; i++)
        if (!snapshot_query_add_cond(query, table, &read->where[i], err))
            return false;
    snapshot_query_find_order(query, table, read);
    /* The index has no item that lacks a column; SQLite must know that to use it. */
    for (size_t i = 0; query->index && i < query->order_count; i++)
        buf_printf(&query->sql, "k%zu IS NOT NULL AND ", query->columns[query->order[i]] + 1);
    if (read->segments > 1)
        buf_printf(&query->sql, "rowid %% %lu = %lu AND ", (unsigned long)read->segments,
                   (unsigned long)read->segment);
    if (place->count > 0 && query->order_count > 0)
        snapshot_query_add_place(query, place, read->descending);
    snapshot_query_add_moment(query, at_ms);
    for (size_t i = 0; i < query->order_count; i++)
        buf_printf(&query->sql, "%sk%zu%s", i ? ", " : " ORDER BY ",
                   query->columns[query->order[i]] + 1, read->descending ? " DESC" : "");
    return snapshot_query_end(query, err);
}
