/* Facts: files beside a table's items with the service's own JSON about the table. */
#ifndef DDBFS_CORE_READ_FACT_H
#define DDBFS_CORE_READ_FACT_H

#include "core/source/read.h"

enum fact {
    FACT_SCHEMA,  /* the table's description */
    FACT_EXPIRY,  /* its time to live */
    FACT_BACKUPS, /* backups, and recovery to a point in time */
    FACT_EXPORTS, /* exports to S3 */
    FACT_STREAM,  /* its stream and all shards of it */
};
enum { FACTS = FACT_STREAM + 1, FACT_MOST_READS = 2 };

/* The name of the file. */
const char *fact_name(enum fact fact);

/* Whether NAME is such a file. */
bool fact_find(struct span name, enum fact *out);

/* The number of requests for the fact of a table with no fresh description. */
size_t fact_read_count(enum fact fact);

/* The Read of request number I of FACT, of the table TABLE. ARN is the table's; NULL if it is not
 * known. The caller destroys it; NULL when memory ran out. That of a stream lacks the stream, which
 * is in the table's description. */
struct read *fact_read(enum fact fact, size_t i, const char *table, const char *arn);

/* The three texts before, between and behind the JSON of the responses. */
const char *const *fact_frame(enum fact fact);

/* Appends the ARN of the latest stream in TABLE, a table's description. False if it names none, is
 * not an object, or memory ran out. */
bool fact_find_stream(struct span table, struct buf *arn, bool *is_enabled);

/* Appends the JSON object of FACT_STREAM. TABLE is the description of the table, STREAM that of the
 * stream (empty if the table has no stream), and SHARDS has the shards, with commas between them.
 * False if a description is not an object, or memory ran out (OUT->failed). */
bool fact_write_stream(struct span table, struct span stream, struct span shards, struct buf *out);

#endif
