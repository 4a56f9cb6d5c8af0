#include "core/import/snapshot_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/import/new_file.h"

struct snapshot_writer {
    char *file;                            /* owned: the name of the result */
    bool onto;                             /* FILE is extended */
    bool replaces;                         /* NEW may replace FILE */
    struct new_file new;                   /* without ONTO */
    struct database *database;             /* owned */
    struct statement *insert, *find, *end; /* owned: of the table that is being written */
};

/* A new file needs no journal on the disk, because it is removed after a failure. Its pages are
 * written in order. Pages of 8 KB leave less space unused behind items of 1 KB than those of 4 KB.
 * Sorting for an index takes as much memory as the cache. */
static const char new_file_settings[] =
    "PRAGMA page_size = 8192; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;"
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -16384; PRAGMA temp_store = FILE;"
    "BEGIN IMMEDIATE;";

static const char old_file_settings[] =
    "PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; PRAGMA temp_store = FILE;"
    "BEGIN IMMEDIATE;";

/* A recording is evidence: it holds responses of the service alone. */
static bool snapshot_writer_check_kind(struct snapshot_writer *writer, struct error *err)
{
    bool is_recording;
    return schema_find_kind(writer->database, &is_recording, err) &&
           (!is_recording ||
            error_set(err, ERROR_INVALID,
                      "%s is a recording, and --onto would change it; import into another file",
                      writer->file));
}

static bool snapshot_writer_open(struct snapshot_writer *writer,
                                 const struct snapshot_writer_options *options, struct error *err)
{
    writer->file = strdup(options->file);
    if (!writer->file)
        return error_no_memory(err);
    writer->onto = options->onto;
    writer->replaces = options->replaces;
    if (!options->onto && !new_file_create(&writer->new, writer->file, err))
        return false;
    writer->database = options->onto ? database_open(writer->file, DATABASE_WRITE, err)
                                     : database_open(writer->new.name, DATABASE_CREATE, err);
    if (!writer->database || !database_set_file(writer->database, writer->file, err))
        return false;
    database_watch(writer->database, options->watch, options->watch_arg);
    return options->onto
               ? schema_check(writer->database, err) && snapshot_writer_check_kind(writer, err) &&
                     database_run(writer->database, old_file_settings, err)
               : database_run(writer->database, new_file_settings, err) &&
                     schema_create(writer->database, "snapshot", err);
}

struct snapshot_writer *snapshot_writer_new(const struct snapshot_writer_options *options,
                                            struct error *err)
{
    struct snapshot_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        error_no_memory(err);
        return NULL;
    }
    if (snapshot_writer_open(writer, options, err))
        return writer;
    snapshot_writer_destroy(writer);
    return NULL;
}

static void snapshot_writer_end_statements(struct snapshot_writer *writer)
{
    statement_end(writer->insert);
    statement_end(writer->find);
    statement_end(writer->end);
    writer->insert = writer->find = writer->end = NULL;
}

void snapshot_writer_destroy(struct snapshot_writer *writer)
{
    if (!writer)
        return;
    snapshot_writer_end_statements(writer);
    database_close(writer->database);
    if (!writer->onto)
        new_file_clean_up(&writer->new);
    free(writer->file);
    free(writer);
}

static bool snapshot_writer_remove(const char *file, const char *ending, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    buf_printf(&name, "%s%s", file, ending);
    if (name.failed)
        return error_no_memory(err);
    return unlink(buf_text(&name)) == 0 || errno == ENOENT || new_file_refuse(buf_text(&name), err);
}

/* SQLite would apply to the new file the journal or the write-ahead log that a writer of the old
 * one left. So the old file is restored first: it stays intact if it is not replaced after all. OLD
 * keeps other writers out until the file is replaced; NULL: it is missing, or none of ddbfs. */
static bool snapshot_writer_drop_journals(const struct snapshot_writer *writer,
                                          struct database **old, struct error *err)
{
    struct error why = {0};
    if (access(writer->file, F_OK) == 0) {
        if (!writer->replaces)
            return true; /* the file is not replaced, and the journal is its own */
        *old = database_open(writer->file, DATABASE_WRITE, &why);
        if (*old)
            database_run(*old, "BEGIN IMMEDIATE", &why);
        if (why.kind == ERROR_TIMED_OUT || why.kind == ERROR_NO_MEMORY) {
            if (err)
                *err = why;
            return false;
        }
    }
    return snapshot_writer_remove(writer->file, "-journal", err) &&
           snapshot_writer_remove(writer->file, "-wal", err) &&
           snapshot_writer_remove(writer->file, "-shm", err);
}

