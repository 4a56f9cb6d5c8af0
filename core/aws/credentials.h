/* Credentials, and the interface of whatever provides them. A provider answers later and can be
 * called off, because most of them (assumed roles, SSO, containers, machines) ask the network. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_H
#define DDBFS_CORE_AWS_CREDENTIALS_H

#include <stdint.h>

#include "core/aws/profiles.h"
#include "core/aws/settings.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/net/transport.h"

/* All zero: none. */
struct credentials {
    char *access_key_id;     /* owned */
    char *secret_access_key; /* owned */
    char *session_token;     /* owned; NULL when there is none */
    char *account_id;        /* owned; NULL when their source does not say */
    int64_t expires_wall_ms; /* since 1970; 0 when they do not expire */
    const char *method; /* how they were had, in the words of the AWS tools: "env", "assume-role" */
    char *origin; /* owned; where they were found, in a user's words: "~/.aws/config [profile x]" */
};

/* Wipes and frees. */
void credentials_clean_up(struct credentials *credentials);

/* Whether there is nothing in TEXT but visible ASCII: what else came along with a copied key would
 * break the request's head. */
bool credentials_is_visible(struct span text);

/* False when memory ran out; OUT, which must be empty, then stays so. */
bool credentials_copy(struct credentials *out, const struct credentials *from);

/* Whether all of them can stand in the head of a request, which what came along with a copied key
 * may not. False with ERR filled. */
bool credentials_check(const struct credentials *credentials, struct error *err);

/* Whether they stand in a profile file as they are: then it costs nobody anything to look again. */
bool credentials_are_in_file(const struct credentials *credentials);

struct sso_tokens;
struct mfa_codes;
struct credentials_provider;

/* What providers work with, and on whose behalf. All borrowed, and outlives the provider. */
struct credentials_context {
    struct loop *loop;           /* with the clock */
    struct transport *transport; /* for those that ask the network */
    const struct log *log;       /* may be NULL */
    /* Region and endpoints, of the profile in force. Of the chain's providers the first one puts in
     * a region that nobody named. */
    struct aws_settings *settings;
    struct sso_tokens *sso_tokens; /* of all sessions together; NULL: each has its own */
    struct mfa_codes *mfa_codes;   /* that were typed for its roles; NULL: none */
    const char *profile;           /* whose credentials are wanted; "default" when none was named */
    bool asked_for; /* it was named by an option: the environment's credentials are off */
    /* They are to sign for the role of another profile: only what the profile itself says counts,
     * never the environment, a container or a machine. */
    bool is_source;
    /* Makes what gives a source's credentials: the chain, which sets it for its providers. */
    struct credentials_provider *(*new_chain)(const struct credentials_context *context);
    /* Both profile files as they are now, with their secrets: read by the chain for each of its
     * questions, and there while one of its providers is asked. */
    const struct profiles *profiles;
};

enum credentials_found {
    CREDENTIALS_FOUND,  /* they are in the answer */
    CREDENTIALS_ABSENT, /* this provider has none: the next one is asked */
    CREDENTIALS_FAILED, /* it should have had some; the answer's error says why it has not */
};

/* Borrowed for the time of the call. */
struct credentials_answer {
    enum credentials_found found;
    struct credentials credentials; /* empty unless found */
    struct error
        err; /* of a failure; of an absence too, where there is something to say about it */
};

typedef void credentials_fn(void *arg, const struct credentials_answer *answer);

struct credentials_request; /* one question under way; every provider has its own */

struct credentials_provider {
    const struct credentials_provider_ops *ops;
};

struct credentials_provider_ops {
    /* FN is called exactly once, later, never from within; the question is gone before that. NULL
     * when memory ran out; FN is then never called. */
    struct credentials_request *(*get)(struct credentials_provider *provider, credentials_fn *fn,
                                       void *arg);
    /* Ends a question that was not answered yet; FN is not called. */
    void (*cancel)(struct credentials_request *get);
    /* Every question must have ended. */
    void (*destroy)(struct credentials_provider *provider);
};

/* For places that can be looked into at once, without the network: LOOK fills OUT (empty before) or
 * ERR, in the next round of the loop. NULL when memory ran out. */
typedef enum credentials_found credentials_look_fn(const struct credentials_context *context,
                                                   struct credentials *out, struct error *err);
struct credentials_provider *credentials_provider_of(const struct credentials_context *context,
                                                     credentials_look_fn *look);

#endif
