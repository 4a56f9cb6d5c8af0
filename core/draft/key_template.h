/* Templates of keys as other tools write them, "USER#${id}" or "USER#{id}", as formats. */
#ifndef DDBFS_CORE_DRAFT_KEY_TEMPLATE_H
#define DDBFS_CORE_DRAFT_KEY_TEMPLATE_H

#include "core/draft/attribute_parts.h"
#include "core/map/format.h"

enum key_template_notation {
    KEY_TEMPLATE_DOLLAR, /* ${name}, ${name:size:pad} */
    KEY_TEMPLATE_BRACES, /* {name} */
};

/* A number of more digits has no zeros in front of it: DynamoDB's have 38 at most. */
enum { KEY_TEMPLATE_MAX_PAD = 38 };

/* Adds literal text, or a part, to FORMAT, whose pieces have room for FORMAT_MAX_PIECES (or which
 * is {0}). Each returns NULL, or a static phrase that says why no format can say it. */
const char *key_template_add_literal(struct arena *arena, struct format *format, struct span text);
const char *key_template_add_part(struct attribute_parts *names, struct format *format,
                                  struct span attribute);
/* The same of a part that keys hold in LETTERS, and with so many digits (0: as they are). */
const char *key_template_add_spelled(struct attribute_parts *names, struct format *format,
                                     struct span attribute, enum format_case letters, unsigned pad);

/* How the parts of a template are read: PART adds one to the format, or says why it can't. */
struct key_template_parts {
    struct attribute_parts *names;
    enum key_template_notation notation;
    const char *(*part)(void *context, struct span name, unsigned pad,
                        struct format *format);         /* or NULL */
    bool (*is_number)(void *context, struct span name); /* or NULL: none is known to be one */
    void *context;
};

/* Parses TEXT. Returns NULL, or a static phrase that says why it can't be a format: then OUT is
 * empty. */
const char *key_template_parse(const struct key_template_parts *parts, struct span text,
                               struct format *out);

#endif
