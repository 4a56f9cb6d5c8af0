/* The inside of JSON strings, plain runs and escapes, as bytes between two pointers: for the parser
 * and the readers of core/json/json.h only. */
#ifndef DDBFS_CORE_JSON_TEXT_H
#define DDBFS_CORE_JSON_TEXT_H

#include "core/base/span.h"

/* The first byte from AT on that is not plain ASCII text of a string: a quote, a backslash, a
 * control character, or a byte of a longer UTF-8 sequence; END without one. */
const char *json_text_skip_plain(const char *at, const char *end);

/* The size of the escape that starts with the backslash at AT (2 or 6); 0 if it is invalid. */
size_t json_text_escape_size(const char *at, const char *end);

/* The bytes of one escape, or of one pair of surrogate escapes. */
struct json_text_piece {
    char bytes[4];
    size_t size; /* of the bytes */
    size_t used; /* of the text */
};

/* Decodes the escape at AT, which must be a valid one. */
struct json_text_piece json_text_decode(const char *at, const char *end);

#endif
