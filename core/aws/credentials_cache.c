/* Holds, refreshes and shares credentials. */
#include "core/aws/credentials_cache.h"

#include <stdlib.h>

#include "core/base/list.h"

struct credentials_cache {
    struct credentials_provider base;
    struct credentials_provider *provider; /* owned */
    struct credentials held;               /* empty at first, and after a refusal */
    struct sigv4_key key;                  /* that HELD yields */
    unsigned age;                          /* counts the credentials that were held */
    int64_t held_since_ms;
    bool refused;                      /* the last credentials were, so the next ones … */
    bool after_refusal;                /* … follow a refusal, as the held ones do */
    int64_t fetched_ms;                /* the start of the last fetch */
    struct credentials_request *fetch; /* to the provider; NULL if none is under way */
    struct list waiting;               /* borrowed requests that wait for the fetch */
};

struct cache_request {
    struct credentials_request base;
    struct list_node node; /* while it waits for the fetch */
};

static struct loop *credentials_cache_loop(const struct credentials_cache *cache)
{
    return cache->base.context->loop;
}

/* The time until CREDENTIALS expire; not positive if they have, or are empty. */
static int64_t credentials_cache_left_ms(const struct credentials_cache *cache,
                                         const struct credentials *credentials)
{
    struct clock *clock = loop_clock(credentials_cache_loop(cache));
    if (!credentials->access_key_id)
        return 0;
    return credentials->expires_wall_ms ? credentials->expires_wall_ms - clock->wall_ms(clock)
                                        : INT64_MAX;
}

/* A waiter may cancel another one, or start a request, within its call. */
static void credentials_cache_report(struct credentials_cache *cache,
                                     const struct credentials_result *result)
{
    struct list waiting = {0};
    list_move(&waiting, &cache->waiting);
    while (!list_is_empty(&waiting))
        credentials_request_report(&LIST_FIRST(&waiting, struct cache_request, node)->base, result);
}

static void credentials_cache_drop(struct credentials_cache *cache)
{
    credentials_clean_up(&cache->held);
    sigv4_key_wipe(&cache->key);
}

/* Holds a copy of FOUND; false (ERR filled) if these credentials are useless. */
static bool credentials_cache_hold(struct credentials_cache *cache, const struct credentials *found,
                                   struct error *err)
{
    struct credentials copy = {0};
    if (credentials_cache_left_ms(cache, found) <= 0)
        return error_set(err, ERROR_EXPIRED,
                         "the credentials that were found have expired already; sign in again");
    if (!credentials_copy(&copy, found))
        return error_no_memory(err);
    credentials_cache_drop(cache);
    cache->held = copy;
    cache->held_since_ms = loop_now_ms(credentials_cache_loop(cache));
    cache->after_refusal = cache->refused;
    cache->refused = false;
    cache->age++;
    return true;
}

static void credentials_cache_on_fetched(void *arg, const struct credentials_result *result)
{
    struct credentials_cache *cache = arg;
    const struct log *log = cache->base.context->log;
    struct credentials_result failed = {.found = result->found, .err = result->err};
    cache->fetch = NULL;
    if (result->found == CREDENTIALS_FOUND &&
        credentials_cache_hold(cache, &result->credentials, &failed.err)) {
        credentials_cache_report(cache, result);
        return;
    }
    if (result->found == CREDENTIALS_FOUND)
        failed.found = CREDENTIALS_FAILED;
    int64_t left_ms = credentials_cache_left_ms(cache, &cache->held);
    if (list_is_empty(&cache->waiting) && left_ms > 0)
        log_line(log, LOG_LEVEL_WARNING,
                 "credentials could not be refreshed early: %s; those in use last %lld s more",
                 failed.err.text, (long long)(left_ms / 1000));
    else if (list_is_empty(&cache->waiting))
        log_line(log, LOG_LEVEL_WARNING,
                 "credentials that no request waits for any more could not be found: %s",
                 failed.err.text);
    credentials_cache_report(cache, &failed);
}

