/* Questions for one record each, gathered and asked together. */
#include "core/source/batching.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/dict.h"
#include "core/base/printable.h"
#include "core/item/item.h"
#include "core/item/typed.h"

enum {
    FEW = 4,              /* with fewer requests under way nobody waits longer than for its turn */
    MANY = 16,            /* with so many, all connections that a table has: each further waits */
    PATIENCE_MS = 10,     /* between the two nobody waits longer */
    APART_MS = 5 * 60000, /* so long nobody is asked together again who must not be */
};

struct batching {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct source_ops ops;
    struct source *inner; /* owned */
    struct loop *loop;
    const struct log *log;
    int64_t deadline_ms;
    struct dict lanes; /* owned, they too */
};

/* A table, and what is wanted of its records: whoever asks for the same may leave together. */
struct lane {
    struct dict_node node; /* first: a node of the dict is a lane */
    struct batching *batching;
    struct source_call *first, **end; /* who waits, in the order they came */
    unsigned waiting;
    unsigned batches;         /* that are not closed yet */
    unsigned under_way;       /* of these, without those who were sent apart */
    struct loop_timer *timer; /* to depart; NULL while nobody has a time to */
    bool departing;           /* it stays until that is over */
    struct batch *probe;      /* after a batch was served in part: departures wait for it */
    int64_t apart_until_ms;   /* until then everybody goes alone */
    char key[];
};

/* Of a batch's members, for one request of the inner source. It belongs to that request, until its
 * response or its end: a member that has left meanwhile still bears its part. */
struct batch_advance {
    struct batch_advance *next;
    double most; /* the sum of the parts */
    unsigned count;
    struct {
        struct payer *payer; /* holds a reference */
        double units;
    } parts[];
};

/* One request of the inner source, and whose it is. */
struct batch {
    struct payer payer; /* first: of its requests, whose cost its members share. It is counted, and
                         * the batch's memory with it: a request may outlive who asked */
    struct payer *heir; /* pays when no member is left; holds a reference */
    struct batch_advance *advances; /* owned: of requests that are under way */
    struct lane *lane;
    struct read *read;           /* owned; NULL: the Read of its only member is asked */
    struct source_call *inner;   /* owned */
    struct source_call *members; /* who have not been told yet, in the order they came */
    struct source_call **end;
    unsigned requests; /* that nobody has been told of yet */
    bool apart;        /* its one member was not to be asked together with others */
    bool telling;      /* its members are being told: it stays until that is over */
    bool wants_more;   /* its only member has asked for a page meanwhile */
};

/* A question. It waits in a lane, or is a member of a batch, or has been told; INNER alone is set
 * of one that is passed on as it is. */
struct source_call {
    struct batching *batching;
    const struct read *read;
    struct payer *payer; /* holds a reference */
    source_page_fn *fn;
    void *arg;
    struct source_call *inner;
    struct lane *lane;
    struct batch *batch;
    struct source_call *next, **link; /* among those who wait, or the batch's members */
    int64_t since_ms;                 /* it has waited */
    struct loop_timer *deadline; /* of one that had to wait; who leaves at once has its batch's */
    const struct json *item;     /* its record, while a page is being told */
    bool is_left;                /* its key has not been processed yet, likewise */
    double capacity;             /* its part of what the batch's answers took; < 0: not told */
    double doubted;              /* and of what they may have taken beside */
};

static int64_t batching_now_ms(const struct batching *batching)
{
    return loop_now_ms(batching->loop);
}

/* Lanes. */

/* Those whose Reads differ in their keys alone share it. */
static void batching_write_lane(const struct read *read, struct buf *out)
{
    const struct key *key = &read->keys[0];
    buf_printf(out, "%s%c%zu", read->table, read->consistent ? '!' : ' ', key->count);
    for (size_t i = 0; i < key->count; i++) {
        buf_printf(out, " %zu:", key->attributes[i].name.size);
        buf_add_span(out, key->attributes[i].name);
    }
    for (size_t i = 0; i < read->attribute_count; i++) {
        buf_printf(out, " %zu:", read->attributes[i].size);
        buf_add_span(out, read->attributes[i]);
    }
}

