/* What every command needs: the map, a loop, a cache, sources, and the tree over them. */
#ifndef DDBFS_FS_CLI_APP_H
#define DDBFS_FS_CLI_APP_H

#include "core/tree/tree.h"
#include "fs/cli/options.h"

struct app {
    const struct options *options;
    struct log log;
    const struct map *map;   /* holds a reference */
    struct loop *loop;       /* owned */
    struct cache *cache;     /* owned */
    struct sources *sources; /* owned */
    struct tree tree;
    int status; /* the exit status so far */
};

enum {
    EXIT_USAGE = 2,
    COMMAND_CACHE_BYTES = 4 << 20, /* a command is short-lived and asks little twice */
};

/* False after a message to standard error; app_clean_up is to be called in either case. */
bool app_init(struct app *app, const struct options *options, const char *map_file,
              size_t cache_bytes);
void app_clean_up(struct app *app);

/* The map to use: --map, or the first that is there of $DDBFS_MAP, the user's and the system's.
 * OUT gets its name; false after a message. */
bool app_find_map(const struct options *options, struct buf *out);

/* "ddbfs: PATH: reason" on standard error, with what the service said; the exit status becomes 1.
 */
void app_complain(struct app *app, const char *path, const struct error *err);

/* The place that PATH names; NULL after a complaint. */
struct place *app_resolve(struct app *app, const char *path);

/* The commands; each returns the exit status. ARGV are the words after the command and its
 * options. */
typedef int command_fn(const struct options *options, int argc, char **argv);
command_fn cat_command, ls_command, explain_command, check_command, mount_command, refresh_command;

#endif
