#include "core/snapshot/schema.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/ascii.h"

static const char schema_tables[] =
    "CREATE TABLE about(name TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;"
    "CREATE TABLE tables(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " description TEXT NOT NULL, expiry TEXT);"
    "CREATE TABLE keys(table_number INTEGER NOT NULL, attribute TEXT NOT NULL, type TEXT NOT NULL,"
    " column TEXT NOT NULL, PRIMARY KEY(table_number, attribute)) WITHOUT ROWID;"
    "CREATE TABLE moments(table_number INTEGER NOT NULL, at_ms INTEGER NOT NULL, from_ms INTEGER,"
    " origin TEXT NOT NULL, items INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " PRIMARY KEY(table_number, at_ms)) WITHOUT ROWID;";

/* Appends "k1, k2, …". */
static void schema_write_columns(size_t from, size_t to, struct buf *out)
{
    for (size_t i = from; i < to; i++)
        buf_printf(out, "%sk%zu", i > from ? ", " : "", i + 1);
}

static bool schema_run(struct database *database, const struct buf *sql, struct error *err)
{
    return sql->failed ? error_no_memory(err) : database_run(database, buf_text(sql), err);
}

bool schema_create(struct database *database, const char *kind, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    buf_printf(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;", SCHEMA_APPLICATION,
               SCHEMA_VERSION);
    buf_add_text(&sql, schema_tables);
    buf_printf(&sql,
               "INSERT INTO about VALUES('kind', '%s'), ('program', 'ddbfs " DDBFS_VERSION "');",
               kind);
    return schema_run(database, &sql, err);
}

bool schema_read_fact(struct database *database, const char *name, bool *found, struct buf *out,
                      struct error *err)
{
    struct statement *find =
        database_prepare(database, "SELECT value FROM about WHERE name = ?1", err);
    if (!find)
        return false;
    statement_bind_text(find, 1, span_text(name));
    enum statement_step step = statement_step(find, err);
    *found = step == STATEMENT_ROW;
    if (*found)
        buf_add_span(out, statement_text(find, 0));
    statement_end(find);
    return step != STATEMENT_FAILED && (!out->failed || error_no_memory(err));
}

bool schema_set_fact(struct database *database, const char *name, struct span value,
                     struct error *err)
{
    struct statement *set =
        database_prepare(database, "INSERT OR REPLACE INTO about VALUES(?1, ?2)", err);
    if (!set)
        return false;
    statement_bind_text(set, 1, span_text(name));
    statement_bind_text(set, 2, value);
    bool ok = statement_run(set, err);
    statement_end(set);
    return ok;
}

bool schema_find_kind(struct database *database, bool *is_recording, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf kind = {0};
    bool found;
    bool ok = schema_read_fact(database, "kind", &found, &kind, err);
    *is_recording = span_is(buf_span(&kind), "recording");
    return ok;
}

bool schema_check(struct database *database, struct error *err)
{
    int64_t application, version, tables;
    const char *file = database_file(database);
    if (!database_read_integer(database, "PRAGMA application_id", &application, err) ||
        !database_read_integer(database, "PRAGMA user_version", &version, err))
        return false;
    if (application != SCHEMA_APPLICATION)
        return error_set(err, ERROR_INVALID,
                         "%s is not a snapshot: it is a database of another application; make one "
                         "with ddbfs import",
                         file);
    if (version > SCHEMA_VERSION)
        return error_set(err, ERROR_INVALID,
                         "%s was written by a newer ddbfs: its version is %" PRId64
                         ", and this program reads %d; install a newer ddbfs",
                         file, version, SCHEMA_VERSION);
    if (!database_read_integer(database,
                               "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN"
                               " ('about', 'tables', 'keys', 'moments')",
                               &tables, err))
        return false;
    if (version < 1 || tables != 4)
        return error_set(err, ERROR_BAD_ANSWER,
                         "%s is no complete snapshot: tables of it are missing; import it again",
                         file);
    return true;
}

bool schema_is_in_header(const char *file)
{
    static const char magic[] = "SQLite format 3", application[] = {'d', 'd', 'b', 'f'};
    enum { APPLICATION_AT = 68 };
    char header[APPLICATION_AT + sizeof application];
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size = fd < 0 ? -1 : read(fd, header, sizeof header);
    if (fd >= 0)
        close(fd);
    return size == (ssize_t)sizeof header && memcmp(header, magic, sizeof magic) == 0 &&
           memcmp(header + APPLICATION_AT, application, sizeof application) == 0;
}

