/* A reader of rows, for a cursor of SQLite. */
#ifndef DDBFS_CORE_SQL_SQL_READER_H
#define DDBFS_CORE_SQL_SQL_READER_H

#include "core/sql/sql_reads.h"

struct sql_rows;
struct sql_block;

/* A position in the rows of some lookups, one lookup after the other. {0} before the first use. */
struct sql_reader {
    struct sql_reads *reads;
    const struct sql_choice *choice;
    struct sql_rows **rows; /* owned; they belong to READS */
    size_t count, capacity;
    size_t at;    /* the lookup in hand */
    size_t index; /* of its next row */
    struct sql_block *block;
    size_t offset;
    struct sql_value *values; /* owned; of the row in hand, by number in CHOICE's USED */
    int64_t id;               /* of its item, if the choice needs ids */
    bool is_at_end;
};

/* Moves READER to the first row of LOOKUPS. False with ERR filled; READS->is_full: the pass has to
 * end. */
bool sql_reader_begin(struct sql_reader *reader, struct sql_reads *reads, struct sql_choice *choice,
                      const struct sql_lookup *lookups, size_t count, struct error *err);
/* Moves it to the next row, or to the end. As above. */
bool sql_reader_next(struct sql_reader *reader, struct error *err);
void sql_reader_clean_up(struct sql_reader *reader);

#endif
