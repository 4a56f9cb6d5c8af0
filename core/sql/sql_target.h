/* A target: the table's key or an index, and the items that a statement can want from it, case by
 * case. Shared by sql_access.c and sql_lookup.c. */
#ifndef DDBFS_CORE_SQL_SQL_TARGET_H
#define DDBFS_CORE_SQL_SQL_TARGET_H

#include "core/sql/sql_wanted.h"

enum { SQL_TARGET_MOST_KEYS = 2 * KEY_MAX_ATTRIBUTES };

/* The items of one kind, or all items. */
struct sql_case {
    const struct map_kind *kind; /* NULL: any item */
    /* By the number of the key attribute, partition first: the format whose parts have the values
     * of the columns. NULL where no format is certain. */
    const struct format *formats[SQL_TARGET_MOST_KEYS];
};

struct sql_target {
    const struct map_index *index; /* NULL: the table */
    const struct map_key *keys[SQL_TARGET_MOST_KEYS];
    size_t key_count, partition_count;
    struct sql_case *cases;
    size_t case_count;
};

/* Constant after sql_access_find. Columns are borrowed, also those that are added later. */
struct sql_access {
    enum sql_access_kind kind;
    const struct sql_columns *columns;
    struct sql_target target;
    struct sql_constraint *constraints;
    size_t constraint_count;
    bool *in_key, *in_filter; /* by constraint */
    struct sql_order *order;
    size_t order_count;
    bool is_ordered, descending, is_unique, hydrates;
    size_t limit; /* the constraint; CONSTRAINT_COUNT for none */
    double cost, rows;
};

/* Whether the constraint is false of NULL, so that its column has a value in each wanted row. */
bool sql_target_needs_value(const struct sql_constraint *constraint);

/* The column that is the key attribute itself in items of KIND (NULL: in all items), and is
 * compared as the key's type; COUNT if no column is. */
size_t sql_target_find_own(const struct sql_columns *columns, const struct map_key *key,
                           const struct map_kind *kind);

/* Whether the map promises that the index has items of the kind in its formats: all of them, if the
 * index "holds" the kind; else, if a path reads the kind through the index, each item with all
 * parts of the formats, in its key or as attributes of their names. */
bool sql_target_is_promised(const struct model *model, const struct map_kind *kind,
                            const struct map_index *index);

/* Whether the column of that origin is a part of KEY, of an index, in its format for KIND. */
bool sql_target_is_part_of(const struct model *model, struct sql_origin origin,
                           const struct map_key *key, const struct map_kind *kind);

/* Fills OUT with the cases of INDEX (NULL: the table) that the constraints allow. False if not
 * every wanted row is proven to be found that way. With no case, no row can match. */
bool sql_target_find(const struct sql_wanted *wanted, const struct map_index *index,
                     struct arena *arena, struct sql_target *out);

/* Whether constraints fix the value of key attribute I in items of the case. IN_KEY, which may be
 * NULL, gets the constraints that narrow the attribute. */
bool sql_target_fixes(const struct sql_wanted *wanted, const struct sql_target *target,
                      const struct sql_case *each, size_t i, bool *in_key);

#endif
