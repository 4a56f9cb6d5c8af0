#include "core/snapshot/snapshot_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/source/table_description.h"

struct snapshot_file *snapshot_file_ref(struct snapshot_file *file)
{
    file->references++;
    return file;
}

void snapshot_file_unref(struct snapshot_file *file)
{
    if (!file || --file->references > 0)
        return;
    arena_clean_up(&file->arena);
    free(file);
}

bool snapshot_stamp_read(const char *path, struct snapshot_stamp *out)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return false;
    *out = (struct snapshot_stamp){found.st_dev, found.st_ino, found.st_size, found.st_mtim};
    return true;
}

bool snapshot_stamp_equal(const struct snapshot_stamp *a, const struct snapshot_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool snapshot_file_refuse_other(const struct snapshot_file *file, struct error *err)
{
    return error_set(
        err, ERROR_REPLACED,
        "%s was replaced by another file while it was in use; send SIGHUP to the mount "
        "to read the new one, or wait a minute",
        file->path);
}

bool snapshot_file_look(const struct snapshot_file *file, struct snapshot_stamp *now,
                        struct error *err)
{
    if (!snapshot_stamp_read(file->path, now))
        return error_set(err, ERROR_REPLACED,
                         "%s was removed, or can't be reached any more: %s; restore it", file->path,
                         strerror(errno));
    return (now->device == file->stamp.device && now->inode == file->stamp.inode) ||
           snapshot_file_refuse_other(file, err);
}

bool snapshot_file_check(const struct snapshot_file *file, struct error *err)
{
    struct snapshot_stamp now;
    return snapshot_file_look(file, &now, err);
}

bool snapshot_file_prove(const struct snapshot_file *file, const struct snapshot_table *table,
                         int64_t at_ms, struct database *database, struct error *err)
{
    struct statement *find = database_prepare(
        database,
        "SELECT 1 FROM tables JOIN moments ON table_number = number WHERE number = ?1 AND name = "
        "?2 AND description = ?3 AND at_ms = ?4",
        err);
    if (!find)
        return false;
    statement_bind_integer(find, 1, table->number);
    statement_bind_text(find, 2, span_text(table->name));
    statement_bind_text(find, 3, table->description);
    statement_bind_integer(find, 4, at_ms);
    enum statement_step step = statement_step(find, err);
    statement_end(find);
    if (step == STATEMENT_DONE)
        snapshot_file_refuse_other(file, err);
    return step == STATEMENT_ROW;
}

const struct snapshot_moment *snapshot_table_moment(const struct snapshot_table *table,
                                                    int64_t at_ms)
{
    size_t low = 0, high = table->moment_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->moments[middle].at_ms <= at_ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &table->moments[low - 1] : NULL;
}

static bool snapshot_file_refuse(const struct snapshot_file *file, const char *table,
                                 const char *what, struct error *err)
{
    return error_set(err, ERROR_BAD_ANSWER,
                     "%s is damaged: the table %s has %s; import it again, or restore a copy",
                     file->path, table, what);
}

/* Whether the columns in the file are those that the description leads to. */
static bool snapshot_file_check_columns(const struct snapshot_file *file,
                                        const struct snapshot_table *table,
                                        struct database *database, struct error *err)
{
    struct statement *keys = database_prepare(
        database, "SELECT attribute, type, column FROM keys WHERE table_number = ?1", err);
    enum statement_step step = STATEMENT_DONE;
    size_t count = 0;
    bool same = true;
    if (!keys)
        return false;
    statement_bind_integer(keys, 1, table->number);
    while (same && (step = statement_step(keys, err)) == STATEMENT_ROW) {
        char column[32];
        size_t at = schema_find_column(&table->columns, statement_text(keys, 0));
        snprintf(column, sizeof column, "k%zu", at + 1);
        same = at < table->columns.count && span_is(statement_text(keys, 2), column) &&
               span_is(statement_text(keys, 1), value_type_name(table->columns.list[at].type));
        count++;
    }
    statement_end(keys);
    if (step == STATEMENT_FAILED)
        return false;
    return (same && count == table->columns.count) ||
           snapshot_file_refuse(file, table->name, "other key columns than its description", err);
}

static bool snapshot_file_read_moments(struct snapshot_file *file, struct snapshot_table *table,
                                       struct database *database, struct error *err)
{
    struct statement *rows =
        database_prepare(database,
                         "SELECT at_ms, origin, items, bytes, count(*) OVER () FROM moments "
                         "WHERE table_number = ?1 ORDER BY at_ms",
                         err);
    enum statement_step step;
    if (!rows)
        return false;
    statement_bind_integer(rows, 1, table->number);
    while ((step = statement_step(rows, err)) == STATEMENT_ROW) {
        if (!table->moments)
            table->moments = arena_array(&file->arena, (size_t)statement_integer(rows, 4),
                                         sizeof *table->moments);
        if (!table->moments)
            break;
        table->moments[table->moment_count++] = (struct snapshot_moment){
            .at_ms = statement_integer(rows, 0),
            .origin = arena_copy(&file->arena, statement_text(rows, 1)),
            .item_count = statement_integer(rows, 2),
            .size_bytes = statement_integer(rows, 3),
        };
    }
    statement_end(rows);
    return step != STATEMENT_FAILED;
}

/* Fills TABLE, whose name, number and description are set. */
static bool snapshot_file_read_table(struct snapshot_file *file, struct snapshot_table *table,
                                     struct database *database, struct error *err)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    struct json_fault fault;
    if (file->arena.failed)
        return error_no_memory(err);
    if (!json_parse(&doc, table->description, JSON_STRICT, &fault))
        return strcmp(fault.what, "out of memory") == 0
                   ? error_no_memory(err)
                   : snapshot_file_refuse(file, table->name, "a description that is no JSON", err);
    struct json root = json_root(&doc);
    table->info = table_description_read(root, &file->arena);
    if (file->arena.failed)
        return error_no_memory(err);
    if (!table->info || !json_string_is(json_member(root, "TableName"), span_text(table->name)))
        return snapshot_file_refuse(file, table->name, "a description that is not valid", err);
    if (!schema_find_columns(table->info, &file->arena, &table->columns))
        return error_no_memory(err);
    return snapshot_file_check_columns(file, table, database, err) &&
           snapshot_file_read_moments(file, table, database, err);
}

