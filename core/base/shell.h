/* Words of a shell's command line. */
#ifndef DDBFS_CORE_BASE_SHELL_H
#define DDBFS_CORE_BASE_SHELL_H

#include "core/base/buf.h"

/* Appends TEXT in quotes, as one word of any POSIX shell. */
void shell_quote(struct buf *out, struct span text);

/* The same, without quotes if TEXT needs none. */
void shell_word(struct buf *out, struct span text);

/* Appends the words of TEXT, each ended by a NUL, and counts them: with the blanks, quotes and
 * backslashes of a POSIX shell, without its other syntax (as Python's shlex.split). False if a
 * quote has no end, or a backslash is last. */
bool shell_split(struct buf *out, struct span text, size_t *count);

/* The same of a line up to the cursor: an open quote is no error, and the last word, which may be
 * empty, is the one being typed. KEPT gets the bytes of that word that readline does not replace:
 * its words end at BREAKS, too. */
void shell_split_typed(struct buf *out, struct span text, const char *breaks, size_t *count,
                       size_t *kept);

#endif
