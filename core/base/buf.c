#include "core/base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST_ROOM = 64 };

void buf_clean_up(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){0};
}

void buf_clean_up_secret(struct buf *buf)
{
    if (buf->data)
        explicit_bzero(buf->data, buf->capacity);
    buf_clean_up(buf);
}

/* Moves to CAPACITY bytes, the NUL included. realloc would leave the old bytes in free memory. */
static bool buf_move_to(struct buf *buf, size_t capacity)
{
    char *moved = malloc(capacity);
    if (!moved) {
        buf->failed = true;
        return false;
    }
    if (buf->data) {
        memcpy(moved, buf->data, buf->size + 1);
        explicit_bzero(buf->data, buf->size);
        free(buf->data);
    }
    buf->data = moved;
    buf->capacity = capacity;
    buf->data[buf->size] = '\0';
    return true;
}

static bool buf_fits(const struct buf *buf, size_t size)
{
    return !buf->failed && buf->capacity - buf->size > size;
}

bool buf_reserve(struct buf *buf, size_t size)
{
    return buf_fits(buf, size) || buf_reserve_within(buf, size, SIZE_MAX / 2 - 1);
}

bool buf_reserve_within(struct buf *buf, size_t size, size_t most)
{
    if (buf->failed || buf_fits(buf, size))
        return !buf->failed;
    if (size > most || buf->size > most - size) {
        buf->failed = true;
        return false;
    }
    size_t need = buf->size + size + 1;
    size_t twice = buf->capacity ? buf->capacity * 2 : LEAST_ROOM;
    if (twice > most + 1)
        twice = most + 1;
    return buf_move_to(buf, twice > need ? twice : need);
}

void buf_move(struct buf *to, struct buf *from)
{
    *to = *from;
    *from = (struct buf){0};
}

void buf_add(struct buf *buf, const void *data, size_t size)
{
    if (!buf_reserve(buf, size))
        return;
    if (size)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
}

void buf_add_span(struct buf *buf, struct span span)
{
    buf_add(buf, span.data, span.size);
}

void buf_add_text(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void buf_add_number(struct buf *buf, uint64_t number)
{
    char digits[20];
    size_t from = sizeof digits;
    do
        digits[--from] = (char)('0' + number % 10);
    while (number /= 10);
    buf_add(buf, digits + from, sizeof digits - from);
}

void buf_add_repeated(struct buf *buf, char c, size_t count)
{
    if (!buf_reserve(buf, count))
        return;
    memset(buf->data + buf->size, c, count);
    buf->size += count;
    buf->data[buf->size] = '\0';
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args, again;
    size_t room = buf->data && !buf->failed ? buf->capacity - buf->size : 0;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(room ? buf->data + buf->size : NULL, room, format, args);
    va_end(args);
    if (size < 0)
        buf->failed = true;
    bool fits = size >= 0 && (size_t)size < room;
    if (!fits && room)
        buf->data[buf->size] = '\0';
    if (size >= 0 && !fits && buf_reserve(buf, (size_t)size))
        fits = vsnprintf(buf->data + buf->size, (size_t)size + 1, format, again) == size;
    va_end(again);
    buf->size += fits ? (size_t)size : 0;
}

void buf_truncate(struct buf *buf, size_t size)
{
    if (size >= buf->size)
        return;
    buf->size = size;
    buf->data[size] = '\0';
}

const char *buf_text(const struct buf *buf)
{
    return buf->data && !buf->failed ? buf->data : "";
}

struct span buf_span(const struct buf *buf)
{
    return buf->data && !buf->failed ? span_of(buf->data, buf->size) : span_of("", 0);
}

char *buf_steal(struct buf *buf, size_t *size)
{
    if (!buf_reserve(buf, 0)) {
        buf_clean_up(buf);
        return NULL;
    }
    char *data = buf->data;
    if (size)
        *size = buf->size;
    *buf = (struct buf){0};
    return data;
}
