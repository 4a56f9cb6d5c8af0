/* The settings of an environment's requests: profile, region and endpoints, from options, variables
 * and profile files. No secret is in them. */
#ifndef DDBFS_CORE_AWS_SETTINGS_H
#define DDBFS_CORE_AWS_SETTINGS_H

#include "core/aws/profiles.h"
#include "core/base/error.h"

enum aws_service {
    AWS_DYNAMODB,
    AWS_STS,
    AWS_SSO,      /* the portal: role credentials for a token */
    AWS_SSO_OIDC, /* tokens */
    AWS_SIGNIN,   /* sessions of `aws login` */
    AWS_S3,
    AWS_DYNAMODB_STREAMS,
    AWS_SERVICES,                       /* the number of services with an address of their own */
    AWS_DYNAMODB_SEARCH = AWS_SERVICES, /* other hosts of DynamoDB, for SearchVectors: a configured
                                         * address of AWS_DYNAMODB is theirs, too */
};

/* Whether the host's name contains the caller's account. */
enum aws_account_mode {
    AWS_ACCOUNT_PREFERRED, /* if the account is known, and such hosts exist */
    AWS_ACCOUNT_REQUIRED,  /* otherwise it is an error */
    AWS_ACCOUNT_DISABLED,
};

/* Each member is NULL without such an option. A profile that is named by an option (not by
 * AWS_PROFILE) disables credentials in the environment. The members `…_named_by` replace
 * "--profile" and so on in messages. Borrowed for the call. */
struct aws_options {
    const char *profile;
    const char *profile_named_by;
    const char *region;
    const char *region_named_by;
    const char *endpoint_url;
    const char *endpoint_named_by;
};

/* The settings that have an origin. */
enum aws_setting {
    AWS_SETTING_PROFILE,
    AWS_SETTING_REGION,
    AWS_SETTING_FIPS,
    AWS_SETTING_DUAL_STACK,
    AWS_SETTING_ACCOUNT_MODE,
    AWS_SETTING_CA_BUNDLE,
    AWS_SETTING_MAX_ATTEMPTS,
    AWS_SETTING_RETRY_MODE,
    AWS_SETTING_URLS, /* this one and the next ones: one for each service */
    AWS_SETTINGS = AWS_SETTING_URLS + AWS_SERVICES,
};

struct aws_settings {
    char *profile;  /* owned; NULL: none is named */
    bool by_option; /* an option names the profile */
    char *region; /* owned; without the "fips-" of some names, which sets FIPS. NULL if none is set:
                   * the machine's region is then used once it is known */
    bool of_machine;      /* no region is set, whether the machine's is known yet or not */
    bool region_is_found; /* by aws_settings_find_region */
    bool fips;
    bool dual_stack;
    enum aws_account_mode account_mode;
    char *urls[AWS_SERVICES]; /* owned; of services with a configured address */
    char *missing_services; /* owned; a section [services …] that the profile names, and that does
                             * not exist */
    char *ca_bundle;        /* owned; a file of certificates; NULL: the system's */
    unsigned max_attempts;  /* the limit of requests for one call; 0: the default */
    char *retry_mode;       /* owned; NULL if not set; each mode means "standard" here */
    /* Owned; for messages: "AWS_REGION", "~/.aws/config [profile x]". NULL for a default. */
    char *origins[AWS_SETTINGS];
};

/* False with ERR filled: an unknown profile, an invalid region, a bad endpoint. SETTINGS needs
 * clean-up in either case. */
bool aws_settings_init(struct aws_settings *settings, const struct aws_options *options,
                       const struct profiles *profiles, struct error *err);
void aws_settings_clean_up(struct aws_settings *settings);

/* The effective profile: "default" if none is named. */
const char *aws_settings_profile_in_force(const struct aws_settings *settings);

/* Sets the machine's region, whose origin is BY. False with ERR filled if REGION is invalid. */
bool aws_settings_find_region(struct aws_settings *settings, struct span region, const char *by,
                              struct error *err);

/* The origin of a setting (enum aws_setting) for messages; "" for a default. */
const char *aws_settings_origin(const struct aws_settings *settings, unsigned setting);

/* The configured URL of SERVICE; NULL without one. False with ERR filled: the URL is invalid, or
 * its section does not exist. */
bool aws_settings_url(const struct aws_settings *settings, enum aws_service service,
                      const char **url, struct error *err);

/* Whether both have the same effect: one region, one endpoint, and credentials of one origin. */
bool aws_settings_equal(const struct aws_settings *a, const struct aws_settings *b);

/* For the equal `aws` command; NULL if it needs no such option. */
const char *aws_settings_profile(const struct aws_settings *settings);
const char *aws_settings_endpoint_url(const struct aws_settings *settings);

#endif
