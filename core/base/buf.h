/* A buffer that grows. An allocation that fails marks it FAILED and makes every later
 * addition do nothing, so a writer checks once, at the end. A buffer that has to move wipes where
 * it was, since nobody knows yet whether a secret will be in it when it is cleaned up. */
#ifndef DDBFS_CORE_BASE_BUF_H
#define DDBFS_CORE_BASE_BUF_H

#include "core/base/span.h"

/* {0} is an empty buffer. */
struct buf {
    char *data; /* owned; NUL stands after SIZE bytes whenever data is not NULL */
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
void buf_add_char(struct buf *buf, char c);
void buf_add_repeated(struct buf *buf, char c, size_t count);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for SIZE more bytes at once; false (and failed) when there is none. */
bool buf_reserve(struct buf *buf, size_t size);

/* The same for bytes that may be many: no more room is taken than MOST bytes need, which the buffer
 * must not outgrow. */
bool buf_reserve_within(struct buf *buf, size_t size, size_t most);

/* Takes FROM's bytes, memory and all; TO, empty before, has them then, and FROM is empty. */
void buf_move(struct buf *to, struct buf *from);

/* Shortens to SIZE bytes and keeps the memory. */
void buf_truncate(struct buf *buf, size_t size);

/* The content as a C string; "" when empty or failed. Valid until the next change. */
const char *buf_text(const struct buf *buf);
struct span buf_span(const struct buf *buf);

/* Hands the bytes, ended by a NUL, to the caller, who frees them; NULL when the buffer
 * failed. The buffer is empty afterwards. */
char *buf_steal(struct buf *buf, size_t *size);

#endif
