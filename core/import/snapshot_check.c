#include "core/import/snapshot_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/base/instant.h"
#include "core/import/input.h"
#include "core/import/item_row.h"
#include "core/source/table_description.h"

struct snapshot_check {
    const struct snapshot_check_options *options;
    struct database *database;
    struct error *err;
    bool is_recording; /* its tables have the columns and the index of the table's own key */
    /* Of the table under way. */
    const char *table;
    int64_t number;
    struct arena arena;
    const struct table_info *info;
    struct schema_columns columns;
    struct item_row row;
    unsigned faults;
};

static void snapshot_check_prove(const struct snapshot_check *check, const char *text)
{
    check->options->report(check->options->arg, true, check->table, text);
}

/* Reports a fault; those beyond the limit are counted. */
static void snapshot_check_add_fault(struct snapshot_check *check, const char *text)
{
    if (check->faults++ < SNAPSHOT_FAULTS)
        check->options->report(check->options->arg, false, check->table, text);
}

static struct statement *snapshot_check_prepare(const struct snapshot_check *check,
                                                const struct buf *sql)
{
    if (!sql->failed)
        return database_prepare(check->database, buf_text(sql), check->err);
    error_no_memory(check->err);
    return NULL;
}

/* "a recording of 7 responses with 12 items, from 2026-11-01T00:00:00Z to …, in 1 run" */
static bool snapshot_check_write_responses(struct snapshot_check *check, struct buf *out)
{
    struct statement *find = database_prepare(
        check->database,
        "SELECT count(DISTINCT printf('%d/%d/%d', run, call, page)), ifnull(sum(CASE WHEN kind IN "
        "('items', 'query', 'scan') THEN found END), 0), min(at_ms), max(at_ms), (SELECT count(*) "
        "FROM runs), (SELECT count(*) FROM runs WHERE ended_ms IS NULL) FROM responses",
        check->err);
    bool ok = find && statement_step(find, check->err) == STATEMENT_ROW;
    if (ok) {
        int64_t responses = statement_integer(find, 0), items = statement_integer(find, 1);
        int64_t runs = statement_integer(find, 4), open_runs = statement_integer(find, 5);
        buf_printf(out, "a recording of %" PRId64 " response%s with %" PRId64 " item%s", responses,
                   responses == 1 ? "" : "s", items, items == 1 ? "" : "s");
        if (responses > 0) {
            buf_add_text(out, ", from ");
            instant_write(out, statement_integer(find, 2));
            buf_add_text(out, " to ");
            instant_write(out, statement_integer(find, 3));
        }
        buf_printf(out, ", in %" PRId64 " run%s", runs, runs == 1 ? "" : "s");
        if (open_runs > 0)
            buf_printf(out, "; %" PRId64 " without an end: it goes on, or was killed or stopped",
                       open_runs);
    }
    statement_end(find);
    return ok;
}

/* Says which kind of file it is. */
static bool snapshot_check_kind(struct snapshot_check *check)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (!schema_find_kind(check->database, &check->is_recording, check->err))
        return false;
    buf_add_text(&text, "the pages of the database are intact, and it is ");
    if (!check->is_recording)
        buf_add_text(&text, "a snapshot");
    else if (!snapshot_check_write_responses(check, &text))
        return false;
    if (text.failed)
        return error_no_memory(check->err);
    snapshot_check_prove(check, buf_text(&text));
    return true;
}

/* SQLite's own examination: one row "ok", or one for each fault. */
static bool snapshot_check_database(struct snapshot_check *check)
{
    struct statement *quick = database_prepare(check->database, "PRAGMA quick_check", check->err);
    enum statement_step step = STATEMENT_FAILED;
    while (quick && (step = statement_step(quick, check->err)) == STATEMENT_ROW) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        struct span row = statement_text(quick, 0);
        buf_add_text(&text, "the database is damaged: ");
        buf_add_span(&text, row);
        if (!span_is(row, "ok"))
            snapshot_check_add_fault(check, buf_text(&text));
    }
    statement_end(quick);
    return step == STATEMENT_DONE && (check->faults > 0 || snapshot_check_kind(check));
}

/* Tables. */

/* Whether NAME exists as a KIND of the database. */
static bool snapshot_check_has(struct snapshot_check *check, const char *kind, const char *name,
                               bool *out)
{
    struct statement *find = database_prepare(
        check->database, "SELECT 1 FROM sqlite_schema WHERE type = ?1 AND name = ?2", check->err);
    if (!find)
        return false;
    statement_bind_text(find, 1, span_text(kind));
    statement_bind_text(find, 2, span_text(name));
    enum statement_step step = statement_step(find, check->err);
    *out = step == STATEMENT_ROW;
    statement_end(find);
    return step != STATEMENT_FAILED;
}