static bool credentials_cache_fetch(struct credentials_cache *cache)
{
    if (!cache->fetch) {
        cache->fetched_ms = loop_now_ms(credentials_cache_loop(cache));
        cache->fetch =
            credentials_request_start(cache->provider, credentials_cache_on_fetched, cache);
    }
    return cache->fetch != NULL;
}

const struct credentials *credentials_cache_held(struct credentials_provider *provider,
                                                 unsigned *age)
{
    struct credentials_cache *cache = (struct credentials_cache *)provider;
    int64_t now_ms = loop_now_ms(credentials_cache_loop(cache));
    int64_t left_ms = credentials_cache_left_ms(cache, &cache->held);
    bool just_fetched = now_ms - cache->held_since_ms < CREDENTIALS_PAUSE_MS;
    *age = cache->age;
    if (left_ms <= 0 || (left_ms <= CREDENTIALS_LEAST_MS && !just_fetched))
        return NULL;
    /* A failure of this early refresh is ignored. */
    if (left_ms <= CREDENTIALS_EARLY_MS && now_ms - cache->fetched_ms >= CREDENTIALS_PAUSE_MS)
        credentials_cache_fetch(cache);
    return &cache->held;
}

struct sigv4_key *credentials_cache_key(struct credentials_provider *provider,
                                        const struct credentials *credentials)
{
    struct credentials_cache *cache = (struct credentials_cache *)provider;
    return credentials->secret_access_key == cache->held.secret_access_key ? &cache->key : NULL;
}

bool credentials_cache_refuse(struct credentials_provider *provider, unsigned age)
{
    struct credentials_cache *cache = (struct credentials_cache *)provider;
    bool just_fetched =
        loop_now_ms(credentials_cache_loop(cache)) - cache->held_since_ms < CREDENTIALS_REFUSED_MS;
    if (age != cache->age || !cache->held.access_key_id)
        return true;
    if (cache->after_refusal && just_fetched && !credentials_are_in_file(&cache->held))
        return false;
    credentials_cache_drop(cache);
    cache->refused = true;
    return true;
}

/* The provider. */

static void credentials_cache_begin(struct credentials_request *base)
{
    struct cache_request *request = (struct cache_request *)base;
    struct credentials_cache *cache = (struct credentials_cache *)base->provider;
    struct error err;
    unsigned age;
    const struct credentials *held = credentials_cache_held(&cache->base, &age);
    if (held) {
        struct credentials_result result = {.found = CREDENTIALS_FOUND, .credentials = *held};
        credentials_request_report(base, &result);
    } else if (credentials_cache_fetch(cache)) {
        list_append(&cache->waiting, &request->node);
    } else {
        error_no_memory(&err);
        credentials_request_fail(base, &err);
    }
}

/* The fetch goes on: it has limits of its own, may take longer than a request waits, or may have
 * used up a code that the user would have to type again. */
static void credentials_cache_clean_up_request(struct credentials_request *base)
{
    list_remove(&((struct cache_request *)base)->node);
}

static void credentials_cache_clean_up(struct credentials_provider *base)
{
    struct credentials_cache *cache = (struct credentials_cache *)base;
    credentials_request_cancel(cache->fetch);
    credentials_provider_destroy(cache->provider);
    credentials_cache_drop(cache);
}

struct credentials_provider *credentials_cache_new(struct credentials_provider *provider)
{
    static const struct credentials_provider_ops ops = {
        .request_size = sizeof(struct cache_request),
        .begin = credentials_cache_begin,
        .clean_up_request = credentials_cache_clean_up_request,
        .clean_up = credentials_cache_clean_up,
    };
    struct credentials_provider *base =
        credentials_provider_new(sizeof(struct credentials_cache), &ops, provider->context);
    struct credentials_cache *cache = (struct credentials_cache *)base;
    if (!cache) {
        credentials_provider_destroy(provider);
        return NULL;
    }
    cache->provider = provider;
    cache->fetched_ms = INT64_MIN / 2;
    return base;
}
