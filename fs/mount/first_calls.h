/* The first calls, before anything is mounted: wrong credentials, a wrong region or a dead network
 * are told by whoever is still there to read it. */
#ifndef DDBFS_FS_MOUNT_FIRST_CALLS_H
#define DDBFS_FS_MOUNT_FIRST_CALLS_H

#include "fs/cli/app.h"

/* Asks each environment of the map that has settings of its own, all at once. What fails is said on
 * standard error; false when none of them answers. It runs the loop.
 * PAYER pays. */
bool probe(struct app *app, struct payer *payer);

#endif
