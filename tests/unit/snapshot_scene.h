/* Snapshot files for tests, and Reads of them. */
#ifndef DDBFS_TESTS_UNIT_SNAPSHOT_SCENE_H
#define DDBFS_TESTS_UNIT_SNAPSHOT_SCENE_H

#include "core/base/loop.h"
#include "core/snapshot/schema.h"
#include "core/snapshot/snapshot.h"

/* A file of one table that is being written. */
struct snapshot_draft {
    struct arena arena;
    struct database *database;
    struct schema_table table;
    struct schema_columns columns;
    int64_t number;
};

/* Begins a new file; the description is that of one table. */
void snapshot_draft_begin(struct snapshot_draft *draft, const char *path, const char *description);
/* UNTIL_MS 0: it is the current version. */
void snapshot_draft_add(struct snapshot_draft *draft, const char *item, int64_t from_ms,
                        int64_t until_ms);
void snapshot_draft_add_moment(struct snapshot_draft *draft, int64_t at_ms);
void snapshot_draft_run(struct snapshot_draft *draft, const char *sql);
void snapshot_draft_end(struct snapshot_draft *draft);

/* The result of a Read: all pages, up to an error. */
struct snapshot_result {
    struct buf text;     /* each item on a line; a count; names; or a description */
    struct buf pages;    /* the number of items of each page, and "+" or "." for its end */
    struct buf position; /* of the last page that had one */
    struct table_info info;
    unsigned page_count;
    struct error err;
};

void snapshot_result_clean_up(struct snapshot_result *result);
/* Runs LOOP until the Read, which it destroys, is at its end. */
void snapshot_result_read(struct snapshot_result *result, struct loop *loop, struct source *source,
                          struct read *read);

#endif
