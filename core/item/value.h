/* A key attribute's value: a string, a number or binary bytes. Types are never mixed: "1"
 * as S and as N are two keys. */
#ifndef DDBFS_CORE_ITEM_VALUE_H
#define DDBFS_CORE_ITEM_VALUE_H

#include "core/base/buf.h"
#include "core/base/span.h"
#include "core/json/json.h"

enum value_type { VALUE_S, VALUE_N, VALUE_B };

struct value {
    enum value_type type;
    struct span bytes; /* borrowed: the string, the number's text, or the raw bytes */
};

/* "S", "N" or "B". */
const char *value_type_name(enum value_type type);

/* Order as the service sorts keys: bytes for S and B, exact numeric order for N (up to 38
 * digits and any exponent, never through a float). Different types: by type. */
int value_compare(struct value a, struct value b);

/* Exact order of two decimal texts such as "-1.50E+3"; text that is no number sorts first. */
int number_compare(struct span a, struct span b);

/* Appends the typed form: {"S":"…"}, {"N":"…"} or {"B":"base64"}. */
void value_write(struct buf *out, struct value value);

/* Reads the typed form of a scalar; its bytes are appended to STORAGE, and VALUE points
 * into it, so it is valid until STORAGE changes next. False for anything but S, N and B. */
bool value_read(struct json typed, struct buf *storage, struct value *value);

void base64_write(struct buf *out, struct span bytes);
/* False (OUT unchanged in size) when TEXT is not padded base64, or has bits that no byte uses and
 * that are not zero: no two texts stand for the same bytes. */
bool base64_read(struct span text, struct buf *out);

#endif
