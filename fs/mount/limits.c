/* What a second and a process group have left. */
#include "fs/mount/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"

/* Parts of what a request took may add up to a little less, or more. */
#define ROUNDING 1e-6

/* What a second has taken beyond its limit is owed to so many of the following at the most. */
enum { OWED_SECONDS = 2 };

struct account {
    struct limits *limits;
    struct process_id group;
    char program[PROCESS_NAME_SIZE];
    double units;     /* read, or that may have been */
    double set_aside; /* for requests that are under way */
    uint64_t refused;
    bool by_second; /* what said no last */
    unsigned references;
    struct account *previous, *next; /* who asked last comes first */
};

struct limits {
    struct clock *clock;
    double a_second, a_process;
    int64_t since_ms; /* the second that is under way */
    double units;     /* read in it; what is more than it may have is owed to the next */
    double set_aside; /* for requests that are under way */
    struct limits_stats stats;
    struct list held;                /* of struct payer_turn, borrowed: requests that wait */
    struct account *newest, *oldest; /* owned */
    size_t count;
    struct account unknown; /* of whom nothing is known; in no list */
};

struct limits *limits_new(struct clock *clock, double a_second, double a_process)
{
    struct limits *limits = calloc(1, sizeof *limits);
    if (!limits)
        return NULL;
    *limits = (struct limits){.clock = clock,
                              .a_second = a_second,
                              .a_process = a_process,
                              .since_ms = clock->now_ms(clock),
                              .stats = {.a_second = a_second, .a_process = a_process},
                              .unknown = {.limits = limits, .program = PROCESS_UNKNOWN}};
    return limits;
}

static void limits_unlink_account(struct account *account)
{
    struct limits *limits = account->limits;
    *(account->previous ? &account->previous->next : &limits->newest) = account->next;
    *(account->next ? &account->next->previous : &limits->oldest) = account->previous;
    account->previous = NULL;
    account->next = NULL;
    limits->count--;
}

static void limits_link_newest(struct account *account)
{
    struct limits *limits = account->limits;
    account->next = limits->newest;
    *(limits->newest ? &limits->newest->previous : &limits->oldest) = account;
    limits->newest = account;
    limits->count++;
}

static void limits_destroy_account(struct account *account)
{
    limits_unlink_account(account);
    free(account);
}

void limits_destroy(struct limits *limits)
{
    if (!limits)
        return;
    while (limits->newest)
        limits_destroy_account(limits->newest);
    free(limits);
}

/* A group outlives its leader, of whom nothing is known then; a number that another leader has is
 * another group's. */
static bool limits_is_same(const struct process_id *a, const struct process_id *b)
{
    return a->pid == b->pid && (a->started == b->started || a->started == 0 || b->started == 0);
}

static struct account *limits_find(const struct limits *limits, const struct process_id *group)
{
    struct account *found = limits->newest;
    while (found && !limits_is_same(&found->group, group))
        found = found->next;
    return found;
}

/* Those that have anything under way stay. */
static void limits_forget_oldest(struct limits *limits)
{
    struct account *oldest = limits->oldest;
    while (oldest && oldest->references > 0)
        oldest = oldest->previous;
    if (oldest)
        limits_destroy_account(oldest);
}

/* Without memory it counts with those of whom nothing is known. */
static struct account *limits_account_new(struct limits *limits, const struct process *process)
{
    struct account *account = calloc(1, sizeof *account);
    if (!account)
        return &limits->unknown;
    *account = (struct account){.limits = limits, .group = process->group};
    memcpy(account->program, process->group_program, sizeof account->program);
    if (limits->count >= LIMITS_MOST_ACCOUNTS)
        limits_forget_oldest(limits);
    limits_link_newest(account);
    return account;
}

struct account *account_join(struct limits *limits, const struct process *process)
{
    bool is_known = process->group.pid > 0 && limits->a_process > 0;
    struct account *account = is_known ? limits_find(limits, &process->group) : &limits->unknown;
    if (!account) {
        account = limits_account_new(limits, process);
    } else if (is_known) {
        limits_unlink_account(account);
        limits_link_newest(account);
        if (account->group.started == 0)
            account->group.started = process->group.started;
    }
    account->references++;
    return account;
}

void account_leave(struct account *account)
{
    account->references--;
}

/* What was read in seconds that are over is forgotten, as far as each of them paid for it. Nothing
 * comes back within a second: who reads page by page would live on ever smaller ones. */
static void limits_continue_to_now(struct limits *limits)
{
    int64_t seconds = (limits->clock->now_ms(limits->clock) - limits->since_ms) / 1000;
    double paid = limits->a_second * (double)seconds;
    limits->since_ms += seconds * 1000;
    limits->units = limits->units > paid ? limits->units - paid : 0;
}

static double limits_left_of_second(struct limits *limits)
{
    if (limits->a_second <= 0)
        return INFINITY;
    limits_continue_to_now(limits);
    return limits->a_second - limits->units;
}

