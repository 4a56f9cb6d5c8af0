/* The providers of credentials, in the order of the chain; each has a file of its own. All of them
 * borrow CONTEXT. Each constructor returns NULL when memory ran out. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_PROVIDERS_H
#define DDBFS_CORE_AWS_CREDENTIALS_PROVIDERS_H

#include "core/aws/credentials.h"

/* The chain itself: the first provider that finds credentials, or fails, ends the search. If all
 * are absent, the chain fails with advice. Credentials that the head of a request cannot carry are
 * refused. One request at a time. */
struct credentials_provider *credentials_chain_new(const struct credentials_context *context);

enum {
    /* A metadata service that did not respond is taken for absent for this time: a reader of a
     * thousand files without credentials waits for it once. */
    MACHINE_ABSENT_MS = 5 * 1000,
};

/* The machine's region, from its metadata service, if no other region is set. The providers behind
 * it need a region. It has no credentials: it is absent once the settings have a region, which it
 * adds, and fails with advice without one. */
struct credentials_provider *credentials_region_new(const struct credentials_context *context);

/* AWS_ACCESS_KEY_ID and its companions. Absent if an option names a profile. */
struct credentials_provider *credentials_env_new(const struct credentials_context *context);

/* Profiles with role_arn, and source_profile or credential_source. The provider reads the AWS CLI's
 * cache of roles first; otherwise it sends a request to STS and writes the cache. */
struct credentials_provider *credentials_role_new(const struct credentials_context *context);

/* Profiles with web_identity_token_file, or AWS_WEB_IDENTITY_TOKEN_FILE in the environment. */
struct credentials_provider *
credentials_web_identity_new(const struct credentials_context *context);

/* Profiles with sso_account_id and sso_role_name (IAM Identity Center). The provider reads the AWS
 * CLI's cache of roles first, which outlives the token; otherwise it sends a request to the portal
 * and writes the cache. */
struct credentials_provider *credentials_sso_new(const struct credentials_context *context);

/* aws_access_key_id and its companions in one of the two profile files. The AWS CLI reads the two
 * files at two places of its chain, so there are two providers. */
struct credentials_provider *
credentials_credentials_file_new(const struct credentials_context *context);
struct credentials_provider *credentials_config_file_new(const struct credentials_context *context);

enum { LOGIN_EARLY_MS = 5 * 60 * 1000 }; /* a session that expires sooner is refreshed */

/* Profiles with login_session: sessions of `aws login`. The session's file is read for each
 * request, so that `aws login` in another terminal takes effect at once; a refreshed session is
 * written back. */
struct credentials_provider *credentials_login_new(const struct credentials_context *context);

/* Appends a proof of possession (DPoP, RFC 9449) for one POST to URL at WALL_MS, signed with the
 * key whose PEM is KEY. False when KEY is no key of P-256, or OpenSSL or memory failed. */
bool login_write_proof(struct buf *out, struct span key, const char *url, int64_t wall_ms);

/* A program may wait for its user. A caller with an earlier deadline cancels the request. */
enum { PROCESS_MS = 10 * 60 * 1000 };

/* Profiles with credential_process. The program runs without a shell; its words are split as the
 * AWS CLI splits them. */
struct credentials_provider *credentials_process_new(const struct credentials_context *context);

/* A container's endpoint (ECS, EKS pod identity, Greengrass, CloudShell), which
 * AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI names. */
struct credentials_provider *credentials_container_new(const struct credentials_context *context);

/* The machine's role, from its metadata service. */
struct credentials_provider *credentials_machine_new(const struct credentials_context *context);

#endif
