/* Credentials, and the chain of places they may come from. Each place is a file of its own
 * (credentials_env, credentials_profile, …); this one asks them in the order of the AWS CLI. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_H
#define DDBFS_CORE_AWS_CREDENTIALS_H

#include "core/aws/profile.h"
#include "core/base/error.h"

struct credentials {
    char *access_key_id;     /* owned */
    char *secret_access_key; /* owned */
    char *session_token;     /* owned; NULL when there is none */
};

/* Wipes and frees. */
void credentials_clean_up(struct credentials *credentials);

/* On whose behalf credentials are looked for. All borrowed. */
struct credentials_query {
    const struct profiles *profiles;
    const char *profile; /* the profile in force; "default" when none was named */
    bool asked_for;      /* it was named by an option: the environment's credentials are off */
};

enum credentials_found {
    CREDENTIALS_FOUND,  /* they are in OUT */
    CREDENTIALS_ABSENT, /* this place has none: the next one is asked */
    CREDENTIALS_FAILED, /* this place should have had some; ERR says why it has not */
};

/* One place that credentials may come from. OUT is empty, and stays so unless they are found. */
typedef enum credentials_found credentials_source_fn(const struct credentials_query *query,
                                                     struct credentials *out, struct error *err);

/* Asks one place after the other; false (ERR filled, OUT empty) when none has credentials. */
bool credentials_resolve(const struct credentials_query *query, struct credentials *out,
                         struct error *err);

#endif
