#include "fs/mount/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/quantity.h"

/* The parts of a request's cost may add up to a little less, or more. */
#define ROUNDING 1e-6

/* The most seconds that pay for an earlier second above its limit. */
enum { OWED_SECONDS = 2 };

struct limits_group {
    struct list_node node; /* in the list of all; the unknown group is in no list */
    struct limits *limits;
    struct process_id id;
    char program[PROCESS_NAME_SIZE];
    double units;    /* read, or possibly read */
    double reserved; /* for requests under way */
    double searched; /* bytes of searches */
    double allowed;  /* the fewest bytes of searches under way */
    uint64_t refused;
    bool by_second; /* which limit refused last */
    unsigned references;
};

struct limits {
    struct clock *clock;
    int64_t since_ms; /* the beginning of the current second */
    double units;     /* read in it; the excess is owed by the next */
    double reserved;  /* for requests under way */
    double searched;  /* bytes of searches in it, likewise */
    double allowed;   /* the fewest bytes of searches that were allowed in it, and are under way */
    struct limits_stats stats;
    struct list held;   /* of struct payer_turn, borrowed: requests that wait */
    struct list groups; /* of struct limits_group, owned; the latest request first */
    size_t count;
    struct limits_group unknown;
};

struct limits *limits_new(struct clock *clock, double per_second, double per_process,
                          double search_per_second)
{
    if (search_per_second <= 0)
        search_per_second = per_second * LIMITS_BYTES_PER_RCU;
    struct limits *limits = calloc(1, sizeof *limits);
    if (limits)
        *limits = (struct limits){.clock = clock,
                                  .since_ms = clock->now_ms(clock),
                                  .stats = {.per_second = per_second,
                                            .per_process = per_process,
                                            .search_per_second = search_per_second},
                                  .unknown = {.limits = limits, .program = PROCESS_UNKNOWN}};
    return limits;
}

static void limits_destroy_group(struct limits_group *group)
{
    list_remove(&group->node);
    group->limits->count--;
    free(group);
}

void limits_destroy(struct limits *limits)
{
    if (!limits)
        return;
    LIST_EACH_SAFE (struct limits_group, each, &limits->groups, node)
        limits_destroy_group(each);
    free(limits);
}

/* A group outlives its leader, whose start is unknown then. If the number has another leader, it is
 * another group. */
static struct limits_group *limits_find_group(const struct limits *limits,
                                              const struct process_id *id)
{
    LIST_EACH (struct limits_group, each, &limits->groups, node)
        if (each->id.pid == id->pid &&
            (each->id.started == id->started || each->id.started == 0 || id->started == 0))
            return each;
    return NULL;
}

/* When memory runs out, the group counts as an unknown one. */
static struct limits_group *limits_add_group(struct limits *limits, const struct process *process)
{
    struct limits_group *group = calloc(1, sizeof *group);
    if (!group)
        return &limits->unknown;
    group->limits = limits;
    group->id = process->group;
    memcpy(group->program, process->group_program, sizeof group->program);
    if (limits->count >= LIMITS_MOST_GROUPS) {
        struct limits_group *oldest = LIST_LAST(&limits->groups, struct limits_group, node);
        while (oldest && oldest->references > 0)
            oldest = LIST_PREVIOUS(oldest, struct limits_group, node);
        if (oldest)
            limits_destroy_group(oldest);
    }
    list_prepend(&limits->groups, &group->node);
    limits->count++;
    return group;
}

struct limits_group *limits_join(struct limits *limits, const struct process *process)
{
    bool is_known = process->group.pid > 0 && limits->stats.per_process > 0;
    struct limits_group *group =
        is_known ? limits_find_group(limits, &process->group) : &limits->unknown;
    if (!group) {
        group = limits_add_group(limits, process);
    } else if (is_known) {
        list_remove(&group->node);
        list_prepend(&limits->groups, &group->node);
        if (group->id.started == 0)
            group->id.started = process->group.started;
    }
    group->references++;
    return group;
}

void limits_leave(struct limits_group *group)
{
    group->references--;
}

