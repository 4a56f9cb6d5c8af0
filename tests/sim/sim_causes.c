#include "tests/sim/sim_causes.h"

#include <errno.h>
#include <string.h>

#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_service.h"
#include "tests/sim/sim_world.h"

enum {
    SIM_MOST_SPELLS = 64,
    SIM_TRIES = 4, /* requests of one call, at most */
    /* The budget of retries for one table: docs/internals/retries.md. */
    SIM_TOKENS = 500,
    SIM_RETRY_COST = 14,
    SIM_THROTTLE_COST = 5,
    SIM_RETRY_MS = 25, /* the bound of the first delay; of a throttle: */
    SIM_THROTTLE_MS = 1000,
    SIM_SLACK_MS = 50,
};

struct sim_cause {
    enum sim_fault fault;
    int64_t at_ms;
};

/* A budget, as far as it can be used up: each failure pays. */
struct sim_budget {
    uint64_t resource;
    int tokens;
    int64_t empty_ms; /* the last time without enough for a retry; 0: never */
};

static struct sim_spell spells[SIM_MOST_SPELLS];
static unsigned spell_count;
static struct sim_cause *causes; /* in the order of their times */
static size_t cause_count, cause_room;
static bool had[SIM_FAULTS];
static struct sim_attempt *attempts; /* in the order of their ends */
static size_t attempt_count, attempt_room;

/* A look-up that waited for another one of its name. */
struct sim_queue {
    int64_t ended_ms, since_ms;
};
static struct sim_queue *queues; /* in the order of their ends */
static size_t queue_count, queue_room;
static struct sim_budget *budgets;
static size_t budget_count;

static const char *const fault_names[SIM_FAULTS] = {
    [SIM_FAULT_THROTTLE] = "throttle",
    [SIM_FAULT_SERVER_ERROR] = "server error",
    [SIM_FAULT_RESET_BEFORE] = "reset before processing",
    [SIM_FAULT_RESET_AFTER] = "reset after processing",
    [SIM_FAULT_LATE] = "late response",
    [SIM_FAULT_NO_ANSWER] = "no answer",
    [SIM_FAULT_CHECKSUM] = "wrong checksum",
    [SIM_FAULT_TRUNCATED] = "truncated body",
    [SIM_FAULT_EXPIRED] = "expired token",
    [SIM_FAULT_DENIED] = "denied access",
    [SIM_FAULT_SKEW] = "wrong clock",
    [SIM_FAULT_UNREACHABLE] = "unreachable",
    [SIM_FAULT_EMPTY_PAGE] = "empty page",
    [SIM_FAULT_SHORT_PAGE] = "short page",
    [SIM_FAULT_UNPROCESSED] = "unprocessed keys",
    [SIM_FAULT_MEMORY] = "no memory",
    [SIM_FAULT_SPOOL] = "spool failure",
    [SIM_FAULT_INTERRUPT] = "interrupt",
    [SIM_FAULT_CAP] = "cap",
    [SIM_FAULT_UNMOUNT] = "unmount",
    [SIM_FAULT_NOTIFY] = "refused notification",
    [SIM_FAULT_STREAM] = "stream",
    [SIM_FAULT_LIE] = "untrue response",
};

const char *sim_fault_name(enum sim_fault fault)
{
    return fault < SIM_FAULTS ? fault_names[fault] : "none";
}

/* The plan. */

static void sim_causes_add_spell(struct sim_spell spell)
{
    if (spell_count == SIM_MOST_SPELLS || sim_is_left_out(spell.number))
        return;
    spells[spell_count++] = spell;
}

/* Faults that spells of weather have; the more often, the more often they are drawn. */
static const enum sim_fault weather_faults[] = {
    SIM_FAULT_THROTTLE,     SIM_FAULT_THROTTLE,     SIM_FAULT_THROTTLE,    SIM_FAULT_SERVER_ERROR,
    SIM_FAULT_SERVER_ERROR, SIM_FAULT_RESET_BEFORE, SIM_FAULT_RESET_AFTER, SIM_FAULT_RESET_AFTER,
    SIM_FAULT_LATE,         SIM_FAULT_LATE,         SIM_FAULT_NO_ANSWER,   SIM_FAULT_CHECKSUM,
    SIM_FAULT_TRUNCATED,    SIM_FAULT_EXPIRED,      SIM_FAULT_DENIED,      SIM_FAULT_SKEW,
    SIM_FAULT_UNREACHABLE,  SIM_FAULT_MEMORY,       SIM_FAULT_SPOOL,       SIM_FAULT_NOTIFY,
    SIM_FAULT_STREAM,
};