static double limits_left_of_process(const struct account *account)
{
    double most = account->limits->a_process;
    return most > 0 ? most - account->units : INFINITY;
}

double account_left(const struct account *account)
{
    double second = limits_left_of_second(account->limits), own = limits_left_of_process(account);
    double left = second < own ? second : own;
    return left > 0 ? left : 0;
}

static bool limits_refuse_process(struct account *account, double least, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf read = {0}, most = {0}, needed = {0};
    decimal_write(account->units, &read);
    decimal_write(account->limits->a_process, &most);
    decimal_write(least, &needed);
    account->by_second = false;
    return error_set(
        err, ERROR_SPENT,
        "%s (process group %d) has read %s units of the %s that a program may read "
        "together with what it starts (--max-rcu-per-process), and this takes at least "
        "%s; start it anew and ask for less, or allow more",
        account->program, (int)account->group.pid, buf_text(&read), buf_text(&most),
        buf_text(&needed));
}

static bool limits_refuse_second(struct account *account, double least, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf most = {0}, needed = {0};
    decimal_write(account->limits->a_second, &most);
    decimal_write(least, &needed);
    account->by_second = true;
    return error_set(err, ERROR_TOO_FAST,
                     "all %s units are taken that may be read here in a second (--max-rcu), and "
                     "this takes at least %s; %s, or allow more",
                     buf_text(&most), buf_text(&needed),
                     least > account->limits->a_second ? "ask for less at once"
                                                       : "ask again after a second");
}

static void limits_hold(struct account *account, double units)
{
    account->set_aside += units;
    account->limits->set_aside += units;
}

bool account_has(struct account *account, double least, struct error *err)
{
    if (limits_left_of_process(account) < least - ROUNDING)
        return limits_refuse_process(account, least, err);
    if (limits_left_of_second(account->limits) < least - ROUNDING)
        return limits_refuse_second(account, least, err);
    return true;
}

/* Whether a request that takes MOST fits beside those under way; one that is alone always does. */
static bool limits_fits(double left, double set_aside, double most)
{
    return set_aside < ROUNDING || set_aside + most <= left + ROUNDING;
}

/* Whether a request of ACCOUNT would overtake one that is held: of its own, or by the second's
 * limit, which is that of all. */
static bool limits_overtakes(const struct account *account)
{
    const struct limits *limits = account->limits;
    LIST_EACH (struct payer_turn, turn, &limits->held, node)
        if (turn->behind == account || turn->behind == limits)
            return true;
    return false;
}

enum payer_word account_set_aside(struct account *account, double least, double most,
                                  struct payer_turn *turn, struct error *err)
{
    struct limits *limits = account->limits;
    if (!account_has(account, least, err))
        return PAYER_REFUSES;
    bool is_held = limits_overtakes(account) ||
                   !limits_fits(limits_left_of_process(account), account->set_aside, most);
    bool is_too_fast = !limits_fits(limits_left_of_second(limits), limits->set_aside, most);
    if (!is_held && !is_too_fast) {
        limits_hold(account, most);
        return PAYER_AGREES;
    }
    if (turn) {
        turn->behind = is_held ? (const void *)account : limits;
        list_append(&limits->held, &turn->node);
    }
    return PAYER_HOLDS;
}

/* Each asks again in a later round, in the order in which they came. */
static void limits_wake_held(struct limits *limits)
{
    while (!list_is_empty(&limits->held)) {
        struct payer_turn *turn = LIST_FIRST(&limits->held, struct payer_turn, node);
        list_remove(&turn->node);
        turn->again(turn->arg);
    }
}

void account_note_refusal(struct account *account)
{
    struct limits_stats *stats = &account->limits->stats;
    ++*(account->by_second ? &stats->refused_by_second : &stats->refused_by_process);
    account->refused++;
}

void account_refund(struct account *account, double units)
{
    limits_hold(account, -units);
    limits_wake_held(account->limits);
}

void account_charge(struct account *account, double units)
{
    struct limits *limits = account->limits;
    double most = limits->a_second * (1 + OWED_SECONDS);
    account->units += units;
    limits_continue_to_now(limits);
    limits->units += units;
    if (limits->units > most)
        limits->units = most;
}

void account_pass(struct account *from, struct account *to, double units)
{
    limits_hold(from, -units);
    limits_hold(to, units);
}

struct limits_stats limits_stats(const struct limits *limits)
{
    return limits->stats;
}

bool limits_account(const struct limits *limits, size_t i, struct account_told *out)
{
    const struct account *unknown = &limits->unknown, *each = limits->newest;
    for (; each && (i > 0 || (each->units <= 0 && each->refused == 0)); each = each->next)
        i -= each->units > 0 || each->refused > 0;
    if (!each && i == 0 && limits->a_process > 0 && (unknown->units > 0 || unknown->refused > 0))
        each = unknown;
    if (!each)
        return false;
    *out = (struct account_told){each->group.pid, each->program, each->units, each->refused};
    return true;
}
