/* Calls for one item each wait in lanes, and leave in batches. */
#include "core/source/batching.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/dict.h"
#include "core/base/printable.h"
#include "core/item/item.h"
#include "core/item/typed.h"
#include "core/source/retries.h"

enum {
    FEW = 4,          /* with fewer requests under way a call leaves at the round's end */
    MANY = 16,        /* all connections of a table: with as many under way, calls wait */
    PATIENCE_MS = 10, /* with FEW to MANY under way, the longest wait */
};

struct batching {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct loop *loop;
    const struct log *log;
    int64_t deadline_ms;
    struct dict lanes; /* of struct lane, owned */
};

/* A table, and the attributes that are read of its items. The calls of one lane may share a
 * batch. */
struct lane {
    struct dict_node node; /* first: a node of the dict is a lane */
    struct batching *batching;
    struct list calls; /* of struct batched_call: they wait, in the order in which they came */
    unsigned waiting;
    unsigned batches;         /* that are not closed yet */
    unsigned under_way;       /* of these, without the calls that were sent apart */
    struct loop_timer *timer; /* to depart; NULL if no departure is planned */
    bool departing;           /* the lane must not be destroyed meanwhile */
    struct batch *probe;      /* departures wait for its response, after a batch left keys over */
    int64_t apart_until_ms;   /* until then each call is sent apart */
    char key[];
};

/* The units that a batch's members have set aside for one request of the inner source. It lives
 * until that request is over: a member that has ended meanwhile still pays its part. */
struct batch_advance {
    struct batch_advance *next;
    double most; /* the sum of the parts */
    unsigned count;
    struct {
        struct payer *payer; /* a reference */
        double units;
    } parts[];
};

/* One request of the inner source for several calls. */
struct batch {
    struct payer payer; /* first: of its requests, whose cost the members share. It is counted, and
                         * the batch's memory with it: a request may outlive all members */
    struct payer *heir; /* pays when no member is left; a reference */
    struct batch_advance *advances; /* owned: of requests that are under way */
    struct lane *lane;
    struct read *read;         /* owned; NULL: the Read of the only member is sent */
    struct source_call *inner; /* owned */
    struct list members;       /* of struct batched_call: without a result yet, in their order */
    unsigned requests;         /* that no member's page has counted yet */
    bool apart;                /* its one member must not share a batch */
    bool delivering;           /* the batch must not be destroyed meanwhile */
    bool wants_more;           /* its only member has requested a page meanwhile */
};

/* It waits in a lane, or is a member of a batch, or has its result. A call that is passed on has
 * only INNER. */
struct batched_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    struct source_call *inner;
    struct lane *lane;
    struct batch *batch;
    struct list_node node;       /* in the lane's list, or the batch's */
    int64_t since_ms;            /* the time of its start */
    struct loop_timer *deadline; /* NULL if it left at once: the inner source has a deadline */
    const struct json *item;     /* its item, while a page is delivered */
    bool is_left;                /* its key is unprocessed, likewise */
    double capacity;             /* its part of the batch's consumption; < 0: not stated */
    double doubted;              /* and of requests without a stated consumption */
    struct throttles *throttled; /* owned: of the requests that its page has not counted yet */
};

#define EACH_MEMBER(each, batch) LIST_EACH (struct batched_call, each, &(batch)->members, node)

static struct batched_call *batching_first(const struct list *calls)
{
    return LIST_FIRST(calls, struct batched_call, node);
}

static const struct read *batching_read_of(const struct batched_call *call)
{
    return call->base.read;
}

static struct batching *batching_of(const struct batched_call *call)
{
    return (struct batching *)call->base.source;
}

static int64_t batching_now_ms(const struct batching *batching)
{
    return loop_now_ms(batching->loop);
}

/* Lanes. */

static void batching_add_name(struct buf *out, struct span name)
{
    buf_add_char(out, ' ');
    buf_add_number(out, name.size);
    buf_add_char(out, ':');
    buf_add_span(out, name);
}

