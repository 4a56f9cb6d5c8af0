/* Reads whole items of a path at once: `ddbfs check` compares them with the map, and `ddbfs map`
 * learns key formats from them. At most two requests per path. */
#ifndef DDBFS_FS_CLI_SAMPLE_READER_H
#define DDBFS_FS_CLI_SAMPLE_READER_H

#include "core/plan/plan.h"
#include "fs/cli/app.h"

struct sample_reader {
    struct app *app;
    uint32_t most; /* items of each path */
    /* PLAN is about to be executed. False, after a message, if it must not be. Or NULL. */
    bool (*begin)(void *arg, const char *path, const struct plan *plan);
    /* An item of PLAN's first or second step. False if memory ran out. */
    bool (*take)(void *arg, const struct plan *plan, struct json item);
    void *arg;
    /* Of all paths so far. */
    unsigned requests, items;
    struct spent spent;
};

/* Reads up to MOST items of PATH, and reports errors. That an item is not found is reported if the
 * user named the path. */
void sample_reader_read(struct sample_reader *reader, const char *path, bool named);

/* "3 items were read: 1 request, 0.5 RCU" */
void sample_reader_write_cost(const struct sample_reader *reader, struct buf *out);

#endif
