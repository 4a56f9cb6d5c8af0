/* AWS Signature Version 4 for requests whose payload is known, stage by stage. */
#ifndef DDBFS_CORE_AWS_SIGV4_H
#define DDBFS_CORE_AWS_SIGV4_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/crypto.h"
#include "core/base/span.h"

struct sigv4_header {
    const char *name; /* lower case */
    struct span value;
};

/* A request to sign. All members are borrowed. */
struct sigv4_request {
    const char *method;
    const char *path;                   /* already encoded; "/" */
    const char *query;                  /* already sorted and encoded; "" */
    const struct sigv4_header *headers; /* sorted by name; among them host and x-amz-date */
    size_t header_count;
    struct span body;
};

struct sigv4_scope {
    const char *amz_date; /* 20260416T101500Z */
    const char *region;
    const char *service;
};

void sigv4_canonical_request(struct buf *out, const struct sigv4_request *request);
void sigv4_string_to_sign(struct buf *out, const struct sigv4_scope *scope, struct span canonical);

/* The key that a secret yields for a day, a region and a service: a secret, too. {0} is the key of
 * no scope. */
enum { SIGV4_SCOPE_SIZE = 128 };
struct sigv4_key {
    char scope[SIGV4_SCOPE_SIZE];
    uint8_t bytes[DIGEST_SIZE];
};
void sigv4_key_wipe(struct sigv4_key *key);

/* Makes KEY the key of SCOPE, unless it is that already. To be wiped when the secret changes. False
 * when OpenSSL or memory failed. */
bool sigv4_key_derive(struct sigv4_key *key, const struct sigv4_scope *scope,
                      const char *secret_access_key);

/* Appends the value of the Authorization header. KEY is the key of SCOPE. False when OpenSSL or
 * memory failed. */
bool sigv4_sign(struct buf *out, const struct sigv4_request *request,
                const struct sigv4_scope *scope, const char *access_key_id,
                const struct sigv4_key *key);
/* The same with a key of its own, which is wiped. */
bool sigv4_authorization(struct buf *out, const struct sigv4_request *request,
                         const struct sigv4_scope *scope, const char *access_key_id,
                         const char *secret_access_key);

/* Writes a wall time as 20260416T101500Z. */
enum { SIGV4_DATE_SIZE = 17 };
void sigv4_date(char out[SIGV4_DATE_SIZE], int64_t wall_ms);

#endif
