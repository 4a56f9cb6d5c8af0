/* The columns of `ls --columns`: attributes of a listing's records, aligned page by page. */
#ifndef DDBFS_FS_CLI_COLUMNS_H
#define DDBFS_FS_CLI_COLUMNS_H

#include "fs/cli/app.h"

struct columns;

/* As --columns names them, of the records at PLACE, both of which must stay. NULL when memory ran
 * out. */
struct columns *columns_new(const struct app *app, const struct place *place);
void columns_destroy(struct columns *columns); /* NULL is fine */

/* Takes a page of entries with their items; rows of the page before are forgotten, but a column
 * grows no narrower. False with ERR filled when one is no item, or memory ran out. */
bool columns_take(struct columns *columns, const struct tree_entry *entries, size_t count,
                  struct error *err);
/* Appends the cells of the page's next entry, and the gap that follows. */
void columns_write_next(struct columns *columns, struct buf *out);
/* Appends those of ITEM as an object of JSON: members that it has, whole. */
void columns_write_json(const struct columns *columns, struct json item, struct buf *out);

/* Says on standard error which of them no record of PATH had: of a misspelt one nobody else does.
 */
void columns_print_empty(const struct columns *columns, const char *path);

#endif
