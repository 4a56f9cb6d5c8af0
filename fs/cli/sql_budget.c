#include "fs/cli/sql_budget.h"

#include <math.h>

#include "core/base/quantity.h"

/* The parts of a request's cost may add up to a little less, or more. */
#define SQL_BUDGET_ROUNDING 1e-6

static struct sql_budget *sql_budget_of(struct payer *payer)
{
    return (struct sql_budget *)payer;
}

static void sql_budget_charge(struct payer *payer, const struct expense *expense)
{
    struct sql_budget *budget = sql_budget_of(payer);
    spent_add(&budget->spent, &expense->spent);
    budget->requests += expense->requests;
    read_budget_charge(&budget->budget, expense);
}

static void sql_budget_release(struct payer *payer)
{
    (void)payer;
}

static double sql_budget_left(const struct payer *payer)
{
    const struct sql_budget *budget = (const struct sql_budget *)payer;
    double most = budget->options->max_rcu;
    double left = most > 0 ? most - budget->budget.rcu : INFINITY;
    return left > 0 ? left : 0;
}

/* Held requests try again in their order, in a later round of the loop. */
static void sql_budget_wake(struct sql_budget *budget)
{
    while (!list_is_empty(&budget->held)) {
        struct payer_turn *turn = LIST_FIRST(&budget->held, struct payer_turn, node);
        list_remove(&turn->node);
        turn->again(turn->arg);
    }
}

/* No request is under way: its deadline would pass while the user thinks. */
static void sql_budget_prompt(void *arg)
{
    struct sql_budget *budget = arg;
    struct error ignored; /* set_aside reports it to each held request */
    const struct read_demand demand = {
        .of = "the statement", .unit = "request", .rcu = budget->demand, .price = budget->price};
    budget->timer = NULL;
    if (!list_is_empty(&budget->held))
        read_budget_allows(&budget->budget, &demand, &ignored);
    sql_budget_wake(budget);
}

static enum payer_word sql_budget_hold(struct sql_budget *budget, struct payer_turn *turn)
{
    if (turn)
        list_append(&budget->held, &turn->node);
    return PAYER_HOLDS;
}

/* Whether MOST may be consumed beside the requests under way, without a prompt. */
static bool sql_budget_is_allowed(const struct sql_budget *budget, double most)
{
    const struct read_budget *limit = &budget->budget;
    return limit->allowed <= 0 ||
           (!limit->refused && limit->rcu + budget->reserved + most <= limit->allowed);
}

static enum payer_word sql_budget_set_aside(struct payer *payer, double least, double most,
                                            struct payer_turn *turn, struct error *err)
{
    struct sql_budget *budget = sql_budget_of(payer);
    double left = sql_budget_left(payer);
    if (left < least - SQL_BUDGET_ROUNDING) {
        CLEAN_UP(buf_clean_up) struct buf consumed = {0}, limit = {0}, needed = {0};
        decimal_write(budget->budget.rcu, &consumed);
        decimal_write(budget->options->max_rcu, &limit);
        decimal_write(least, &needed);
        error_set(err, ERROR_SPENT,
                  "the statement has consumed %s RCU of its limit of %s (--max-rcu), and the next "
                  "request takes at least %s; narrow the statement, or raise the limit",
                  buf_text(&consumed), buf_text(&limit), buf_text(&needed));
        return PAYER_REFUSES;
    }
    bool alone = budget->reserved < SQL_BUDGET_ROUNDING;
    if (!alone && budget->reserved + most > left + SQL_BUDGET_ROUNDING)
        return sql_budget_hold(budget, turn);
    if (budget->budget.refused) {
        const struct read_demand demand = {.of = ""};
        read_budget_allows(&budget->budget, &demand, err);
        return PAYER_REFUSES;
    }
    if (!sql_budget_is_allowed(budget, most)) {
        budget->demand = most;
        if (alone && !budget->timer)
            budget->timer = loop_add_timer(budget->loop, 0, sql_budget_prompt, budget);
        if (!alone || budget->timer)
            return sql_budget_hold(budget, turn);
        error_no_memory(err);
        return PAYER_REFUSES;
    }
    budget->reserved += most;
    return PAYER_AGREES;
}

static void sql_budget_give_back(struct payer *payer, double units)
{
    struct sql_budget *budget = sql_budget_of(payer);
    budget->reserved -= units;
    sql_budget_wake(budget);
}

void sql_budget_init(struct sql_budget *budget, const struct options *options, struct loop *loop,
                     double price)
{
    static const struct payer_ops ops = {.charge = sql_budget_charge,
                                         .release = sql_budget_release,
                                         .left = sql_budget_left,
                                         .set_aside = sql_budget_set_aside,
                                         .give_back = sql_budget_give_back};
    *budget =
        (struct sql_budget){.payer = {&ops, 1}, .loop = loop, .options = options, .price = price};
    sql_budget_begin(budget);
}

void sql_budget_begin(struct sql_budget *budget)
{
    read_budget_init(&budget->budget, budget->options);
    budget->spent = (struct spent){0};
    budget->requests = 0;
}

void sql_budget_end(struct sql_budget *budget)
{
    loop_remove_timer(budget->timer);
    budget->timer = NULL;
}
