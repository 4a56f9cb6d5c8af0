/* How to get credentials again that have ended: the command for the AWS CLI that is installed. */
#ifndef DDBFS_CORE_AWS_SIGN_IN_H
#define DDBFS_CORE_AWS_SIGN_IN_H

#include "core/base/buf.h"

/* An installed AWS CLI. Its version is found without running it: of version 2 by where it lies,
 * as its installer does, of what is written in Python by the packages beside it. */
struct aws_cli {
    char path[256];        /* "" when there is none in the PATH */
    unsigned major, minor; /* 0 where they are not known */
};

/* The first program `aws` of the folders in PATH, as a shell finds it. It looks at files, which may
 * take time, and which must not lie in a mount that the caller serves. */
void aws_cli_find(const char *path, struct aws_cli *out);

/* Looks for the AWS CLI now, and not when it is needed: for who will serve a mount then. */
void sign_in_prepare(void);

/* Appends " --profile PROFILE", as a shell reads it; nothing for the default one, or NULL. */
void aws_add_profile_option(struct buf *out, const char *profile);

/* Appends "aws VERB --profile PROFILE" ("sso login", "login"); and in brackets, where the AWS CLI
 * that is installed does not know that command, which one does. */
void sign_in_write_command(struct buf *out, const char *verb, const char *profile);

/* Appends how to come by a profile in the first place, with what the AWS CLI here knows. */
void sign_in_write_first_steps(struct buf *out);

/* Appends what to do about credentials of PROFILE that have ended and were had by METHOD (see
 * struct credentials; NULL when it is not known). */
void sign_in_write_advice(struct buf *out, const char *method, const char *profile);

#endif
