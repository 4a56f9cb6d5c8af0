/* The cache of a session's credentials, around any provider, and a provider itself. All requests
 * share one request to the provider. Credentials are refreshed before they expire. A request to the
 * provider goes on without waiters, and ends with the cache. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_CACHE_H
#define DDBFS_CORE_AWS_CREDENTIALS_CACHE_H

#include "core/aws/credentials.h"
#include "core/aws/sigv4.h"

enum {
    /* Credentials that expire sooner are refreshed while they are used. */
    CREDENTIALS_EARLY_MS = 15 * 60 * 1000,
    /* Credentials that expire sooner are not used: requests wait for fresh ones. */
    CREDENTIALS_LEAST_MS = 10 * 60 * 1000,
    /* The pause after an early refresh that failed, or that returned short-lived credentials. */
    CREDENTIALS_PAUSE_MS = 60 * 1000,
    /* After a refusal, the next credentials are used for this time even if they are refused, too,
     * because thousands of reads may follow. */
    CREDENTIALS_REFUSED_MS = 5 * 1000,
};

/* Takes PROVIDER over, in case of failure too; its context outlives the cache. NULL when memory ran
 * out. */
struct credentials_provider *credentials_cache_new(struct credentials_provider *provider);

/* The credentials in the cache PROVIDER, or NULL if a request must wait for others. Valid until the
 * loop goes on. AGE gets a number that changes with the credentials. */
const struct credentials *credentials_cache_held(struct credentials_provider *provider,
                                                 unsigned *age);

/* The place for a key that CREDENTIALS yield: it is wiped when the cache gets others. NULL if the
 * cache does not hold CREDENTIALS. */
struct sigv4_key *credentials_cache_key(struct credentials_provider *provider,
                                        const struct credentials *credentials);

/* The service refused the credentials of AGE: they are dropped, unless the cache has others
 * already. False if others cannot be found so soon: the cache keeps these, and another attempt is
 * useless. Keys in a profile file are read again each time, because the user may have corrected
 * them. */
bool credentials_cache_refuse(struct credentials_provider *provider, unsigned age);

#endif
