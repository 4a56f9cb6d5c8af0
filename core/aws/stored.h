/* Small files that AWS's tools keep for each other: token caches, role caches, token files. Their
 * bytes are secrets. */
#ifndef DDBFS_CORE_AWS_STORED_H
#define DDBFS_CORE_AWS_STORED_H

#include "core/base/buf.h"
#include "core/base/digest.h"
#include "core/base/error.h"

enum stored_found {
    STORED_READ,   /* OUT has it */
    STORED_ABSENT, /* there is no such file */
    STORED_FAILED, /* ERR says why it can't be read: ERROR_DENIED with its path */
};

/* Appends the file's bytes to OUT, which is to be cleaned up by buf_clean_up_secret. A file is at
 * most 1 MB, and a regular one: nothing else is opened, because opening could wait. */
enum stored_found stored_read(const char *path, struct buf *out, struct error *err);

/* Writes TEXT as the whole file, readable by its owner only, in one step: whoever reads the file
 * meanwhile gets the old one or the new one. Its folders are made (0700) when they are missing. */
bool stored_write(const char *path, struct span text, struct error *err);

/* A file's bytes, by which they are known again; {0} is none's. */
struct stored_stamp {
    uint8_t digest[DIGEST_SIZE];
    bool is_set;
};

struct stored_stamp stored_stamp_of(struct span text);
bool stored_same(const struct stored_stamp *a, const struct stored_stamp *b);

/* As stored_write, unless the file is gone or is not the one of STAMP any more: somebody else has
 * signed in or out meanwhile, and their word counts. Then nothing happens, which is no error. STAMP
 * gets that of what was written. */
bool stored_write_over(const char *path, struct stored_stamp *stamp, struct span text,
                       struct error *err);

/* This user's home, as Python finds it: HOME, even an empty one, else what the system knows. NULL
 * when nobody knows. */
const char *stored_home(void);

/* A path from the environment or a profile: $NAME and ${NAME} are put in, and then ~ or ~user at
 * the start, as the AWS CLI does it. NULL when memory ran out. */
char *stored_path(const char *path);

#endif
