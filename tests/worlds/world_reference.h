/* The rows that docs/sql.md promises, as ordinary tables of SQLite. */
#ifndef DDBFS_TESTS_WORLDS_WORLD_REFERENCE_H
#define DDBFS_TESTS_WORLDS_WORLD_REFERENCE_H

#include "tests/worlds/world.h"

struct world_reference;

/* A table in FROM: of the map, of the account, or an index of one. */
struct world_from {
    const struct world_table *table;
    const struct world_index *index; /* NULL: the table */
    bool mapped;
    char name[2 * WORLD_NAME + 8];  /* for the product */
    char plain[3 * WORLD_NAME + 8]; /* in the reference */
    char columns[WORLD_COLUMNS]
                [WORLD_NAME]; /* declared, then attributes; "item" is not among them */
    unsigned column_count;
    unsigned row_count;
};

enum { WORLD_FROMS = WORLD_TABLES * (2 + WORLD_INDEXES) };

/* Fills in FROMS. */
struct world_reference *world_reference_new(const struct world *world,
                                            struct world_from froms[WORLD_FROMS], unsigned *count);
void world_reference_free(struct world_reference *reference);

/* A row as one text, whose cells end in line ends. */
typedef void world_row_fn(void *arg, const char *row);

/* Executes a statement. NULL, or SQLite's message (owned by the reference). */
const char *world_reference_run(struct world_reference *reference, const char *statement,
                                world_row_fn *fn, void *arg);
/* Appends the value of COLUMN in the ROW-th row as a literal. */
void world_reference_draw(struct world_reference *reference, const struct world_from *from,
                          const char *column, unsigned row, struct world_text *out);

/* Appends a cell to a row. REALs have 12 digits: sums come in another order. */
void world_cell_add(struct world_text *row, char type, int64_t integer, double real,
                    const void *bytes, size_t size);

#endif
