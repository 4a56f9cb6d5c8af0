/* Credentials of a container (ECS, EKS pod identity, Greengrass, CloudShell): its environment names
 * an endpoint that gives them. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_CONTAINER_H
#define DDBFS_CORE_AWS_CREDENTIALS_CONTAINER_H

#include "core/aws/credentials.h"

enum {
    CONTAINER_ATTEMPTS = 3,
    CONTAINER_TIMEOUT_MS = 2000,
    CONTAINER_PAUSE_MS = 1000,
};

/* AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI; absent without
 * either. NULL when memory ran out. */
struct credentials_provider *credentials_container_new(const struct credentials_context *context);

#endif
