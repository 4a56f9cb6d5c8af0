/* What `ddbfs check` reads when it is asked to: some records of each of some paths, which are
 * compared with the map. */
#ifndef DDBFS_FS_CLI_CHECK_SAMPLE_H
#define DDBFS_FS_CLI_CHECK_SAMPLE_H

#include "core/check/sample_check.h"
#include "fs/cli/app.h"

struct check_sample;

/* Where the results are printed. */
struct check_sample_printer {
    sample_report_fn *report;
    void (*kind)(void *arg, const struct model *table, const struct map_kind *kind, size_t items);
    void *arg;
};

/* MOST items are read of each path. NULL when memory ran out. */
struct check_sample *check_sample_new(struct app *app, uint32_t most,
                                      const struct check_sample_printer *printer);
void check_sample_destroy(struct check_sample *sampler); /* NULL is fine */

/* A path that was named. Where there is one, items of the kinds that named paths show are to be
 * seen; otherwise those of all kinds of the map. */
void check_sample_add_path(struct check_sample *sampler, const char *path);

/* All paths below PATH that the map tells in full: literal steps, and known values. */
void check_sample_add_declared(struct check_sample *sampler, const char *path);

/* Says what it will cost, reads, compares, and says what it has cost. */
void check_sample_run(struct check_sample *sampler);

#endif
