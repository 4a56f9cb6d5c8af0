/* Small files that AWS's tools share: token caches, role caches, token files. Their contents are
 * secrets. */
#ifndef DDBFS_CORE_AWS_STORED_H
#define DDBFS_CORE_AWS_STORED_H

#include "core/base/buf.h"
#include "core/base/crypto.h"
#include "core/base/error.h"

enum stored_found {
    STORED_READ,
    STORED_ABSENT, /* there is no such file */
    STORED_FAILED, /* ERR has the reason: ERROR_DENIED with the path */
};

/* Appends the file's bytes to OUT, a secret. The file must be regular, because others could block
 * the loop, and at most 1 MB. */
enum stored_found stored_read(const char *path, struct buf *out, struct error *err);

/* Replaces the whole file by TEXT in one step, so that a reader gets the old file or the new one.
 * Only its owner can read it. Missing folders are made (0700). */
bool stored_write(const char *path, struct span text, struct error *err);

/* A digest of a text, to recognize it; {0} matches no text. */
struct stored_stamp {
    uint8_t digest[DIGEST_SIZE];
    bool is_set;
};

struct stored_stamp stored_stamp_of(struct span text);
bool stored_same(const struct stored_stamp *a, const struct stored_stamp *b);

/* As stored_write, and STAMP gets the stamp of TEXT. If the file is gone or is not the one of STAMP
 * any more, nothing is written, and that is no error: another program has signed in or out. */
bool stored_write_over(const char *path, struct stored_stamp *stamp, struct span text,
                       struct error *err);

/* This user's home, as Python finds it: HOME, even an empty one, else the system's entry. NULL
 * without one. */
const char *stored_home(void);

/* Expands a path from the environment or a profile as the AWS CLI does it: $NAME and ${NAME}, then
 * ~ or ~user at its start. The caller frees it. NULL when memory ran out. */
char *stored_path(const char *path);

#endif