static struct lane *batching_lane_of(struct batching *batching, const struct read *read)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    batching_write_lane(read, &key);
    if (key.failed)
        return NULL;
    struct dict_node *node = dict_find(&batching->lanes, buf_span(&key));
    if (node)
        return (struct lane *)node;
    struct lane *lane = calloc(1, sizeof *lane + key.size);
    if (!lane)
        return NULL;
    lane->batching = batching;
    lane->end = &lane->first;
    memcpy(lane->key, key.data, key.size);
    lane->node.key = span_of(lane->key, key.size);
    dict_add(&batching->lanes, &lane->node);
    return lane;
}

static void batching_destroy_lane(struct lane *lane)
{
    loop_remove_timer(lane->timer);
    dict_remove(&lane->batching->lanes, &lane->node);
    free(lane);
}

/* AT is a link of the lane's list: its end for a call that waits behind all others. */
static void batching_enqueue(struct lane *lane, struct source_call **at, struct source_call *call)
{
    call->lane = lane;
    call->next = *at;
    call->link = at;
    if (call->next)
        call->next->link = &call->next;
    else
        lane->end = &call->next;
    *at = call;
    lane->waiting++;
}

/* Out of its lane's queue, or of its batch. */
static void batching_detach(struct source_call *call)
{
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    else
        *(call->lane ? &call->lane->end : &call->batch->end) = call->link;
    if (call->lane)
        call->lane->waiting--;
    call->next = NULL;
    call->link = NULL;
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
           batching_now_ms(batching) - lane->first->since_ms >= PATIENCE_MS;
}

static void batching_depart(void *arg);

/* Sees to it that those who wait leave when it is time. Who leaves now does so in the loop's next
 * round: others who ask in this one come along. False when memory ran out. */
static bool batching_arrange(struct lane *lane)
{
    loop_remove_timer(lane->timer);
    lane->timer = NULL;
    if (!lane->first || lane->under_way >= MANY || lane->probe)
        return true;
    int64_t delay_ms = 0;
    if (!batching_may_depart(lane))
        delay_ms = lane->first->since_ms + PATIENCE_MS - batching_now_ms(lane->batching);
    lane->timer = loop_add_timer(lane->batching->loop, delay_ms, batching_depart, lane);
    return lane->timer;
}

/* LANE has one batch or one who waits less. It stays while it has something to remember. Without
 * memory for a timer who may leave does so now, and the others when the next batch is back. */
static void batching_relieve(struct lane *lane)
{
    bool remembers = lane->apart_until_ms > batching_now_ms(lane->batching);
    if (lane->departing)
        return;
    if (!lane->first && lane->batches == 0 && !remembers)
        batching_destroy_lane(lane);
    else if (!batching_arrange(lane) && batching_may_depart(lane))
        batching_depart(lane);
}

/* Batches. */

