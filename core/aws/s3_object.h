/* Objects of S3, read part by part with GetObject. No other operation of S3 exists here. */
#ifndef DDBFS_CORE_AWS_S3_OBJECT_H
#define DDBFS_CORE_AWS_S3_OBJECT_H

#include "core/aws/call.h"
#include "core/aws/session.h"

/* The access to buckets with the credentials of one session. */
struct s3_client;

/* SESSION must outlive the client. A part comes within DEADLINE_MS, retries included. NULL when
 * memory ran out. */
struct s3_client *s3_client_new(struct aws_session *session, int64_t deadline_ms);
/* Its calls must have ended. NULL is fine. */
void s3_client_destroy(struct s3_client *client);

enum { S3_PART_SIZE = 4 * 1024 * 1024 };

struct s3_part {
    struct span bytes;   /* fewer than S3_PART_SIZE only at the end of the object */
    uint64_t size;       /* of the whole object */
    const char *version; /* the object's ETag, in its quotes; "" if not stated */
};

/* Exactly one of PART and ERR is not NULL; both are borrowed. If the object or the bucket does not
 * exist, ERR is ERROR_NOT_FOUND. An object that has changed since VERSION is ERROR_BAD_ANSWER. */
typedef void s3_part_fn(void *arg, const struct s3_part *part, const struct error *err);

struct s3_call;

/* Reads the bytes of the object KEY of BUCKET from the offset FROM on. VERSION is that of an
 * earlier part, or NULL. FN is called once, later; the call is freed before that. NULL when memory
 * ran out.
 */
struct s3_call *s3_part_read(struct s3_client *client, const char *bucket, const char *key,
                             uint64_t from, const char *version, s3_part_fn *fn, void *arg);
/* Ends the call without a call of FN. NULL is fine. */
void s3_call_end(struct s3_call *call);

#endif
