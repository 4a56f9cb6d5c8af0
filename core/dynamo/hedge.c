#include "core/dynamo/hedge.h"

#include <stdlib.h>

enum {
    ENOUGH = 64,       /* samples, before any response is late */
    LATE_PERCENT = 95, /* the share of samples that were faster than a late response */
    FLOOR_MS = 10,     /* no response is late before */
    EACH = 16,         /* samples between two computations of the patience */
    COST = 50,         /* of a second request, where each first one earns 1: 2 % */
    MOST_CREDIT = 5 * COST,
};

/* One of the two exchanges. */
struct contender {
    struct hedged *hedged;
    struct exchange *exchange; /* owned; NULL before its start and after its end */
};

struct hedged {
    struct hedging *hedging;
    struct exchange_link *link;
    struct exchange_request wanted; /* its body is the one below */
    struct buf body;
    struct contender first, second;
    struct loop_timer *timer; /* until the first is late; NULL: no second will be sent */
    int64_t began_ms;
    unsigned tries; /* of the exchanges that are over */
    exchange_done_fn *done;
    void *arg;
};

static int hedge_compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void hedge_add_sample(struct hedging *hedging, int64_t took_ms)
{
    int64_t sorted[HEDGE_SAMPLES];
    hedging->took_ms[hedging->taken++ % HEDGE_SAMPLES] = took_ms;
    if (hedging->taken < ENOUGH || hedging->taken % EACH != 0)
        return;
    size_t count = hedging->taken < HEDGE_SAMPLES ? (size_t)hedging->taken : HEDGE_SAMPLES;
    memcpy(sorted, hedging->took_ms, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, hedge_compare_times);
    int64_t late_ms = sorted[count * LATE_PERCENT / 100] + 1; /* times are rounded down */
    hedging->patience_ms = late_ms > FLOOR_MS ? late_ms : FLOOR_MS;
}

static unsigned hedge_tries_of(const struct contender *contender)
{
    return contender->exchange ? exchange_tries(contender->exchange) : 0;
}

unsigned hedged_tries(const struct hedged *hedged)
{
    return hedged->tries + hedge_tries_of(&hedged->first) + hedge_tries_of(&hedged->second);
}

static unsigned hedge_abandon(struct contender *contender)
{
    unsigned tries = hedge_tries_of(contender);
    exchange_end(contender->exchange);
    contender->exchange = NULL;
    return tries;
}

void hedged_end(struct hedged *hedged)
{
    if (!hedged)
        return;
    loop_remove_timer(hedged->timer);
    hedge_abandon(&hedged->first);
    hedge_abandon(&hedged->second);
    buf_clean_up(&hedged->body);
    free(hedged);
}

/* A valid answer ends both. An error ends both only if no other request is under way. An answer
 * after several tries is no sample of one response. If the second request is answered first, the
 * sample is less than the first would have taken. */
static void hedge_on_answer(void *arg, struct answer *answer, const struct error *err,
                            unsigned tries)
{
    struct contender *contender = arg;
    struct hedged *hedged = contender->hedged;
    bool is_second = contender == &hedged->second;
    struct contender *other = is_second ? &hedged->first : &hedged->second;
    contender->exchange = NULL;
    hedged->tries += tries;
    if (err && other->exchange)
        return;
    if (answer && tries == 1 && hedged->wanted.sent->op == DYNAMO_GET_ITEM)
        hedge_add_sample(hedged->hedging,
                         loop_now_ms(hedged->link->client.loop) - hedged->began_ms);
    hedged->hedging->won += answer && is_second;
    exchange_done_fn *done = hedged->done;
    void *done_arg = hedged->arg;
    unsigned all = hedged->tries + hedge_abandon(other);
    hedged_end(hedged);
    done(done_arg, answer, err, all);
}

/* Sends the second request. A retry, and a request that has not left yet, are not late responses.
 */
static void hedge_on_late(void *arg)
{
    struct hedged *hedged = arg;
    struct hedging *hedging = hedged->hedging;
    struct exchange_request *wanted = &hedged->wanted;
    struct error ignored;
    hedged->timer = NULL;
    if (!hedged->first.exchange || !exchange_waits_for_first(hedged->first.exchange) ||
        hedging->credit < COST)
        return;
    if (payer_set_aside(wanted->payer, wanted->expected, wanted->set_aside, NULL, &ignored) !=
        PAYER_AGREES)
        return;
    wanted->most_tries = 1;
    hedged->second.exchange =
        exchange_start(hedged->link, wanted, hedge_on_answer, &hedged->second);
    if (!hedged->second.exchange) { /* the first is still under way */
        payer_refund(wanted->payer, wanted->set_aside);
        return;
    }
    hedging->credit -= COST;
    hedging->sent++;
}

struct hedged *hedged_start(struct hedging *hedging, struct exchange_link *link,
                            const struct exchange_request *wanted, exchange_done_fn *fn, void *arg)
{
    struct hedged *hedged = calloc(1, sizeof *hedged);
    if (!hedged)
        return NULL;
    *hedged = (struct hedged){.hedging = hedging,
                              .link = link,
                              .wanted = *wanted,
                              .first = {.hedged = hedged},
                              .second = {.hedged = hedged},
                              .began_ms = loop_now_ms(link->client.loop),
                              .done = fn,
                              .arg = arg};
    bool may_be_late = wanted->sent->op == DYNAMO_GET_ITEM && hedging->on;
    bool is_timed = may_be_late && hedging->patience_ms;
    if (may_be_late && hedging->credit < MOST_CREDIT)
        hedging->credit++;
    buf_add_span(&hedged->body, wanted->body);
    hedged->wanted.body = buf_span(&hedged->body);
    if (is_timed)
        hedged->timer =
            loop_add_timer(link->client.loop, hedging->patience_ms, hedge_on_late, hedged);
    if (!hedged->body.failed && (hedged->timer || !is_timed))
        hedged->first.exchange =
            exchange_start(link, &hedged->wanted, hedge_on_answer, &hedged->first);
    if (hedged->first.exchange)
        return hedged;
    hedged_end(hedged);
    return NULL;
}
