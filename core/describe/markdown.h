/* What others have written, within a Markdown document: shown as it is, and never part of the
 * document's own structure. */
#ifndef DDBFS_CORE_DESCRIBE_MARKDOWN_H
#define DDBFS_CORE_DESCRIBE_MARKDOWN_H

#include "core/base/buf.h"
#include "core/base/span.h"

/* How much of one text is shown: what is cut off ends in "…". */
enum { MARKDOWN_MOST_BYTES = 300 };

/* Appends TEXT as code within a line: nothing in it is Markdown, whatever it holds. Line ends and
 * what a terminal would act on are escaped. */
void markdown_add_code(struct buf *out, struct span text);

/* Appends TEXT as a YAML string on one line, without what front matter must not hold. */
void markdown_add_yaml(struct buf *out, struct span text);

/* How many lines TEXT has. */
size_t markdown_lines(const struct buf *text);

#endif