/* Each bears the same part of what a request took; the first one has the request itself. */
static void batching_charge(struct payer *payer, const struct expense *expense)
{
    const struct batch *batch = (const struct batch *)payer;
    struct expense part = *expense;
    unsigned count = 0;
    for (const struct source_call *each = batch->members; each; each = each->next)
        count++;
    if (count == 0)
        payer_charge(batch->heir, expense);
    part.spent.units /= count ? count : 1;
    part.spent.doubted /= count ? count : 1;
    part.expected /= count ? count : 1;
    for (const struct source_call *each = batch->members; each; each = each->next) {
        part.pattern = each->read->pattern;
        payer_charge(each->payer, &part);
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

static enum payer_word batching_advance_add(struct batch_advance *advance, struct payer *payer,
                                            double least, double part, struct payer_turn *turn,
                                            struct error *err)
{
    enum payer_word word = payer_set_aside(payer, least, part, turn, err);
    if (word != PAYER_AGREES)
        return word;
    advance->parts[advance->count].payer = payer_ref(payer);
    advance->parts[advance->count].units = part;
    advance->count++;
    return word;
}

/* All have to be able to pay their part; else each member that can is asked for alone. The batch is
 * held with its first member, before anything of it is set aside. */
static enum payer_word batching_set_aside(struct payer *payer, double least, double most,
                                          struct payer_turn *turn, struct error *err)
{
    struct batch *batch = (struct batch *)payer;
    unsigned count = 0;
    for (const struct source_call *each = batch->members; each; each = each->next)
        count++;
    struct batch_advance *advance = calloc(1, sizeof *advance + count * sizeof advance->parts[0]);
    enum payer_word word = PAYER_AGREES;
    if (!advance) {
        error_no_memory(err);
        return PAYER_REFUSES;
    }
    for (const struct source_call *each = batch->members; each && word == PAYER_AGREES;
         each = each->next)
        word = batching_advance_add(advance, each->payer, least / count, most / count,
                                    each == batch->members ? turn : NULL, err);
    if (word == PAYER_AGREES) {
        advance->most = most;
        advance->next = batch->advances;
        batch->advances = advance;
        return word;
    }
    if (word == PAYER_HOLDS && advance->count > 0) {
        error_set(err, ERROR_TOO_FAST, "several records are not paid for together");
        word = PAYER_REFUSES;
    }
    batching_advance_destroy(advance);
    return word;
}

/* As if the member that has least left paid for all. */
static double batching_left(const struct payer *payer)
{
    double least = INFINITY;
    const struct batch *batch = (const struct batch *)payer;
    for (const struct source_call *each = batch->members; each; each = each->next) {
        double own = payer_left(each->payer);
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

static void batching_end_request(struct batch *batch)
{
    if (batch->inner)
        batch->lane->batching->inner->ops->end(batch->inner);
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
    batching_relieve(lane);
}

static struct batch *batching_new_batch(struct lane *lane, bool apart)
{
    static const struct payer_ops ops = {batching_charge, batching_release, batching_left,
                                         batching_set_aside, batching_refund};
    struct batch *batch = calloc(1, sizeof *batch);
    if (!batch)
        return NULL;
    batch->payer = (struct payer){&ops, 1};
    batch->lane = lane;
    batch->end = &batch->members;
    batch->apart = apart;
    lane->batches++;
    lane->under_way += !apart;
    return batch;
}

static void batching_board(struct batch *batch, struct source_call *call)
{
    call->batch = batch;
    call->link = batch->end;
    *batch->end = call;
    batch->end = &call->next;
    if (!batch->heir)
        batch->heir = payer_ref(call->payer);
}

/* From here on CALL is told, and its owner may end it. */
static void batching_report(struct source_call *call, const struct page *page,
                            const struct error *err)
{
    loop_remove_timer(call->deadline);
    call->deadline = NULL;
    call->fn(call->arg, page, err);
}

static void batching_report_all(struct batch *batch, const struct error *err)
{
    while (batch->members) {
        struct source_call *call = batch->members;
        batching_detach(call);
        batching_report(call, NULL, err);
    }
}

/* Finds the members that asked for ITEM, a record, or with IS_LEFT its key. False when memory ran
 * out. */
static bool batching_assign(struct batch *batch, const struct json *item, bool is_left)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    const struct key *names = &batch->members->read->keys[0];
    struct key key = {.count = names->count};
    bool keyed = true;
    for (size_t i = 0; i < key.count && keyed; i++)
        keyed = typed_scalar(item_attribute(*item, names->attributes[i].name), &arena,
                             &key.attributes[i].value);
    for (struct source_call *each = batch->members; each && keyed; each = each->next)
        if (!each->item && key_compare(&each->read->keys[0], &key) == 0) {
            each->item = is_left ? NULL : item;
            each->is_left = is_left;
        }
    return !arena.failed;
}

/* Finds the members that PAGE answers: with a record, or by a key that is not left. False when
 * memory ran out. */
static bool batching_assign_page(struct batch *batch, const struct page *page)
{
    bool ok = true;
    for (struct source_call *each = batch->members; each; each = each->next)
        each->is_left = page->more && !json_present(page->position);
    for (size_t i = 0; ok && i < page->item_count; i++)
        ok = batching_assign(batch, &page->items[i], false);
    if (page->more)
        for (struct json key = json_first(page->position); ok && json_present(key);
             key = json_next(key))
            ok = batching_assign(batch, &key, true);
    return ok;
}

static struct source_call *batching_next_answered(const struct batch *batch)
{
    struct source_call *each = batch->members;
    while (each && each->is_left)
        each = each->next;
    return each;
}

/* The service says what all together took, also those whose records are not there. */
static void batching_share_out(struct batch *batch, const struct page *page)
{
    double capacity = page->capacity;
    unsigned count = 0;
    for (struct source_call *each = batch->members; each; each = each->next)
        count++;
    for (struct source_call *each = batch->members; each; each = each->next) {
        if (capacity >= 0)
            each->capacity = capacity / count + (each->capacity >= 0 ? each->capacity : 0);
        each->doubted += page->doubted / count;
    }
}

static bool batching_start_batch(struct batch *batch);

/* CALL, which is nowhere, is asked by itself. NULL when memory ran out. */
static struct batch *batching_go_alone(struct lane *lane, struct source_call *call)
{
    struct batch *batch = batching_new_batch(lane, true);
    if (!batch)
        return NULL;
    batching_board(batch, call);
    if (batching_start_batch(batch))
        return batch;
    batching_detach(call);
    batching_close_batch(batch);
    return NULL;
}

static void batching_on_deadline(void *arg);

/* False when memory ran out. */
static bool batching_add_deadline(struct source_call *call)
{
    struct batching *batching = call->batching;
    int64_t left_ms = call->since_ms + batching->deadline_ms - batching_now_ms(batching);
    if (!call->deadline)
        call->deadline =
            loop_add_timer(batching->loop, left_ms > 0 ? left_ms : 0, batching_on_deadline, call);
    return call->deadline;
}

/* The service has left some keys of BATCH: the longest waiter's is asked for by itself, so that it
 * gets on, and the other members wait before all others of the lane until that is answered. */
static void batching_probe(struct batch *batch)
{
    struct lane *lane = batch->lane;
    struct source_call *longest = batch->members, **at = &lane->first;
    struct error no_memory;
    error_no_memory(&no_memory);
    batching_detach(longest);
    while (batch->members) {
        struct source_call *call = batch->members;
        batching_detach(call);
        batching_enqueue(lane, at, call);
        at = &call->next;
    }
    lane->probe = batching_add_deadline(longest) ? batching_go_alone(lane, longest) : NULL;
    if (lane->probe)
        lane->probe->requests = batch->requests;
    else
        batching_report(longest, NULL, &no_memory);
    for (struct source_call *call = lane->first, *next; call; call = next) {
        next = call->next;
        if (batching_add_deadline(call))
            continue;
        batching_detach(call);
        batching_report(call, NULL, &no_memory);
        break; /* its owner may have ended the next one */
    }
}

/* Calls back the members that PAGE answers: with their records, or with none. */
static void batching_report_page(struct batch *batch, const struct page *page)
{
    struct source_call *call;
    struct page own = {.request_id = page->request_id};
    if (!batching_assign_page(batch, page)) {
        struct error err;
        error_no_memory(&err);
        batching_report_all(batch, &err);
        return;
    }
    batching_share_out(batch, page);
    batch->requests += page->requests;
    while ((call = batching_next_answered(batch))) {
        own.items = call->item;
        own.item_count = call->item != NULL;
        own.capacity = call->capacity;
        own.doubted = call->doubted;
        own.requests = batch->requests;
        batch->requests = 0;
        batching_detach(call);
        batching_report(call, &own, NULL);
    }
    if (batch->members)
        batching_probe(batch);
}

/* Whether ERR may be the fault of one of the keys, of one who asks, or of asking for several: asked
 * one by one, others would have their records. */
static bool batching_is_of_company(const struct error *err)
{
    return error_is_of_caller(err) || err->kind == ERROR_BAD_ANSWER || err->kind == ERROR_INVALID ||
           (err->kind == ERROR_DENIED && err->authenticated);
}

/* A policy that grants one record at a time, or a server that knows nothing else, will not grant
 * more a moment later. */
static void batching_remember(struct lane *lane, const struct read *read, const struct error *err)
{
    char table[288];
    if (err->kind != ERROR_DENIED && strcmp(err->code, "UnknownOperationException") != 0)
        return;
    printable_copy(table, sizeof table, span_text(read->table), PRINTABLE_WORD);
    if (lane->apart_until_ms <= batching_now_ms(lane->batching))
        log_line(lane->batching->log, LOG_LEVEL_WARNING,
                 "records of %s are asked for one by one for the next %d minutes, since together "
                 "they are refused: %s",
                 table, APART_MS / 60000, err->text);
    lane->apart_until_ms = batching_now_ms(lane->batching) + APART_MS;
}

static void batching_separate(struct batch *batch, const struct error *err)
{
    struct error no_memory;
    batching_remember(batch->lane, batch->read, err);
    error_no_memory(&no_memory);
    while (batch->members) {
        struct source_call *call = batch->members;
        batching_detach(call);
        if (!batching_go_alone(batch->lane, call))
            batching_report(call, NULL, &no_memory);
    }
}

/* The only member's, with its part of a batch that left it. It asks for further pages itself, and
 * whose Read the inner source has: when it ends within, so does that call. */
static void batching_pass_on(struct batch *batch, const struct page *page, const struct error *err)
{
    bool is_last = err || !page->more;
    struct source_call *call = batch->members;
    struct page own = page ? *page : (struct page){0};
    own.requests += batch->requests;
    if (call->capacity >= 0)
        own.capacity = call->capacity + (own.capacity > 0 ? own.capacity : 0);
    own.doubted += call->doubted;
    batch->requests = 0;
    call->capacity = -1;
    call->doubted = 0;
    batching_report(call, page ? &own : NULL, err);
    if (batch->members && is_last)
        batching_detach(batch->members);
}

static void batching_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct batch *batch = arg;
    const struct source_ops *ops = batch->lane->batching->inner->ops;
    struct error copy = err ? *err : (struct error){0};
    bool is_one = !batch->read;
    batch->telling = true;
    if (is_one)
        batching_pass_on(batch, page, err ? &copy : NULL);
    else if (err && batching_is_of_company(err))
        batching_separate(batch, &copy);
    else if (err)
        batching_report_all(batch, &copy);
    else
        batching_report_page(batch, page);
    batch->telling = false;
    if (!batch->members) {
        batching_close_batch(batch);
    } else if (batch->wants_more) {
        batch->wants_more = false;
        ops->more(batch->inner);
    }
}

static bool batching_start_batch(struct batch *batch)
{
    const struct source_call *first = batch->members;
    const struct read *read = batch->read ? batch->read : first->read;
    struct payer *payer = batch->read ? &batch->payer : first->payer;
    batch->inner =
        source_start(batch->lane->batching->inner, read, payer, batching_take_page, batch);
    return batch->inner;
}

/* Two may ask for the same record. */
static void batching_add_key(struct read *read, const struct key *key)
{
    for (size_t i = 0; i < read->key_count; i++)
        if (key_compare(&read->keys[i], key) == 0)
            return;
    read_add_key(read, key);
}

/* The Read that asks for all members' records. NULL when memory ran out. */
static struct read *batching_read_of_all(const struct batch *batch)
{
    const struct read *any = batch->members->read;
    struct read *read = read_new(READ_ITEMS, any->table, NULL);
    if (!read)
        return NULL;
    read->consistent = any->consistent;
    for (size_t i = 0; i < any->attribute_count; i++)
        read_add_attribute(read, any->attributes[i]);
    for (const struct source_call *each = batch->members; each; each = each->next)
        batching_add_key(read, &each->read->keys[0]);
    if (!read_failed(read))
        return read;
    read_destroy(read);
    return NULL;
}

/* Those who have waited longest leave, as many as one request takes. */
static void batching_depart_one(struct lane *lane)
{
    struct batch *batch = batching_new_batch(lane, false);
    struct error no_memory;
    error_no_memory(&no_memory);
    if (!batch) { /* who asked first has to do without */
        struct source_call *call = lane->first;
        batching_detach(call);
        batching_report(call, NULL, &no_memory);
        return;
    }
    for (unsigned count = 0; lane->first && count < READ_MAX_KEYS; count++) {
        struct source_call *call = lane->first;
        batching_detach(call);
        batching_board(batch, call);
    }
    bool several = batch->members->next;
    if (several)
        batch->read = batching_read_of_all(batch);
    if ((several && !batch->read) || !batching_start_batch(batch)) {
        batch->telling = true;
        batching_report_all(batch, &no_memory);
        batching_close_batch(batch);
    }
}

static void batching_depart(void *arg)
{
    struct lane *lane = arg;
    lane->timer = NULL;
    lane->departing = true;
    while (lane->first && batching_may_depart(lane))
        batching_depart_one(lane);
    lane->departing = false;
    batching_relieve(lane);
}

/* Calls. */

static void batching_clean_up(struct source_call *call)
{
    struct lane *lane = call->lane;
    struct batch *batch = call->batch;
    loop_remove_timer(call->deadline);
    call->deadline = NULL;
    if (batch && batch->members == call && !call->next) {
        payer_unref(batch->heir); /* the last member pays for the request that is abandoned */
        batch->heir = payer_ref(call->payer);
        batching_end_request(batch);
    }
    if (lane || batch)
        batching_detach(call);
    if (lane)
        batching_relieve(lane);
    if (batch && !batch->members && !batch->telling)
        batching_close_batch(batch);
}

static void batching_on_deadline(void *arg)
{
    struct source_call *call = arg;
    struct error err;
    call->deadline = NULL;
    batching_clean_up(call);
    error_set(&err, ERROR_TIMED_OUT,
              "no answer from table %s within %.1f s, the wait for others' answers included; check "
              "the network and try again",
              call->read->table, (double)call->batching->deadline_ms / 1000);
    printable_copy(err.table, sizeof err.table, span_text(call->read->table), "");
    call->fn(call->arg, NULL, &err);
}

/* Whoever finds few under way leaves in the next round; all others get a deadline of their own. */
static bool batching_wait(struct lane *lane, struct source_call *call)
{
    bool at_once = lane->under_way < FEW && lane->waiting < READ_MAX_KEYS && !lane->probe;
    batching_enqueue(lane, lane->end, call);
    return (at_once || batching_add_deadline(call)) && (lane->timer || batching_arrange(lane));
}

static bool batching_begin(struct source_call *call)
{
    struct batching *batching = call->batching;
    const struct read *read = call->read;
    if (read->kind != READ_ITEMS || read->key_count != 1) {
        call->inner = source_start(batching->inner, read, call->payer, call->fn, call->arg);
        return call->inner;
    }
    struct lane *lane = batching_lane_of(batching, read);
    if (!lane)
        return false;
    if (lane->apart_until_ms > call->since_ms)
        return batching_go_alone(lane, call);
    return batching_wait(lane, call);
}

static void batching_end(struct source_call *call)
{
    if (call->inner)
        call->batching->inner->ops->end(call->inner);
    struct source *source = &call->batching->source;
    batching_clean_up(call);
    payer_unref(call->payer);
    free(call);
    source_unref(source);
}

static struct source_call *batching_start(struct source *source, const struct read *read,
                                          struct payer *payer, source_page_fn *fn, void *arg)
{
    struct source_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (struct source_call){.batching = (struct batching *)source_ref(source),
                                 .read = read,
                                 .payer = payer_ref(payer),
                                 .fn = fn,
                                 .arg = arg,
                                 .capacity = -1};
    call->since_ms = batching_now_ms(call->batching);
    if (batching_begin(call))
        return call;
    batching_end(call);
    return NULL;
}

static void batching_more(struct source_call *call)
{
    if (call->inner)
        call->batching->inner->ops->more(call->inner);
    else if (call->batch->telling)
        call->batch->wants_more = true;
    else
        call->batching->inner->ops->more(call->batch->inner);
}

static void batching_want_all(struct source_call *call)
{
    if (call->inner)
        source_read_all(call->batching->inner, call->inner);
}

/* The source. */

static void batching_destroy(struct source *source)
{
    struct batching *batching = (struct batching *)source;
    struct dict_node *node;
    size_t from = 0;
    while ((node = dict_any(&batching->lanes, &from)))
        batching_destroy_lane((struct lane *)node);
    dict_clean_up(&batching->lanes);
    batching->inner->ops->destroy(batching->inner);
    free(batching);
}

static void batching_add_stats(const struct source *source, struct source_stats *sum)
{
    const struct source *inner = ((const struct batching *)source)->inner;
    inner->ops->add_stats(inner, sum);
}

struct source *batching_new(const struct batching_options *options)
{
    struct batching *batching = calloc(1, sizeof *batching);
    if (!batching)
        return NULL;
    if (!dict_init(&batching->lanes)) {
        free(batching);
        return NULL;
    }
    const struct source_ops *inner = options->source->ops;
    batching->ops = (struct source_ops){
        .start = batching_start,
        .more = batching_more,
        .read_all = batching_want_all,
        .end = batching_end,
        .destroy = batching_destroy,
        .add_stats = batching_add_stats,
        .write_words = inner->write_words,
        .write_command = inner->write_command,
    };
    batching->source.ops = &batching->ops;
    batching->inner = options->source;
    batching->loop = options->loop;
    batching->log = options->log;
    batching->deadline_ms = options->deadline_ms;
    return &batching->source;
}
