/* --together: the items of some paths, all as they are at one moment. */
#ifndef DDBFS_FS_CLI_TOGETHER_PATHS_H
#define DDBFS_FS_CLI_TOGETHER_PATHS_H

#include "core/read/together.h"
#include "fs/cli/app.h"

struct together_paths {
    struct app *app;
    struct together_item *items; /* owned, with their records; in the order of the paths */
    struct place **places;       /* owned; those of the items */
    struct together_resolution *resolutions; /* owned */
    size_t count;
    size_t pending;   /* resolutions, and the read */
    struct error why; /* with a kind: no item was read */
};

/* Finds the items of COUNT PATHS, which are borrowed; no more than TOGETHER_MOST. FOLLOWS: a link
 * means its target. False after messages: a path has no item, or the items cannot be read together.
 * To be cleaned up in either case. */
bool together_paths_find(struct together_paths *found, struct app *app, char **paths, size_t count,
                         bool follows);
/* Reads them. A note on standard error names each path that is not wholly of the
 * moment. False after a message: no item was read. */
bool together_paths_read(struct together_paths *found);
void together_paths_clean_up(struct together_paths *found);

/* Reports ERR for the path that its part names. */
void together_paths_report(const struct together_paths *found, const struct error *err);

/* The usage of a command with --together: EXIT_SUCCESS, or EXIT_USAGE after a message. */
int together_paths_check(const struct options *options, int count, const char *command);

/* Runs a whole command on the items of PATHS, from the map to the exit status: FN gets them, if
 * they were found. */
typedef void together_paths_fn(struct together_paths *found);
int together_paths_command(const struct options *options, char **paths, int count, bool follows,
                           together_paths_fn *fn);

#endif
