/* The hidden companions in words, for READMEs and whoever else tells of them. */
#ifndef DDBFS_CORE_NAME_COMPANION_WORDS_H
#define DDBFS_CORE_NAME_COMPANION_WORDS_H

#include "core/base/buf.h"

struct companion_words {
    const char *name; /* behind that of what it is a companion of */
    const char *is;   /* what it has, in one clause */
};

/* Those of a listing, or of a record, the most useful first. */
const struct companion_words *companion_words_of(bool listing, size_t *count);

/* Appends the names of all of them, with a comma between. */
void companion_words_names(bool listing, struct buf *out);

/* Appends ` (did you mean "@jsonl"?)` when WRONG, what a name ends in from its last @ on, is near
 * to the ending of such a companion, and else nothing. */
void companion_words_hint(bool listing, struct span wrong, struct buf *out);

/* Where the last @ of NAME stands, which has something before it; 0 when there is none. */
size_t companion_words_at(struct span name);

#endif