/* The clock of the machine. */

static int64_t sim_causes_draw_skew(unsigned number)
{
    enum { MINUTE = 60 * 1000, HOUR = 60 * MINUTE };
    struct sim_dice dice = sim_dice_for("skew", number);
    uint32_t kind = sim_dice_below(&dice, 10);
    int64_t skew_ms = kind < 2   ? sim_dice_between(&dice, MINUTE, 14 * MINUTE)
                      : kind < 8 ? sim_dice_between(&dice, 16 * MINUTE, 20 * HOUR)
                                 : sim_dice_between(&dice, 25 * HOUR, 240 * HOUR);
    return sim_dice_chance(&dice, 500) ? skew_ms : -skew_ms;
}

static void sim_causes_run_clock(void *arg)
{
    const struct sim_spell *spell = arg;
    if (spell->from_ms > sim_now_ms())
        sim_fiber_sleep_ms(spell->from_ms - sim_now_ms());
    sim_set_skew_ms(sim_causes_draw_skew(spell->number));
    sim_causes_note(SIM_FAULT_SKEW, "the machine's clock is set to a wrong time");
    sim_fiber_sleep_ms(spell->until_ms - sim_now_ms());
    sim_set_skew_ms(0);
    sim_causes_note(SIM_FAULT_SKEW, "the machine's clock is right again");
}

/* A spell of weather: short and hard, or long and mild. The last minute of a life has no actions.
 */
static struct sim_spell sim_causes_draw_spell(unsigned number, int64_t life_ms)
{
    enum { IDLE_MS = 60 * 1000 };
    struct sim_dice dice = sim_dice_for("spell", number);
    if (life_ms > IDLE_MS)
        life_ms -= IDLE_MS;
    size_t count = sizeof weather_faults / sizeof weather_faults[0];
    struct sim_spell spell = {
        .number = number,
        .fault = weather_faults[sim_dice_below(&dice, (uint32_t)count)],
        .from_ms = sim_dice_between(&dice, 0, life_ms),
    };
    bool is_hard = sim_dice_chance(&dice, 400);
    int64_t most_ms = is_hard ? life_ms / 4 : life_ms;
    int64_t lasts_ms = sim_dice_between(&dice, 10, most_ms > 20 ? most_ms : 20);
    spell.per_mille = (unsigned)sim_dice_between(&dice, is_hard ? 500 : 10, is_hard ? 1000 : 250);
    if (spell.fault == SIM_FAULT_MEMORY) { /* of allocations, which are many */
        lasts_ms = sim_dice_between(&dice, 1, life_ms / 8 > 50 ? life_ms / 8 : 50);
        spell.per_mille = (unsigned)sim_dice_between(&dice, 1, 20);
    }
    spell.until_ms = spell.from_ms + lasts_ms;
    return spell;
}

/* What a service does on its best days: pages end early, batches are left in part. */
static unsigned sim_causes_plan_service(unsigned number, int64_t life_ms)
{
    static const enum sim_fault faults[] = {SIM_FAULT_SHORT_PAGE, SIM_FAULT_EMPTY_PAGE,
                                            SIM_FAULT_UNPROCESSED};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++, number++) {
        struct sim_dice dice = sim_dice_for("habit", number);
        bool has = sim_dice_chance(&dice, 600);
        unsigned per_mille = (unsigned)sim_dice_between(&dice, 10, 400);
        if (has)
            sim_causes_add_spell((struct sim_spell){number, faults[i], 0, 2 * life_ms, per_mille});
    }
    return number;
}

/* A service that mixes up its responses, in some lives. */
static unsigned sim_causes_plan_lies(unsigned number, int64_t life_ms)
{
    struct sim_dice dice = sim_dice_for("lies", 0);
    bool has = sim_dice_chance(&dice, 250);
    int64_t from_ms = sim_dice_between(&dice, 0, life_ms);
    unsigned per_mille = (unsigned)sim_dice_between(&dice, 20, 600);
    if (has)
        sim_causes_add_spell((struct sim_spell){number, SIM_FAULT_LIE, from_ms / 2,
                                                from_ms / 2 + life_ms / 4, per_mille});
    return number + has;
}

