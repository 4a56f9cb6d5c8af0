#include "core/sql/sql_reader.h"

#include <stdlib.h>

#include "core/sql/sql_rows.h"

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
            sql_reads_want(rows);
            if (!sql_reads_run(reads, err) || reads->is_full)
                return false;
            continue;
        }
        if (rows->state != SQL_ROWS_COMPLETE)
            sql_reads_want(rows);
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

/* In a dry pass no row is there, so that values of rows seem to be NULL or constants. */
static void sql_reader_note_order(struct sql_reads *reads, struct sql_choice *choice)
{
    reads->first = reads->first ? reads->first : choice;
    reads->has_others = reads->has_others || choice != reads->first;
    choice->follows = choice->follows || reads->has_others;
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
        if (!rows || !sql_rows_fit(reads, err))
            return false;
        reader->rows[reader->count++] = rows;
    }
    if (reads->streams && count > 0 && reads->began > 0) {
        reads->repeats = true;
        reads->is_full = true;
        return false;
    }
    reads->began += count > 0;
    if (reads->is_dry)
        sql_reader_note_order(reads, choice);
    return sql_reader_next(reader, err);
}

void sql_reader_clean_up(struct sql_reader *reader)
{
    free(reader->rows);
    free(reader->values);
    *reader = (struct sql_reader){0};
}
