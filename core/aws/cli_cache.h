/* The AWS CLI's cache of role credentials, ~/.aws/cli/cache. Both programs read each other's files.
 * A broken or unreadable file is ignored. */
#ifndef DDBFS_CORE_AWS_CLI_CACHE_H
#define DDBFS_CORE_AWS_CLI_CACHE_H

#include "core/aws/credentials.h"

/* The file of a role that is requested with ARGUMENTS, a JSON object. The file's name is the digest
 * of what Python's json.dumps writes, so spaces and escapes matter (json_write_ascii has Python's).
 * NULL when memory or OpenSSL failed. The caller frees it. */
char *cli_cache_path(struct span arguments);

/* Fills OUT, which is empty, without METHOD and ORIGIN. False without a file whose credentials last
 * for CREDENTIALS_EARLY_MS, the AWS CLI's limit. */
bool cli_cache_read(const char *path, int64_t wall_ms, struct credentials *out);

/* PROVIDER is the word by which `aws sso logout` finds files to remove: "sso", or NULL. A failure
 * is only logged. */
void cli_cache_write(const char *path, const struct credentials *credentials, const char *provider,
                     const struct log *log);

#endif
