/* Credentials of a role that SSO (IAM Identity Center) gives to whoever has signed in: profiles
 * with sso_account_id and sso_role_name. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_SSO_H
#define DDBFS_CORE_AWS_CREDENTIALS_SSO_H

#include "core/aws/credentials.h"

/* They are taken from the AWS CLI's cache of roles where it has them, and outlive the token that
 * they were had with; else the portal is asked, and the cache filled. */
struct credentials_provider *credentials_sso_new(const struct credentials_context *context);

#endif
