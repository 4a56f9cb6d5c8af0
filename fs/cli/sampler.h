/* What `ddbfs check` reads when it is asked to: some records of each of some paths, which are
 * compared with the map. */
#ifndef DDBFS_FS_CLI_SAMPLER_H
#define DDBFS_FS_CLI_SAMPLER_H

#include "core/plan/sample_result.h"
#include "fs/cli/app.h"

struct sampler;

/* Where the results are printed. */
struct sampler_printer {
    sample_report_fn *report;
    void (*kind)(void *arg, const struct model *table, const struct map_kind *kind, size_t items);
    void *arg;
};

/* MOST items are read of each path. NULL when memory ran out. */
struct sampler *sampler_new(struct app *app, uint32_t most, const struct sampler_printer *printer);
void sampler_destroy(struct sampler *sampler); /* NULL is fine */

/* A path that was named. Where there is one, items of the kinds that named paths show are to be
 * seen; otherwise those of all kinds of the map. */
void sampler_add_path(struct sampler *sampler, const char *path);

/* All paths below PATH that the map tells in full: literal steps, and known values. */
void sampler_add_declared(struct sampler *sampler, const char *path);

/* Says what it will cost, reads, compares, and says what it has cost. */
void sampler_run(struct sampler *sampler);

#endif
