/* What `ddbfs check` reads when it is asked to: some records of each of some paths, which are
 * compared with the map. */
#ifndef DDBFS_FS_CLI_SAMPLER_H
#define DDBFS_FS_CLI_SAMPLER_H

#include "core/plan/sample.h"
#include "fs/cli/app.h"

struct sampler;

/* FN is told what is found; MOST records are read of each path. NULL when memory ran out. */
struct sampler *sampler_new(struct app *app, uint32_t most, check_finding_fn *fn, void *arg);
void sampler_destroy(struct sampler *sampler); /* NULL is fine */

/* A path that was named. */
void sampler_add_path(struct sampler *sampler, const char *path);

/* All paths below PATH that the map tells in full: literal steps, and known values. */
void sampler_add_declared(struct sampler *sampler, const char *path);

/* Says what it will cost, reads, compares, and says what it has cost. */
void sampler_run(struct sampler *sampler);

#endif
