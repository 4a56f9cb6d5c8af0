/* Text that came from outside, as a terminal, a log line, an error or a name may show it. Escaped
 * is whatever would act instead of being seen: C0, DEL and C1 controls, the marks and overrides
 * that turn the reading order, line and paragraph separators, the byte order mark, and bytes that
 * are no UTF-8. Zero-width joiners and spaces stay: words of several scripts are written with them.
 */
#ifndef DDBFS_CORE_BASE_PRINTABLE_H
#define DDBFS_CORE_BASE_PRINTABLE_H

#include "core/base/buf.h"
#include "core/base/span.h"

/* The first character of TEXT, which is not empty; where no UTF-8 stands, its first byte. SAFE gets
 * whether it can be shown as it is. */
struct span printable_first(struct span text, bool *safe);

/* Appends each of the bytes as %XX. */
void printable_escape(struct buf *out, struct span bytes);

/* Appends TEXT, unsafe characters escaped, and those ASCII characters that ALSO lists. Without a %
 * in ALSO, text that is printable already stays as it is. */
void printable_add(struct buf *out, struct span text, const char *also);

/* ALSO for the value of a field in a log line: one word, so that nothing in it passes for another
 * field. */
#define PRINTABLE_WORD " "

/* The same for a text of several lines, whose ends stay. */
void printable_add_lines(struct buf *out, struct span text);

/* The same into a field of SIZE bytes, cut to what fits by whole characters, and ended by a NUL.
 * Nothing is allocated. */
void printable_copy(char *out, size_t size, struct span text, const char *also);

#endif
