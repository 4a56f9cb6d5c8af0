/* A Read as the service understands it: one of nine operations, and what it says. The one writer
 * of expressions stands here; the JSON body and the printed command (core/dynamo/cli_command.h) are
 * two ways to print what it wrote. */
#ifndef DDBFS_CORE_DYNAMO_REQUEST_H
#define DDBFS_CORE_DYNAMO_REQUEST_H

#include "core/base/buf.h"
#include "core/source/read.h"

/* The closed set. All of them read; nothing else is ever sent. A Scan is sent only by a source that
 * was told that it may (dynamo.h). */
enum dynamo_op {
    DYNAMO_GET_ITEM,
    DYNAMO_BATCH_GET_ITEM,
    DYNAMO_QUERY,
    DYNAMO_SCAN,
    DYNAMO_DESCRIBE_TABLE,
    DYNAMO_LIST_TABLES,
    DYNAMO_DESCRIBE_TIME_TO_LIVE,
    DYNAMO_LIST_BACKUPS,
    DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS,
};
enum { DYNAMO_OPS = DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS + 1 };

/* The operation's name in the protocol. */
const char *dynamo_op_name(enum dynamo_op op);

/* Whether it reads records, and so consumes capacity; the others tell of tables. */
bool dynamo_op_reads_records(enum dynamo_op op);

/* Whether an access policy can grant it on "*" alone, and on no table. */
bool dynamo_op_is_of_account(enum dynamo_op op);

/* The operation that answers READ. */
enum dynamo_op request_op(const struct read *read);

/* What a Read asks, in the texts of the service. Empty texts are not said. */
struct request {
    enum dynamo_op op;
    const char *table;        /* borrowed from the Read; NULL for a list of tables */
    const char *index;        /* likewise; NULL: the table itself */
    struct buf keys;          /* JSON: the key of a GetItem, the array of a BatchGetItem */
    struct buf key_condition; /* expressions, whose every attribute is an alias: reserved words, */
    struct buf filter;        /* dots and dashes are many */
    struct buf projection;
    struct buf names;  /* JSON: the aliases and what they stand for */
    struct buf values; /* JSON */
    uint32_t limit;    /* entries of the first page; 0: as many as it holds */
    uint32_t page;     /* entries of the page that is written next; 0: as it is said above */
    bool descending;
    bool consistent;
    bool counts;                /* only how many items there are */
    uint32_t segment, segments; /* of a Scan; 0 of 0: all of the table */
};

/* READ must outlive the request, which is to be cleaned up in either case. False when memory ran
 * out. */
bool request_init(struct request *request, const struct read *read);
void request_clean_up(struct request *request);

/* Appends KEY as JSON. */
void request_write_key(const struct key *key, struct buf *out);

/* Appends the body. RESUME is where the last answer stopped, JSON as the service wrote it:
 * LastEvaluatedKey, LastEvaluatedTableName, LastEvaluatedBackupArn, or the array of unprocessed
 * Keys; empty at the start. False when memory ran out. */
bool request_write(const struct request *request, struct span resume, struct buf *out);

#endif
