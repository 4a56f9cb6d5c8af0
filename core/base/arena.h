/* Memory that is freed all at once, such as that of one map or one Read. A failed allocation marks
 * the arena FAILED and returns NULL; the caller checks the mark at the end. */
#ifndef DDBFS_CORE_BASE_ARENA_H
#define DDBFS_CORE_BASE_ARENA_H

#include "core/base/buf.h"
#include "core/base/span.h"

/* {0} is an empty arena. */
struct arena {
    struct arena_block *blocks; /* owned, newest first */
    bool failed;
};

/* Wipes all memory before it is freed: some decoded values are secrets. */
void arena_clean_up(struct arena *arena);

/* Frees without wiping: for maps and models, which are large and hold no values of items. */
void arena_discard(struct arena *arena);

/* The bytes of heap that it takes. */
size_t arena_memory(const struct arena *arena);

/* SIZE zeroed bytes, aligned for any type; NULL on failure. */
void *arena_alloc(struct arena *arena, size_t size);

/* Room for COUNT zeroed things of SIZE bytes each; NULL on failure or overflow. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Copies that end in a NUL. A failed copy is the empty span. */
struct span arena_copy(struct arena *arena, struct span span);
char *arena_text(struct arena *arena, struct span span);

/* Takes over the memory of BUF, which is empty afterwards, without a copy. Returns its bytes; the
 * empty span, with BUF unchanged, when memory ran out. */
struct span arena_adopt(struct arena *arena, struct buf *buf);

#endif
