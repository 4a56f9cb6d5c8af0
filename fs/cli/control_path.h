/* What `ddbfs refresh` and a mount agree upon: where a path stands that is to be forgotten. */
#ifndef DDBFS_FS_CLI_CONTROL_PATH_H
#define DDBFS_FS_CLI_CONTROL_PATH_H

/* MOUNTPOINT/.ddbfs/refresh/PATH/@now: looking that up makes the mount forget PATH. */
#define CONTROL_NAME ".ddbfs"
#define CONTROL_REFRESH "refresh"
#define CONTROL_NOW "@now"

/* MOUNTPOINT/.ddbfs/mount.json: the map and the options that the mount goes by, and its start. */
#define CONTROL_MOUNT "mount.json"

/* What a refresh that was carried out is answered with where the map has no such path; else it is
 * ENOENT, since there is no file of that name. */
#define CONTROL_NO_SUCH_PATH ENODATA

#endif
