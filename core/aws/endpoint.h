/* The address of a service of AWS and the region of its signature, by settings, partition and
 * account. The rules are the public endpoint rule sets of AWS (docs/credentials.md#endpoints). */
#ifndef DDBFS_CORE_AWS_ENDPOINT_H
#define DDBFS_CORE_AWS_ENDPOINT_H

#include "core/aws/settings.h"

struct aws_endpoint {
    /* The root, for DynamoDB and STS, as it was configured. */
    char *root_url;  /* owned; https://host[:port]/ or …/path */
    char *root_path; /* owned; the root's path in a signature: "/" */
    /* The prefix of a resource: the same with a slash at its end. */
    char *url;            /* owned */
    char *path;           /* owned; in a signature */
    char *host;           /* owned; the Host header's value */
    char *signing_region; /* owned */
};

/* For the service in REGION (NULL: the settings'). ACCOUNT_ID is the caller's account, which some
 * hosts contain; NULL if it is not known. False with ERR filled; ENDPOINT needs clean-up in either
 * case. */
bool aws_endpoint_init(struct aws_endpoint *endpoint, const struct aws_settings *settings,
                       enum aws_service service, const char *region, const char *account_id,
                       struct error *err);
void aws_endpoint_clean_up(struct aws_endpoint *endpoint);

#endif
