/* A Read as a request of DynamoDB: one of fifteen operations with its expressions.
 * The JSON body and the printed command (core/dynamo/request_print.h) are made
 * of the same expressions. */
#ifndef DDBFS_CORE_DYNAMO_REQUEST_H
#define DDBFS_CORE_DYNAMO_REQUEST_H

#include "core/base/buf.h"
#include "core/json/writer.h"
#include "core/source/read.h"

/* The closed set of operations; all of them only read. A Scan is sent only if
 * the source allows it (may_scan in core/dynamo/dynamo.h). */
enum dynamo_op {
    DYNAMO_GET_ITEM,
    DYNAMO_BATCH_GET_ITEM,
    DYNAMO_QUERY,
    DYNAMO_SCAN,
    DYNAMO_SEARCH_VECTORS,
    DYNAMO_DESCRIBE_TABLE,
    DYNAMO_LIST_TABLES,
    DYNAMO_DESCRIBE_TIME_TO_LIVE,
    DYNAMO_LIST_BACKUPS,
    DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS,
    DYNAMO_DESCRIBE_STREAM,
    DYNAMO_GET_SHARD_ITERATOR,
    DYNAMO_GET_RECORDS,
    DYNAMO_TRANSACT_GET_ITEMS,
    DYNAMO_LIST_EXPORTS,
};
enum { DYNAMO_OPS = DYNAMO_LIST_EXPORTS + 1 };

/* The operation's name in the protocol. */
const char *dynamo_op_name(enum dynamo_op op);

/* The operation whose permission it needs: itself, except that a transaction needs those of its
 * parts. */
enum dynamo_op dynamo_op_permission(enum dynamo_op op);

/* Whether an access policy can grant it on "*" alone, and on no table. */
bool dynamo_op_is_of_account(enum dynamo_op op);

/* Whether it is one of DynamoDB Streams, which has hosts of its own. */
bool dynamo_op_is_of_streams(enum dynamo_op op);

/* The operation that executes READ. */
enum dynamo_op request_op(const struct read *read);

/* The context of a sent request, for decoding its response and for messages.
 * All borrowed. */
struct sent_request {
    enum dynamo_op op;
    const struct read *read;
    const char *region;
    const char *endpoint; /* the URL of the last request; "" before the first */
    const char *profile;  /* NULL if messages need not name it */
    const char *method;   /* how the credentials that signed it were found; NULL:
                             not known */
    const char *origin;   /* … and where; NULL: not known */
    /* Called with the JSON of a response of status 200, when its checksum is right and before it is
     * parsed; may be NULL. */
    void (*arrived)(void *arg, struct span body);
    void *arrived_arg;
};

/* The parts of a request. Empty texts are left out of the body. */
struct request {
    enum dynamo_op op;
    const char *table; /* borrowed from the Read; NULL if the operation names no table. Of exports
                        * the table's ARN */
    const struct read_stream *stream; /* likewise; of an operation of streams */
    const char *index;                /* likewise; NULL: the table itself */
    struct buf keys;                  /* JSON: the key of a GetItem, the array of a BatchGetItem; of
                                       * a TransactGetItems the array of its items */
    struct buf key_condition;         /* expressions. Each attribute is an alias, because many
                                       * names are reserved words or have dots and dashes */
    struct buf filter;
    struct buf projection;
    struct buf names;  /* JSON: the aliases and their attributes */
    struct buf values; /* JSON */
    uint32_t limit;    /* entries of the first page; 0: no limit */
    uint32_t page;     /* entries of the page that is written next; 0: LIMIT decides */
    bool descending;
    bool consistent;
    bool counts;                /* only the number of items is read */
    bool is_partial;            /* of a search: the vector is not known, and so no value either */
    struct span vector;         /* of a search: JSON; borrowed from the Read */
    uint32_t segment, segments; /* of a Scan; 0 of 0: all of the table */
};

/* READ must outlive the request, which is to be cleaned up in either case.
 * False when memory ran out. */
bool request_init(struct request *request, const struct read *read);
/* The same of a READ_TOGETHER whose keys may be unknown: KEYS has for each part a JSON text in
 * place of its key, or NULL. */
bool request_init_together(struct request *request, const struct read *read,
                           const char *const *keys);
void request_clean_up(struct request *request);

/* The protocol's word for a place in a shard. */
const char *request_stream_at(enum stream_at at);

/* Appends KEY as JSON. */
void request_write_key(const struct key *key, struct buf *out);

/* Appends the body. RESUME is the position of the last response, in the JSON of
 * the service: LastEvaluatedKey, LastEvaluatedTableName,
 * LastEvaluatedBackupArn, NextToken, or the array of unprocessed Keys; empty at the start.
 * False when memory ran out. */
bool request_write(const struct request *request, struct span resume, struct buf *out);

#endif
