/* The files of a mount's /.ddbfs, as a command reads them that was not told by what mount. */
#ifndef DDBFS_FS_CLI_CONTROL_FILE_H
#define DDBFS_FS_CLI_CONTROL_FILE_H

#include "core/base/buf.h"

/* The mountpoint of the mount that PATH is in; without one (NULL), of that in which one stands, or
 * of the only one that there is. False after a message, in which COMMAND is to be told one. */
bool control_file_find_mount(const char *path, const char *command, struct buf *root);

/* Appends what the file holds now. False with errno when it can't be read; ETIMEDOUT: the daemon
 * has not answered for some seconds. Nothing stays open: who reads it again and again must not keep
 * the mount busy. */
bool control_file_read(const char *file, struct buf *out);

/* Whether ERROR, met at the mount at ROOT, means that it has ended. */
bool control_file_mount_has_ended(int error, const char *root);

/* Says on standard error what is wrong with PATH, after all that was printed: EXIT_FAILURE. */
int control_file_report(const char *path, const char *what);
/* The same of ERROR, met at the file WHAT of the mount at ROOT. */
int control_file_refuse(const char *root, const char *what, int error);

#endif
