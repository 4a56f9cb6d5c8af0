/* A table while it is inferred: its kinds of item, and the names of the parts of their keys. Within
 * a kind one name is one value, in the table's keys and in those of its indexes. In several kinds,
 * parts at the same place have the same name. */
#ifndef DDBFS_CORE_DRAFT_INFERRED_PARTS_H
#define DDBFS_CORE_DRAFT_INFERRED_PARTS_H

#include "core/draft/key_shape.h"

/* The name of one part of keys that are alike. */
struct part_name {
    const char *name;      /* NULL: a word, not a part */
    struct span attribute; /* the attribute with the part's values; empty if absent */
};

/* A part of a kind's keys, and its value in each item of the kind. */
struct inferred_part {
    const char *name;          /* in the result's arena */
    const struct span *values; /* beside the kind's rows; empty data: the item lacks the key */
    struct inferred_part *next;
};

/* A kind of item. It and all that it owns are in the arena "work". */
struct inferred_kind {
    struct key_shape shapes[2];
    struct part_name names[2][KEY_SHAPE_MAX_TOKENS];
    size_t *rows; /* owned: its items, as indexes of "items" */
    size_t count;
    struct inferred_part *parts;    /* owned */
    struct declared_record *record; /* in the result's arena; NULL before it is made */
    struct inferred_kind *next;
};

struct inferred_table {
    const struct declared_table *described;  /* borrowed: the generic declaration */
    struct declared_table *table;            /* the result; in ARENA */
    struct arena *arena;                     /* borrowed: of the result */
    struct arena work;                       /* owned: temporary; holds values of items */
    const struct sampled_item *const *items; /* borrowed, as are the texts that shapes hold */
    size_t count;
    size_t all;                   /* the number of items, with those that were only counted */
    struct column columns[2];     /* the table's own keys; their shapes are in "work" */
    struct vocabulary vocabulary; /* of "columns"; in "work" */
    size_t key_count;             /* of "columns", and of the shapes and names of each kind */
    struct inferred_kind *kinds;
    size_t kind_count;
    char separator;
};

/* Appends a tag, "USER", in lower case; another word verbatim. */
void inferred_parts_add_word(struct span word, struct buf *out);

/* The functions that return bool return false when memory ran out. */

/* Names the parts of those keys of COLUMN that are at ROWS and are alike. NAMES, in ARENA, is
 * beside the tokens. The name is that of an attribute whose value is the part in each item that has
 * it; else it is made from the word before the part; else it is the key attribute's. */
bool inferred_parts_name_column(const struct column *column, const size_t *rows, size_t count,
                                struct arena *arena, struct part_name names[KEY_SHAPE_MAX_TOKENS]);

/* Names the parts of KIND's keys, each key by itself. */
bool inferred_parts_name_kind(struct inferred_table *inferred, struct inferred_kind *kind);

/* Copies names between kinds, for parts at the same place of the key SIDE. A name that is an
 * attribute's is preferred: "INDEX#{index_name}" names the part of "INDEX#{index_name}#CONFIG". */
void inferred_parts_share_names(struct inferred_table *inferred, size_t side);

/* Replaces NAMES, which is beside SHAPE's tokens, by the final names of one key of KIND, and stores
 * the parts' values. KIND's rows must be final. ROW_OF has the row in COLUMN of each item of the
 * kind, SIZE_MAX for none. FIXED: the names are final already. */
bool inferred_parts_resolve(struct inferred_table *inferred, struct inferred_kind *kind,
                            const struct column *column, const size_t *row_of,
                            const struct key_shape *shape, struct part_name *names, bool fixed);

/* The resolved part of KIND that is called NAME, or NULL. */
const struct inferred_part *inferred_parts_find(const struct inferred_kind *kind, const char *name);

/* The format of COLUMN's keys of SHAPE, whose parts have NAMES. */
bool inferred_parts_format(struct inferred_table *inferred, const struct column *column,
                           const struct key_shape *shape, const struct part_name *names,
                           struct format *out);

#endif
