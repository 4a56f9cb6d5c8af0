/* Payers: counted, and told what they pay for. */
#include "core/source/payer.h"

#include <math.h>

struct payer *payer_ref(struct payer *payer)
{
    if (payer)
        payer->references++;
    return payer;
}

void payer_unref(struct payer *payer)
{
    if (payer && --payer->references == 0)
        payer->ops->release(payer);
}

void payer_charge(struct payer *payer, const struct expense *expense)
{
    if (payer)
        payer->ops->charge(payer, expense);
}

double payer_left(const struct payer *payer)
{
    return payer && payer->ops->left ? payer->ops->left(payer) : INFINITY;
}

enum payer_word payer_set_aside(struct payer *payer, double least, double most,
                                struct payer_turn *turn, struct error *err)
{
    return payer && payer->ops->set_aside ? payer->ops->set_aside(payer, least, most, turn, err)
                                          : PAYER_AGREES;
}

void payer_refund(struct payer *payer, double units)
{
    if (payer && payer->ops->give_back && units > 0)
        payer->ops->give_back(payer, units);
}