/* Each second that is over pays for one limit of RCU. Nothing is paid back within a second: a
 * program that reads page by page would get ever smaller pages. */
static void limits_advance(struct limits *limits)
{
    int64_t seconds = (limits->clock->now_ms(limits->clock) - limits->since_ms) / 1000;
    double paid = limits->stats.per_second * (double)seconds;
    limits->since_ms += seconds * 1000;
    limits->units = limits->units > paid ? limits->units - paid : 0;
    paid = limits->stats.search_per_second * (double)seconds;
    limits->searched = limits->searched > paid ? limits->searched - paid : 0;
    if (seconds > 0)
        limits->allowed = 0;
}

static double limits_left_of_second(struct limits *limits)
{
    if (limits->stats.per_second <= 0)
        return INFINITY;
    limits_advance(limits);
    return limits->stats.per_second - limits->units;
}

static double limits_left_of_group(const struct limits_group *group)
{
    double most = group->limits->stats.per_process;
    return most > 0 ? most - group->units : INFINITY;
}

double limits_left(const struct limits_group *group)
{
    double second = limits_left_of_second(group->limits), own = limits_left_of_group(group);
    double left = second < own ? second : own;
    return left > 0 ? left : 0;
}

bool limits_allow(struct limits_group *group, double least, struct error *err)
{
    const struct limits_stats *limit = &group->limits->stats;
    CLEAN_UP(buf_clean_up) struct buf read = {0}, most = {0}, needed = {0};
    bool by_process = limits_left_of_group(group) < least - ROUNDING;
    if (!by_process && limits_left_of_second(group->limits) >= least - ROUNDING)
        return true;
    group->by_second = !by_process;
    decimal_write(group->units, &read);
    decimal_write(by_process ? limit->per_process : limit->per_second, &most);
    decimal_write(least, &needed);
    if (by_process)
        return error_set(err, ERROR_SPENT,
                         "%s (process group %d) has read %s RCU of its limit of %s "
                         "(--max-rcu-per-process), and this request takes at least %s; run a "
                         "smaller request in a new process group, or raise the limit",
                         group->program, (int)group->id.pid, buf_text(&read), buf_text(&most),
                         buf_text(&needed));
    return error_set(err, ERROR_TOO_FAST,
                     "the limit of %s RCU per second for the whole mount (--max-rcu) is used up, "
                     "and this request takes at least %s; %s, or raise the limit",
                     buf_text(&most), buf_text(&needed),
                     least > limit->per_second ? "make a smaller request"
                                               : "repeat it after a second");
}

static void limits_add_reserved(struct limits_group *group, double units)
{
    group->reserved += units;
    group->limits->reserved += units;
}

/* Whether a request that takes MOST fits beside the requests under way. The only request fits. */
static bool limits_fits(double left, double reserved, double most)
{
    return reserved < ROUNDING || reserved + most <= left + ROUNDING;
}

/* Whether a request of GROUP would overtake a held one: of its own, or one that the limit per
 * second holds. */
static bool limits_overtakes(const struct limits_group *group)
{
    const struct limits *limits = group->limits;
    LIST_EACH (struct payer_turn, turn, &limits->held, node)
        if (turn->behind == group || turn->behind == limits)
            return true;
    return false;
}

enum payer_word limits_reserve(struct limits_group *group, double least, double most,
                               struct payer_turn *turn, struct error *err)
{
    struct limits *limits = group->limits;
    if (!limits_allow(group, least, err))
        return PAYER_REFUSES;
    bool by_process =
        limits_overtakes(group) || !limits_fits(limits_left_of_group(group), group->reserved, most);
    bool by_second = !limits_fits(limits_left_of_second(limits), limits->reserved, most);
    if (!by_process && !by_second) {
        limits_add_reserved(group, most);
        return PAYER_AGREES;
    }
    if (turn) {
        turn->behind = by_process ? (const void *)group : limits;
        list_append(&limits->held, &turn->node);
    }
    return PAYER_HOLDS;
}

