/* Advice for credentials that have expired, with the commands of the installed AWS CLI. */
#ifndef DDBFS_CORE_AWS_SIGN_IN_H
#define DDBFS_CORE_AWS_SIGN_IN_H

#include "core/base/buf.h"

/* An installed AWS CLI. Its version is found without running it: version 2 by the path that its
 * installer makes, programs in Python by the package beside them. */
struct aws_cli {
    char path[256];        /* "" without one in the PATH */
    unsigned major, minor; /* 0 if they are not known */
};

/* Finds the first program `aws` of the folders in PATH, as a shell does. It reads files, which may
 * take time, and which must not be in a mount that the caller serves. */
void aws_cli_find(const char *path, struct aws_cli *out);

/* Finds the AWS CLI now. A caller that will serve a mount must not search later. */
void sign_in_prepare(void);

/* Appends " --profile PROFILE", quoted for a shell; nothing for the default profile, or NULL. */
void aws_add_profile_option(struct buf *out, const char *profile);

/* Appends "aws VERB --profile PROFILE" ("sso login", "login"), and the needed version in brackets
 * if the installed AWS CLI does not know the command. */
void sign_in_write_command(struct buf *out, const char *verb, const char *profile);

/* Appends the commands that make a profile, with the installed AWS CLI. */
void sign_in_write_first_steps(struct buf *out);

/* Appends advice for expired credentials of PROFILE by METHOD (see struct credentials; NULL: not
 * known). */
void sign_in_write_advice(struct buf *out, const char *method, const char *profile);

#endif
