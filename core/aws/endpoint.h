/* Where a service of AWS is asked, and what signs for it: by settings, partition and account. The
 * rules are those of the public endpoint rule sets of AWS (docs/credentials.md#endpoints). */
#ifndef DDBFS_CORE_AWS_ENDPOINT_H
#define DDBFS_CORE_AWS_ENDPOINT_H

#include "core/aws/settings.h"

struct aws_endpoint {
    /* Of its root, where DynamoDB and STS are asked: as it was configured. */
    char *root_url;  /* owned; https://host[:port]/ or …/path */
    char *root_path; /* owned; of the root as the signature has it: "/" */
    /* To put a resource behind: the same with a slash at the end in any case. */
    char *url;            /* owned */
    char *path;           /* owned; as the signature has it */
    char *host;           /* owned; the Host header's value */
    char *signing_region; /* owned */
};

/* For the service in REGION (NULL: the settings'). ACCOUNT_ID is the caller's account when it is
 * known, else NULL; some hosts go by it. False with ERR filled; ENDPOINT is to be cleaned up in
 * either case. */
bool aws_endpoint_init(struct aws_endpoint *endpoint, const struct aws_settings *settings,
                       enum aws_service service, const char *region, const char *account_id,
                       struct error *err);
void aws_endpoint_clean_up(struct aws_endpoint *endpoint);

#endif
