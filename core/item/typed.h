/* Typed values, parsed: {"S":"…"} is a tag and its content. Members and sets are sorted, so that
 * printed texts and digests are stable. */
#ifndef DDBFS_CORE_ITEM_TYPED_H
#define DDBFS_CORE_ITEM_TYPED_H

#include "core/base/arena.h"
#include "core/base/instant.h"
#include "core/base/span.h"
#include "core/item/value.h"
#include "core/json/json.h"

enum typed_tag {
    TYPED_NONE, /* no typed value */
    TYPED_S,
    TYPED_N,
    TYPED_B,
    TYPED_BOOL,
    TYPED_NULL,
    TYPED_M,
    TYPED_L,
    TYPED_SS,
    TYPED_NS,
    TYPED_BS,
};

struct typed {
    enum typed_tag tag;
    struct json content; /* by the tag: a string, a word, an array, an object */
};

/* "S", "NS", …; "" of TYPED_NONE. */
const char *typed_tag_name(enum typed_tag tag);

/* Checks one typed value, not the values in it. TYPED_NONE unless it has exactly one known tag with
 * content of the tag's type of JSON; the text of a number must be a number. */
struct typed typed_open(struct json value);

/* Reads a scalar of any of the five types. False if VALUE is a map, a list, a set or not typed, or
 * memory ran out (ARENA is failed then). */
bool typed_scalar(struct json value, struct arena *arena, struct value *out);

/* One attribute of an item or of a map. */
struct typed_member {
    struct span name; /* unescaped */
    struct json value;
    uint64_t order; /* the first bytes of the name: a number that sorts as they do */
    bool is_plain;  /* NAME is in the text, between its quotes */
};

struct typed_members {
    struct typed_member *list;
    size_t count;
};

/* Members of OBJECT by name in byte order. False if OBJECT is not an object, two members have the
 * same name, or memory ran out (ARENA is failed then). Spans point into the arena or the text. */
bool typed_members(struct json object, struct arena *arena, struct typed_members *out);

struct typed_set {
    struct span *list; /* strings, texts of numbers, or bytes */
    size_t count;
};

/* Members of a set: strings and binaries by their bytes, numbers by value and then by text.
 * False if a member is no string (or no base64, or no number), or if memory ran out. */
bool typed_set(struct typed set, struct arena *arena, struct typed_set *out);

/* The unescaped bytes of a string, and the bytes of its base64. */
bool typed_text(struct json string, struct arena *arena, struct span *out);
bool typed_bytes(struct json string, struct arena *arena, struct span *out);

/* The date of a typed value: an ISO-8601 text, or seconds or milliseconds since 1970. Unknown if it
 * is not a date. */
struct instant when_read(struct json typed);

#endif
