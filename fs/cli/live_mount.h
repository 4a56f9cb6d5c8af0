/* A live mount, as commands read it: its control files in /.ddbfs, and paths below it. */
#ifndef DDBFS_FS_CLI_LIVE_MOUNT_H
#define DDBFS_FS_CLI_LIVE_MOUNT_H

#include "fs/cli/app.h"

#define CONTROL_NAME ".ddbfs"

/* MOUNTPOINT/.ddbfs/refresh/PATH/@now: its look-up makes the mount drop its results of PATH, and
 * fails with ENOENT; with CONTROL_NO_SUCH_PATH, if the map has no such path. */
#define CONTROL_REFRESH "refresh"
#define CONTROL_NOW "@now"
#define CONTROL_NO_SUCH_PATH ENODATA

/* MOUNTPOINT/.ddbfs/mount.json: the map, the options and the start of the mount. */
#define CONTROL_MOUNT "mount.json"
/* MOUNTPOINT/.ddbfs/map.json: the text of the map. */
#define CONTROL_MAP "map.json"

/* Sets ROOT to the mountpoint of the mount which contains PATH. Without PATH (NULL) that is the
 * mount of the current directory, or the only mount. False after a message, which refers to
 * COMMAND. */
bool live_mount_find(const char *path, const char *command, struct buf *root);

/* Appends the contents of the control file NAME. False with errno: ETIMEDOUT if the daemon has not
 * responded for some seconds; EPERM if the mount is neither the caller's nor root's. No descriptor
 * remains open, which would make the mount busy. */
bool live_mount_read(const char *root, const char *name, struct buf *out);

/* False after a message if the mount at ROOT is neither the caller's nor root's: its daemon may
 * answer anything. */
bool live_mount_check_owner(const char *root);

/* Whether ERROR of an access to the mount at ROOT means that the mount has ended. */
bool live_mount_has_ended(int error, const char *root);

/* Reports ERROR of the control file NAME. Returns EXIT_FAILURE. */
int live_mount_fail(const char *root, const char *name, int error);

/* Paths below a live mount become paths of the tree, and the command uses the map and the options
 * of the mount, if it is the caller's or root's. */
struct mounted_paths {
    struct options options; /* the command's, completed by those of the mount */
    struct buf root;        /* owned: the mountpoint; empty before the first path in a mount */
    struct arena arena;     /* owns the texts of options and paths */
    bool is_below;          /* the last path that was translated is in the mount */
};

/* Copies OPTIONS. To be cleaned up after the command. */
void mounted_paths_init(struct mounted_paths *mounted, const struct options *options);
void mounted_paths_clean_up(struct mounted_paths *mounted);

/* Returns the path of the tree for a PATH in a mount that is absolute or begins with "./" or "../",
 * else PATH. All paths must be in one mount. The result lives as long as MOUNTED; NULL after a
 * message. */
char *mounted_paths_translate(struct mounted_paths *mounted, const char *path);

/* Translates each of COUNT paths. If the mount has snapshots, the other paths are of the present,
 * and not of the snapshots. If it is live, the other paths are of DDBFS_SNAPSHOT. False after a
 * message. */
bool mounted_paths_take(struct mounted_paths *mounted, char **paths, int count);

#endif
