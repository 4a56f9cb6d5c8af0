/* The rows of a statement on standard output: an aligned table, CSV, or JSON lines. */
#ifndef DDBFS_FS_CLI_SQL_OUTPUT_H
#define DDBFS_FS_CLI_SQL_OUTPUT_H

#include "core/base/error.h"
#include "core/output/sql_value.h"

enum sql_form { SQL_FORM_TABLE, SQL_FORM_CSV, SQL_FORM_JSON };

struct sql_output;

/* Rows of COUNT columns with the NAMES, which are copied. WIDTH is that of the terminal, where long
 * cells are cut, and a table that is too wide becomes a line for each value; 0: standard output is
 * no terminal. NULL when memory ran out. */
struct sql_output *sql_output_new(enum sql_form form, const struct span *names, size_t count,
                                  size_t width);
void sql_output_destroy(struct sql_output *output); /* NULL is fine */

/* Prints a row, or holds it until the widths of the columns are known from some hundred rows. False
 * with ERR filled when memory ran out; without an error if standard output is closed. */
bool sql_output_add(struct sql_output *output, const struct sql_value *values, struct error *err);

/* Prints the rows that are held, and the names of a result without rows. As above. */
bool sql_output_end(struct sql_output *output, struct error *err);

#endif