unsigned sim_causes_plan(unsigned first_number, int64_t life_ms)
{
    struct sim_dice dice = sim_dice_for("weather", 0);
    uint32_t kind = sim_dice_below(&dice, 100);
    unsigned count = kind < 35   ? 0
                     : kind < 70 ? (unsigned)sim_dice_between(&dice, 1, 3)
                     : kind < 92 ? (unsigned)sim_dice_between(&dice, 4, 8)
                                 : (unsigned)sim_dice_between(&dice, 10, 30);
    unsigned number = sim_causes_plan_service(first_number, life_ms);
    for (unsigned i = 0; i < count; i++, number++)
        sim_causes_add_spell(sim_causes_draw_spell(number, life_ms));
    number = sim_causes_plan_lies(number, life_ms);
    for (unsigned i = 0; i < spell_count; i++) {
        const struct sim_spell *spell = &spells[i];
        sim_tell("plan", "spell %u: %s, %u of 1000, from %lld to %lld ms", spell->number,
                 sim_fault_name(spell->fault), spell->per_mille, (long long)spell->from_ms,
                 (long long)spell->until_ms);
        if (spell->fault == SIM_FAULT_SKEW && !sim_life_is_recording())
            sim_fiber_start("clock", sim_causes_run_clock, &spells[i]);
    }
    return number;
}

/* Strikes. */

static void *sim_causes_make_room(void *array, size_t count, size_t *room, size_t each)
{
    if (count < *room)
        return array;
    *room = *room ? 2 * *room : 256;
    return sim_grow(array, *room * each);
}

void sim_causes_note(enum sim_fault fault, const char *detail)
{
    causes = sim_causes_make_room(causes, cause_count, &cause_room, sizeof *causes);
    causes[cause_count++] = (struct sim_cause){fault, sim_now_ms()};
    had[fault] = true;
    sim_tell("fault", "%s: %s", sim_fault_name(fault), detail);
}

void sim_causes_note_queue(int64_t since_ms)
{
    queues = sim_causes_make_room(queues, queue_count, &queue_room, sizeof *queues);
    queues[queue_count++] = (struct sim_queue){sim_now_ms(), since_ms};
}

static const struct sim_spell *sim_causes_find_spell(enum sim_fault fault)
{
    if (sim_life_is_recording())
        return NULL;
    for (unsigned i = 0; i < spell_count; i++)
        if (spells[i].fault == fault && spells[i].from_ms <= sim_now_ms() &&
            sim_now_ms() < spells[i].until_ms)
            return &spells[i];
    return NULL;
}

bool sim_causes_is_under(enum sim_fault fault)
{
    return sim_causes_find_spell(fault) != NULL;
}

static uint64_t sim_causes_digest(uint64_t start, const char *text)
{
    for (; *text; text++)
        start = (start ^ (unsigned char)*text) * 0x100000001b3u;
    return start;
}

uint64_t sim_causes_count(uint64_t key)
{
    enum { BITS = 16, SLOTS = 1 << BITS, MOST_STEPS = 32 };
    static struct {
        uint64_t key, count;
    } slots[SLOTS];
    static uint64_t others;
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> (64 - BITS));
    for (size_t i = 0; i < MOST_STEPS; i++, at = (at + 1) % SLOTS)
        if (slots[at].key == key || slots[at].key == 0) {
            slots[at].key = key;
            return slots[at].count++;
        }
    return others++;
}

bool sim_causes_strike_at(enum sim_fault fault, uint64_t number, const char *detail)
{
    const struct sim_spell *spell = sim_causes_find_spell(fault);
    if (!spell)
        return false;
    struct sim_dice dice = sim_dice_for("strike", number + 0x100000001b3u * spell->number);
    if (!sim_dice_chance(&dice, spell->per_mille))
        return false;
    sim_causes_note(fault, detail);
    return true;
}