/* Reads that differ in their keys alone share a lane. */
static struct lane *batching_find_lane(struct batching *batching, const struct read *read)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const struct key *key = &read->keys[0];
    buf_add_text(&text, read->table);
    buf_add_char(&text, read->consistent ? '!' : ' ');
    buf_add_number(&text, key->count);
    for (size_t i = 0; i < key->count; i++)
        batching_add_name(&text, key->attributes[i].name);
    for (size_t i = 0; i < read->attribute_count; i++)
        batching_add_name(&text, read->attributes[i]);
    if (text.failed)
        return NULL;
    struct dict_node *node = dict_find(&batching->lanes, buf_span(&text));
    if (node)
        return (struct lane *)node;
    struct lane *lane = calloc(1, sizeof *lane + text.size);
    if (!lane)
        return NULL;
    lane->batching = batching;
    memcpy(lane->key, text.data, text.size);
    lane->node.key = span_of(lane->key, text.size);
    dict_add(&batching->lanes, &lane->node);
    return lane;
}

static void batching_destroy_lane(struct lane *lane)
{
    loop_remove_timer(lane->timer);
    dict_remove(&lane->batching->lanes, &lane->node);
    free(lane);
}

/* Puts CALL behind BEFORE in the lane; NULL: in front of all. */
static void batching_enqueue(struct lane *lane, struct list_node *before, struct batched_call *call)
{
    call->lane = lane;
    list_insert(&lane->calls, before, &call->node);
    lane->waiting++;
}

/* Takes CALL out of its lane or its batch. */
static void batching_detach(struct batched_call *call)
{
    list_remove(&call->node);
    if (call->lane)
        call->lane->waiting--;
    call->lane = NULL;
    call->batch = NULL;
}

static bool batching_may_depart(const struct lane *lane)
{
    const struct batching *batching = lane->batching;
    if (lane->probe)
        return false;
    if (lane->under_way < FEW)
        return true;
    return lane->under_way < MANY &&
           batching_now_ms(batching) - batching_first(&lane->calls)->since_ms >= PATIENCE_MS;
}

static void batching_depart(void *arg);

/* Plans the next departure. A departure is never now but by a timer, behind all events of the
 * loop's round: other calls of this round join it. False when memory ran out. */
static bool batching_plan_departure(struct lane *lane)
{
    loop_remove_timer(lane->timer);
    lane->timer = NULL;
    if (list_is_empty(&lane->calls) || lane->under_way >= MANY || lane->probe)
        return true;
    int64_t delay_ms = 0;
    if (!batching_may_depart(lane))
        delay_ms =
            batching_first(&lane->calls)->since_ms + PATIENCE_MS - batching_now_ms(lane->batching);
    lane->timer = loop_add_timer(lane->batching->loop, delay_ms, batching_depart, lane);
    return lane->timer;
}

/* LANE has one batch or one call less: destroys it, or plans the next departure. Without memory for
 * a timer a departure that is due happens now; the others happen after the next batch. */
static void batching_update_lane(struct lane *lane)
{
    bool is_apart = lane->apart_until_ms > batching_now_ms(lane->batching);
    if (lane->departing)
        return;
    if (list_is_empty(&lane->calls) && lane->batches == 0 && !is_apart)
        batching_destroy_lane(lane);
    else if (!batching_plan_departure(lane) && batching_may_depart(lane))
        batching_depart(lane);
}

/* The payer of a batch: its members pay equal parts. */

static unsigned batching_count_members(const struct batch *batch)
{
    unsigned count = 0;
    EACH_MEMBER (each, batch)
        count++;
    return count;
}

/* The first member's expense counts the request itself. */
static void batching_charge(struct payer *payer, const struct expense *expense)
{
    const struct batch *batch = (const struct batch *)payer;
    struct expense part = *expense;
    unsigned count = batching_count_members(batch);
    if (count == 0) {
        payer_charge(batch->heir, expense);
        return;
    }
    part.spent.units /= count;
    part.spent.doubted /= count;
    part.expected /= count;
    EACH_MEMBER (each, batch) {
        part.pattern = each->base.read->pattern;
        payer_charge(each->base.payer, &part);
        part.requests = 0;
    }
}

static void batching_advance_destroy(struct batch_advance *advance)
{
    for (unsigned i = 0; i < advance->count; i++) {
        payer_refund(advance->parts[i].payer, advance->parts[i].units);
        payer_unref(advance->parts[i].payer);
    }
    free(advance);
}

static void batching_refund(struct payer *payer, double units)
{
    struct batch *batch = (struct batch *)payer;
    struct batch_advance **link = &batch->advances;
    while (*link && (*link)->most != units)
        link = &(*link)->next;
    struct batch_advance *advance = *link;
    if (!advance)
        return;
    *link = advance->next;
    batching_advance_destroy(advance);
}

/* Each member must be able to pay its part; else the members are sent one by one. Only the first
 * member's payer may hold the batch: at that point no part of it has been set aside. */
