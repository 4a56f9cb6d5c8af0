/* What stands behind -o: options of ddbfs itself under their long names, options of mount(8) that
 * mean nothing here, and options of FUSE, which are handed on. */
#ifndef DDBFS_FS_MOUNT_MOUNT_OPTIONS_H
#define DDBFS_FS_MOUNT_MOUNT_OPTIONS_H

#include <sys/types.h>

#include "core/base/buf.h"
#include "fs/cli/options.h"

struct mount_options {
    struct buf fuse;  /* for libfuse: separated by commas */
    struct buf texts; /* what options_set was given; must outlive the options */
    uid_t uid;
    gid_t gid;
    mode_t umask;
    bool allow_other;
    bool nonempty;         /* the mountpoint may have entries, which the mount hides */
    bool unlistable_quiet; /* no placeholder is listed */
};

/* Reads all that was given with -o; options of ddbfs go to OPTIONS. False after a message to
 * standard error. To be cleaned up in either case. */
bool mount_options_init(struct mount_options *mount, struct options *options);
void mount_options_clean_up(struct mount_options *mount);

#endif
