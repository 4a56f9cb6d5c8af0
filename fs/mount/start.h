/* The checks before a mount: the options of -o, the mountpoint, and the first request to each
 * environment. An error is printed while the user still reads standard error. */
#ifndef DDBFS_FS_MOUNT_START_H
#define DDBFS_FS_MOUNT_START_H

#include <sys/types.h>

#include "core/base/buf.h"
#include "fs/cli/app.h"
#include "fs/cli/options.h"

/* The words of -o: options of ddbfs under their long names, options of mount(8) without a meaning
 * here, and options of FUSE for libfuse. */
struct mount_options {
    struct buf fuse;  /* for libfuse: separated by commas */
    struct buf texts; /* values of options_set; must outlive the options */
    uid_t uid;
    gid_t gid;
    mode_t umask;
    bool allow_other;
    bool nonempty;         /* the mountpoint may have entries, which the mount hides */
    bool unlistable_quiet; /* listings show no placeholder */
};

/* Parses all -o of OPTIONS; options of ddbfs are set in OPTIONS. False after a message to standard
 * error. To be cleaned up in either case. */
bool mount_options_init(struct mount_options *mount, struct options *options);
void mount_options_clean_up(struct mount_options *mount);

/* Whether something can be mounted there. False after a message, as below. */
bool mountpoint_check(const char *mountpoint, bool nonempty);

/* Whether no mount of ddbfs is there: a second one would hide the first. Unless NONEMPTY, a
 * directory with entries is not free either. */
bool mountpoint_is_free(const char *mountpoint, bool nonempty);

/* Locks the mountpoint during the last check and the mount: otherwise two processes could both find
 * it free. The caller closes the descriptor. -1 after a message; MOUNTPOINT_NO_LOCK if the
 * directory must not be opened. */
enum { MOUNTPOINT_NO_LOCK = -2 };
int mountpoint_lock(const char *mountpoint);

/* The number N of /dev/fd/N, an open /dev/fuse that another process has mounted; -1 for any other
 * mountpoint. */
int mountpoint_device(const char *mountpoint);
/* Whether the device is /dev/fuse, and mounted. */
bool mountpoint_check_device(int fd);

/* Sends a request to each environment of the map with its own settings, at the same time. Failures
 * are printed; false when no environment responds. Runs the loop. PAYER, which may be NULL, pays.
 */
bool start_check_environments(struct app *app, struct payer *payer);

/* The absolute path of FILE; owned. Links are not resolved: a map behind a link that is changed
 * later, as Kubernetes does, is the new map at the next SIGHUP. NULL without a working directory,
 * or when memory ran out. */
char *start_absolute_path(const char *file);

/* Makes the paths in environment variables absolute, for a daemon that leaves its directory. To be
 * called before their values are used. */
void start_make_variables_absolute(void);

#endif
