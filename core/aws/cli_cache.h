/* The cache that the AWS CLI keeps of credentials it was given for a role, ~/.aws/cli/cache: what
 * it has asked for, we need not ask for again, and the other way round. A broken or unreadable file
 * is as good as none. */
#ifndef DDBFS_CORE_AWS_CLI_CACHE_H
#define DDBFS_CORE_AWS_CLI_CACHE_H

#include "core/aws/credentials.h"

/* The file of a role asked for with ARGUMENTS, a JSON object as Python's json.dumps writes it: of
 * its digest the name is made, so that blanks and escapes matter (json_write_ascii writes
 * Python's). NULL when memory or OpenSSL failed. The caller frees it. */
char *cli_cache_path(struct span arguments);

/* Fills OUT, which is empty, with what the file holds if that lasts for CREDENTIALS_EARLY_MS, as
 * the AWS CLI has it; but for METHOD and ORIGIN, which are the caller's. False when there is none.
 */
bool cli_cache_read(const char *path, int64_t wall_ms, struct credentials *out);

/* PROVIDER is the word by which `aws sso logout` finds what it has to remove: "sso", or NULL. That
 * it can't be written is no more than a line in the log. */
void cli_cache_write(const char *path, const struct credentials *credentials, const char *provider,
                     const struct log *log);

#endif
