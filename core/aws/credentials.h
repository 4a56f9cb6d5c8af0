/* Credentials, and the interface of a provider of credentials. A request to a provider ends later
 * and can be cancelled, because most providers (assumed roles, SSO, containers, machines) use the
 * network. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_H
#define DDBFS_CORE_AWS_CREDENTIALS_H

#include <stdint.h>

#include "core/aws/profiles.h"
#include "core/aws/settings.h"
#include "core/aws/stored.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/net/transport.h"

/* All zero: no credentials. */
struct credentials {
    char *access_key_id;     /* owned */
    char *secret_access_key; /* owned */
    char *session_token;     /* owned; NULL for long-term keys */
    char *account_id;        /* owned; NULL if the provider does not report it */
    int64_t expires_wall_ms; /* since 1970; 0 for credentials that do not expire */
    const char *method;      /* the AWS tools' word for the provider: "env", "assume-role" */
    char *
        origin; /* owned; the place of the credentials, for messages: "~/.aws/config [profile x]" */
};

/* Wipes and frees. */
void credentials_clean_up(struct credentials *credentials);

/* False when memory ran out; OUT, which must be empty, then stays empty. */
bool credentials_copy(struct credentials *out, const struct credentials *from);

/* Copies these texts into OUT; an empty text becomes NULL. False when memory ran out; OUT is then
 * empty. */
bool credentials_fill(struct credentials *out, struct span access_key_id,
                      struct span secret_access_key, struct span session_token,
                      struct span account_id, const char *origin);

/* Whether TEXT has visible ASCII only. Any other byte in a copied key would break the head of a
 * request. */
bool credentials_is_visible(struct span text);

/* Whether all texts can be sent in the head of a request. False with ERR filled. */
bool credentials_check(const struct credentials *credentials, struct error *err);

/* Whether the keys are plain text in a profile file, which costs nothing to read again. */
bool credentials_are_in_file(const struct credentials *credentials);

struct sso_tokens;
struct mfa_codes;
struct credentials_provider;

/* The surroundings of a provider. All members are borrowed and outlive the provider. */
struct credentials_context {
    struct loop *loop;           /* with the clock */
    struct transport *transport; /* of providers that use the network */
    const struct log *log;       /* may be NULL */
    /* Region and endpoints of the effective profile. The first provider of the chain adds the
     * machine's region if no other is set. */
    struct aws_settings *settings;
    struct sso_tokens *sso_tokens; /* shared by all sessions; NULL: each has its own */
    struct mfa_codes *mfa_codes;   /* typed codes for the roles of this session; NULL: none */
    const char *profile;           /* the effective profile; "default" if none is named */
    bool by_option; /* an option names the profile: keys in the environment are ignored */
    /* The credentials sign for the role of another profile: only the keys of this profile count,
     * never the environment, a container or a machine. */
    bool is_source;
    /* Makes a provider for the source of a role. The chain sets it for its providers. */
    struct credentials_provider *(*new_chain)(const struct credentials_context *context);
    /* Both profile files with their secrets. The chain reads them for each of its requests; they
     * are valid while one of its providers has a request. */
    const struct profiles *profiles;
};

enum credentials_found {
    CREDENTIALS_FOUND,
    CREDENTIALS_ABSENT, /* this provider is not configured: the chain goes on to the next one */
    CREDENTIALS_FAILED, /* this provider is configured and has failed */
};

/* Borrowed for the time of the call, and of no use after credentials_cache_refuse within it. */
struct credentials_result {
    enum credentials_found found;
    struct credentials credentials; /* empty unless found */
    struct error err;               /* of a failure; of an absence too, if the reason is useful */
};

typedef void credentials_fn(void *arg, const struct credentials_result *result);

/* A request to a provider. Each provider's own request begins with this struct. */
struct credentials_request {
    struct credentials_provider *provider;
    struct loop_timer *timer; /* until the request begins */
    credentials_fn *fn;
    void *arg;
};

/* The base of each provider, which begins with this struct. */
struct credentials_provider {
    const struct credentials_provider_ops *ops;
    const struct credentials_context *context;
};

/* The steps by which providers differ. */
struct credentials_provider_ops {
    size_t request_size; /* of the provider's own request, which is zero behind the base at first */
    /* Called by the loop, once. The provider then calls one of credentials_request_report, _finish
     * and _fail, now or later. */
    void (*begin)(struct credentials_request *request);
    /* Ends the work under way and frees the members of a request, which may not have begun. NULL:
     * the request owns nothing. */
    void (*clean_up_request)(struct credentials_request *request);
    /* Frees the members of a provider. NULL: it owns nothing. */
    void (*clean_up)(struct credentials_provider *provider);
};

/* The base of a new provider of SIZE bytes, zero behind it. NULL when memory ran out. */
struct credentials_provider *credentials_provider_new(size_t size,
                                                      const struct credentials_provider_ops *ops,
                                                      const struct credentials_context *context);
/* All its requests must have ended. NULL is fine. */
void credentials_provider_destroy(struct credentials_provider *provider);

/* Starts a request. FN is called exactly once, later, never from within; the request is freed
 * before that. NULL when memory ran out; FN is then never called. */
struct credentials_request *credentials_request_start(struct credentials_provider *provider,
                                                      credentials_fn *fn, void *arg);
/* Ends a request without a call of FN. NULL is fine. */
void credentials_request_cancel(struct credentials_request *request);

/* For providers: each frees the request and then calls its FN. */
void credentials_request_report(struct credentials_request *request,
                                const struct credentials_result *result);
/* The same, and wipes the credentials of RESULT. */
void credentials_request_finish(struct credentials_request *request,
                                struct credentials_result *result);
void credentials_request_fail(struct credentials_request *request, const struct error *err);

/* A provider that finds credentials at once, without the network: LOOK fills OUT (empty before) or
 * ERR. NULL when memory ran out. */
typedef enum credentials_found credentials_look_fn(const struct credentials_context *context,
                                                   struct credentials *out, struct error *err);
struct credentials_provider *credentials_provider_of(const struct credentials_context *context,
                                                     credentials_look_fn *look);

/* The last failure of a provider. The same attempt is not repeated for CREDENTIALS_FAILURE_MS,
 * because one file that cannot be read may be followed by thousands. {0} is no failure. */
enum { CREDENTIALS_FAILURE_MS = 5 * 1000 };

struct credentials_failure {
    struct stored_stamp of; /* the attempt: a digest of what it depends on */
    int64_t at_ms;
    struct error err;
};

void credentials_failure_set(struct credentials_failure *failure, const struct stored_stamp *of,
                             struct loop *loop, const struct error *err);
/* The error if the attempt OF has failed in the last CREDENTIALS_FAILURE_MS, else NULL. */
const struct error *credentials_failure_find(const struct credentials_failure *failure,
                                             const struct stored_stamp *of, struct loop *loop);

#endif
