/* Words of a shell's command line. */
#ifndef DDBFS_CORE_BASE_SHELL_H
#define DDBFS_CORE_BASE_SHELL_H

#include "core/base/buf.h"

/* Appends TEXT in quotes, as one word that any POSIX shell passes on unchanged. */
void shell_quote(struct buf *out, struct span text);

/* The same, without quotes where there is nothing in TEXT that a shell takes for its own. */
void shell_word(struct buf *out, struct span text);

#endif
