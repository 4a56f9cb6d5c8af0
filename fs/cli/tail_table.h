/* One table that `ddbfs tail` follows: its stream, the paths that were named of it, and the lines
 * of its changes. */
#ifndef DDBFS_FS_CLI_TAIL_TABLE_H
#define DDBFS_FS_CLI_TAIL_TABLE_H

#include "core/base/list.h"
#include "core/stream/follower.h"
#include "fs/cli/app.h"

/* The state that all tables of one command share. */
struct tail {
    struct app *app;
    const struct cond *filter; /* of changed items; NULL: all */
    enum follow_from from;
    int64_t since_ms;
    size_t path_count;
    size_t columns;     /* of a line; 0: not cut */
    uint64_t printed;   /* changes so far */
    struct list tables; /* of struct tail_table, owned */
    size_t open;        /* of these: not ended */
    bool is_over;       /* all that was wanted is printed, or standard output is closed */
    bool has_warned;    /* of the two readers of a shard */
};

struct tail_table;

/* The table of PLACE (taken), a place that PATH (borrowed) names; a table that is followed already
 * gets another path. False with ERR filled. */
bool tail_table_add(struct tail *tail, const char *path, struct place *place, struct error *err);

/* Starts following all tables. False after a report: memory ran out. */
bool tail_tables_start(struct tail *tail);

/* Reports each recovery from trouble. To be called each second. */
void tail_tables_check(struct tail *tail);

/* Appends "3 shards, 12 changes, 34 requests, lag 0.4 s" for all tables. */
void tail_tables_write(const struct tail *tail, struct buf *out);

/* The requests of all tables so far. */
uint64_t tail_tables_requests(const struct tail *tail);

void tail_tables_destroy(struct tail *tail);

#endif