bool snapshot_writer_commit(struct snapshot_writer *writer, struct error *err)
{
    struct database *old = NULL;
    snapshot_writer_end_statements(writer);
    if (!database_run(writer->database, "COMMIT", err))
        return false;
    if (writer->onto)
        return database_check_place(writer->database, err);
    database_close(writer->database);
    writer->database = NULL;
    bool ok = snapshot_writer_drop_journals(writer, &old, err) &&
              new_file_publish(&writer->new, writer->replaces, err);
    database_close(old);
    return ok;
}

bool snapshot_writer_set_fact(struct snapshot_writer *writer, const char *name, struct span value,
                              struct error *err)
{
    return schema_set_fact(writer->database, name, value, err);
}

/* Tables. */

void stored_table_clean_up(struct stored_table *table)
{
    buf_clean_up(&table->name);
    buf_clean_up(&table->description);
    buf_clean_up(&table->expiry);
    buf_clean_up(&table->origin);
}

static void snapshot_writer_take_table(const struct statement *row, struct stored_table *out)
{
    out->number = statement_integer(row, 0);
    buf_add_span(&out->name, statement_text(row, 1));
    buf_add_span(&out->description, statement_text(row, 2));
    buf_add_span(&out->expiry, statement_text(row, 3));
    out->at_ms = statement_integer(row, 4);
    out->item_count = statement_integer(row, 5);
    out->byte_count = statement_integer(row, 6);
    buf_add_span(&out->origin, statement_text(row, 7));
}

bool snapshot_writer_find_table(struct snapshot_writer *writer, const char *name, bool *found,
                                struct stored_table *out, struct error *err)
{
    struct statement *find = database_prepare(
        writer->database,
        "SELECT number, name, description, expiry, at_ms, items, bytes, origin FROM tables JOIN "
        "moments "
        "ON table_number = number AND at_ms = (SELECT max(at_ms) FROM moments WHERE table_number = "
        "number) WHERE ?1 IS NULL OR name = ?1",
        err);
    if (!find)
        return false;
    if (name)
        statement_bind_text(find, 1, span_text(name));
    *out = (struct stored_table){0};
    enum statement_step step = statement_step(find, err);
    *found = step == STATEMENT_ROW;
    if (*found) {
        snapshot_writer_take_table(find, out);
        step = statement_step(find, err);
        *found = step == STATEMENT_DONE;
    }
    statement_end(find);
    if (out->name.failed || out->description.failed || out->expiry.failed || out->origin.failed)
        return error_no_memory(err);
    return step != STATEMENT_FAILED;
}

/* Appends "INSERT INTO items_N VALUES(?1, …)". */
static struct statement *snapshot_writer_prepare_insert(struct snapshot_writer *writer,
                                                        const struct table_state *state,
                                                        struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    buf_printf(&sql, "INSERT INTO items_%" PRId64 " VALUES(", state->number);
    for (size_t i = 0; i < state->columns->count; i++)
        buf_printf(&sql, "?%zu, ", i + 1);
    buf_printf(&sql, "?%zu, NULL, ?%zu)", state->columns->count + 1, state->columns->count + 2);
    if (!sql.failed)
        return database_prepare(writer->database, buf_text(&sql), err);
    error_no_memory(err);
    return NULL;
}

bool snapshot_writer_begin_state(struct snapshot_writer *writer, const struct schema_table *table,
                                 struct table_state *state, struct error *err)
{
    snapshot_writer_end_statements(writer);
    if (!schema_add_table(writer->database, table, &state->number, err))
        return false;
    writer->insert = snapshot_writer_prepare_insert(writer, state, err);
    return writer->insert != NULL;
}

bool snapshot_writer_add_item(struct snapshot_writer *writer, struct table_state *state,
                              const struct item_row *row, struct error *err)
{
    size_t count = state->columns->count;
    item_row_bind(row, writer->insert, 1, count);
    statement_bind_integer(writer->insert, (int)count + 1, state->at_ms);
    statement_bind_text(writer->insert, (int)count + 2, row->item);
    state->item_count++;
    state->byte_count += (int64_t)row->item.size;
    return statement_run(writer->insert, err);
}

/* Rows were inserted in the order of their items, so that their numbers are those of the items. */
static bool snapshot_writer_find_repeated(struct snapshot_writer *writer,
                                          const struct table_state *state, int64_t *first,
                                          int64_t *second, struct buf *item, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    const char *columns = state->columns->own_count > 1 ? "k1, k2" : "k1";
    buf_printf(&sql,
               "SELECT a, b, item FROM (SELECT rowid AS b, item, lag(rowid) OVER w AS a, count(*) "
               "OVER (PARTITION "
               "BY %s) AS n FROM items_%" PRId64 " WINDOW w AS (PARTITION BY %s ORDER BY rowid)) "
               "WHERE n > 1 AND a IS NOT NULL ORDER BY b LIMIT 1",
               columns, state->number, columns);
    if (sql.failed)
        return error_no_memory(err);
    struct statement *find = database_prepare(writer->database, buf_text(&sql), err);
    enum statement_step step = find ? statement_step(find, err) : STATEMENT_FAILED;
    if (step == STATEMENT_ROW) {
        *first = statement_integer(find, 0);
        *second = statement_integer(find, 1);
        buf_add_span(item, statement_text(find, 2));
    }
    statement_end(find);
    return step != STATEMENT_FAILED;
}

