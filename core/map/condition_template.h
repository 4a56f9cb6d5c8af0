/* Conditions of a map: templates, which the values of a path expand to conditions. */
#ifndef DDBFS_CORE_MAP_CONDITION_TEMPLATE_H
#define DDBFS_CORE_MAP_CONDITION_TEMPLATE_H

#include "core/base/error.h"
#include "core/map/model.h"

/* Whether a part of a key can be compared with TEXT, which BOUND's value stands for. False with ERR
 * filled: ERROR_INVALID. */
bool condition_check_bound(const struct map_bound *bound, struct span text, struct error *err);

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
