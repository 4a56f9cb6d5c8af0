/* Words of a shell's command line. */
#ifndef DDBFS_CORE_BASE_SHELL_H
#define DDBFS_CORE_BASE_SHELL_H

#include "core/base/buf.h"

/* Appends TEXT in quotes, as one word that any POSIX shell passes on unchanged. */
void shell_quote(struct buf *out, struct span text);

/* The same, without quotes where there is nothing in TEXT that a shell takes for its own. */
void shell_word(struct buf *out, struct span text);

/* Appends the words of TEXT, each ended by a NUL, and counts them: blanks between words, quotes and
 * backslashes as in a POSIX shell, and nothing else of it (Python's shlex.split). False when a
 * quote has no end, or nothing follows a backslash. */
bool shell_split(struct buf *out, struct span text, size_t *count);

/* The same of a line that is still being typed, up to where that is done: what is open at its end
 * is no error, and the last word, which may be empty, is what has been typed of it. KEPT gets how
 * much of that, in bytes, stands before what readline would replace: its words end at BREAKS, too.
 */
void shell_split_typed(struct buf *out, struct span text, const char *breaks, size_t *count,
                       size_t *kept);

#endif
