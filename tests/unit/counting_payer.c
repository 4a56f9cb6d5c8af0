#include "tests/unit/counting_payer.h"

#include <math.h>

#include "tests/unit/check.h"

static void charge(struct payer *payer, const struct expense *expense)
{
    static const char *const ends[] = {[EXPENSE_ANSWERED] = "answered",
                                       [EXPENSE_FAILED] = "failed",
                                       [EXPENSE_ABANDONED] = "abandoned"};
    struct counting_payer *counting = (struct counting_payer *)payer;
    counting->requests += expense->requests;
    counting->answered += expense->end == EXPENSE_ANSWERED;
    counting->failed += expense->end == EXPENSE_FAILED;
    counting->abandoned += expense->end == EXPENSE_ABANDONED;
    counting->units += expense->spent.units;
    counting->doubted += expense->spent.doubted;
    counting->expected += expense->expected;
    buf_printf(&counting->lines, "%s %s/%s %s %s\n", expense->operation, expense->table,
               expense->index, expense->pattern, ends[expense->end]);
    for (size_t i = 0; i < expense->throttle_count; i++)
        buf_printf(&counting->throttled, "%s %s\n", expense->operation,
                   expense->throttles[i].reason);
}

static void release(struct payer *payer)
{
    ((struct counting_payer *)payer)->released = true;
}

static double left(const struct payer *payer)
{
    const struct counting_payer *counting = (const struct counting_payer *)payer;
    double rest = counting->most - counting->units - counting->expected;
    return rest > 0 ? rest : 0;
}

/* A request that is alone may take more than is left. One that is held is not told again. */
static enum payer_word set_aside(struct payer *payer, double least, double most,
                                 struct payer_turn *turn, struct error *err)
{
    struct counting_payer *counting = (struct counting_payer *)payer;
    (void)turn;
    if (left(payer) < least) {
        counting->refused++;
        error_set(err, ERROR_SPENT, "spent");
        return PAYER_REFUSES;
    }
    if (counting->set_aside > 0 && counting->set_aside + most > left(payer))
        return PAYER_HOLDS;
    counting->set_aside += most;
    return PAYER_AGREES;
}

static bool allow_search(struct payer *payer, struct error *err)
{
    struct counting_payer *counting = (struct counting_payer *)payer;
    if (!counting->refuses_searches)
        return true;
    counting->refused++;
    return error_set(err, ERROR_SPENT, "spent");
}

static void give_back(struct payer *payer, double units)
{
    struct counting_payer *counting = (struct counting_payer *)payer;
    counting->set_aside -= units;
}

void counting_payer_init(struct counting_payer *counting)
{
    static const struct payer_ops ops = {.charge = charge,
                                         .release = release,
                                         .left = left,
                                         .set_aside = set_aside,
                                         .give_back = give_back,
                                         .allow_search = allow_search};
    *counting = (struct counting_payer){.payer = {&ops, 1}, .most = INFINITY};
}

void counting_payer_clean_up(struct counting_payer *counting)
{
    CHECK_INT(counting->payer.references, 1);
    payer_unref(&counting->payer);
    CHECK(counting->released);
    CHECK(fabs(counting->set_aside) < 1e-9); /* all of it was given back, but for the rounding */
    buf_clean_up(&counting->lines);
    buf_clean_up(&counting->throttled);
}