bool sim_causes_strike(enum sim_fault fault, const char *detail)
{
    if (!sim_causes_is_under(fault))
        return false;
    uint64_t key = sim_causes_digest(0xcbf29ce484222325u + (uint64_t)fault, detail);
    return sim_causes_strike_at(fault, key + 0x9e3779b97f4a7c15u * sim_causes_count(key), detail);
}

/* Attempts. */

static struct sim_budget *sim_causes_budget(uint64_t resource)
{
    for (size_t i = 0; i < budget_count; i++)
        if (budgets[i].resource == resource)
            return &budgets[i];
    budgets = sim_grow(budgets, (budget_count + 1) * sizeof *budgets);
    budgets[budget_count] = (struct sim_budget){.resource = resource, .tokens = SIM_TOKENS};
    return &budgets[budget_count++];
}

void sim_causes_note_attempt(const struct sim_attempt *attempt)
{
    struct sim_budget *budget = sim_causes_budget(attempt->resource);
    bool is_throttle = attempt->error == EAGAIN;
    attempts = sim_causes_make_room(attempts, attempt_count, &attempt_room, sizeof *attempts);
    attempts[attempt_count++] = *attempt;
    if (attempt->error == 0 && budget->tokens < SIM_TOKENS)
        budget->tokens++;
    if (attempt->error != 0 && !attempt->is_final && budget->tokens > 0)
        budget->tokens -= is_throttle ? SIM_THROTTLE_COST : SIM_RETRY_COST;
    if (budget->tokens < SIM_RETRY_COST)
        budget->empty_ms = sim_now_ms();
}

/* Explanations. */

bool sim_causes_struck(enum sim_fault fault, int64_t from_ms, int64_t until_ms)
{
    for (size_t i = cause_count; i-- > 0 && causes[i].at_ms >= from_ms;)
        if (causes[i].fault == fault && causes[i].at_ms <= until_ms)
            return true;
    return false;
}

/* The failures of the same request up to attempt LAST, itself included, within the time of one
 * call; FIRST_MS: when the first of them was sent. */
static unsigned sim_causes_count_tries(size_t last, int64_t timeout_ms, int64_t *first_ms)
{
    const struct sim_attempt *end = &attempts[last];
    unsigned count = 0;
    for (size_t i = last + 1; i-- > 0 && attempts[i].ended_ms >= end->ended_ms - timeout_ms;) {
        const struct sim_attempt *each = &attempts[i];
        if (each->request != end->request || each->error == 0 || each->is_final)
            continue;
        count++;
        *first_ms = each->sent_ms;
    }
    return count;
}

/* The longest delay before another attempt. */
static int64_t sim_causes_delay_ms(const struct sim_attempt *attempt, unsigned tries)
{
    int64_t delay_ms = attempt->error == EAGAIN ? SIM_THROTTLE_MS : SIM_RETRY_MS;
    for (unsigned i = 1; i < tries && delay_ms < 20000; i++)
        delay_ms *= 2;
    return delay_ms > attempt->retry_after_ms ? delay_ms : attempt->retry_after_ms;
}

/* Whether the source of the keys failed in that time. */
static bool sim_causes_lacks_keys(int64_t from_ms, int64_t until_ms)
{
    for (size_t i = attempt_count; i-- > 0 && attempts[i].ended_ms >= from_ms;)
        if (attempts[i].is_of_identity && attempts[i].error != 0 &&
            attempts[i].ended_ms <= until_ms)
            return true;
    return false;
}

/* Whether attempt I may be the last one of its call: then its error is the reader's. */
static bool sim_causes_may_be_last(size_t i, int64_t reader_from_ms)
{
    const struct sim_attempt *attempt = &attempts[i];
    int64_t timeout_ms = sim_life_options()->timeout_ms, first_ms = attempt->sent_ms;
    const struct sim_budget *budget = sim_causes_budget(attempt->resource);
    if (attempt->is_final)
        return true;
    unsigned tries = sim_causes_count_tries(i, timeout_ms, &first_ms);
    /* A wrong clock is corrected once. Keys of the environment can't be replaced. */
    if (attempt->fault == SIM_FAULT_EXPIRED)
        return true;
    if (attempt->fault == SIM_FAULT_SKEW)
        return tries >= 2;
    if (attempt->error == ETIMEDOUT || tries >= SIM_TRIES)
        return true;
    if (budget->empty_ms && attempt->ended_ms - budget->empty_ms < timeout_ms)
        return true;
    int64_t again_ms = attempt->ended_ms + sim_causes_delay_ms(attempt, tries) + SIM_SLACK_MS;
    int64_t begun_ms = reader_from_ms < first_ms ? reader_from_ms : first_ms;
    /* "Each attempt is signed anew" (docs/internals/aws-call.md): it may wait for keys. */
    return again_ms >= begun_ms + timeout_ms ||
           sim_causes_lacks_keys(attempt->sent_ms, begun_ms + timeout_ms);
}

