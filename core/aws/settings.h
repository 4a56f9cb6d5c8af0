/* Where an environment's requests go, and on behalf of which profile: what options, environment
 * variables and profile files say together. No secret is in here. */
#ifndef DDBFS_CORE_AWS_SETTINGS_H
#define DDBFS_CORE_AWS_SETTINGS_H

#include "core/aws/profile.h"
#include "core/base/error.h"

/* Each NULL when not asked for. A profile that was asked for by name (not by AWS_PROFILE) turns
 * credentials in the environment off. Borrowed for the call. */
struct aws_options {
    const char *profile;
    const char *profile_named_by; /* who names it, in words for people: "--profile" */
    const char *region;
    const char *endpoint_url;
};

struct aws_settings {
    char *profile;  /* owned; NULL when none was named */
    bool asked_for; /* it was named by an option */
    char *region;   /* owned */
    char *url;      /* owned; https://host[:port]/ */
    char *host;     /* owned; the Host header's value */
    bool own_endpoint;
    unsigned max_attempts; /* how often a request may be sent; 0: as usual */
};

/* False with ERR filled: unknown profile, no region, a bad endpoint. SETTINGS is to be cleaned up
 * in either case. */
bool aws_settings_init(struct aws_settings *settings, const struct aws_options *options,
                       const struct profiles *profiles, struct error *err);
void aws_settings_clean_up(struct aws_settings *settings);

/* The profile whose settings and keys are in force: "default" when none was named. */
const char *aws_settings_profile_in_force(const struct aws_settings *settings);

/* Whether both come to the same: one region, one endpoint, and credentials of one origin. */
bool aws_settings_equal(const struct aws_settings *a, const struct aws_settings *b);

/* For the equal `aws` command; NULL where none need be given. */
const char *aws_settings_profile(const struct aws_settings *settings);
const char *aws_settings_endpoint_url(const struct aws_settings *settings);

#endif
