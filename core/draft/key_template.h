/* Key templates of other tools, "USER#${id}" or "USER#{id}", as formats; and the names of their
 * parts, which these tools name by attributes. */
#ifndef DDBFS_CORE_DRAFT_KEY_TEMPLATE_H
#define DDBFS_CORE_DRAFT_KEY_TEMPLATE_H

#include "core/base/arena.h"
#include "core/base/dict.h"
#include "core/map/format.h"

/* The names of parts. A part's name is that of its attribute, with other characters than a map
 * allows replaced. One attribute has one name everywhere, and two attributes have different names,
 * because a map takes parts of one name for the same value. */
struct attribute_parts {
    struct arena *arena; /* borrowed: the names are in it */
    struct dict by_attribute;
    struct dict taken;
};

/* False (and ARENA failed) when memory ran out: also then, clean it up. */
bool attribute_parts_init(struct attribute_parts *names, struct arena *arena);
void attribute_parts_clean_up(struct attribute_parts *names);

/* The part's name of ATTRIBUTE, which is not empty: "address_city" for "address.city". NULL when
 * memory ran out. */
const char *attribute_parts_find(struct attribute_parts *names, struct span attribute);

enum key_template_notation {
    KEY_TEMPLATE_DOLLAR, /* ${name}, ${name:size:pad} */
    KEY_TEMPLATE_BRACES, /* {name} */
};

/* A number has at most 38 digits. */
enum { KEY_TEMPLATE_MAX_PAD = 38 };

/* Each adds a text or a part to FORMAT, whose pieces have room for FORMAT_MAX_PIECES (or which is
 * {0}). Each returns NULL, or a static phrase with the reason why no format can be made. */
const char *key_template_add_literal(struct arena *arena, struct format *format, struct span text);
const char *key_template_add_part(struct attribute_parts *names, struct format *format,
                                  struct span attribute);
/* The same for a part that keys hold in LETTERS, and with PAD digits (0: not padded). */
const char *key_template_add_spelled(struct attribute_parts *names, struct format *format,
                                     struct span attribute, enum format_case letters, unsigned pad);

/* How the parts of a template are read. PART adds one to the format, or returns the reason why not.
 */
struct key_template_parts {
    struct attribute_parts *names;
    enum key_template_notation notation;
    const char *(*part)(void *context, struct span name, unsigned pad,
                        struct format *format);         /* or NULL */
    bool (*is_number)(void *context, struct span name); /* or NULL: no part is a number */
    void *context;
};

/* Parses TEXT. Returns NULL, or a static phrase with the reason why it can't be a format: then OUT
 * is empty. */
const char *key_template_parse(const struct key_template_parts *parts, struct span text,
                               struct format *out);

#endif
