#include "core/net/inflow.h"

/* So much must be free before one that waits goes on, or it would wait again at once. */
enum { ROOM = 1 << 20 };

void inflow_init(struct inflow *inflow, size_t most)
{
    *inflow = (struct inflow){.most = most};
    inflow->end = &inflow->first;
}

static bool inflow_goes(const struct incoming *incoming)
{
    return incoming->bytes > 0 && !incoming->waits;
}

static void inflow_add_to_queue(struct inflow *inflow, struct incoming *incoming)
{
    incoming->waits = true;
    incoming->next = NULL;
    incoming->link = inflow->end;
    *inflow->end = incoming;
    inflow->end = &incoming->next;
}

static void inflow_take_from_queue(struct inflow *inflow, struct incoming *incoming)
{
    *incoming->link = incoming->next;
    if (incoming->next)
        incoming->next->link = incoming->link;
    else
        inflow->end = incoming->link;
    incoming->waits = false;
}

bool inflow_take(struct inflow *inflow, struct incoming *incoming, size_t size)
{
    inflow->going -= inflow_goes(incoming);
    bool fits = inflow->bytes + size <= inflow->most;
    if (!fits && inflow->going > 0) {
        inflow_add_to_queue(inflow, incoming);
        return false;
    }
    incoming->bytes += size;
    inflow->bytes += size;
    inflow->going += inflow_goes(incoming);
    return true;
}

void inflow_leave(struct inflow *inflow, struct incoming *incoming)
{
    inflow->going -= inflow_goes(incoming);
    inflow->bytes -= incoming->bytes;
    if (incoming->waits)
        inflow_take_from_queue(inflow, incoming);
    *incoming = (struct incoming){0};
}

struct incoming *inflow_next(struct inflow *inflow)
{
    struct incoming *next = inflow->first;
    bool has_room = inflow->bytes + ROOM <= inflow->most;
    if (!next || (!has_room && inflow->going > 0))
        return NULL;
    inflow_take_from_queue(inflow, next);
    inflow->going += inflow_goes(next);
    return next;
}
