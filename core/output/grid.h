/* A grid: items as rows of cells. The rows are held until the columns and their widths are known,
 * which is after the last item. */
#ifndef DDBFS_CORE_OUTPUT_GRID_H
#define DDBFS_CORE_OUTPUT_GRID_H

#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/dict.h"
#include "core/base/error.h"
#include "core/item/item.h"
#include "core/item/typed.h"

struct grid_column {
    struct dict_node node; /* its key is the name */
    uint32_t number;       /* in the order of first use */
    bool given;            /* it keeps its number's order, before those by name */
    size_t width;          /* of its widest text: for the user of the grid */
    bool words;            /* whether it has more than numbers: likewise */
    bool filled;           /* whether any row has a cell there */
};

struct grid_cell {
    enum typed_tag tag; /* TYPED_NONE: the row has no such cell */
    struct span text;   /* borrowed of the grid */
};

/* Changes the TEXT of a cell before it is stored. */
typedef void grid_fit_fn(void *arg, struct grid_column *column, enum typed_tag tag,
                         struct buf *text);

/* {0} is an empty grid. */
struct grid {
    const struct record_view *view; /* borrowed: masks */
    grid_fit_fn *fit;               /* NULL: cells are stored whole */
    void *fit_arg;
    bool closed;        /* no columns except the given ones */
    struct arena arena; /* columns and their names */
    struct dict by_name;
    struct grid_column **columns; /* owned; by number until they are sorted */
    size_t count, capacity;
    struct buf cells;
    struct buf cell;       /* the text of one */
    struct grid_cell *row; /* owned; the row that was read latest, by number */
};

bool grid_init(struct grid *grid); /* false when memory ran out */
void grid_clean_up(struct grid *grid);

/* Adds a given column, behind those given before. False when memory ran out. */
bool grid_add_column(struct grid *grid, struct span name);

/* The same, also if another column has this name; it has the next number. Only grid_add_cells fills
 * it. */
bool grid_add_equal_column(struct grid *grid, struct span name);
/* Stores a row of texts, by the numbers of the columns. False when memory ran out. */
bool grid_add_cells(struct grid *grid, const struct grid_cell *cells);

/* Stores the row of the typed ITEM. False with ERR filled: memory ran out, or it is no item. */
bool grid_add(struct grid *grid, struct json item, struct error *err);

/* Drops the rows; columns stay, in their order. */
void grid_forget(struct grid *grid);

/* Sorts the columns: the given ones, then the others by their names. No row is added later. False
 * when memory ran out. */
bool grid_sort(struct grid *grid);

/* The row at *AT, which is 0 at first and moves to the next row: a cell for each number of a
 * column. NULL behind the last. */
const struct grid_cell *grid_next(struct grid *grid, size_t *at);

/* The bytes of its rows and columns; and of all its memory. */
size_t grid_size(const struct grid *grid);
size_t grid_memory(const struct grid *grid);

#endif
