/* Holding, refreshing and sharing credentials. */
#include "core/aws/credentials_cache.h"

#include <stdlib.h>

struct credentials_cache {
    struct credentials_provider base; /* first: a provider is cast to it */
    struct loop *loop;
    const struct log *log;
    struct credentials_provider *provider; /* owned */
    struct credentials held;               /* empty at first, and after a refusal */
    unsigned age;                          /* counts the credentials that were ever held */
    int64_t held_since_ms;
    bool refused;                      /* the last were: what comes next is what that led to … */
    bool after_refusal;                /* … as are those held */
    int64_t asked_ms;                  /* when the provider was asked last */
    struct credentials_request *fetch; /* the provider's; NULL while it is not asked */
    struct credentials_request *first; /* who waits for its answer; each belongs to its asker */
};

/* A question to the cache: waits for the fetch, or, when what is held will do, for its timer. */
struct credentials_request {
    struct credentials_cache *cache;
    struct loop_timer *timer;
    struct credentials_request *next;
    struct credentials_request **link; /* what points to it in the list; NULL with a timer */
    credentials_fn *fn;
    void *arg;
};

/* For how long CREDENTIALS are valid; not positive when they have expired, or are none. */
static int64_t credentials_cache_left_ms(const struct credentials_cache *cache,
                                         const struct credentials *credentials)
{
    struct clock *clock = loop_clock(cache->loop);
    if (!credentials->access_key_id)
        return 0;
    return credentials->expires_wall_ms ? credentials->expires_wall_ms - clock->wall_ms(clock)
                                        : INT64_MAX;
}

static void credentials_cache_answer_all(struct credentials_cache *cache,
                                         const struct credentials_answer *answer)
{
    /* Each may cancel another, or ask anew, from within its call: they stand in a list of their
     * own meanwhile. */
    struct credentials_request *waiting = cache->first;
    cache->first = NULL;
    if (waiting)
        waiting->link = &waiting;
    while (waiting) {
        struct credentials_request *get = waiting;
        credentials_fn *fn = get->fn;
        void *arg = get->arg;
        waiting = get->next;
        if (waiting)
            waiting->link = &waiting;
        free(get);
        fn(arg, answer);
    }
}

/* Makes FOUND what is held; false (ERR filled) when that is no use. */
static bool credentials_cache_hold(struct credentials_cache *cache, const struct credentials *found,
                                   struct error *err)
{
    struct credentials copy = {0};
    if (credentials_cache_left_ms(cache, found) <= 0)
        return error_set(err, ERROR_EXPIRED,
                         "the credentials that were found have expired already; sign in again");
    if (!credentials_copy(&copy, found))
        return error_no_memory(err);
    credentials_clean_up(&cache->held);
    cache->held = copy;
    cache->held_since_ms = loop_now_ms(cache->loop);
    cache->after_refusal = cache->refused;
    cache->refused = false;
    cache->age++;
    return true;
}

/* Of a failure that nobody waits for, or no longer. */
static void credentials_cache_report_log(const struct credentials_cache *cache,
                                         const struct error *err)
{
    int64_t left = credentials_cache_left_ms(cache, &cache->held);
    if (left > 0)
        log_line(cache->log, LOG_LEVEL_WARNING,
                 "credentials could not be refreshed early: %s; those in use last %lld s more",
                 err->text, (long long)(left / 1000));
    else
        log_line(cache->log, LOG_LEVEL_WARNING,
                 "credentials that nobody waits for any more could not be had: %s", err->text);
}

static void credentials_cache_on_fetched(void *arg, const struct credentials_answer *answer)
{
    struct credentials_cache *cache = arg;
    struct credentials_answer failed = {.found = answer->found, .err = answer->err};
    cache->fetch = NULL;
    if (answer->found == CREDENTIALS_FOUND &&
        credentials_cache_hold(cache, &answer->credentials, &failed.err)) {
        credentials_cache_answer_all(cache, answer);
        return;
    }
    if (answer->found == CREDENTIALS_FOUND)
        failed.found = CREDENTIALS_FAILED;
    if (!cache->first)
        credentials_cache_report_log(cache, &failed.err);
    credentials_cache_answer_all(cache, &failed);
}

static bool credentials_cache_fetch(struct credentials_cache *cache)
{
    if (!cache->fetch) {
        cache->asked_ms = loop_now_ms(cache->loop);
        cache->fetch =
            cache->provider->ops->get(cache->provider, credentials_cache_on_fetched, cache);
    }
    return cache->fetch != NULL;
}

