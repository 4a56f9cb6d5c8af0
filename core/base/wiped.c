#include "core/base/wiped.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* In front of each block, because malloc_usable_size is no size that may be written. */
union block {
    size_t size; /* of what follows */
    max_align_t alignment;
};

static unsigned failed_allocs; /* atomic: libcurl resolves names in threads */

unsigned wiped_failed_allocs(void)
{
    return __atomic_load_n(&failed_allocs, __ATOMIC_RELAXED);
}

void *wiped_alloc(size_t size)
{
    union block *block = size <= SIZE_MAX - sizeof *block ? malloc(sizeof *block + size) : NULL;
    if (!block) {
        __atomic_fetch_add(&failed_allocs, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    block->size = size;
    return block + 1;
}

void *wiped_zeroed(size_t count, size_t size)
{
    bool fits = size == 0 || count <= SIZE_MAX / size;
    void *memory = fits ? wiped_alloc(count * size) : NULL;
    return memory ? memset(memory, 0, count * size) : NULL;
}

/* Always moves the block: realloc would leave the old bytes when it moves. */
void *wiped_realloc(void *memory, size_t size)
{
    void *moved = wiped_alloc(size);
    if (!moved || !memory)
        return moved;
    size_t had = ((union block *)memory - 1)->size;
    memcpy(moved, memory, had < size ? had : size);
    wiped_free(memory);
    return moved;
}

char *wiped_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = wiped_alloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void wiped_free(void *memory)
{
    if (!memory)
        return;
    union block *block = (union block *)memory - 1;
    explicit_bzero(memory, block->size);
    free(block);
}
