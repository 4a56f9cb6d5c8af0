/* Credentials that a program prints: the profile's credential_process. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_PROCESS_H
#define DDBFS_CORE_AWS_CREDENTIALS_PROCESS_H

#include "core/aws/credentials.h"

enum {
    /* Somebody may have to do something first; whoever waits for less gives up before, and ends it.
     */
    PROCESS_MS = 10 * 60 * 1000,
    /* How long one that has failed is not run again: one file that cannot be read may be followed
     * by thousands. */
    PROCESS_PAUSE_MS = 5 * 1000,
};

/* The program is run without a shell, its words split as the AWS CLI does it. Absent for profiles
 * that name none. NULL when memory ran out. */
struct credentials_provider *credentials_process_new(const struct credentials_context *context);

#endif
