/* Where an environment's requests go, and on behalf of which profile: what options, environment
 * variables and profile files say together. No secret is in here. */
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
    AWS_SERVICES,
};

/* Whether the host's name has the caller's account in it. */
enum aws_account_mode {
    AWS_ACCOUNT_PREFERRED, /* where the account is known, and such hosts are */
    AWS_ACCOUNT_REQUIRED,  /* it is an error if not */
    AWS_ACCOUNT_DISABLED,
};

/* Each NULL when not asked for. A profile that was asked for by name (not by AWS_PROFILE) turns
 * credentials in the environment off. Who names it, in words for people, is "--profile" and so on
 * where nothing else is said. Borrowed for the call. */
struct aws_options {
    const char *profile;
    const char *profile_named_by;
    const char *region;
    const char *region_named_by;
    const char *endpoint_url;
    const char *endpoint_named_by;
};

/* What can be set, for telling where it was. */
enum aws_setting {
    AWS_SETTING_PROFILE,
    AWS_SETTING_REGION,
    AWS_SETTING_FIPS,
    AWS_SETTING_DUAL_STACK,
    AWS_SETTING_ACCOUNT_MODE,
    AWS_SETTING_CA_BUNDLE,
    AWS_SETTING_MAX_ATTEMPTS,
    AWS_SETTING_RETRY_MODE,
    AWS_SETTING_URLS, /* and those of the services after it */
    AWS_SETTINGS = AWS_SETTING_URLS + AWS_SERVICES,
};

struct aws_settings {
    char *profile;   /* owned; NULL when none was named */
    bool by_option;  /* it was named by an option */
    char *region;    /* owned; without the "fips-" that some names have, which is in FIPS then. NULL
                      * where nobody names one: then the machine's counts, if it is known there */
    bool of_machine; /* so it is, whether it is known yet or not */
    bool region_is_found; /* by aws_settings_find_region */
    bool fips;
    bool dual_stack;
    enum aws_account_mode account_mode;
    char *urls[AWS_SERVICES]; /* owned; of services that are not asked at their own hosts */
    char *missing_services;   /* owned; the section [services …] that the profile names in vain */
    char *ca_bundle;          /* owned; a file of certificates; NULL for the system's */
    unsigned max_attempts;    /* how often a request may be sent; 0: as usual */
    char *retry_mode;         /* owned; NULL where nothing is said; all come to "standard" here */
    /* Owned; in a user's words: "AWS_REGION", "~/.aws/config [profile x]". NULL where it is as it
     * is because nothing was said. */
    char *origins[AWS_SETTINGS];
};

/* False with ERR filled: unknown profile, a region that is none, a bad endpoint. SETTINGS is to be
 * cleaned up in either case. */
bool aws_settings_init(struct aws_settings *settings, const struct aws_options *options,
                       const struct profiles *profiles, struct error *err);
void aws_settings_clean_up(struct aws_settings *settings);

/* The profile whose settings and keys are in force: "default" when none was named. */
const char *aws_settings_profile_in_force(const struct aws_settings *settings);

/* The region was looked for, where nobody names one, and BY says where it was found. False with ERR
 * filled when REGION is none. */
bool aws_settings_find_region(struct aws_settings *settings, struct span region, const char *by,
                              struct error *err);

/* Where a setting (enum aws_setting) was found, in words; "" where nothing was said. */
const char *aws_settings_origin(const struct aws_settings *settings, unsigned setting);

/* The URL that was configured for SERVICE, NULL when none was. False with ERR filled: it is none,
 * or it was to stand in a section that is not there. */
bool aws_settings_url(const struct aws_settings *settings, enum aws_service service,
                      const char **url, struct error *err);

/* Whether both come to the same: one region, one endpoint, and credentials of one origin. */
bool aws_settings_equal(const struct aws_settings *a, const struct aws_settings *b);

/* For the equal `aws` command; NULL where none need be given. */
const char *aws_settings_profile(const struct aws_settings *settings);
const char *aws_settings_endpoint_url(const struct aws_settings *settings);

#endif
