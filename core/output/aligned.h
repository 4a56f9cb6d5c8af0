/* Rows in columns as wide as their widest cell on a terminal, for eyes. What a terminal would act
 * on is escaped, and a long cell is cut; CSV has all of it. */
#ifndef DDBFS_CORE_OUTPUT_ALIGNED_H
#define DDBFS_CORE_OUTPUT_ALIGNED_H

#include <locale.h>

#include "core/output/grid.h"

/* Pinned from its start to its end. */
struct aligned {
    struct grid grid;
    locale_t locale; /* in which characters have widths; 0: the system has none */
    size_t left_out; /* columns, the last ones by now, that are not shown */
    size_t at;       /* where the row stands that is written next */
};

/* Columns are those that the grid is given from then on, and with ALL whatever else a row has.
 * False when memory ran out. */
bool aligned_start(struct aligned *aligned, const struct record_view *view, bool all);
void aligned_end(struct aligned *aligned); /* {0} is fine */

/* The row of the typed ITEM widens its columns, and is kept. False with ERR filled: memory ran out,
 * or it is no item. */
bool aligned_add(struct aligned *aligned, struct json item, struct error *err);

/* Shows the columns of the sorted grid, in their order, that a line of WIDTH cells has room for,
 * the first one in any case; LEFT_OUT gets the number of the others. False when memory ran out. */
bool aligned_fit(struct aligned *aligned, size_t width, size_t *left_out);

/* Appends a line of the columns' names, which widen them, too. False when memory ran out. */
bool aligned_write_names(struct aligned *aligned, struct buf *out);

/* Appends the next row: numbers, and what stands among them, end below each other. With ENDS it is
 * all of its line, and no blanks end it. False behind the last. */
bool aligned_write_next(struct aligned *aligned, bool ends, struct buf *out);

/* Rows are forgotten. Widths stay, so that what is written next stands below what was. */
void aligned_forget(struct aligned *aligned);

#endif
