/* Memory that is freed all at once: what belongs to one map, or to one Read. A failed
 * allocation marks the arena FAILED and gives NULL; builders check the mark at the end. */
#ifndef DDBFS_CORE_BASE_ARENA_H
#define DDBFS_CORE_BASE_ARENA_H

#include "core/base/span.h"

/* {0} is an empty arena. */
struct arena {
    struct arena_block *blocks; /* owned, newest first */
    bool failed;
};

/* Wipes all before it is freed: decoded values are in many arenas, and some are secrets. */
void arena_clean_up(struct arena *arena);

/* Frees without wiping: for maps and models, which are large and hold nothing of any record. */
void arena_discard(struct arena *arena);

/* What it takes, in bytes. */
size_t arena_memory(const struct arena *arena);

/* SIZE zeroed bytes, aligned for any type; NULL on failure. */
void *arena_alloc(struct arena *arena, size_t size);

/* Room for COUNT zeroed things of SIZE bytes each; NULL on failure or overflow. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Copies that end in a NUL, whatever stands inside. A failed copy is the empty span. */
struct span arena_copy(struct arena *arena, struct span span);
char *arena_text(struct arena *arena, struct span span);

#endif
