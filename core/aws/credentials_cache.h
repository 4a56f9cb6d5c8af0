/* The one cache of a session's credentials, around any provider: one question at a time however
 * many ask, and a new one before what is held expires. One that has begun goes on when nobody waits
 * any more, and ends with the cache. It is a provider itself. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_CACHE_H
#define DDBFS_CORE_AWS_CREDENTIALS_CACHE_H

#include "core/aws/credentials.h"

enum {
    /* With less left than this, fresh ones are asked for while the old are still handed out. */
    CREDENTIALS_EARLY_MS = 15 * 60 * 1000,
    /* With less left than this, whoever asks waits for fresh ones. */
    CREDENTIALS_LEAST_MS = 10 * 60 * 1000,
    /* How long a provider is left alone that failed early, or whose fresh ones last no longer. */
    CREDENTIALS_PAUSE_MS = 60 * 1000,
    /* How long those are kept that a refusal has led to, though they are refused, too: one session
     * that is no good may be followed by thousands of reads. */
    CREDENTIALS_REFUSED_MS = 5 * 1000,
};

/* PROVIDER is the cache's from here on, in case of failure too. NULL when memory ran out. */
struct credentials_provider *credentials_cache_new(struct loop *loop, const struct log *log,
                                                   struct credentials_provider *provider);

/* What is held, if it needs no waiting for, or NULL: then it is to be asked as any provider. Valid
 * until the loop goes on. AGE gets a number that is another one for other credentials. */
const struct credentials *credentials_cache_held(struct credentials_provider *provider,
                                                 unsigned *age);

/* The service refused the credentials of AGE: they are dropped, unless there are others already.
 * False when others are not to be had so soon: these are kept, and not worth another try. What
 * stands in a profile file is read anew each time, for somebody may have mended it. */
bool credentials_cache_refuse(struct credentials_provider *provider, unsigned age);

#endif
