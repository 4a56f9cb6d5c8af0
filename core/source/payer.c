/* Payers: counted, and told what they pay for. */
#include "core/source/payer.h"

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
