/* Foreign texts in a Markdown document: shown as they are, and never part of its structure. */
#ifndef DDBFS_CORE_DESCRIBE_MARKDOWN_H
#define DDBFS_CORE_DESCRIBE_MARKDOWN_H

#include "core/base/buf.h"
#include "core/base/span.h"

/* Of one text; a longer one is cut and ends in "…". */
enum { MARKDOWN_MOST_BYTES = 300 };

/* Appends TEXT as code within a line, so that nothing in it is Markdown. Line ends and control
 * characters are escaped. */
void markdown_add_code(struct buf *out, struct span text);

/* Appends TEXT as a YAML string on one line, without < and >, which front matter must not have. */
void markdown_add_yaml(struct buf *out, struct span text);

/* The number of lines of TEXT. */
size_t markdown_lines(const struct buf *text);

#endif
