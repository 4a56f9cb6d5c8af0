/* Names of files from the root on: a daemon leaves the folder in which it was started. */
#ifndef DDBFS_FS_MOUNT_ROOTED_H
#define DDBFS_FS_MOUNT_ROOTED_H

/* FILE from the root on; owned. Links stay in it: a map behind one that is pointed elsewhere (as
 * Kubernetes does with a ConfigMap) is the new one at the next SIGHUP. NULL when there is no
 * folder, or no memory. */
char *rooted(const char *file);

/* The same for the variables of the environment that name files, which are read again and again. To
 * be called before anything holds a value of theirs. */
void rooted_variables(void);

#endif
