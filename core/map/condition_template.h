/* Conditions in a map: templates that the values of a path expand into conditions. */
#ifndef DDBFS_CORE_MAP_CONDITION_TEMPLATE_H
#define DDBFS_CORE_MAP_CONDITION_TEMPLATE_H

#include "core/base/error.h"
#include "core/map/model.h"

/* Whether TEXT, the value of BOUND, can be compared with a part of a key. False with ERR filled:
 * ERROR_INVALID. */
bool condition_check_bound(const struct map_bound *bound, struct span text, struct error *err);

/* Expands FROM with the values of PATH; OUT points into FROM and ARENA. False with ERR filled:
 * ERROR_INVALID if a value does not have its type, or memory ran out. */
bool condition_expand(const struct map_cond *from, const struct bindings *path, struct arena *arena,
                      struct cond *out, struct error *err);

/* Calls FN for each top-level attribute that the condition tests, until FN returns false, which is
 * then the result. */
typedef bool condition_attribute_fn(void *arg, const char *attribute);
bool condition_each_attribute(const struct map_cond *cond, condition_attribute_fn *fn, void *arg);

/* Calls FN for each parameter in the condition's values, until FN returns false, which is then the
 * result. */
typedef bool condition_param_fn(void *arg, const struct map_cond *cond, const char *param);
bool condition_each_param(const struct map_cond *cond, condition_param_fn *fn, void *arg);

/* Copies FROM, with everything that it points to, into ARENA. False if memory ran out. */
bool condition_copy(struct arena *arena, const struct map_cond *from, struct map_cond *out);

#endif
