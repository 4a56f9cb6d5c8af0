/* Building declarations: every draft of a table is made with these functions. All results are in
 * the given arena. When its memory runs out, the arena is marked as failed: the caller checks that
 * once, at the end. */
#ifndef DDBFS_CORE_DRAFT_DECLARE_H
#define DDBFS_CORE_DRAFT_DECLARE_H

#include "core/base/buf.h"
#include "core/map/declaration.h"

/* BUF's text in ARENA. If BUF failed, ARENA is failed, too. NULL when memory ran out. */
char *declare_text(struct arena *arena, const struct buf *buf);

/* An empty table, with the defaults of the map's reader. */
struct declared_table *declare_table(struct arena *arena, const char *path_name,
                                     const char *base_name);

/* Each function appends to the table's list, and returns NULL when memory ran out. */
struct declared_record *declare_record(struct arena *arena, struct declared_table *table,
                                       const char *name);
struct declared_index *declare_index(struct arena *arena, struct declared_table *table,
                                     const char *name);
struct declared_type *declare_type(struct arena *arena, struct declared_table *table,
                                   const char *attribute, enum value_type type);
struct declared_path *declare_path(struct arena *arena, struct declared_table *table,
                                   const char *path);

/* Restricts PATH to items of KIND, which is borrowed. */
void declare_path_kind(struct arena *arena, struct declared_path *path, const char *kind);

/* A condition of PATH's "where"; VALUE (and, of COND_BETWEEN, UPPER) are formats. */
void declare_where(struct arena *arena, struct declared_path *path, const char *target,
                   enum cond_op op, const char *value, const char *upper);

/* Sets the format of KIND for KEY, or replaces it. False when memory ran out. */
bool declare_kind_format(struct arena *arena, struct declared_key *key, const char *kind,
                         const struct format *format);

/* TEXT, which must be a format, parsed. */
struct format declare_format(struct arena *arena, const char *text);

/* A format that is the part PART alone. */
struct format declare_whole_format(struct arena *arena, const char *part, bool open);

/* NAME as the name of a parameter: letters, digits and _, not beginning with a digit. Two names may
 * become the same. */
const char *declare_param_name(struct arena *arena, struct span name);

/* The NUMBER-th name, from 2 on, to try when NAME is taken: "NAME_WORD", then "NAME_3". NULL when
 * memory ran out. */
const char *declare_other_name(struct arena *arena, const char *name, const char *word,
                               unsigned number);

/* The type that TABLE declares for an attribute: by default a text. */
enum value_type declare_find_type(const struct declared_table *table, const char *attribute);

/* KIND's format of KEY, which is of the table or of an index; NULL when KEY has formats of other
 * kinds only. */
const struct format *declare_find_format(const struct declared_record *kind,
                                         const struct declared_key *key);

/* Whether NAME is a key attribute of the table; of one of its indexes; of either. */
bool declare_is_table_key(const struct declared_table *table, struct span name);
bool declare_is_index_key(const struct declared_table *table, struct span name);
bool declare_is_key(const struct declared_table *table, struct span name);

/* Whether TABLE declares ATTRIBUTE as secret. */
bool declare_is_secret(const struct declared_table *table, const char *attribute);

/* Whether some kind of item is called NAME. */
bool declare_has_record(const struct declared_table *table, const char *name);

#endif
