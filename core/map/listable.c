#include "core/map/listable.h"

const struct map_param *listable_values(const struct model *table, const struct route *child)
{
    const char *only = NULL;
    for (size_t i = 0; i < child->segment.count; i++) {
        const char *param = child->segment.pieces[i].param;
        if (param && only)
            return NULL;
        if (param)
            only = param;
    }
    const struct map_param *param = only ? model_find_param(table, only) : NULL;
    return param && param->value_count ? param : NULL;
}

/* Whether each parameter of A stands in B too, or in the path. */
static bool is_said_by(const struct format *a, const struct format *b, const struct bindings *path)
{
    for (size_t i = 0; i < a->count; i++) {
        const char *param = a->pieces[i].param;
        if (param && !bindings_find(path, param) && !format_has(b, param))
            return false;
    }
    return true;
}

bool listable_follows(const struct route *child, const struct route *entry,
                      const struct bindings *path)
{
    return is_said_by(&entry->segment, &child->segment, path) &&
           is_said_by(&child->segment, &entry->segment, path);
}

bool listable_follows_some(const struct route *child, const struct bindings *path)
{
    if (child->file || !child->parent)
        return false;
    for (const struct route *entry = child->parent->children; entry; entry = entry->next)
        if (entry->entry && listable_follows(child, entry, path))
            return true;
    return false;
}

static bool has_kind(const struct map_pattern *list, const struct map_kind *kind)
{
    for (size_t i = 0; i < list->kind_count; i++)
        if (list->kinds[i] == kind || list->kinds[i] == list->table->any)
            return true;
    return false;
}

static bool is_window_on(const struct map_pattern *list, const struct map_pattern *pattern)
{
    for (size_t i = 0; i < pattern->kind_count; i++)
        if (!has_kind(list, pattern->kinds[i]))
            return false;
    return true;
}

/* Whether all that is found at STEP and below it are records of LIST's kinds. The path there says
 * at least what LIST's own path says, so these are some of LIST's records. */
static bool shows_some_of(const struct map_pattern *list, const struct route *step)
{
    if ((step->list && !is_window_on(list, step->list)) ||
        (step->file && !is_window_on(list, step->file)))
        return false;
    for (const struct route *child = step->children; child; child = child->next)
        if (!child->entry && !shows_some_of(list, child))
            return false;
    return true;
}

const struct route *listable_missing(const struct model *table, const struct route *directory,
                                     const struct bindings *path)
{
    const struct map_pattern *list = directory->list;
    for (const struct route *child = directory->children; child; child = child->next)
        if (!child->entry && !format_is_literal(&child->segment) &&
            !listable_values(table, child) && !listable_follows_some(child, path) &&
            !(list && list->whole && shows_some_of(list, child)))
            return child;
    return NULL;
}
