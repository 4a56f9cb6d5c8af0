/* AWS Signature Version 4 for requests whose payload is known, stage by stage. */
#ifndef DDBFS_CORE_AWS_SIGV4_H
#define DDBFS_CORE_AWS_SIGV4_H

#include <stdint.h>

#include "core/base/buf.h"
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

/* Appends the value of the Authorization header. Keys derived on the way are wiped. False when
 * OpenSSL or memory failed. */
bool sigv4_authorization(struct buf *out, const struct sigv4_request *request,
                         const struct sigv4_scope *scope, const char *access_key_id,
                         const char *secret_access_key);

/* Writes a wall time as 20260416T101500Z. */
enum { SIGV4_DATE_SIZE = 17 };
void sigv4_date(char out[SIGV4_DATE_SIZE], int64_t wall_ms);

#endif