/* The table of items, and its indexes. */
static bool snapshot_check_indexes(struct snapshot_check *check, bool *has_items)
{
    char name[64];
    bool has_index;
    snprintf(name, sizeof name, "items_%" PRId64, check->number);
    if (!snapshot_check_has(check, "table", name, has_items))
        return false;
    if (!*has_items)
        snapshot_check_add_fault(check, "the table of its items is missing");
    size_t count = check->is_recording ? 1 : check->info->index_count + 1;
    for (size_t i = 0; *has_items && i < count; i++) {
        snprintf(name, sizeof name, i == 0 ? "items_%" PRId64 "_key" : "items_%" PRId64 "_by_%zu",
                 check->number, i);
        if (!snapshot_check_has(check, "index", name, &has_index))
            return false;
        if (!has_index)
            snapshot_check_add_fault(check, "an index is missing, so that reads would be slow");
    }
    return true;
}

static bool snapshot_check_keys(struct snapshot_check *check)
{
    struct statement *find = database_prepare(
        check->database,
        "SELECT attribute, type, column FROM keys WHERE table_number = ?1 ORDER BY "
        "length(column), column",
        check->err);
    enum statement_step step = STATEMENT_FAILED;
    size_t count = 0;
    if (!find)
        return false;
    statement_bind_integer(find, 1, check->number);
    bool equal = true;
    while ((step = statement_step(find, check->err)) == STATEMENT_ROW) {
        char column[24];
        snprintf(column, sizeof column, "k%zu", count + 1);
        equal =
            equal && count < check->columns.count &&
            span_equal(statement_text(find, 0), check->columns.list[count].attribute) &&
            span_is(statement_text(find, 1), value_type_name(check->columns.list[count].type)) &&
            span_is(statement_text(find, 2), column);
        count++;
    }
    statement_end(find);
    if (!equal || count != check->columns.count)
        snapshot_check_add_fault(check, "the table keys differs from the table's description");
    return step == STATEMENT_DONE;
}

/* The counts of each moment. */
static bool snapshot_check_moments(struct snapshot_check *check)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    buf_printf(&sql,
               "SELECT at_ms, items, bytes, count(from_moment), ifnull(sum(size), 0) FROM (SELECT "
               "m.at_ms, m.items, m.bytes, i.from_ms AS from_moment, length(CAST(i.item AS BLOB)) "
               "AS size FROM moments m LEFT JOIN items_%" PRId64
               " i ON i.from_ms <= m.at_ms AND (i.until_ms IS NULL OR i.until_ms > m.at_ms) WHERE "
               "m.table_number = %" PRId64 ") GROUP BY at_ms ORDER BY at_ms",
               check->number, check->number);
    struct statement *find = snapshot_check_prepare(check, &sql);
    enum statement_step step = STATEMENT_FAILED;
    unsigned count = 0, faults = check->faults;
    while (find && (step = statement_step(find, check->err)) == STATEMENT_ROW) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        int64_t items = statement_integer(find, 1), bytes = statement_integer(find, 2);
        buf_add_text(&text, "at ");
        instant_write_exact(&text, statement_integer(find, 0));
        buf_printf(&text,
                   ", %" PRId64 " items and %" PRId64 " bytes are stated, but it has %" PRId64
                   " and %" PRId64,
                   items, bytes, statement_integer(find, 3), statement_integer(find, 4));
        if (items != statement_integer(find, 3) || bytes != statement_integer(find, 4))
            snapshot_check_add_fault(check, buf_text(&text));
        count++;
    }
    statement_end(find);
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "the counts of %u moment%s are right", count, count == 1 ? "" : "s");
    if (count > 0 && step == STATEMENT_DONE && check->faults == faults)
        snapshot_check_prove(check, buf_text(&text));
    return step == STATEMENT_DONE;
}

/* Whether the key columns of the current row, from COLUMN on, are those of its item. */
static bool snapshot_check_has_columns(const struct snapshot_check *check,
                                       const struct statement *row, int column)
{
    for (size_t i = 0; i < check->columns.count; i++) {
        int at = column + (int)i;
        struct span bytes;
        bool is_bytes = check->columns.list[i].type == VALUE_B;
        bool is_present = item_row_value(&check->row, i, &bytes);
        if (is_present == statement_is_null(row, at))
            return false;
        if (is_present &&
            (!(is_bytes ? statement_is_bytes(row, at) : statement_is_text(row, at)) ||
             !span_equal(bytes, is_bytes ? statement_bytes(row, at) : statement_text(row, at))))
            return false;
    }
    return true;
}

/* The row of one version: its number, its times, its item, its key columns. False without memory.
 */