size_t schema_find_column(const struct schema_columns *columns, struct span attribute)
{
    size_t i = 0;
    while (i < columns->count && !span_equal(columns->list[i].attribute, attribute))
        i++;
    return i;
}

static void schema_add_columns(struct schema_columns *columns, const struct key_schema *keys)
{
    for (size_t i = 0; i < keys->partition_count + keys->sort_count; i++) {
        bool is_sort = i >= keys->partition_count;
        size_t at = is_sort ? i - keys->partition_count : i;
        struct span name = is_sort ? keys->sort[at].name : keys->partition[at].name;
        enum value_type type = is_sort ? keys->sort[at].type : keys->partition[at].type;
        if (schema_find_column(columns, name) == columns->count)
            columns->list[columns->count++] = (struct schema_column){name, type};
    }
}

bool schema_find_columns(const struct table_info *info, struct arena *arena,
                         struct schema_columns *out)
{
    size_t most = (info->index_count + 1) * KEY_MAX_ATTRIBUTES * 2;
    *out = (struct schema_columns){.list = arena_array(arena, most, sizeof *out->list)};
    if (!out->list)
        return false;
    schema_add_columns(out, &info->keys);
    out->own_count = out->count;
    for (size_t i = 0; i < info->index_count; i++)
        schema_add_columns(out, &info->indexes[i].keys);
    return true;
}

static bool schema_insert_table(struct database *database, const struct schema_table *table,
                                int64_t *number, struct error *err)
{
    if (!database_read_integer(database, "SELECT ifnull(max(number), 0) + 1 FROM tables", number,
                               err))
        return false;
    struct statement *insert =
        database_prepare(database, "INSERT INTO tables VALUES(?1, ?2, ?3, ?4)", err);
    if (!insert)
        return false;
    statement_bind_integer(insert, 1, *number);
    statement_bind_text(insert, 2, table->name);
    statement_bind_text(insert, 3, table->description);
    if (table->expiry.size > 0)
        statement_bind_text(insert, 4, table->expiry);
    bool ok = statement_run(insert, err);
    statement_end(insert);
    return ok;
}

static bool schema_insert_keys(struct database *database, int64_t number,
                               const struct schema_columns *columns, struct error *err)
{
    struct statement *insert =
        database_prepare(database, "INSERT INTO keys VALUES(?1, ?2, ?3, 'k' || ?4)", err);
    bool ok = insert != NULL;
    for (size_t i = 0; ok && i < columns->count; i++) {
        statement_bind_integer(insert, 1, number);
        statement_bind_text(insert, 2, columns->list[i].attribute);
        statement_bind_text(insert, 3, span_text(value_type_name(columns->list[i].type)));
        statement_bind_integer(insert, 4, (int64_t)i + 1);
        ok = statement_run(insert, err);
    }
    statement_end(insert);
    return ok;
}

/* A name that SQLite, or a table or index of items, may have. */
static bool schema_is_reserved(const char *name)
{
    return strncasecmp(name, "sqlite_", 7) == 0 ||
           (strncasecmp(name, "items_", 6) == 0 && ascii_is_digit(name[6]));
}

/* SQLite has one name space for tables, views and indexes, and ignores the case of names. */
static bool schema_can_have_view(struct database *database, struct span name, bool *out,
                                 struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_span(&text, name);
    *out = false;
    if (text.failed)
        return error_no_memory(err);
    if (schema_is_reserved(buf_text(&text)))
        return true;
    struct statement *find = database_prepare(
        database, "SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE", err);
    if (!find)
        return false;
    statement_bind_text(find, 1, name);
    enum statement_step step = statement_step(find, err);
    *out = step == STATEMENT_DONE;
    statement_end(find);
    return step != STATEMENT_FAILED;
}

/* A name that a path of JSON in an SQL string may hold unchanged. */
static bool schema_is_plain(struct span name)
{
    for (size_t i = 0; i < name.size; i++)
        if (!strchr("_-.:#@", name.data[i]) && !ascii_is_digit(name.data[i]) &&
            !ascii_is_letter(name.data[i]))
            return false;
    return true;
}

