/* Paths below a live mount, as commands take them: each becomes the path of the tree that it is in
 * the mount, and the command goes by the mount's map and options. */
#ifndef DDBFS_FS_CLI_MOUNTED_PATHS_H
#define DDBFS_FS_CLI_MOUNTED_PATHS_H

#include "fs/cli/app.h"

struct mounted_paths {
    struct options options; /* the command's, with the mount's where the command line has none */
    struct buf root;        /* owned: the mountpoint; empty while no path was in a mount */
    struct arena arena;     /* owns what the mount's options and paths point to */
};

/* OPTIONS is copied. To be cleaned up when the command has ended. */
void mounted_paths_init(struct mounted_paths *mounted, const struct options *options);
void mounted_paths_clean_up(struct mounted_paths *mounted);

/* PATH, or the path of the tree that it is where it leads into a mount: one that is absolute, or
 * begins with "./" or "../". All must lead into one mount. Lives as long as MOUNTED; NULL after a
 * message. */
char *mounted_paths_path(struct mounted_paths *mounted, const char *path);

/* The same for each of COUNT paths. False after a message. */
bool mounted_paths_take(struct mounted_paths *mounted, char **paths, int count);

#endif
