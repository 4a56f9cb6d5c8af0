/* A growing text, and JSON read without the product's own code. */
#ifndef DDBFS_TESTS_SIM_SIM_TEXT_H
#define DDBFS_TESTS_SIM_SIM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_text {
    char *bytes; /* owned; ends in NUL besides */
    size_t size, room;
};

void sim_text_add(struct sim_text *text, const void *bytes, size_t size);
void sim_text_puts(struct sim_text *text, const char *string);
void sim_text_printf(struct sim_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sim_text_json_string(struct sim_text *text, const char *bytes, size_t size); /* with quotes */
void sim_text_base64(struct sim_text *text, const void *bytes, size_t size);
/* Appends the bytes that standard base64 stands for. False: it is no base64. */
bool sim_text_from_base64(struct sim_text *out, const char *bytes, size_t size);
/* The number of characters; SIZE_MAX: the bytes are no UTF-8. */
size_t sim_text_count_utf8(const char *bytes, size_t size);
void sim_text_free(struct sim_text *text);

enum sim_json_kind {
    SIM_JSON_NULL,
    SIM_JSON_TRUE,
    SIM_JSON_FALSE,
    SIM_JSON_NUMBER,
    SIM_JSON_STRING,
    SIM_JSON_ARRAY,
    SIM_JSON_OBJECT
};

/* A parsed value. Strings are decoded and may contain NUL; numbers keep their text. */
struct sim_json {
    enum sim_json_kind kind;
    char *bytes; /* of a string or a number; owned; ends in NUL besides */
    size_t size;
    struct sim_json *members; /* of an array or an object; owned */
    char **names;             /* of an object's members; owned */
    size_t count;
};

/* False, with *OUT empty, if BYTES is not one JSON value (RFC 8259; a repeated name, a name with
 * NUL and bytes that are no UTF-8 are errors, too). */
bool sim_json_parse(struct sim_json *out, const char *bytes, size_t size);
void sim_json_free(struct sim_json *json);
/* Whether two values are the same, with the members of objects in any order; numbers by their text.
 */
bool sim_json_same(const struct sim_json *a, const struct sim_json *b);
/* Appends it without blanks. */
void sim_json_write(struct sim_text *out, const struct sim_json *json);
/* NULL if OBJECT is no object or has no such member. */
const struct sim_json *sim_json_get(const struct sim_json *object, const char *name);
const char *sim_json_text(const struct sim_json *object,
                          const char *name); /* a string's; or NULL */

#endif
