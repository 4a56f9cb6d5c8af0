#include "tests/worlds/world_reference.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world_reference {
    sqlite3 *base;
    char message[256];
};

void world_cell_add(struct world_text *row, char type, int64_t integer, double real,
                    const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    world_add(row, "%c", type);
    if (type == 'i')
        world_add(row, "%" PRId64, integer);
    if (type == 'r')
        world_add(row, "%.12g", real);
    for (size_t i = 0; (type == 't' || type == 'b') && i < size; i++)
        world_add(row, at[i] < 0x20 || at[i] == '%' ? "%%%02x" : "%c", at[i]);
    world_add(row, "\n");
}

static void world_reference_execute(struct world_reference *reference, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(reference->base, sql, NULL, NULL, &message) == SQLITE_OK)
        return;
    fprintf(stderr, "%s: %s\n", sql, message ? message : "");
    abort();
}

static void world_note_name(struct world_from *from, const char *name)
{
    for (unsigned i = 0; i < from->column_count; i++)
        if (strcmp(from->columns[i], name) == 0)
            return;
    if (from->column_count == WORLD_COLUMNS)
        abort();
    memset(from->columns[from->column_count], 0, WORLD_NAME);
    memcpy(from->columns[from->column_count++], name, strlen(name));
}

/* The columns have affinities, but the values are stored as they are: SQLite learns the affinities
 * when the rows are there. */
static void world_reference_add(struct world_reference *reference, struct world_from *from)
{
    static const char *const words[] = {
        [WORLD_TEXT] = "TEXT", [WORLD_NUMERIC] = "NUMERIC", [WORLD_BARE] = ""};
    static const char *const beside[] = {"p",      "q",      "x",      "y",    "z",
                                         "tenant", "doctor", "status", "when", "never"};
    struct world_column columns[WORLD_COLUMNS];
    unsigned declared = world_columns(from->table, from->mapped, columns);
    struct world_text bare = {0}, full = {0}, sql = {0};
    for (unsigned i = 0; i < declared; i++)
        world_note_name(from, columns[i].name);
    for (unsigned i = 0; i < sizeof beside / sizeof beside[0]; i++)
        world_note_name(from, beside[i]);
    world_add(&bare, "CREATE TABLE %s(", from->plain);
    world_add(&full, "CREATE TABLE %s(", from->plain);
    for (unsigned i = 0; i < from->column_count; i++) {
        world_add(&bare, "\"%s\",", from->columns[i]);
        world_add(&full, "\"%s\" %s,", from->columns[i],
                  i < declared ? words[columns[i].affinity] : "");
    }
    world_add(&bare, "item)");
    world_add(&full, "item)");
    world_reference_execute(reference, bare.bytes);
    for (unsigned i = 0; i < from->table->item_count; i++) {
        const struct world_item *item = &from->table->items[i];
        struct world_text plain = {0};
        if (from->index && !world_is_in(item, from->index))
            continue;
        from->row_count++;
        sql.size = 0;
        world_add(&sql, "INSERT INTO %s VALUES(", from->plain);
        for (unsigned k = 0; k < from->column_count; k++) {
            struct world_value value =
                world_column_value(from->table, from->mapped, item, from->columns[k]);
            world_write_literal(&value, &sql);
            world_add(&sql, ",");
        }
        world_write_plain(from->table, item, &plain);
        world_add(&sql, "'");
        for (const char *at = plain.bytes; *at; at++)
            world_add(&sql, *at == '\'' ? "''" : "%c", *at);
        world_add(&sql, "')");
        world_reference_execute(reference, sql.bytes);
        world_text_free(&plain);
    }
    sql.size = 0;
    world_add(&sql, "UPDATE sqlite_schema SET sql = '%s' WHERE name = '%s'", full.bytes,
              from->plain);
    world_reference_execute(reference, "PRAGMA writable_schema = ON");
    world_reference_execute(reference, sql.bytes);
    world_reference_execute(reference, "PRAGMA writable_schema = RESET");
    world_text_free(&bare);
    world_text_free(&full);
    world_text_free(&sql);
}

struct world_reference *world_reference_new(const struct world *world,
                                            struct world_from froms[WORLD_FROMS], unsigned *count)
{
    struct world_reference *reference = calloc(1, sizeof *reference);
    if (!reference || sqlite3_open(":memory:", &reference->base) != SQLITE_OK)
        abort();
    sqlite3_db_config(reference->base, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    world_reference_execute(reference, "PRAGMA case_sensitive_like = ON");
    world_reference_execute(reference, "PRAGMA automatic_index = OFF");
    *count = 0;
    for (unsigned i = 0; i < world->table_count; i++) {
        const struct world_table *table = &world->tables[i];
        for (unsigned k = 0; table->item_count > 0 && k < 2 + table->index_count; k++) {
            struct world_from *from = &froms[*count];
            *from = (struct world_from){
                .table = table, .index = k > 1 ? &table->indexes[k - 2] : NULL, .mapped = k == 0};
            if (k == 0)
                snprintf(from->name, sizeof from->name, "e.%s", table->name);
            else if (k == 1)
                snprintf(from->name, sizeof from->name, "\"%s\"", table->service);
            else
                snprintf(from->name, sizeof from->name, "\"%s\".\"%s\"", table->service,
                         from->index->name);
            snprintf(from->plain, sizeof from->plain, "%c_%s_%s", k ? 'a' : 'm', table->name,
                     from->index ? from->index->name : "");
            world_reference_add(reference, from);
            *count += from->row_count > 0;
        }
    }
    return reference;
}

void world_reference_free(struct world_reference *reference)
{
    sqlite3_close(reference->base);
    free(reference);
}

const char *world_reference_run(struct world_reference *reference, const char *statement,
                                world_row_fn *fn, void *arg)
{
    sqlite3_stmt *prepared = NULL;
    int code = sqlite3_prepare_v2(reference->base, statement, -1, &prepared, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(prepared)) == SQLITE_ROW) {
        struct world_text row = {0};
        for (int i = 0; i < sqlite3_column_count(prepared); i++)
            world_cell_add(&row, "?irtbn"[sqlite3_column_type(prepared, i)],
                           sqlite3_column_int64(prepared, i), sqlite3_column_double(prepared, i),
                           sqlite3_column_blob(prepared, i),
                           (size_t)sqlite3_column_bytes(prepared, i));
        fn(arg, row.bytes ? row.bytes : "");
        world_text_free(&row);
        code = SQLITE_OK;
    }
    snprintf(reference->message, sizeof reference->message, "%s", sqlite3_errmsg(reference->base));
    sqlite3_finalize(prepared);
    return code == SQLITE_DONE ? NULL : reference->message;
}

void world_reference_draw(struct world_reference *reference, const struct world_from *from,
                          const char *column, unsigned row, struct world_text *out)
{
    struct world_text sql = {0};
    sqlite3_stmt *prepared = NULL;
    world_add(&sql, "SELECT quote(\"%s\") FROM %s LIMIT 1 OFFSET %u", column, from->plain, row);
    if (sqlite3_prepare_v2(reference->base, sql.bytes, -1, &prepared, NULL) != SQLITE_OK ||
        sqlite3_step(prepared) != SQLITE_ROW)
        abort();
    world_add(out, "%s", (const char *)sqlite3_column_text(prepared, 0));
    sqlite3_finalize(prepared);
    world_text_free(&sql);
}