/* Held requests are tried again in a later round of the loop, in their order. */
void limits_refund(struct limits_group *group, double units)
{
    struct limits *limits = group->limits;
    limits_add_reserved(group, -units);
    while (!list_is_empty(&limits->held)) {
        struct payer_turn *turn = LIST_FIRST(&limits->held, struct payer_turn, node);
        list_remove(&turn->node);
        turn->again(turn->arg);
    }
}

void limits_charge(struct limits_group *group, double units)
{
    struct limits *limits = group->limits;
    double most = limits->stats.per_second * (1 + OWED_SECONDS);
    group->units += units;
    limits_advance(limits);
    limits->units += units;
    if (limits->units > most)
        limits->units = most;
}

bool limits_allow_search(struct limits_group *group, struct error *err)
{
    struct limits *limits = group->limits;
    const struct limits_stats *stats = &limits->stats;
    double own = stats->per_process * LIMITS_BYTES_PER_RCU, second = stats->search_per_second;
    CLEAN_UP(buf_clean_up) struct buf most = {0};
    limits_advance(limits);
    bool by_process = own > 0 && own - group->searched - group->allowed < SEARCH_LEAST_BYTES;
    bool by_second = second > 0 && second - limits->searched - limits->allowed < SEARCH_LEAST_BYTES;
    if (!by_process && !by_second) {
        group->allowed += SEARCH_LEAST_BYTES;
        limits->allowed += SEARCH_LEAST_BYTES;
        return true;
    }
    group->by_second = !by_process;
    decimal_write(by_process ? own : second, &most);
    if (by_process)
        return error_set(err, ERROR_SPENT,
                         "searches by %s (process group %d) have consumed the limit of %s bytes, "
                         "%d for each RCU of --max-rcu-per-process; run a smaller request in a new "
                         "process group, or raise the limit",
                         group->program, (int)group->id.pid, buf_text(&most), LIMITS_BYTES_PER_RCU);
    return error_set(err, ERROR_TOO_FAST,
                     "the limit of %s search bytes per second for the whole mount "
                     "(--max-search-bytes, or %d for each RCU of --max-rcu) is used up, and a "
                     "search takes at least %d; %s, or raise the limit",
                     buf_text(&most), LIMITS_BYTES_PER_RCU, SEARCH_LEAST_BYTES,
                     second < SEARCH_LEAST_BYTES ? "no search fits it"
                                                 : "repeat it after a second");
}

void limits_charge_search(struct limits_group *group, double bytes)
{
    struct limits *limits = group->limits;
    double most = limits->stats.search_per_second * (1 + OWED_SECONDS);
    limits_advance(limits);
    group->allowed -= group->allowed > 0 ? SEARCH_LEAST_BYTES : 0;
    limits->allowed -= limits->allowed > 0 ? SEARCH_LEAST_BYTES : 0;
    group->searched += bytes;
    limits->searched += bytes;
    if (limits->searched > most)
        limits->searched = most;
}

void limits_pass(struct limits_group *from, struct limits_group *to, double units)
{
    limits_add_reserved(from, -units);
    limits_add_reserved(to, units);
}

void limits_note_refusal(struct limits_group *group)
{
    struct limits_stats *stats = &group->limits->stats;
    ++*(group->by_second ? &stats->refused_by_second : &stats->refused_by_process);
    group->refused++;
}

struct limits_stats limits_stats(const struct limits *limits)
{
    return limits->stats;
}

bool limits_group_at(const struct limits *limits, size_t i, struct limits_group_sum *out)
{
    const struct limits_group *found = NULL, *unknown = &limits->unknown;
    LIST_EACH (const struct limits_group, each, &limits->groups, node) {
        if (each->units <= 0 && each->refused == 0)
            continue;
        found = each;
        if (i-- == 0)
            break;
        found = NULL;
    }
    if (!found && i == 0 && limits->stats.per_process > 0 &&
        (unknown->units > 0 || unknown->refused > 0))
        found = unknown;
    if (found)
        *out =
            (struct limits_group_sum){found->id.pid, found->program, found->units, found->refused};
    return found;
}
