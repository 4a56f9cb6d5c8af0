/* The response to one request: operations of DynamoDB on prepared items. No byte of an item is
 * copied. */
#ifndef DDBFS_TESTS_BENCH_PEERS_ZERO_ANSWER_H
#define DDBFS_TESTS_BENCH_PEERS_ZERO_ANSWER_H

#include <sys/uio.h>

#include "tests/bench/peers/zero_items.h"

enum {
    ZERO_MOST_KEYS = 100,                      /* of a BatchGetItem */
    ZERO_MOST_PIECES = 2 * ZERO_MOST_KEYS + 8, /* of a response */
    ZERO_TEXT_SIZE = 4096,
};

enum zero_op {
    ZERO_GET_ITEM,
    ZERO_BATCH_GET_ITEM,
    ZERO_QUERY,
    ZERO_DESCRIBE_TABLE,
    ZERO_LIST_TABLES,
    ZERO_OTHER, /* is refused */
    ZERO_OPS,
};

const char *zero_op_name(enum zero_op op);
enum zero_op zero_op_of(struct span target);

/* The definition of the table, as DescribeTable returns it and as CreateTable takes it. */
extern const char zero_table_definition[];

struct zero_tables {
    struct zero_shop *shops; /* owned */
    size_t count;
};

/* A body in pieces: prepared text, and texts that are stored here. */
struct zero_answer {
    int status;
    struct iovec pieces[ZERO_MOST_PIECES];
    size_t piece_count;
    size_t size;
    uint32_t crc;
    char text[ZERO_TEXT_SIZE];
    size_t text_size;
    bool backwards; /* a Query in descending order */
};

void zero_answer_make(struct zero_answer *answer, const struct zero_tables *tables, enum zero_op op,
                      struct span request);

/* Adds text of the answer's own, in the form of printf. */
void zero_answer_print(struct zero_answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
