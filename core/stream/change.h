/* One change of an item, as a table's stream reports it. */
#ifndef DDBFS_CORE_STREAM_CHANGE_H
#define DDBFS_CORE_STREAM_CHANGE_H

#include "core/base/error.h"
#include "core/json/json.h"

enum change_kind { CHANGE_INSERT, CHANGE_MODIFY, CHANGE_REMOVE };

/* Borrowed from the response with the record. */
struct change {
    enum change_kind kind;
    bool is_expired;  /* of CHANGE_REMOVE: the service deleted the item because of its TTL */
    struct json keys; /* the typed key of the item in its table */
    struct json
        before; /* the typed item; absent: it did not exist, or the stream has no old images */
    struct json after;    /* the same of the new image */
    int64_t at_ms;        /* wall time, as the stream states it: rounded down to the second, or by
                           * some servers to the minute */
    int64_t resume_ms;    /* wall time: all changes from before it were delivered before this one.
                           * Filled by the follower */
    struct span sequence; /* its number: larger than those of earlier changes of the same shard */
    struct span shard;    /* borrowed from the follower */
    struct json record;   /* all of it, as the service sent it */
};

/* "INSERT", "MODIFY", "REMOVE". */
const char *change_word(enum change_kind kind);

/* Reads RECORD of GetRecords. SEQUENCE is in place. False with ERR filled (ERROR_BAD_ANSWER) if
 * RECORD is not a change of a table. */
bool change_read(struct json record, struct change *out, struct error *err);

/* Reads seconds since 1970, with or without a fraction. */
bool change_read_time(struct json value, int64_t *out_ms);

/* Whether the change may have happened at MS or later: its time is rounded down. */
bool change_may_follow(const struct change *change, int64_t ms);

/* An order of two sequence numbers of one shard, which are integers of any length; 0 when they are
 * equal. Texts that are no integers are only compared for equality: the order is 1 if they differ.
 */
int change_order(struct span a, struct span b);

#endif
