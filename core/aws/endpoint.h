/* Where a service of AWS is asked, and what signs for it: by settings, partition and account. */
#ifndef DDBFS_CORE_AWS_ENDPOINT_H
#define DDBFS_CORE_AWS_ENDPOINT_H

#include "core/aws/settings.h"

enum aws_service {
    AWS_DYNAMODB,
    AWS_STS,
    AWS_SSO,      /* the portal: role credentials for a token */
    AWS_SSO_OIDC, /* tokens */
    AWS_SIGNIN,   /* sessions of `aws login` */
};

struct aws_endpoint {
    char *url;            /* owned; https://host[:port]/path, which ends in a slash */
    char *host;           /* owned; the Host header's value */
    char *path;           /* owned; of the url: "/" */
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
