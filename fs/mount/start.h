/* The first calls, before anything is mounted: wrong credentials, a wrong region or a dead network
 * are told by whoever is still there to read it. */
#ifndef DDBFS_FS_MOUNT_START_H
#define DDBFS_FS_MOUNT_START_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/base/buf.h"
#include "fs/cli/app.h"
#include "fs/cli/options.h"

/* Asks each environment of the map that has settings of its own, all at once. What fails is said on
 * standard error; false when none of them answers. It runs the loop.
 * PAYER pays. */
bool start_check_environments(struct app *app, struct payer *payer);

/* Where something is to be mounted: whether that can be, told in words before it is tried. */
/* What mount(2) would say in fewer words. False after a message, as below. */
bool mountpoint_check(const char *mountpoint, bool nonempty);

/* Whether no mount of ours is there. A second one on the same folder would hide the first, and need
 * a second unmount. What the kernel has of a dead one may look alive, but for a name that is known
 * for a moment only. Unless NONEMPTY, a folder with entries is not free either. */
bool mountpoint_is_free(const char *mountpoint, bool nonempty);

/* Two that mount on one folder at the same time would both find it free, and one hide the other. So
 * this is held around the last look and the mount, and closed then. -1 after a message;
 * MOUNTPOINT_NO_LOCK where the folder may not be opened. */
enum { MOUNTPOINT_NO_LOCK = -2 };
int mountpoint_lock(const char *mountpoint);

/* The number N of /dev/fd/N, which stands for an opened /dev/fuse that somebody else has mounted;
 * -1 for any other mountpoint. */
int mountpoint_handed_over(const char *mountpoint);
/* Whether it is one, and mounted. */
bool mountpoint_check_device(int fd);

/* What stands behind -o: options of ddbfs itself under their long names, options of mount(8) that
 * mean nothing here, and options of FUSE, which are handed on. */
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

/* Names of files from the root on: a daemon leaves the folder in which it was started. */
/* FILE from the root on; owned. Links stay in it: a map behind one that is pointed elsewhere (as
 * Kubernetes does with a ConfigMap) is the new one at the next SIGHUP. NULL when there is no
 * folder, or no memory. */
char *start_absolute_path(const char *file);

/* The same for the variables of the environment that name files, which are read again and again. To
 * be called before anything holds a value of theirs. */
void start_make_variables_absolute(void);

#endif
