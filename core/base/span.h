/* Borrowed bytes: a pointer and a length, which may include NUL bytes. */
#ifndef DDBFS_CORE_BASE_SPAN_H
#define DDBFS_CORE_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct span {
    const char *data; /* borrowed; need not end in NUL */
    size_t size;
};

/* Runs FN on the variable's address when its scope ends: CLEAN_UP(buf_clean_up) struct buf b; */
#define CLEAN_UP(fn) __attribute__((cleanup(fn)))

#define SPAN_LITERAL(text) ((struct span){text, sizeof(text) - 1})

static inline struct span span_of(const char *data, size_t size)
{
    return (struct span){data, size};
}

/* The span of a C string; an empty one for NULL. */
static inline struct span span_text(const char *text)
{
    return (struct span){text ? text : "", text ? strlen(text) : 0};
}

static inline bool span_equal(struct span a, struct span b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool span_is(struct span a, const char *text)
{
    return span_equal(a, span_text(text));
}

/* Byte order, as DynamoDB sorts strings and binaries. */
static inline int span_compare(struct span a, struct span b)
{
    size_t least = a.size < b.size ? a.size : b.size;
    int order = least ? memcmp(a.data, b.data, least) : 0;
    if (order != 0)
        return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

static inline bool span_starts(struct span a, struct span prefix)
{
    return a.size >= prefix.size &&
           (prefix.size == 0 || memcmp(a.data, prefix.data, prefix.size) == 0);
}

static inline bool span_ends(struct span a, struct span suffix)
{
    return a.size >= suffix.size && (suffix.size == 0 || memcmp(a.data + a.size - suffix.size,
                                                                suffix.data, suffix.size) == 0);
}

/* The bytes from FROM on; FROM is at most the size. The data of an empty span may be NULL, and NULL
 * is returned then. */
static inline struct span span_from(struct span a, size_t from)
{
    return from > 0 ? (struct span){a.data + from, a.size - from} : a;
}

#endif
