#include "core/base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Ten thousands of arenas have a few names only: the first block is small, and each is twice as
 * large as the one before. */
enum { FIRST_SIZE = 256 - 32, BLOCK_SIZE = 4096 - 64 };

struct arena_block {
    struct arena_block *next;
    size_t used;
    size_t capacity; /* 0 of a block that owns ADOPTED */
    char *adopted;   /* owned: the memory of a buffer; or NULL */
    max_align_t data[];
};

static void arena_free_blocks(struct arena *arena, bool wipe)
{
    struct arena_block *next;
    for (struct arena_block *block = arena->blocks; block; block = next) {
        next = block->next;
        if (wipe)
            explicit_bzero(block->adopted ? block->adopted : (char *)block->data, block->used);
        free(block->adopted);
        free(block);
    }
    *arena = (struct arena){0};
}

size_t arena_memory(const struct arena *arena)
{
    size_t memory = 0;
    for (const struct arena_block *block = arena->blocks; block; block = block->next)
        memory += sizeof *block + (block->adopted ? block->used : block->capacity);
    return memory;
}

void arena_clean_up(struct arena *arena)
{
    arena_free_blocks(arena, true);
}

void arena_discard(struct arena *arena)
{
    arena_free_blocks(arena, false);
}

static struct arena_block *arena_block_with_room(struct arena *arena, size_t size)
{
    struct arena_block *block = arena->blocks;
    if (block && !block->adopted && block->capacity - block->used >= size)
        return block;
    size_t twice = block && block->capacity < BLOCK_SIZE / 2 ? 2 * block->capacity : BLOCK_SIZE;
    size_t least = block && !block->adopted ? twice : FIRST_SIZE;
    size_t capacity = size > least ? size : least;
    block = malloc(sizeof *block + capacity);
    if (!block)
        return NULL;
    *block = (struct arena_block){.next = arena->blocks, .capacity = capacity};
    arena->blocks = block;
    return block;
}

/* SIZE bytes that are not zeroed. */
static void *arena_take(struct arena *arena, size_t size)
{
    if (arena->failed || size > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }
    size_t unit = sizeof(max_align_t);
    size_t rounded = (size + unit - 1) / unit * unit;
    struct arena_block *block = arena_block_with_room(arena, rounded);
    if (!block) {
        arena->failed = true;
        return NULL;
    }
    void *memory = (char *)block->data + block->used;
    block->used += rounded;
    return memory;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    void *memory = arena_take(arena, size);
    return memory ? memset(memory, 0, size) : NULL;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / 2 / size) {
        arena->failed = true;
        return NULL;
    }
    return arena_alloc(arena, count * size);
}

char *arena_text(struct arena *arena, struct span span)
{
    char *copy = arena_take(arena, span.size + 1);
    if (!copy)
        return NULL;
    if (span.size)
        memcpy(copy, span.data, span.size);
    copy[span.size] = '\0';
    return copy;
}

struct span arena_copy(struct arena *arena, struct span span)
{
    char *copy = arena_text(arena, span);
    return copy ? span_of(copy, span.size) : span_of("", 0);
}

/* The newest block stays in front: it may have room. */
struct span arena_adopt(struct arena *arena, struct buf *buf)
{
    struct span bytes = buf_span(buf);
    struct arena_block *block = buf->data ? malloc(sizeof *block) : NULL;
    if (!buf->data && !buf->failed)
        return bytes;
    if (!block || buf->failed) {
        free(block);
        arena->failed = true;
        return span_of("", 0);
    }
    struct arena_block **link = arena->blocks ? &arena->blocks->next : &arena->blocks;
    *block = (struct arena_block){.next = *link, .used = buf->capacity, .adopted = buf->data};
    *link = block;
    *buf = (struct buf){0};
    return bytes;
}
