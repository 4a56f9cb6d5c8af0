/* A scalar: what a key attribute holds (a string, a number or binary bytes), and what a condition
 * may compare another attribute with besides. Types are never mixed: "1" as S and as N are two
 * values. */
#ifndef DDBFS_CORE_ITEM_VALUE_H
#define DDBFS_CORE_ITEM_VALUE_H

#include "core/base/buf.h"
#include "core/base/span.h"
#include "core/json/json.h"

/* Keys are of the first three, and only those have an order. */
enum value_type { VALUE_S, VALUE_N, VALUE_B, VALUE_BOOL, VALUE_NULL };

struct value {
    enum value_type type;
    struct span bytes; /* borrowed: the string, the number's text, the raw bytes, "true" or
                        * "false"; nothing of a NULL */
};

/* "S", "N", "B", "BOOL" or "NULL". */
const char *value_type_name(enum value_type type);

struct value value_of_bool(bool yes);

/* Order as the service sorts keys: bytes for S and B, exact numeric order for N (up to 38
 * digits and any exponent, never through a float). Different types: by type. */
int value_compare(struct value a, struct value b);

/* Exact order of two decimal texts such as "-1.50E+3"; text that is no number sorts first. */
int number_compare(struct span a, struct span b);

/* Whether TEXT is a number, however it is written ("+0100", "1E2"), and however large. */
bool number_is(struct span text);

/* The fault of TEXT as a number of the service ("is no number", "has more than 38 digits",
 * …), or NULL for a valid one. */
const char *number_fault(struct span text);

/* A number taken apart: DIGITS[0].DIGITS[1…] times ten to the power of MAGNITUDE. */
struct number_parts {
    bool is_negative;   /* false for zero */
    char digits[38];    /* neither the first nor the last is 0 */
    size_t digit_count; /* 0 for zero */
    int magnitude;
};

/* Takes TEXT, which has no number_fault, apart. */
void number_split(struct span text, struct number_parts *out);

/* Appends the number TEXT, which has no fault, as JSON spells it: "+0100" is "100". */
void number_write(struct span text, struct buf *out);

/* Appends a text that two values share if and only if they are equal: numbers in one spelling,
 * however they came. */
void value_write_identity(struct value value, struct buf *out);

/* Appends the typed form: {"S":"…"}, {"N":"…"}, {"B":"base64"}, {"BOOL":true} or {"NULL":true}. */
void value_write(struct buf *out, struct value value);

/* Reads the typed form of a scalar; its bytes are appended to STORAGE, and VALUE points
 * into it, so it is valid until STORAGE changes next. False for anything but S, N and B, and for an
 * invalid number. */
bool value_read(struct json typed, struct buf *storage, struct value *value);

void base64_write(struct buf *out, struct span bytes);
/* False (OUT unchanged in size) when TEXT is not padded base64, or has bits that no byte uses and
 * that are not zero: each text has its own bytes. */
bool base64_read(struct span text, struct buf *out);

/* Appends the bytes of TEXT as people type it: in the standard or the URL-safe alphabet, padded or
 * not. NULL, or (OUT unchanged in size) a static phrase with the reason. */
const char *base64_read_typed(struct span text, struct buf *out);

#endif
