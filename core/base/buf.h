/* A buffer that grows. A failed allocation marks it FAILED, and later additions do nothing: the
 * writer checks once, at the end. A buffer that moves wipes its old memory, which may hold a
 * secret. */
#ifndef DDBFS_CORE_BASE_BUF_H
#define DDBFS_CORE_BASE_BUF_H

#include <stdint.h>

#include "core/base/span.h"

/* {0} is an empty buffer. */
struct buf {
    char *data; /* owned; a NUL follows the SIZE bytes if DATA is not NULL */
    size_t size;
    size_t capacity;
    bool failed;
};

void buf_clean_up(struct buf *buf);

/* Overwrites the bytes before freeing them, for secrets. */
void buf_clean_up_secret(struct buf *buf);

void buf_add(struct buf *buf, const void *data, size_t size);
void buf_add_span(struct buf *buf, struct span span);
void buf_add_text(struct buf *buf, const char *text);
void buf_add_number(struct buf *buf, uint64_t number); /* in decimal digits */
void buf_add_repeated(struct buf *buf, char c, size_t count);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends C. Inline, because writers of JSON call it for each bracket. */
static inline void buf_add_char(struct buf *buf, char c)
{
    if (buf->failed || buf->capacity - buf->size < 2) {
        buf_add(buf, &c, 1);
        return;
    }
    buf->data[buf->size++] = c;
    buf->data[buf->size] = '\0';
}

/* Makes room for SIZE more bytes; false, and the buffer failed, when memory ran out. */
bool buf_reserve(struct buf *buf, size_t size);

/* The same for large buffers: the buffer never has more than MOST bytes, and no room for more. */
bool buf_reserve_within(struct buf *buf, size_t size, size_t most);

/* Moves FROM's memory to TO, which is empty before; FROM is empty afterwards. */
void buf_move(struct buf *to, struct buf *from);

/* Shortens to SIZE bytes without freeing memory. */
void buf_truncate(struct buf *buf, size_t size);

/* The content as a C string; "" when empty or failed. Valid until the next change. */
const char *buf_text(const struct buf *buf);
struct span buf_span(const struct buf *buf);

/* Returns the bytes, ended by a NUL, for the caller to free; NULL if the buffer failed. The buffer
 * is empty afterwards. */
char *buf_steal(struct buf *buf, size_t *size);

#endif