bool snapshot_writer_end_state(struct snapshot_writer *writer, const struct table_state *state,
                               int64_t *first, int64_t *second, struct buf *item, struct error *err)
{
    struct error why = {0};
    *first = *second = 0;
    snapshot_writer_end_statements(writer);
    if (schema_add_indexes(writer->database, state->number, state->info, &why))
        return true;
    if (why.kind == ERROR_INVALID) {
        if (!snapshot_writer_find_repeated(writer, state, first, second, item, err) || *second)
            return false;
    }
    if (err)
        *err = why;
    return false;
}

/* Changes. */

static struct statement *snapshot_writer_prepare_find(struct snapshot_writer *writer,
                                                      const struct table_state *state,
                                                      struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    buf_printf(&sql,
               "SELECT rowid, from_ms, until_ms, item FROM items_%" PRId64
               " WHERE k1 = ?1%s ORDER BY from_ms DESC LIMIT 1",
               state->number, state->columns->own_count > 1 ? " AND k2 = ?2" : "");
    if (!sql.failed)
        return database_prepare(writer->database, buf_text(&sql), err);
    error_no_memory(err);
    return NULL;
}

bool snapshot_writer_begin_changes(struct snapshot_writer *writer, const struct table_state *state,
                                   struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    snapshot_writer_end_statements(writer);
    buf_printf(&sql, "UPDATE items_%" PRId64 " SET until_ms = ?1 WHERE rowid = ?2", state->number);
    if (sql.failed)
        return error_no_memory(err);
    writer->end = database_prepare(writer->database, buf_text(&sql), err);
    writer->find = writer->end ? snapshot_writer_prepare_find(writer, state, err) : NULL;
    writer->insert = writer->find ? snapshot_writer_prepare_insert(writer, state, err) : NULL;
    return writer->insert != NULL;
}

bool snapshot_writer_find_item(struct snapshot_writer *writer, const struct table_state *state,
                               const struct item_row *keys, struct stored_item *out,
                               struct error *err)
{
    *out = (struct stored_item){0};
    statement_reset(writer->find);
    item_row_bind(keys, writer->find, 1, state->columns->own_count);
    enum statement_step step = statement_step(writer->find, err);
    if (step != STATEMENT_ROW)
        return step == STATEMENT_DONE;
    out->row = statement_integer(writer->find, 0);
    out->exists = statement_is_null(writer->find, 2);
    out->is_new = out->exists ? statement_integer(writer->find, 1) == state->at_ms
                              : statement_integer(writer->find, 2) == state->at_ms;
    out->item = out->exists ? statement_text(writer->find, 3) : span_text("");
    return true;
}

bool snapshot_writer_change_item(struct snapshot_writer *writer, struct table_state *state,
                                 const struct stored_item *stored, const struct item_row *row,
                                 struct error *err)
{
    int64_t size = (int64_t)stored->item.size;
    statement_reset(writer->find);
    if (stored->exists) {
        statement_bind_integer(writer->end, 1, state->at_ms);
        statement_bind_integer(writer->end, 2, stored->row);
        if (!statement_run(writer->end, err))
            return false;
        state->item_count--;
        state->byte_count -= size;
    }
    return !row || snapshot_writer_add_item(writer, state, row, err);
}

bool snapshot_writer_add_moment(struct snapshot_writer *writer, const struct table_state *state,
                                const int64_t *from_ms, struct span origin, struct error *err)
{
    snapshot_writer_end_statements(writer);
    struct statement *insert = database_prepare(
        writer->database, "INSERT INTO moments VALUES(?1, ?2, ?3, ?4, ?5, ?6)", err);
    if (!insert)
        return false;
    statement_bind_integer(insert, 1, state->number);
    statement_bind_integer(insert, 2, state->at_ms);
    if (from_ms)
        statement_bind_integer(insert, 3, *from_ms);
    statement_bind_text(insert, 4, origin);
    statement_bind_integer(insert, 5, state->item_count);
    statement_bind_integer(insert, 6, state->byte_count);
    bool ok = statement_run(insert, err);
    statement_end(insert);
    return ok;
}