static bool snapshot_check_row(struct snapshot_check *check, const struct statement *row)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf text = {0}, why = {0};
    int64_t until = statement_integer(row, 2), next = statement_integer(row, 3);
    bool has_until = !statement_is_null(row, 2), has_next = !statement_is_null(row, 3);
    struct error unread = {0};
    buf_printf(&text, "row %" PRId64 ": ", statement_integer(row, 0));
    size_t size = text.size;
    if ((has_until && until <= statement_integer(row, 1)) ||
        (has_next && (!has_until || until > next)))
        buf_add_text(&text, "the time of this version overlaps that of the next one of its key");
    else if (!input_parse("the item", statement_text(row, 4), &doc, &unread))
        buf_add_text(&text, unread.text);
    else if (!item_row_take(&check->row, json_root(&doc), &why) && why.size == 0)
        error_no_memory(&unread);
    else if (why.size > 0)
        buf_printf(&text, "the item %s", buf_text(&why));
    else if (!snapshot_check_has_columns(check, row, 5))
        buf_add_text(&text, "a key column differs from the item");
    if (text.failed || unread.kind == ERROR_NO_MEMORY)
        return error_no_memory(check->err);
    if (text.size > size)
        snapshot_check_add_fault(check, buf_text(&text));
    return true;
}

static bool snapshot_check_items(struct snapshot_check *check)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0}, text = {0};
    const char *own = check->columns.own_count > 1 ? "k1, k2" : "k1";
    unsigned faults = check->faults;
    uint64_t count = 0;
    buf_printf(&sql,
               "SELECT rowid, from_ms, until_ms, lead(from_ms) OVER (PARTITION BY %s ORDER BY "
               "from_ms), item",
               own);
    for (size_t i = 0; i < check->columns.count; i++)
        buf_printf(&sql, ", k%zu", i + 1);
    buf_printf(&sql, " FROM items_%" PRId64, check->number);
    struct statement *find = snapshot_check_prepare(check, &sql);
    enum statement_step step = STATEMENT_FAILED;
    bool ok = find != NULL;
    while (ok && (step = statement_step(find, check->err)) == STATEMENT_ROW) {
        ok = snapshot_check_row(check, find);
        count++;
    }
    statement_end(find);
    if (!ok)
        return false;
    buf_printf(&text, "%" PRIu64 " version%s of items %s valid, and %s the keys that the table has",
               count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
               count == 1 ? "has" : "have");
    if (count > 0 && step == STATEMENT_DONE && check->faults == faults)
        snapshot_check_prove(check, buf_text(&text));
    return step == STATEMENT_DONE;
}

static bool snapshot_check_description(struct snapshot_check *check, struct json_doc *doc,
                                       struct span description)
{
    check->info = json_parse(doc, description, JSON_STRICT, NULL)
                      ? table_description_read(json_root(doc), &check->arena)
                      : NULL;
    if (!check->info) {
        snapshot_check_add_fault(check, "the description of the table is not valid");
        return !check->arena.failed || error_no_memory(check->err);
    }
    if (!schema_find_columns(check->info, &check->arena, &check->columns))
        return error_no_memory(check->err);
    if (check->is_recording)
        check->columns.count = check->columns.own_count;
    return item_row_init(&check->row, &check->columns, &check->arena) ||
           error_no_memory(check->err);
}

/* Checks the table of the current row. */
static bool snapshot_check_table(struct snapshot_check *check, const struct statement *row)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf name = {0}, more = {0};
    bool has_items = false;
    buf_add_span(&name, statement_text(row, 1));
    check->number = statement_integer(row, 0);
    check->table = buf_text(&name);
    check->arena = (struct arena){0};
    check->row = (struct item_row){0};
    check->faults = 0;
    bool ok = snapshot_check_description(check, &doc, statement_text(row, 2));
    if (ok && check->info)
        ok = snapshot_check_keys(check) && snapshot_check_indexes(check, &has_items);
    if (ok && has_items)
        ok = snapshot_check_items(check) && snapshot_check_moments(check);
    if (check->faults > SNAPSHOT_FAULTS) {
        buf_printf(&more, "and %u more faults", check->faults - SNAPSHOT_FAULTS);
        check->options->report(check->options->arg, false, check->table, buf_text(&more));
    }
    item_row_clean_up(&check->row);
    arena_discard(&check->arena);
    check->table = NULL;
    return ok;
}

static bool snapshot_check_tables(struct snapshot_check *check)
{
    struct statement *tables = database_prepare(
        check->database, "SELECT number, name, description FROM tables ORDER BY 1", check->err);
    enum statement_step step = STATEMENT_FAILED;
    bool ok = tables != NULL;
    while (ok && (step = statement_step(tables, check->err)) == STATEMENT_ROW)
        ok = snapshot_check_table(check, tables);
    statement_end(tables);
    return ok && step == STATEMENT_DONE;
}

bool snapshot_check(const struct snapshot_check_options *options, struct error *err)
{
    struct error unwanted;
    struct snapshot_check check = {.options = options, .err = err ? err : &unwanted};
    check.database = database_open(options->file, DATABASE_READ, check.err);
    bool ok = check.database && schema_check(check.database, check.err) &&
              snapshot_check_database(&check) &&
              (check.faults > 0 || snapshot_check_tables(&check));
    database_close(check.database);
    return ok;
}