/* A table without a moment is one of an import that has not ended; it is left out. */
static bool snapshot_file_read_tables(struct snapshot_file *file, struct database *database,
                                      struct error *err)
{
    struct statement *rows = database_prepare(
        database, "SELECT number, name, description, expiry, count(*) OVER () FROM tables", err);
    enum statement_step step;
    bool ok = rows != NULL;
    while (ok && (step = statement_step(rows, err)) == STATEMENT_ROW) {
        if (!file->tables)
            file->tables =
                arena_array(&file->arena, (size_t)statement_integer(rows, 4), sizeof *file->tables);
        if (!file->tables) {
            ok = error_no_memory(err);
            break;
        }
        struct snapshot_table *table = &file->tables[file->table_count];
        *table = (struct snapshot_table){
            .number = statement_integer(rows, 0),
            .name = arena_text(&file->arena, statement_text(rows, 1)),
            .description = arena_copy(&file->arena, statement_text(rows, 2)),
            .expiry = arena_copy(&file->arena, statement_text(rows, 3)),
        };
        ok = snapshot_file_read_table(file, table, database, err);
        file->table_count += ok && table->moment_count > 0;
    }
    statement_end(rows);
    return ok && step != STATEMENT_FAILED;
}

/* A recording has no moments: among snapshots it would be an empty one. */
static bool snapshot_file_refuse_recording(const struct snapshot_file *file,
                                           struct database *database, struct error *err)
{
    bool is_recording;
    if (!schema_find_kind(database, &is_recording, err))
        return false;
    return !is_recording ||
           error_set(err, ERROR_INVALID,
                     "%s is a recording, which is read alone; name it with --snapshot, or move it "
                     "out of the folder of snapshots",
                     file->path);
}

static bool snapshot_file_read_all(struct snapshot_file *file, enum database_mode mode,
                                   struct error *err)
{
    if (file->arena.failed)
        return error_no_memory(err);
    bool is_there = snapshot_stamp_read(file->path, &file->stamp);
    struct database *database = database_open(file->path, mode, err);
    if (!database)
        return false;
    /* One transaction: an import that ends meanwhile is seen whole or not at all. */
    bool ok = database_run(database, "BEGIN", err) && schema_check(database, err) &&
              snapshot_file_refuse_recording(file, database, err) &&
              snapshot_file_read_tables(file, database, err);
    database_close(database);
    if (ok && file->arena.failed)
        return error_no_memory(err);
    return ok && (is_there || snapshot_file_check(file, err));
}

struct snapshot_file *snapshot_file_read(const char *path, enum database_mode mode,
                                         struct error *err)
{
    struct snapshot_file *file = calloc(1, sizeof *file);
    if (!file) {
        error_no_memory(err);
        return NULL;
    }
    file->references = 1;
    file->path = arena_text(&file->arena, span_text(path));
    if (snapshot_file_read_all(file, mode, err))
        return file;
    snapshot_file_unref(file);
    return NULL;
}