/* Without credentials no request is sent: their source has failed, a moment ago or while the reader
 * waited, or states times that a wrong clock makes past. */
static bool sim_causes_explain_by_identity(int error, int64_t from_ms, int64_t until_ms)
{
    enum { REUSED_MS = 60 * 1000 };
    for (size_t i = attempt_count; i-- > 0 && attempts[i].ended_ms >= from_ms - REUSED_MS;)
        if (attempts[i].is_of_identity && attempts[i].ended_ms <= until_ms &&
            ((attempts[i].error != 0 && (attempts[i].error == error || error == EACCES ||
                                         error == EKEYEXPIRED || error == ETIMEDOUT)) ||
             (had[SIM_FAULT_SKEW] && error == EKEYEXPIRED)))
            return true;
    return false;
}

static bool sim_causes_explain_by_attempt(int error, int64_t from_ms, int64_t until_ms,
                                          int64_t reach_ms)
{
    for (size_t i = attempt_count; i-- > 0 && attempts[i].ended_ms >= from_ms - reach_ms;)
        if (attempts[i].error == error && attempts[i].ended_ms <= until_ms &&
            sim_causes_may_be_last(i, from_ms))
            return true;
    return false;
}

/* The limits refuse a request if less than the least that it consumes is left; units that a second
 * consumed beyond its limit count in the two following ones. */
static bool sim_causes_explain_limit(int64_t from_ms, int64_t until_ms)
{
    enum { SECONDS = 3, LEAST_HALF_UNITS = 1, MOST_OF_PAGE = 2 * 178, MOST_SEARCH = 4096 };
    const struct sim_life_options *options = sim_life_options();
    if (sim_causes_struck(SIM_FAULT_CAP, from_ms, until_ms))
        return true;
    if (options->max_rcu <= 0 && options->max_rcu_per_process <= 0)
        return false;
    struct sim_books books = sim_service_books();
    uint64_t in_time = sim_service_half_units_since(from_ms - SECONDS * 1000);
    double all = (double)books.half_units + LEAST_HALF_UNITS + (double)books.lost * MOST_OF_PAGE;
    double recent = (double)in_time + LEAST_HALF_UNITS + (double)books.lost * MOST_OF_PAGE;
    return books.search_bytes > 0 || (options->max_rcu > 0 && recent >= 2 * options->max_rcu) ||
           (options->max_rcu_per_process > 0 && all >= 2 * options->max_rcu_per_process);
}

/* A recording has failures, too: those of late responses, because nothing else fails while it is
 * made. */
static bool sim_causes_explain_replay(int error)
{
    return error == ETIMEDOUT && sim_life_options()->is_replay;
}

/* The time since which a look-up of the reader has waited: that of the caller before it. */
static int64_t sim_causes_queued_since(int64_t from_ms, int64_t until_ms)
{
    int64_t since_ms = from_ms;
    for (size_t i = queue_count; i-- > 0 && queues[i].ended_ms >= from_ms;)
        if (queues[i].ended_ms <= until_ms && queues[i].since_ms < since_ms)
            since_ms = queues[i].since_ms;
    return since_ms;
}

/* Whether many pages came, up to the end: a listing of narrow pages may wait for a name in them. */
static bool sim_causes_has_pages(int64_t from_ms, int64_t until_ms)
{
    enum { LEAST_PAGES = 4 };
    int64_t latest_ms = from_ms;
    unsigned count = 0;
    for (size_t i = attempt_count; i-- > 0 && attempts[i].ended_ms >= from_ms;) {
        bool is_page = attempts[i].error == 0 && strcmp(attempts[i].operation, "Query") == 0;
        if (!is_page || attempts[i].ended_ms > until_ms)
            continue;
        if (attempts[i].ended_ms > latest_ms)
            latest_ms = attempts[i].ended_ms;
        count++;
    }
    return count >= LEAST_PAGES && until_ms - latest_ms < sim_life_options()->timeout_ms;
}

