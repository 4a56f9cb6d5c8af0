/* The hidden companions in words, for READMEs and whoever else tells of them. */
#ifndef DDBFS_CORE_TREE_COMPANION_WORDS_H
#define DDBFS_CORE_TREE_COMPANION_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct companion_words {
    const char *name; /* behind that of what it is a companion of */
    const char *is;   /* what it has, in one clause */
};

/* Those of a listing, or of a record, the most useful first. */
const struct companion_words *companion_words_of(bool listing, size_t *count);

#endif
