/* Text from outside, escaped for a terminal, a log line, an error or a name. Escaped are characters
 * that act instead of being shown: C0, DEL and C1 controls, marks and overrides of the reading
 * order, line and paragraph separators, the byte order mark, and bytes that are not UTF-8.
 * Zero-width joiners and spaces stay: several scripts need them. */
#ifndef DDBFS_CORE_BASE_PRINTABLE_H
#define DDBFS_CORE_BASE_PRINTABLE_H

#include "core/base/buf.h"
#include "core/base/span.h"

/* The first character of TEXT, which is not empty; its first byte if that is not UTF-8. SAFE:
 * whether it needs no escape. */
struct span printable_first(struct span text, bool *safe);

/* Appends each of the bytes as %XX. */
void printable_escape(struct buf *out, struct span bytes);

/* Appends TEXT, unsafe characters escaped, and those ASCII characters that ALSO lists. Without a %
 * in ALSO, text that is printable already stays as it is. */
void printable_add(struct buf *out, struct span text, const char *also);

/* ALSO for the value of a field in a log line: one word, which can't pass for another field. */
#define PRINTABLE_WORD " "

/* The same for a text of several lines; line ends stay. */
void printable_add_lines(struct buf *out, struct span text);

/* The same into a field of SIZE bytes, cut to what fits by whole characters, and ended by a NUL.
 * Nothing is allocated. */
void printable_copy(char *out, size_t size, struct span text, const char *also);

#endif
