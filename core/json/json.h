/* JSON text as a flat tape of tokens over its bytes. Nothing is copied or rounded: numbers are
 * text, strings are unescaped only when they are read, and every value has its offset, so that an
 * error can name its line. */
#ifndef DDBFS_CORE_JSON_JSON_H
#define DDBFS_CORE_JSON_JSON_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/span.h"
#include "core/json/tape.h"

enum json_type {
    JSON_NUMBER,
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

enum {
    JSON_STRICT = 0,
    JSON_COMMENTS = 1, /* also accept slash-slash and slash-star comments and trailing commas */
};

struct json_doc {
    const char *text; /* borrowed; must outlive the document */
    size_t size;
    struct json_token *tokens; /* owned */
    uint32_t count;
    uint32_t capacity;
};

/* One value of a document. A reference with a NULL document is "absent"; every function below
 * accepts it, as a value of no type. */
struct json {
    const struct json_doc *doc; /* borrowed */
    uint32_t at;                /* the number of the token */
};

/* The reason why a text is not JSON. */
struct json_fault {
    size_t offset;
    const char *what; /* a static phrase: "a comma or ] expected" */
};

/* Parses all of TEXT (at most 4 GB; trailing garbage, invalid UTF-8 and nesting deeper than
 * 512 are faults). DOC is to be cleaned up in either case. FAULT may be NULL. When memory
 * runs out, FAULT's WHAT is "out of memory". */
bool json_parse(struct json_doc *doc, struct span text, unsigned flags, struct json_fault *fault);

/* The same of text from a peer, strictly. A document takes 16 bytes for each value and each name,
 * which may have two bytes of text. More than MOST of them are a fault, whose WHAT is
 * JSON_TOO_MANY. */
#define JSON_TOO_MANY "more values than are allowed"
bool json_parse_within(struct json_doc *doc, struct span text, uint32_t most,
                       struct json_fault *fault);
void json_clean_up(struct json_doc *doc);

/* The bytes of heap of a document, without its text. */
size_t json_memory(const struct json_doc *doc);

struct json json_root(const struct json_doc *doc);
static inline bool json_present(struct json value)
{
    return value.doc != NULL;
}

/* Readers of items call these a hundred times for each, so they are inline. */

static inline const struct json_token *json_token_of(struct json value)
{
    return &value.doc->tokens[value.at];
}

/* The types of values by their first bytes; all other bytes begin a number. */
extern const uint8_t json_types[UINT8_MAX + 1];

/* JSON_NULL when absent. */
static inline enum json_type json_type(struct json value)
{
    return json_present(value) ? json_types[(uint8_t)value.doc->text[json_token_of(value)->offset]]
                               : JSON_NULL;
}

/* False when absent. */
static inline bool json_is(struct json value, enum json_type type)
{
    return json_present(value) && json_type(value) == type;
}

/* The bytes of the value in the text, quotes and brackets included. */
static inline struct span json_raw(struct json value)
{
    if (!json_present(value))
        return span_of("", 0);
    return span_of(value.doc->text + json_token_of(value)->offset, json_token_of(value)->size);
}

size_t json_offset(struct json value);

/* The number of elements of an array, or members of an object; 0 for other values. */
static inline size_t json_count(struct json value)
{
    bool container = json_is(value, JSON_ARRAY) || json_is(value, JSON_OBJECT);
    return container ? json_token_of(value)->count : 0;
}

/* Walks a container: the first element (of an object, the first member's name), and the one behind
 * VALUE; absent at the end. A member's value follows its name: for (struct json name =
 * json_first(object); json_present(name); name = json_next(value)) { struct json value =
 * json_next(name); …
 */
static inline struct json json_first(struct json container)
{
    bool is_empty = json_count(container) == 0;
    return is_empty ? (struct json){NULL, 0} : (struct json){container.doc, container.at + 1};
}

static inline struct json json_next(struct json value)
{
    if (!json_present(value) || !json_token_of(value)->next)
        return (struct json){NULL, 0};
    return (struct json){value.doc, json_token_of(value)->next};
}

/* The value of the member NAME, compared byte by byte after unescaping; the first one, if
 * several have it; absent if none has, or if OBJECT is not an object. */
struct json json_member(struct json object, const char *name);

/* The same; NAME may have any bytes. */
struct json json_member_span(struct json object, struct span name);

/* Whether VALUE is a string equal to TEXT. */
bool json_string_is(struct json value, struct span text);

/* Appends a string's bytes, unescaped: \u0000 becomes a NUL byte, and a surrogate that has
 * no partner its three-byte form (ED A0 80 …), which json_write_string turns back into the
 * same escape. False when VALUE is not a string. */
bool json_read_string(struct json value, struct buf *out);

/* The bytes of a string without escapes, in place; false for any other value. */
static inline bool json_plain_string(struct json value, struct span *out)
{
    if (!json_is(value, JSON_STRING) || json_token_of(value)->count)
        return false;
    struct span raw = json_raw(value);
    *out = span_of(raw.data + 1, raw.size - 2);
    return true;
}

/* A number written without fraction or exponent, within int64_t; false for any other value. */
bool json_read_int(struct json value, int64_t *out);

/* False if VALUE is no number that a double can hold, or its text is longer than 39 bytes. */
bool json_read_double(struct json value, double *out);

/* Appends TEXT as a JSON string in quotes: the shortest escapes, \u00XX in lower case for
 * other control characters, all else unchanged; lone surrogates as their escape; bytes that
 * are not UTF-8 as \ufffd. */
void json_write_string(struct buf *out, struct span text);

/* Appends JSON with \u escapes for characters that a terminal acts on (printable.h): the same
 * values, safe to print. */
void json_add_printable(struct buf *out, struct span json);
/* The same with escapes for all beyond ASCII, so that any terminal and any locale carries it. */
void json_write_ascii(struct buf *out, struct span text);

/* Appends the JSON text JSON with all beyond ASCII in its strings as escapes. */
void json_escape_beyond_ascii(struct buf *out, struct span json);

/* Whether TEXT is a number as JSON writes numbers. */
bool json_is_number(struct span text);

/* A place in a text: the lines that end before OFFSET, and the characters before it in its line.
 * {0} is the beginning. */
struct json_position {
    size_t offset;
    unsigned lines, characters;
};

/* Moves POSITION to OFFSET: cheap when the offsets come in the order of the text. */
void json_position_move(struct json_position *position, const struct json_doc *doc, size_t offset);

#endif
