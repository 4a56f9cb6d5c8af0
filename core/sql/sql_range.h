/* Ranges of the values of one key attribute, and of one part of a key. A range may be too long, but
 * never too short. */
#ifndef DDBFS_CORE_SQL_SQL_RANGE_H
#define DDBFS_CORE_SQL_SQL_RANGE_H

#include "core/base/arena.h"
#include "core/condition/condition.h"
#include "core/output/sql_value.h"
#include "core/sql/sql_wanted.h"

enum sql_high {
    SQL_HIGH_OPEN,
    SQL_HIGH_VALUE,  /* included */
    SQL_HIGH_BEGINS, /* and everything that begins with it; not of numbers */
};

/* {.type = …} has every value of that type. Values are borrowed. */
struct sql_range {
    enum value_type type;
    bool is_empty;
    bool has_low; /* included */
    enum sql_high high_end;
    struct span low, high;
};

struct sql_range sql_range_of_point(enum value_type type, struct span value);
struct sql_range sql_range_of_prefix(enum value_type type, struct span prefix);
bool sql_range_is_point(const struct sql_range *range);

/* Of one type. */
struct sql_range sql_range_intersect(const struct sql_range *a, const struct sql_range *b);
/* The least range that has both. */
struct sql_range sql_range_join(const struct sql_range *a, const struct sql_range *b);

/* The values that satisfy a constraint on a key attribute, or a part, of TYPE. SQLite's types
 * decide about a VALUE of another type: numbers are before texts, and those before BLOBs. NULL has
 * an empty range; operators without a range have the full one. Texts go to ARENA. False with ERR
 * filled when VALUE is a REAL that lost digits, or memory ran out. */
bool sql_range_of_constraint(enum value_type type, enum sql_op op, const struct sql_value *value,
                             struct arena *arena, struct sql_range *out, struct error *err);

/* Makes the values of the range possible values of a key of at most MOST bytes: the range is empty
 * if no key is in it. */
void sql_range_fit_key(struct sql_range *range, size_t most, struct arena *arena);

/* The condition of a fitted range, which is not empty. False if every value satisfies it. */
bool sql_range_write_cond(const struct sql_range *range, struct span attribute, struct arena *arena,
                          struct cond *out);

/* The least text that sorts behind all that begin with PREFIX; false if no text does. */
bool sql_range_find_successor(enum value_type type, struct span prefix, struct arena *arena,
                              struct span *out);

/* The text that VALUE has for a column of affinity TEXT; false for NULL and BLOB. */
bool sql_range_read_text(const struct sql_value *value, struct arena *arena, struct span *out);
/* Whether SQLite reads the text as a number. */
bool sql_range_is_numeric(struct span text);

#endif
