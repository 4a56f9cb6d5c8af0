/* Digests by which a recording finds the responses to a Read. They reveal no value of the Read. */
#ifndef DDBFS_CORE_RECORDING_REQUEST_DIGEST_H
#define DDBFS_CORE_RECORDING_REQUEST_DIGEST_H

#include "core/base/crypto.h"
#include "core/source/read.h"

struct request_digest {
    uint8_t bytes[DIGEST_SIZE];
};

/* Of a Read that is not READ_ITEMS. False when memory ran out. */
bool request_digest_of(const struct read *read, struct request_digest *out);

/* Of one key of a table. False when memory ran out. */
bool request_digest_key(struct span table, const struct key *key, struct request_digest *out);

/* Appends the attributes that READ returns, "" for all: equal texts for equal sets. */
void request_shape_write(const struct read *read, struct buf *out);

#endif
