/* Credentials of the machine's role, from its metadata service. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_METADATA_H
#define DDBFS_CORE_AWS_CREDENTIALS_METADATA_H

#include "core/aws/credentials.h"

enum {
    /* How long a service that did not answer is taken for none: whoever reads a thousand files
     * without credentials waits for it once. */
    METADATA_ABSENT_MS = 5 * 1000,
};

/* Absent where nobody answers; where the service answers and has no role, absent with the error
 * that says so. NULL when memory ran out. */
struct credentials_provider *credentials_metadata_new(const struct credentials_context *context);

#endif
