#include "tests/unit/counting_payer.h"

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
    counting->units += expense->units;
    buf_printf(&counting->lines, "%s %s/%s %s %s\n", expense->operation, expense->table,
               expense->index, expense->pattern, ends[expense->end]);
}

static void release(struct payer *payer)
{
    ((struct counting_payer *)payer)->released = true;
}

void counting_payer_init(struct counting_payer *counting)
{
    static const struct payer_ops ops = {charge, release};
    *counting = (struct counting_payer){.payer = {&ops, 1}};
}

void counting_payer_clean_up(struct counting_payer *counting)
{
    CHECK_INT(counting->payer.references, 1);
    payer_unref(&counting->payer);
    CHECK(counting->released);
    buf_clean_up(&counting->lines);
}