const struct credentials *credentials_cache_held(struct credentials_provider *provider,
                                                 unsigned *age)
{
    struct credentials_cache *cache = (struct credentials_cache *)provider;
    int64_t left = credentials_cache_left_ms(cache, &cache->held);
    bool just_fetched = loop_now_ms(cache->loop) - cache->held_since_ms < CREDENTIALS_PAUSE_MS;
    *age = cache->age;
    if (left <= 0 || (left <= CREDENTIALS_LEAST_MS && !just_fetched))
        return NULL;
    /* Whether this succeeds is looked at when it has to. */
    if (left <= CREDENTIALS_EARLY_MS &&
        loop_now_ms(cache->loop) - cache->asked_ms >= CREDENTIALS_PAUSE_MS)
        credentials_cache_fetch(cache);
    return &cache->held;
}

bool credentials_cache_refuse(struct credentials_provider *provider, unsigned age)
{
    struct credentials_cache *cache = (struct credentials_cache *)provider;
    bool just_asked = loop_now_ms(cache->loop) - cache->held_since_ms < CREDENTIALS_REFUSED_MS;
    if (age != cache->age || !cache->held.access_key_id)
        return true;
    if (cache->after_refusal && just_asked && !credentials_are_in_file(&cache->held))
        return false;
    credentials_clean_up(&cache->held);
    cache->refused = true;
    return true;
}

/* As a provider. */

/* The fetch goes on: it has bounds of its own, and may take longer than anybody waits, or have used
 * up what nobody types twice. */
static void credentials_cache_cache_cancel(struct credentials_request *get)
{
    loop_remove_timer(get->timer);
    if (get->link) {
        *get->link = get->next;
        if (get->next)
            get->next->link = get->link;
    }
    free(get);
}

static bool credentials_cache_wait_for_fetch(struct credentials_request *get)
{
    struct credentials_cache *cache = get->cache;
    if (!credentials_cache_fetch(cache))
        return false;
    get->next = cache->first;
    get->link = &cache->first;
    if (get->next)
        get->next->link = &get->next;
    cache->first = get;
    return true;
}

/* What was held when it was asked may have been refused since. */
static void credentials_cache_report_held(void *arg)
{
    struct credentials_request *get = arg;
    struct credentials_answer answer = {.found = CREDENTIALS_FAILED};
    credentials_fn *fn = get->fn;
    void *fn_arg = get->arg;
    unsigned age;
    get->timer = NULL;
    const struct credentials *held = credentials_cache_held(&get->cache->base, &age);
    if (!held && credentials_cache_wait_for_fetch(get))
        return;
    free(get);
    if (held) {
        answer.found = CREDENTIALS_FOUND;
        answer.credentials = *held;
    } else {
        error_no_memory(&answer.err);
    }
    fn(fn_arg, &answer);
}

static struct credentials_request *
credentials_cache_cache_get(struct credentials_provider *provider, credentials_fn *fn, void *arg)
{
    struct credentials_cache *cache = (struct credentials_cache *)provider;
    struct credentials_request *get = calloc(1, sizeof *get);
    unsigned age;
    if (!get)
        return NULL;
    *get = (struct credentials_request){.cache = cache, .fn = fn, .arg = arg};
    if (credentials_cache_held(provider, &age))
        get->timer = loop_add_timer(cache->loop, 0, credentials_cache_report_held, get);
    if (get->timer || credentials_cache_wait_for_fetch(get))
        return get;
    free(get);
    return NULL;
}

static void credentials_cache_cache_destroy(struct credentials_provider *provider)
{
    struct credentials_cache *cache = (struct credentials_cache *)provider;
    if (cache->fetch)
        cache->provider->ops->cancel(cache->fetch);
    cache->provider->ops->destroy(cache->provider);
    credentials_clean_up(&cache->held);
    free(cache);
}

struct credentials_provider *credentials_cache_new(struct loop *loop, const struct log *log,
                                                   struct credentials_provider *provider)
{
    static const struct credentials_provider_ops ops = {credentials_cache_cache_get,
                                                        credentials_cache_cache_cancel,
                                                        credentials_cache_cache_destroy};
    struct credentials_cache *cache = calloc(1, sizeof *cache);
    if (!cache) {
        provider->ops->destroy(provider);
        return NULL;
    }
    *cache = (struct credentials_cache){
        .base = {&ops}, .loop = loop, .log = log, .provider = provider, .asked_ms = INT64_MIN / 2};
    return &cache->base;
}
