/* Rows in columns as wide as their widest cell on a terminal, up to a most. Control characters are
 * escaped, and a long cell is cut; CSV has all of it. */
#ifndef DDBFS_CORE_OUTPUT_ALIGNED_H
#define DDBFS_CORE_OUTPUT_ALIGNED_H

#include <locale.h>

#include "core/output/grid.h"

/* Pinned from its start to its end. */
struct aligned {
    struct grid grid;
    locale_t locale;  /* for the widths of characters; 0: not available */
    size_t left_out;  /* columns that are not shown; they are the last ones */
    size_t at;        /* of the row that is written next */
    bool holds_whole; /* cells are held whole, */
    bool cuts;        /* and cut when they are written; else longer ones move those behind */
};

/* Columns are those that the caller adds to the grid, and with ALL the other ones of each row.
 * False when memory ran out. */
bool aligned_start(struct aligned *aligned, const struct record_view *view, bool all);
void aligned_end(struct aligned *aligned); /* {0} is fine */

/* The cells of the widest line so far, names included. */
size_t aligned_width(struct aligned *aligned);

/* Of the sorted grid's columns, shows those that fit into a line of WIDTH cells, and the first one
 * in any case; LEFT_OUT gets the number of the others. False when memory ran out. */
bool aligned_fit(struct aligned *aligned, size_t width, size_t *left_out);

/* Appends a line of the columns' names, which widen them, too. False when memory ran out. */
bool aligned_write_names(struct aligned *aligned, struct buf *out);

/* The cells of the widest name. */
size_t aligned_name_width(struct aligned *aligned);
/* Appends the name of the column at PLACE, blanks up to WIDTH, and a gap. */
void aligned_write_name(struct aligned *aligned, size_t place, size_t width, struct buf *out);

/* Appends the next row; columns of numbers are aligned to the right. With ENDS the row is the whole
 * line, and no blanks end it. False behind the last row. */
bool aligned_write_next(struct aligned *aligned, bool ends, struct buf *out);

/* Drops the rows. Widths stay, so that later rows are aligned with earlier ones. */
void aligned_forget(struct aligned *aligned);

#endif
