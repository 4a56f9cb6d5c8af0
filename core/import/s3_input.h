/* A prefix of a bucket of S3 as a folder of an import. */
#ifndef DDBFS_CORE_IMPORT_S3_INPUT_H
#define DDBFS_CORE_IMPORT_S3_INPUT_H

#include "core/aws/session.h"
#include "core/base/loop.h"
#include "core/import/input.h"

/* Whether PATH begins with "s3://". */
bool s3_input_is_url(const char *path);

/* The folder URL, "s3://bucket/prefix". Its file "" is the object at the prefix itself. A read of
 * its files runs LOOP until the response has come, or WATCH returns false. LOOP and SESSION must
 * outlive the folder. Each part of an object comes within DEADLINE_MS. NULL with ERR filled: the
 * URL has no bucket or no prefix, or memory ran out.
 *
 * Without the permission to list the bucket, S3 denies a missing object as it denies a forbidden
 * one. After one file was read, such a file is ERROR_NOT_FOUND. */
struct input_folder *s3_input_open(const char *url, struct aws_session *session, struct loop *loop,
                                   int64_t deadline_ms, const struct input_watch *watch,
                                   struct error *err);

#endif
