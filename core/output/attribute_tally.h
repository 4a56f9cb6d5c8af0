/* A tally: what is told of one attribute of many records, in memory that does not grow with them.
 * It is exact, or says that it has not counted. */
#ifndef DDBFS_CORE_OUTPUT_ATTRIBUTE_TALLY_H
#define DDBFS_CORE_OUTPUT_ATTRIBUTE_TALLY_H

#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/dict.h"
#include "core/item/typed.h"
#include "core/item/value.h"

enum {
    ATTRIBUTE_TALLY_VALUES = 32, /* so many different values are counted one by one */
    ATTRIBUTE_TALLY_TEXT =
        256, /* no longer ones, and this much is told of the least and the greatest */
};

/* The least or the greatest of the numbers and strings, as far as it is kept. */
struct attribute_tally_end {
    bool known;
    enum value_type type;
    bool cut; /* the string goes on */
    size_t size;
    char text[ATTRIBUTE_TALLY_TEXT];
};

struct attribute_tally_value {
    struct value value; /* its bytes are in the arena */
    uint64_t count;
};

/* {0} is the tally of no record. */
struct attribute_tally {
    struct dict_node node; /* its key is the attribute's name */
    bool masked;           /* nothing but types is told of it */
    uint64_t types[TYPED_BS + 1];
    struct attribute_tally_end least, greatest; /* a number is less than any string */
    struct attribute_tally_value values[ATTRIBUTE_TALLY_VALUES];
    size_t value_count;
    bool more_values; /* than could be counted, or */
    bool long_values;
};

/* Counts one record's VALUE; texts are kept in ARENA. False when it is no typed value, or memory
 * ran out (ARENA is failed then). */
bool attribute_tally_add(struct attribute_tally *tally, struct json value, struct arena *arena);

/* Appends it as a JSON object on one line; with COMPACT without blanks. */
void attribute_tally_write(struct attribute_tally *tally, bool compact, struct buf *out);

#endif