static enum payer_word batching_set_aside(struct payer *payer, double least, double most,
                                          struct payer_turn *turn, struct error *err)
{
    struct batch *batch = (struct batch *)payer;
    unsigned count = batching_count_members(batch);
    struct batch_advance *advance = calloc(1, sizeof *advance + count * sizeof advance->parts[0]);
    enum payer_word word = PAYER_AGREES;
    if (!advance) {
        error_no_memory(err);
        return PAYER_REFUSES;
    }
    EACH_MEMBER (each, batch) {
        bool is_first = advance->count == 0;
        word = payer_set_aside(each->base.payer, least / count, most / count,
                               is_first ? turn : NULL, err);
        if (word != PAYER_AGREES)
            break;
        advance->parts[advance->count].payer = payer_ref(each->base.payer);
        advance->parts[advance->count].units = most / count;
        advance->count++;
    }
    if (word == PAYER_AGREES) {
        advance->most = most;
        advance->next = batch->advances;
        batch->advances = advance;
        return word;
    }
    if (word == PAYER_HOLDS && advance->count > 0) {
        error_set(err, ERROR_TOO_FAST, "several items are not paid for together");
        word = PAYER_REFUSES;
    }
    batching_advance_destroy(advance);
    return word;
}

/* The least that any member has left, as if that member paid for all. */
static double batching_left(const struct payer *payer)
{
    double least = INFINITY;
    EACH_MEMBER (each, (const struct batch *)payer) {
        double own = payer_left(each->base.payer);
        least = own < least ? own : least;
    }
    return least;
}

static void batching_release(struct payer *payer)
{
    struct batch *batch = (struct batch *)payer;
    payer_unref(batch->heir);
    free(batch);
}

/* Batches. */

static void batching_end_request(struct batch *batch)
{
    source_end(batch->inner);
    batch->inner = NULL;
}

static void batching_close_batch(struct batch *batch)
{
    struct lane *lane = batch->lane;
    batching_end_request(batch);
    read_destroy(batch->read);
    lane->batches--;
    lane->under_way -= !batch->apart;
    if (lane->probe == batch)
        lane->probe = NULL;
    payer_unref(&batch->payer);
    batching_update_lane(lane);
}

static struct batch *batching_new_batch(struct lane *lane, bool apart)
{
    static const struct payer_ops ops = {.charge = batching_charge,
                                         .release = batching_release,
                                         .left = batching_left,
                                         .set_aside = batching_set_aside,
                                         .give_back = batching_refund};
    struct batch *batch = calloc(1, sizeof *batch);
    if (!batch)
        return NULL;
    batch->payer = (struct payer){&ops, 1};
    batch->lane = lane;
    batch->apart = apart;
    lane->batches++;
    lane->under_way += !apart;
    return batch;
}

static void batching_add_member(struct batch *batch, struct batched_call *call)
{
    call->batch = batch;
    list_append(&batch->members, &call->node);
    if (!batch->heir)
        batch->heir = payer_ref(call->base.payer);
}

/* Delivers PAGE or ERR to CALL, which may end within. */
static void batching_deliver(struct batched_call *call, const struct page *page,
                             const struct error *err)
{
    loop_remove_timer(call->deadline);
    call->deadline = NULL;
    call->base.fn(call->base.arg, page, err);
}

static void batching_deliver_no_memory(struct batched_call *call)
{
    struct error err;
    error_no_memory(&err);
    batching_deliver(call, NULL, &err);
}

static void batching_fail_all(struct batch *batch, const struct error *err)
{
    while (!list_is_empty(&batch->members)) {
        struct batched_call *call = batching_first(&batch->members);
        batching_detach(call);
        batching_deliver(call, NULL, err);
    }
}

/* Finds the members whose key ITEM has: an item, or if IS_LEFT an unprocessed key. False when
 * memory ran out. */
static bool batching_assign(struct batch *batch, const struct json *item, bool is_left)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    const struct key *names = &batching_read_of(batching_first(&batch->members))->keys[0];
    struct key key = {.count = names->count};
    bool keyed = true;
    for (size_t i = 0; i < key.count && keyed; i++)
        keyed = typed_scalar(item_attribute(*item, names->attributes[i].name), &arena,
                             &key.attributes[i].value);
    EACH_MEMBER (each, batch) {
        if (!keyed)
            break;
        if (!each->item && key_compare(&each->base.read->keys[0], &key) == 0) {
            each->item = is_left ? NULL : item;
            each->is_left = is_left;
        }
    }
    return !arena.failed;
}

