/* The one writer of JSON objects and arrays: brackets, commas, blanks, escapes.
 *
 *     struct json_writer json = json_writer_to(&out);
 *     json_writer_begin_object(&json, NULL, JSON_SPACED);
 *     json_writer_add_text(&json, "path", path);
 *     json_writer_begin_array(&json, "reads", JSON_TIGHT);
 *     json_writer_add_integer(&json, NULL, 7);
 *     json_writer_end(&json);
 *     json_writer_end(&json);                           {"path": "/prod", "reads": [7]}
 *
 * NAME is a member's name, which is written as a JSON string. It is NULL for an element of an
 * array, for the whole value, and after json_writer_add_name. When memory runs out, or
 * the nesting is deeper than JSON_WRITER_DEPTH, the buffer is marked failed, and its text
 * means nothing. */
#ifndef DDBFS_CORE_JSON_WRITER_H
#define DDBFS_CORE_JSON_WRITER_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/span.h"

/* The blanks in one container; a container inside it has a style of its own. */
enum json_style {
    JSON_TIGHT,  /* {"a":1,"b":2} */
    JSON_SPACED, /* {"a": 1, "b": 2} */
    JSON_LINES,  /* one line a member, indented by two blanks a level; {} when empty */
};

enum { JSON_WRITER_DEPTH = 16 };

struct json_writer {
    struct buf *out; /* borrowed */
    unsigned depth;
    bool is_named; /* the next value belongs to the name just written */
    struct json_level {
        enum json_style style;
        char end; /* its closing bracket */
        bool is_filled;
    } levels[JSON_WRITER_DEPTH + 1]; /* the first is outside of all containers */
};

/* A writer that appends one value to OUT. It holds no memory. */
struct json_writer json_writer_to(struct buf *out);

void json_writer_begin_object(struct json_writer *writer, const char *name, enum json_style style);
void json_writer_begin_array(struct json_writer *writer, const char *name, enum json_style style);
void json_writer_end(struct json_writer *writer); /* of the innermost object or array */

void json_writer_add_string(struct json_writer *writer, const char *name, struct span text);
void json_writer_add_text(struct json_writer *writer, const char *name, const char *text);
void json_writer_add_integer(struct json_writer *writer, const char *name, int64_t number);
void json_writer_add_bool(struct json_writer *writer, const char *name, bool yes);
void json_writer_add_null(struct json_writer *writer, const char *name);
void json_writer_add_raw(struct json_writer *writer, const char *name, struct span json);

/* Returns the buffer; the caller appends exactly one JSON value to it. */
struct buf *json_writer_add_value(struct json_writer *writer, const char *name);

/* Writes a member's name that is no C string. */
void json_writer_add_name(struct json_writer *writer, struct span name);

#endif
