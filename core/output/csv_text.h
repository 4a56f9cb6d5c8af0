/* The text of CSV as RFC 4180 defines it, but with lines that end in LF alone. */
#ifndef DDBFS_CORE_OUTPUT_CSV_TEXT_H
#define DDBFS_CORE_OUTPUT_CSV_TEXT_H

#include "core/base/buf.h"
#include "core/base/span.h"

enum csv_type {
    CSV_ABSENT, /* an empty field */
    CSV_BARE,   /* a number, true, false, null, or JSON: quoted only if it must be */
    CSV_TEXT,   /* quoted also if it looks like one of the above; "" if it is empty */
};

/* Appends the name of a column, the COLUMN-th. */
void csv_text_add_name(struct buf *out, size_t column, struct span name);

/* Appends a field, without the comma in front. */
void csv_text_add_field(struct buf *out, enum csv_type type, struct span text);

/* Ends the line that begins at ROW. The only field of a line is quoted if it is empty: an empty
 * line is no row for many readers. */
void csv_text_end_line(struct buf *out, size_t columns, size_t row);

#endif
