/* Credentials of a container (ECS, EKS pod identity, Greengrass, CloudShell): its environment names
 * an endpoint that gives them. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_CONTAINER_H
#define DDBFS_CORE_AWS_CREDENTIALS_CONTAINER_H

#include "core/aws/credentials.h"

enum {
    CONTAINER_ATTEMPTS = 3,
    CONTAINER_TIMEOUT_MS = 2000,
    CONTAINER_PAUSE_MS = 1000, /* between them */
    /* How long an endpoint that has failed is not asked again: one file that cannot be read may be
     * followed by thousands. */
    CONTAINER_REST_MS = 5 * 1000,
};

/* AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI; absent without
 * either. NULL when memory ran out. */
struct credentials_provider *credentials_container_new(const struct credentials_context *context);

#endif
