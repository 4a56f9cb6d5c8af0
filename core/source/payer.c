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

bool payer_set_aside(struct payer *payer, double units, double least, struct error *err)
{
    return !payer || !payer->ops->set_aside || payer->ops->set_aside(payer, units, least, err);
}

void payer_give_back(struct payer *payer, double units)
{
    if (payer && payer->ops->give_back && units > 0)
        payer->ops->give_back(payer, units);
}