/* Whether a request was sent again after a pause, of which a batch of several readers waits for the
 * end. */
static bool sim_causes_has_retries(int64_t from_ms, int64_t until_ms)
{
    return sim_causes_struck(SIM_FAULT_RESET_BEFORE, from_ms, until_ms) ||
           sim_causes_struck(SIM_FAULT_RESET_AFTER, from_ms, until_ms) ||
           sim_causes_struck(SIM_FAULT_THROTTLE, from_ms, until_ms) ||
           sim_causes_struck(SIM_FAULT_SERVER_ERROR, from_ms, until_ms);
}

/* A reader waits for late responses, also for those of others, until the time-out; and at most
 * three times as long whatever its requests do (docs/internals/parked-requests.md). */
static bool sim_causes_explain_patience(int error, int64_t from_ms, int64_t until_ms)
{
    int64_t timeout_ms = sim_life_options()->timeout_ms;
    from_ms = sim_causes_queued_since(from_ms, until_ms);
    int64_t waited_ms = until_ms - from_ms + SIM_SLACK_MS;
    bool is_limited =
        sim_life_options()->max_rcu > 0 || sim_life_options()->max_rcu_per_process > 0;
    bool is_late = is_limited || sim_causes_has_retries(from_ms, until_ms) ||
                   sim_causes_struck(SIM_FAULT_LATE, from_ms - timeout_ms, until_ms) ||
                   sim_causes_struck(SIM_FAULT_NO_ANSWER, from_ms - timeout_ms, until_ms);
    return error == ETIMEDOUT &&
           ((waited_ms >= timeout_ms && is_late) ||
            (waited_ms >= 3 * timeout_ms &&
             (sim_causes_any(from_ms, until_ms) || sim_causes_has_pages(from_ms, until_ms))));
}

bool sim_causes_explain(int error, int64_t from_ms, int64_t until_ms, int64_t reach_ms)
{
    int64_t since_ms = from_ms - reach_ms;
    switch (error) {
    case EINTR:
        return sim_causes_struck(SIM_FAULT_INTERRUPT, since_ms, until_ms);
    case ENOMEM:
        return sim_causes_struck(SIM_FAULT_MEMORY, since_ms, until_ms) ||
               sim_causes_struck(SIM_FAULT_NOTIFY, since_ms, until_ms); /* the kernel's memory */
    case ENOSPC:
        return sim_causes_struck(SIM_FAULT_SPOOL, since_ms, until_ms);
    case EDQUOT:
        return sim_causes_explain_limit(since_ms, until_ms);
    case ENOTCONN:
    case ENODEV:
    case ECONNABORTED:
        return sim_causes_struck(SIM_FAULT_UNMOUNT, 0, until_ms) ||
               sim_causes_explain_by_attempt(error, from_ms, until_ms, reach_ms);
    default:
        return sim_causes_explain_by_attempt(error, from_ms, until_ms, reach_ms) ||
               sim_causes_explain_by_identity(error, since_ms, until_ms) ||
               sim_causes_explain_patience(error, from_ms, until_ms) ||
               sim_causes_explain_replay(error);
    }
}

bool sim_causes_had(enum sim_fault fault)
{
    return had[fault];
}

bool sim_causes_any(int64_t from_ms, int64_t until_ms)
{
    for (size_t i = cause_count; i-- > 0 && causes[i].at_ms >= from_ms;)
        if (causes[i].at_ms <= until_ms && causes[i].fault != SIM_FAULT_EMPTY_PAGE &&
            causes[i].fault != SIM_FAULT_SHORT_PAGE && causes[i].fault != SIM_FAULT_UNPROCESSED)
            return true;
    return false;
}

bool sim_causes_any_page(int64_t from_ms, int64_t until_ms)
{
    for (size_t i = cause_count; i-- > 0 && causes[i].at_ms >= from_ms;)
        if (causes[i].at_ms <= until_ms)
            return true;
    return false;
}
