#include "core/net/uses.h"

#include <stdlib.h>

struct use {
    int local_port; /* 0: none */
    int64_t at_ms;
};

bool uses_init(struct uses *uses, size_t count)
{
    uses->items = calloc(count, sizeof *uses->items);
    uses->count = uses->items ? count : 0;
    return uses->items;
}

void uses_clean_up(struct uses *uses)
{
    free(uses->items);
    *uses = (struct uses){0};
}

/* The connection's own entry, else a free one, else that of the one which was used longest ago. */
static struct use *uses_use_of(struct uses *uses, int local_port)
{
    struct use *best = &uses->items[0];
    for (size_t i = 0; i < uses->count; i++) {
        if (uses->items[i].local_port == local_port)
            return &uses->items[i];
        if (uses->items[i].at_ms < best->at_ms)
            best = &uses->items[i];
    }
    *best = (struct use){.local_port = local_port};
    return best;
}

int64_t uses_note(struct uses *uses, int local_port, int64_t now_ms)
{
    struct use *use = uses_use_of(uses, local_port);
    int64_t before_ms = use->at_ms;
    use->at_ms = now_ms;
    return before_ms;
}
