/* What a request asks, in words. */
#ifndef DDBFS_CORE_DYNAMO_REQUEST_WORDS_H
#define DDBFS_CORE_DYNAMO_REQUEST_WORDS_H

#include "core/source/source.h"

/* Of struct source_ops. */
void dynamo_write_words(const struct read *read, enum read_keys keys, struct buf *out);

#endif
