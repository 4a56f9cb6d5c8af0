/* The effective settings and credentials of each environment of a map, with their origins. It holds
 * no secret. */
#ifndef DDBFS_CORE_CONFIGURATION_H
#define DDBFS_CORE_CONFIGURATION_H

#include "core/sources.h"

/* In the order in which they are printed. */
enum configured {
    CONFIGURED_SNAPSHOT,  /* the file with the items; then none of the others are known */
    CONFIGURED_SNAPSHOTS, /* the folder of the past */
    CONFIGURED_PROFILE,
    CONFIGURED_REGION,
    CONFIGURED_ENDPOINT,
    CONFIGURED_CREDENTIALS, /* how they were found, in a word of the AWS tools: "env" */
    CONFIGURED_ACCESS_KEY_ID,
    CONFIGURED_EXPIRES,
    CONFIGURED_ACCOUNT_ID,
    CONFIGURED_ARN, /* this and the next by STS, if WHOAMI */
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
    struct buf value;  /* empty: not known, or not set */
    struct buf origin; /* in a user's words; may be empty */
};

struct configuration;

/* One environment. */
struct configured_environment {
    struct configuration *configuration;
    const struct map_environment *environment; /* NULL: no map */
    struct buf name;                           /* as requested, or as in the map */
    struct configured_fact facts[CONFIGURED];
    struct aws_settings settings; /* its own: a shared session has the origins of the first user */
    int64_t left_ms;              /* until the credentials expire, if CONFIGURED_EXPIRES is known */
    struct error err;             /* the reason why the rest is not known; of no kind if all is */
    struct aws_session *session;  /* borrowed */
    struct credentials_request *request; /* at most one of both is under way */
    struct token_call *whoami;
    struct aws_client sts; /* of WHOAMI */
    const char *method;    /* of the credentials; NULL if not known */
    struct loop_timer *deadline;
};

struct configuration_options {
    struct loop *loop;
    struct sources *sources;
    const struct map *map;   /* NULL: the settings without a map */
    const char *environment; /* the only one (core/map/map.h); NULL: all */
    int64_t deadline_ms;     /* for each environment */
    bool whoami;             /* STS is requested to identify the credentials */
};

typedef void configuration_fn(void *arg);

/* Gets all environments' credentials side by side. DONE is called once, later, at the end. OPTIONS
 * are borrowed for the call, all that they point to until the end. NULL with ERR filled: no such
 * environment, or no memory. */
struct configuration *configuration_start(const struct configuration_options *options,
                                          configuration_fn *done, void *arg, struct error *err);
void configuration_destroy(struct configuration *configuration); /* ends it, too; NULL is fine */

size_t configuration_count(const struct configuration *configuration);
const struct configured_environment *
configuration_environment(const struct configuration *configuration, size_t number);

#endif