/* A number is shown as a number, and not as its text for sorting. */
static void schema_write_view_column(const struct schema_column *column, size_t at, struct buf *out)
{
    if (column->type == VALUE_N && schema_is_plain(column->attribute)) {
        buf_add_text(out, "CAST(json_extract(item, '$.\"");
        buf_add_span(out, column->attribute);
        buf_add_text(out, "\".N') AS NUMERIC) AS ");
    } else {
        buf_printf(out, "k%zu AS ", at + 1);
    }
    database_write_name(column->attribute, out);
    buf_add_text(out, ", ");
}

static void schema_write_view(int64_t number, struct span name,
                              const struct schema_columns *columns, struct buf *out)
{
    buf_add_text(out, "CREATE VIEW ");
    database_write_name(name, out);
    buf_add_text(out, " AS SELECT ");
    for (size_t i = 0; i < columns->own_count; i++)
        schema_write_view_column(&columns->list[i], i, out);
    buf_printf(out, "item FROM items_%" PRId64 " WHERE until_ms IS NULL;", number);
}

bool schema_add_table(struct database *database, const struct schema_table *table, int64_t *number,
                      struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    struct schema_columns columns;
    bool has_view;
    if (!schema_find_columns(table->info, &arena, &columns))
        return error_no_memory(err);
    if (!schema_insert_table(database, table, number, err) ||
        !schema_insert_keys(database, *number, &columns, err) ||
        !schema_can_have_view(database, table->name, &has_view, err))
        return false;
    buf_printf(&sql, "CREATE TABLE items_%" PRId64 "(", *number);
    schema_write_columns(0, columns.count, &sql);
    buf_add_text(&sql, ", from_ms INTEGER NOT NULL, until_ms INTEGER, item TEXT NOT NULL);");
    if (has_view)
        schema_write_view(*number, table->name, &columns, &sql);
    return schema_run(database, &sql, err);
}

/* Appends the columns of KEYS, partition first, each behind BEFORE (but the first) and before
 * BEHIND. */
static void schema_write_index_columns(const struct key_schema *keys,
                                       const struct schema_columns *columns, const char *before,
                                       const char *behind, struct buf *out)
{
    for (size_t i = 0; i < keys->partition_count + keys->sort_count; i++) {
        bool is_sort = i >= keys->partition_count;
        struct span name =
            is_sort ? keys->sort[i - keys->partition_count].name : keys->partition[i].name;
        buf_printf(out, "%sk%zu%s", i > 0 ? before : "", schema_find_column(columns, name) + 1,
                   behind);
    }
}

/* SQLite sorts by itself if an index has a column twice. */
static bool schema_has_column(const struct key_schema *keys, struct span attribute)
{
    for (size_t i = 0; i < keys->partition_count; i++)
        if (span_equal(keys->partition[i].name, attribute))
            return true;
    for (size_t i = 0; i < keys->sort_count; i++)
        if (span_equal(keys->sort[i].name, attribute))
            return true;
    return false;
}

bool schema_add_indexes(struct database *database, int64_t number, const struct table_info *info,
                        struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    struct schema_columns columns;
    if (!schema_find_columns(info, &arena, &columns))
        return error_no_memory(err);
    buf_printf(&sql, "CREATE UNIQUE INDEX items_%" PRId64 "_key ON items_%" PRId64 "(", number,
               number);
    schema_write_columns(0, columns.own_count, &sql);
    buf_add_text(&sql, ", from_ms);");
    for (size_t i = 0; i < info->index_count; i++) {
        const struct key_schema *keys = &info->indexes[i].keys;
        buf_printf(&sql, "CREATE INDEX items_%" PRId64 "_by_%zu ON items_%" PRId64 "(", number,
                   i + 1, number);
        schema_write_index_columns(keys, &columns, ", ", "", &sql);
        for (size_t k = 0; k < columns.own_count; k++)
            if (!schema_has_column(keys, columns.list[k].attribute))
                buf_printf(&sql, ", k%zu", k + 1);
        buf_add_text(&sql, ", from_ms) WHERE ");
        schema_write_index_columns(keys, &columns, " AND ", " IS NOT NULL", &sql);
        buf_add_text(&sql, ";");
    }
    return schema_run(database, &sql, err);
}