/* Finds each member's result in PAGE: its item, no item, or an unprocessed key. The service states
 * the consumption of all keys together, those without an item included. False when memory ran
 * out. */
static bool batching_assign_page(struct batch *batch, const struct page *page)
{
    bool ok = true;
    unsigned count = batching_count_members(batch);
    EACH_MEMBER (each, batch)
        each->is_left = page->more && !json_present(page->position);
    for (size_t i = 0; ok && i < page->item_count; i++)
        ok = batching_assign(batch, &page->items[i], false);
    if (page->more)
        for (struct json key = json_first(page->position); ok && json_present(key);
             key = json_next(key))
            ok = batching_assign(batch, &key, true);
    EACH_MEMBER (each, batch) {
        if (page->capacity >= 0)
            each->capacity = page->capacity / count + (each->capacity >= 0 ? each->capacity : 0);
        each->doubted += page->doubted / count;
        throttles_join(&each->throttled, page->throttled);
    }
    return ok;
}

static bool batching_send(struct batch *batch);

/* Sends CALL, which is in no list, by itself. NULL when memory ran out. */
static struct batch *batching_send_apart(struct lane *lane, struct batched_call *call)
{
    struct batch *batch = batching_new_batch(lane, true);
    if (!batch)
        return NULL;
    batching_add_member(batch, call);
    if (batching_send(batch))
        return batch;
    batching_detach(call);
    batching_close_batch(batch);
    return NULL;
}

static void batching_on_deadline(void *arg);

/* False when memory ran out. */
static bool batching_add_deadline(struct batched_call *call)
{
    struct batching *batching = batching_of(call);
    int64_t left_ms = call->since_ms + batching->deadline_ms - batching_now_ms(batching);
    if (!call->deadline)
        call->deadline =
            loop_add_timer(batching->loop, left_ms > 0 ? left_ms : 0, batching_on_deadline, call);
    return call->deadline;
}

/* The service has left keys of BATCH unprocessed. The key that waited longest is sent apart, so
 * that each round completes at least one. The others wait in front of the lane for that response.
 */
static void batching_probe(struct batch *batch)
{
    struct lane *lane = batch->lane;
    struct batched_call *longest = batching_first(&batch->members);
    struct list_node *before = NULL;
    batching_detach(longest);
    while (!list_is_empty(&batch->members)) {
        struct batched_call *call = batching_first(&batch->members);
        batching_detach(call);
        batching_enqueue(lane, before, call);
        before = &call->node;
    }
    lane->probe = batching_add_deadline(longest) ? batching_send_apart(lane, longest) : NULL;
    if (lane->probe)
        lane->probe->requests = batch->requests;
    else
        batching_deliver_no_memory(longest);
    LIST_EACH (struct batched_call, call, &lane->calls, node) {
        if (batching_add_deadline(call))
            continue;
        batching_detach(call);
        batching_deliver_no_memory(call);
        break; /* the callback may have ended the next call */
    }
}

static struct batched_call *batching_next_processed(const struct batch *batch)
{
    EACH_MEMBER (each, batch)
        if (!each->is_left)
            return each;
    return NULL;
}

/* Delivers PAGE to the members whose key is processed, with an item or without. */
static void batching_deliver_page(struct batch *batch, const struct page *page)
{
    struct batched_call *call;
    struct page own = {.request_id = page->request_id};
    if (!batching_assign_page(batch, page)) {
        struct error err;
        error_no_memory(&err);
        batching_fail_all(batch, &err);
        return;
    }
    batch->requests += page->requests;
    while ((call = batching_next_processed(batch))) {
        CLEAN_UP(throttles_clean_up) struct throttles *throttled = call->throttled;
        call->throttled = NULL;
        own.throttled = throttled;
        own.items = call->item;
        own.item_count = call->item != NULL;
        own.capacity = call->capacity;
        own.doubted = call->doubted;
        own.requests = batch->requests;
        batch->requests = 0;
        batching_detach(call);
        batching_deliver(call, &own, NULL);
    }
    if (!list_is_empty(&batch->members))
        batching_probe(batch);
}

