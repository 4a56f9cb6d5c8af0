/* A Read in words: "Query index X of T where …, in descending order, at most N". */
#ifndef DDBFS_CORE_SOURCE_READ_WORDS_H
#define DDBFS_CORE_SOURCE_READ_WORDS_H

#include "core/source/source.h"

/* Appends READ under the names that the service has for its operations. */
void read_write_words(const struct read *read, enum read_keys keys, struct buf *out);

#endif
