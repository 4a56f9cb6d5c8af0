#include "core/recording/recorded.h"

#include <stdlib.h>

struct recorded *recorded_new(void)
{
    return calloc(1, sizeof(struct recorded));
}

void recorded_free(struct recorded *recorded)
{
    if (!recorded)
        return;
    arena_clean_up(&recorded->arena);
    free(recorded);
}