/* Sends each member of a refused batch by itself. */
static void batching_separate(struct batch *batch, const struct error *err)
{
    char table[288];
    struct lane *lane = batch->lane;
    int64_t now_ms = batching_now_ms(lane->batching), apart_ms = retries_apart_ms(err);
    printable_copy(table, sizeof table, span_text(batch->read->table), PRINTABLE_WORD);
    if (apart_ms > 0 && lane->apart_until_ms <= now_ms)
        log_line(lane->batching->log, LOG_LEVEL_WARNING,
                 "items of %s are read one by one for the next %lld minutes, because a request for "
                 "several is refused: %s",
                 table, (long long)apart_ms / 60000, err->text);
    if (apart_ms > 0)
        lane->apart_until_ms = now_ms + apart_ms;
    while (!list_is_empty(&batch->members)) {
        struct batched_call *call = batching_first(&batch->members);
        batching_detach(call);
        if (!batching_send_apart(lane, call))
            batching_deliver_no_memory(call);
    }
}

/* Delivers PAGE or ERR to the only member, with its part of an earlier batch that left its key
 * over. The inner source has the member's own Read: if the member ends within, its request ends
 * too. */
static void batching_pass_on(struct batch *batch, const struct page *page, const struct error *err)
{
    bool is_last = err || !page->more;
    struct batched_call *call = batching_first(&batch->members);
    struct page own = page ? *page : (struct page){0};
    CLEAN_UP(throttles_clean_up) struct throttles *throttled = call->throttled;
    call->throttled = NULL;
    throttles_join(&throttled, own.throttled);
    own.throttled = throttled;
    own.requests += batch->requests;
    if (call->capacity >= 0)
        own.capacity = call->capacity + (own.capacity > 0 ? own.capacity : 0);
    own.doubted += call->doubted;
    batch->requests = 0;
    call->capacity = -1;
    call->doubted = 0;
    batching_deliver(call, page ? &own : NULL, err);
    if (!list_is_empty(&batch->members) && is_last)
        batching_detach(batching_first(&batch->members));
}

static void batching_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct batch *batch = arg;
    struct error copy = err ? *err : (struct error){0};
    bool is_one = !batch->read;
    batch->delivering = true;
    if (is_one)
        batching_pass_on(batch, page, err ? &copy : NULL);
    else if (err && retries_key_by_key(err))
        batching_separate(batch, &copy);
    else if (err)
        batching_fail_all(batch, &copy);
    else
        batching_deliver_page(batch, page);
    batch->delivering = false;
    if (list_is_empty(&batch->members)) {
        batching_close_batch(batch);
    } else if (batch->wants_more) {
        batch->wants_more = false;
        source_more(batch->inner);
    }
}

static bool batching_send(struct batch *batch)
{
    const struct batched_call *first = batching_first(&batch->members);
    const struct read *read = batch->read ? batch->read : first->base.read;
    struct payer *payer = batch->read ? &batch->payer : first->base.payer;
    batch->inner =
        source_start(batch->lane->batching->source.inner, read, payer, batching_take_page, batch);
    return batch->inner;
}

static bool batching_has_key(const struct read *read, const struct key *key)
{
    for (size_t i = 0; i < read->key_count; i++)
        if (key_compare(&read->keys[i], key) == 0)
            return true;
    return false;
}

/* The Read of all members' items, each key once. NULL when memory ran out. */
static struct read *batching_join_reads(const struct batch *batch)
{
    const struct read *any = batching_read_of(batching_first(&batch->members));
    struct read *read = read_new(READ_ITEMS, any->table, NULL);
    if (!read)
        return NULL;
    read->consistent = any->consistent;
    for (size_t i = 0; i < any->attribute_count; i++)
        read_add_attribute(read, any->attributes[i]);
    EACH_MEMBER (each, batch)
        if (!batching_has_key(read, &each->base.read->keys[0]))
            read_add_key(read, &each->base.read->keys[0]);
    if (!read_failed(read))
        return read;
    read_destroy(read);
    return NULL;
}

/* Sends the calls that waited longest, as many as fit into one request. */
static void batching_depart_one(struct lane *lane)
{
    struct batch *batch = batching_new_batch(lane, false);
    if (!batch) {
        struct batched_call *call = batching_first(&lane->calls);
        batching_detach(call);
        batching_deliver_no_memory(call);
        return;
    }
    for (unsigned count = 0; !list_is_empty(&lane->calls) && count < READ_MAX_KEYS; count++) {
        struct batched_call *call = batching_first(&lane->calls);
        batching_detach(call);
        batching_add_member(batch, call);
    }
    bool several = batch->members.first != batch->members.last;
    if (several)
        batch->read = batching_join_reads(batch);
    if ((several && !batch->read) || !batching_send(batch)) {
        struct error no_memory;
        error_no_memory(&no_memory);
        batch->delivering = true;
        batching_fail_all(batch, &no_memory);
        batching_close_batch(batch);
    }
}

