/* A file that is written under a hidden name beside its target, and appears there when it is
 * complete. A lock distinguishes it from one that a killed process left. */
#ifndef DDBFS_CORE_IMPORT_NEW_FILE_H
#define DDBFS_CORE_IMPORT_NEW_FILE_H

#include "core/base/error.h"

struct new_file {
    char *target, *name; /* owned; NAME is NULL once the file is complete */
    int fd;              /* owned; it has the lock */
};

/* Creates an empty file of mode 0600 beside TARGET, and removes those in the same folder that
 * killed processes of this user left. It is to be cleaned up in either case. False with ERR filled.
 */
bool new_file_create(struct new_file *file, const char *target, struct error *err);

/* Gives the file its target's name. A file of that name is replaced only with REPLACES. False with
 * ERR filled: the target is as it was before. */
bool new_file_publish(struct new_file *file, bool replaces, struct error *err);

/* Removes the file, unless it was published. The program must have closed it: the lock ends. */
void new_file_clean_up(struct new_file *file);

/* Fills ERR for a FILE that could not be written, by errno. Returns false. */
bool new_file_refuse(const char *file, struct error *err);

#endif
