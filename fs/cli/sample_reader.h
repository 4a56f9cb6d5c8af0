/* Some records of what a path names, whole, read at once: what `check` compares with the map, and
 * what `map` learns key formats from. At most two requests a path. */
#ifndef DDBFS_FS_CLI_SAMPLE_READER_H
#define DDBFS_FS_CLI_SAMPLE_READER_H

#include "core/plan/plan.h"
#include "fs/cli/app.h"

/* A record that PLAN's first or second step gave. False when memory ran out. */
typedef bool sample_reader_item_fn(void *arg, const struct plan *plan, struct json item);

/* PLAN is about to be executed. False when it must not be, after a complaint. */
typedef bool sample_reader_plan_fn(void *arg, const char *path, const struct plan *plan);

struct peek {
    struct app *app;
    uint32_t most;               /* records of each path */
    sample_reader_plan_fn *look; /* or NULL */
    sample_reader_item_fn *take;
    void *arg;
    /* Of all paths so far. */
    unsigned requests, records;
    struct spent spent;
};

/* Reads up to MOST records of PATH, and complains of what goes wrong. NAMED by the user: a record
 * that is not there is told, too. */
void sample_reader_path(struct peek *peek, const char *path, bool named);

#endif