static void batching_depart(void *arg)
{
    struct lane *lane = arg;
    lane->timer = NULL;
    lane->departing = true;
    while (!list_is_empty(&lane->calls) && batching_may_depart(lane))
        batching_depart_one(lane);
    lane->departing = false;
    batching_update_lane(lane);
}

/* Calls. */

static void batching_clean_up(struct batched_call *call)
{
    struct lane *lane = call->lane;
    struct batch *batch = call->batch;
    loop_remove_timer(call->deadline);
    call->deadline = NULL;
    if (batch && batch->members.first == &call->node && batch->members.last == &call->node) {
        payer_unref(batch->heir); /* the last member pays for the request that is abandoned */
        batch->heir = payer_ref(call->base.payer);
        batching_end_request(batch);
    }
    if (lane || batch)
        batching_detach(call);
    if (lane)
        batching_update_lane(lane);
    if (batch && list_is_empty(&batch->members) && !batch->delivering)
        batching_close_batch(batch);
}

static void batching_on_deadline(void *arg)
{
    struct batched_call *call = arg;
    struct error err;
    call->deadline = NULL;
    batching_clean_up(call);
    error_set(&err, ERROR_TIMED_OUT,
              "no response from table %s within %.1f s, the wait for other responses included; "
              "check the network and try again",
              call->base.read->table, (double)batching_of(call)->deadline_ms / 1000);
    printable_copy(err.table, sizeof err.table, span_text(call->base.read->table), "");
    call->base.fn(call->base.arg, NULL, &err);
}

/* A call that leaves at the round's end needs no deadline of its own. */
static bool batching_start(struct source_call *base)
{
    struct batched_call *call = (struct batched_call *)base;
    struct batching *batching = batching_of(call);
    const struct read *read = base->read;
    call->capacity = -1;
    call->since_ms = batching_now_ms(batching);
    if (read->kind != READ_ITEMS || read->key_count != 1) {
        call->inner = source_start(batching->source.inner, read, base->payer, base->fn, base->arg);
        return call->inner;
    }
    struct lane *lane = batching_find_lane(batching, read);
    if (!lane)
        return false;
    if (lane->apart_until_ms > call->since_ms)
        return batching_send_apart(lane, call);
    bool at_once = lane->under_way < FEW && lane->waiting < READ_MAX_KEYS && !lane->probe;
    batching_enqueue(lane, lane->calls.last, call);
    return (at_once || batching_add_deadline(call)) &&
           (lane->timer || batching_plan_departure(lane));
}

static void batching_end(struct source_call *base)
{
    struct batched_call *call = (struct batched_call *)base;
    source_end(call->inner);
    batching_clean_up(call);
    throttles_unref(call->throttled);
}

static void batching_more(struct source_call *base)
{
    struct batched_call *call = (struct batched_call *)base;
    if (call->inner)
        source_more(call->inner);
    else if (call->batch->delivering)
        call->batch->wants_more = true;
    else
        source_more(call->batch->inner);
}

static void batching_read_all(struct source_call *base, bool all)
{
    struct batched_call *call = (struct batched_call *)base;
    if (call->inner && all)
        source_read_all(call->inner);
    else if (call->inner)
        source_read_some(call->inner);
}

static void batching_destroy(struct source *source)
{
    struct batching *batching = (struct batching *)source;
    struct dict_node *node;
    size_t from = 0;
    while ((node = dict_any(&batching->lanes, &from)))
        batching_destroy_lane((struct lane *)node);
    dict_clean_up(&batching->lanes);
    free(batching);
}

struct source *batching_new(const struct batching_options *options)
{
    static const struct source_ops ops = {
        .layer = SOURCE_BATCHING,
        .call_size = sizeof(struct batched_call),
        .start = batching_start,
        .more = batching_more,
        .read_all = batching_read_all,
        .end = batching_end,
        .destroy = batching_destroy,
    };
    struct batching *batching = calloc(1, sizeof *batching);
    if (!batching)
        return NULL;
    *batching = (struct batching){.source = {.ops = &ops, .inner = options->source},
                                  .loop = options->loop,
                                  .log = options->log,
                                  .deadline_ms = options->deadline_ms};
    if (dict_init(&batching->lanes))
        return &batching->source;
    free(batching);
    return NULL;
}
