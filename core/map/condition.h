/* Conditions of a map: their paths, what a value can be, and their expansion from a path's values.
 */
#ifndef DDBFS_CORE_MAP_CONDITION_H
#define DDBFS_CORE_MAP_CONDITION_H

#include "core/base/error.h"
#include "core/map/model.h"

/* Takes "address.city" or "tags[0]" apart: a step is a name, or, behind a name, a number in square
 * brackets; in single quotes stands a name that has dots or brackets itself ('' is one quote).
 * Texts go to ARENA. NULL, or a phrase that says what is wrong. */
const char *condition_parse_path(struct arena *arena, struct span text, struct map_cond *out);

/* The same for what is one name alone, in single quotes or without: in OUT, of ARENA. */
const char *condition_parse_name(struct arena *arena, struct span text, const char **out);

/* Whether TEXT can be a value of TYPE; if not, nobody needs to be asked. False with ERR filled:
 * ERROR_INVALID, WHAT is what it should be a value of. */
bool condition_check_value(const char *what, enum value_type type, struct span text,
                           struct error *err);
/* The same for a key attribute, which is not empty and not long. */
bool condition_check_key(const char *attribute, enum value_type type, struct span text,
                         struct error *err);

/* Whether a part of a key can be compared with TEXT, which BOUND's value stands for. False with ERR
 * filled: ERROR_INVALID. */
bool condition_check_bound(const struct map_bound *bound, struct span text, struct error *err);

/* TEXT, which was checked, as it is asked for: a number as JSON spells it. In ARENA. */
struct span condition_keep_value(struct arena *arena, enum value_type type, struct span text);

/* FROM with the values of a path in it; all that OUT points to is FROM's or ARENA's. False with ERR
 * filled: ERROR_INVALID when a value is none of its type, or that memory ran out. */
bool condition_expand(const struct map_cond *from, const struct bindings *path, struct arena *arena,
                      struct cond *out, struct error *err);

/* Calls FN for each attribute that the condition looks at, top-level ones. False, and ends, when FN
 * does. */
typedef bool condition_attribute_fn(void *arg, const char *attribute);
bool condition_each_attribute(const struct map_cond *cond, condition_attribute_fn *fn, void *arg);

/* Calls FN for each parameter in the condition's values. False, and ends, when FN does. */
typedef bool condition_param_fn(void *arg, const struct map_cond *cond, const char *param);
bool condition_each_param(const struct map_cond *cond, condition_param_fn *fn, void *arg);

/* FROM once more, with all it points to in ARENA. False when memory ran out. */
bool condition_copy(struct arena *arena, const struct map_cond *from, struct map_cond *out);

#endif
