/* Whose credentials ask where, for each environment of a map, and who said so: what options,
 * variables, profile files and services come to. No secret is in it. */
#ifndef DDBFS_CORE_CONFIGURATION_H
#define DDBFS_CORE_CONFIGURATION_H

#include "core/sources.h"

/* In the order in which they are shown. */
enum configured {
    CONFIGURED_PROFILE,
    CONFIGURED_REGION,
    CONFIGURED_ENDPOINT,
    CONFIGURED_CREDENTIALS, /* how they were had, in a word of the AWS tools: "env" */
    CONFIGURED_ACCESS_KEY_ID,
    CONFIGURED_EXPIRES,
    CONFIGURED_ACCOUNT_ID,
    CONFIGURED_ARN, /* this and the next as STS says, where it is asked */
    CONFIGURED_USER_ID,
    CONFIGURED_FIPS,
    CONFIGURED_DUAL_STACK,
    CONFIGURED_ACCOUNT_MODE,
    CONFIGURED_CA_BUNDLE,
    CONFIGURED_MAX_ATTEMPTS,
    CONFIGURED_RETRY_MODE,
    CONFIGURED,
};

/* Its name, as the AWS tools write it: "ca_bundle". */
const char *configured_name(enum configured which);

struct configured_fact {
    struct buf value;  /* empty: nothing is known, or nothing was said */
    struct buf origin; /* who said it, in a user's words; may be empty */
};

struct configuration;

/* One environment. */
struct configured_environment {
    struct configuration *configuration;
    const struct map_environment *environment; /* NULL: there is no map */
    struct buf name;                           /* as it was asked for, or as the map writes it */
    struct configured_fact facts[CONFIGURED];
    /* As this environment says them: in a session, which others may share, stands who said them
     * first. */
    struct aws_settings settings;
    int64_t left_ms;  /* until the credentials expire, where CONFIGURED_EXPIRES is known */
    struct error err; /* what kept the rest from being known; of no kind when nothing did */
    struct aws_session *session;        /* borrowed */
    struct credentials_request *asking; /* one of both is under way, or none */
    struct token_call *whoami;
    struct aws_client sts; /* of WHOAMI */
    const char *method;    /* of the credentials; NULL when it is not known */
    struct loop_timer *deadline;
};

struct configuration_options {
    struct loop *loop;
    struct sources *sources;
    const struct map *map;   /* NULL: whatever holds without one */
    const char *environment; /* the only one (core/map/map.h); NULL: all */
    int64_t deadline_ms;     /* for each environment */
    bool whoami;             /* STS is asked, too, whose the credentials are */
};

typedef void configuration_fn(void *arg);

/* Asks for all environments' credentials side by side. DONE is called once, later, when all is
 * known that can be. OPTIONS are borrowed for the call, what they point to for longer. NULL with
 * ERR filled: no such environment, or no memory. */
struct configuration *configuration_start(const struct configuration_options *options,
                                          configuration_fn *done, void *arg, struct error *err);
void configuration_destroy(struct configuration *configuration); /* NULL is fine; ends it, too */

size_t configuration_count(const struct configuration *configuration);
const struct configured_environment *
configuration_environment(const struct configuration *configuration, size_t number);

#endif
