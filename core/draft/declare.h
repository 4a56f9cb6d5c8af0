/* Building declarations: what a program says of a table, whatever it knows it from, is said through
 * these. All that is made is in the arena that is given; when its memory runs out it is marked, and
 * whoever builds looks at that once, at the end. */
#ifndef DDBFS_CORE_DRAFT_DECLARE_H
#define DDBFS_CORE_DRAFT_DECLARE_H

#include "core/map/declaration.h"

/* A table without anything yet, with the defaults of the map's reader. */
struct declared_table *declare_table(struct arena *arena, const char *path_name,
                                     const char *base_name);

/* Each is appended to the table's list. NULL when memory ran out. */
struct declared_record *declare_record(struct arena *arena, struct declared_table *table,
                                       const char *name);
struct declared_index *declare_index(struct arena *arena, struct declared_table *table,
                                     const char *name);
struct declared_type *declare_type(struct arena *arena, struct declared_table *table,
                                   const char *attribute, enum value_type type);
struct declared_path *declare_path(struct arena *arena, struct declared_table *table,
                                   const char *path);

/* A condition of PATH's "where"; VALUE (and, of COND_BETWEEN, UPPER) are formats. */
void declare_where(struct arena *arena, struct declared_path *path, const char *target,
                   enum cond_op op, const char *value, const char *upper);

/* The format that TEXT, which is one, writes. */
struct format declare_format(struct arena *arena, const char *text);

/* NAME as the name of a parameter: letters, digits and _, not beginning with a digit. Two names may
 * become the same. */
const char *declare_param_name(struct arena *arena, struct span name);

/* The NUMBER-th name, from 2 on, that is tried where NAME is taken: "NAME_WORD", then "NAME_3".
 * NULL when memory ran out. */
const char *declare_other_name(struct arena *arena, const char *name, const char *word,
                               unsigned number);

#endif
