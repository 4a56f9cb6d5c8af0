/* JSON with comments, laid out for people: a value that fits is on one line, the values of
 * neighbours begin in one column, and a note is above its value. */
#ifndef DDBFS_CORE_DRAFT_JSON_LAYOUT_H
#define DDBFS_CORE_DRAFT_JSON_LAYOUT_H

#include "core/base/arena.h"
#include "core/base/buf.h"

enum json_layout_kind { JSON_LAYOUT_SCALAR, JSON_LAYOUT_OBJECT, JSON_LAYOUT_ARRAY };

/* A value with its name and its note. All borrowed, or in the arena. */
struct json_layout {
    enum json_layout_kind kind;
    const char *name; /* of a member; NULL of an element */
    const char *note; /* or NULL; long lines are broken */
    struct span json; /* of JSON_LAYOUT_SCALAR */
    bool open;        /* each child has a line of its own, even if all fit in one */
    bool aligned;     /* of OPEN: the children's values begin in one column */
    bool spaced;      /* of OPEN: an empty line is between the children */
    struct json_layout *children;
    struct json_layout *next;
};

/* Each function appends a child to PARENT's; with a NULL PARENT it makes a root. NAME is NULL in an
 * array. NULL when memory ran out: then the arena is marked, too. */
struct json_layout *json_layout_add(struct arena *arena, struct json_layout *parent,
                                    const char *name, enum json_layout_kind kind);
/* A text, which becomes a JSON string. */
void json_layout_add_text(struct arena *arena, struct json_layout *parent, const char *name,
                          struct span text);
/* A number, true, false or null, copied verbatim. */
void json_layout_add_raw(struct arena *arena, struct json_layout *parent, const char *name,
                         const char *json);

/* Appends ROOT's lines, its note first, and a line's end. */
void json_layout_write(const struct json_layout *root, struct buf *out);

#endif
