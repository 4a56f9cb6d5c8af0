/* A table's state in sentences for people: throughput, the stream, replicas, and the readiness of
 * its indexes. */
#ifndef DDBFS_CORE_SOURCE_TABLE_WORDS_H
#define DDBFS_CORE_SOURCE_TABLE_WORDS_H

#include "core/base/buf.h"
#include "core/source/source.h"

/* Each appends whole lines, and nothing about what the description does not state. */
void table_words_write_throughput(const struct table_info *info, struct buf *out);
void table_words_write_stream(const struct table_info *info, struct buf *out);
void table_words_write_replicas(const struct table_info *info, struct buf *out);
/* Indexes that are not ready, and all vector indexes. */
void table_words_write_indexes(const struct table_info *info, struct buf *out);

/* Appends why a query of the index fails or lacks items: "is CREATING"; nothing if it is ready. */
void table_words_write_unready(const struct index_info *index, struct buf *out);

#endif
