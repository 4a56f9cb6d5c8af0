#include "core/map/listable.h"

/* Whether the items of KIND in LIST have a value of PARAM. */
static bool listable_has_part(const struct map_pattern *list, const struct map_kind *kind,
                              const char *param)
{
    const struct map_key *key;
    for (size_t i = 0; i < list->table->key_count; i++)
        if (format_has(&kind->keys[i], param))
            return true;
    for (size_t i = 0; list->index && (key = model_index_key(list->index, i)); i++) {
        const struct format *format = model_key_format(list->table, key, kind);
        if (format && format_has(format, param))
            return true;
    }
    return false;
}

bool listable_is_group(const struct route *child, const struct bindings *path)
{
    const struct map_pattern *list = child->parent ? child->parent->list : NULL;
    bool told = false;
    if (!list || !list->groups || child->entry || child->file)
        return false;
    for (size_t i = 0; i < child->segment.count; i++) {
        const char *param = child->segment.pieces[i].param;
        if (!param || bindings_find(path, param))
            continue;
        told = true;
        for (size_t k = 0; k < list->kind_count; k++)
            if (!listable_has_part(list, list->kinds[k], param))
                return false;
    }
    return told;
}

/* Adds the parameters on the path to ROUTE, without values. */
static void listable_add_params(const struct route *route, struct bindings *path)
{
    for (; route; route = route->parent)
        for (size_t i = 0; i < route->segment.count; i++) {
            const char *param = route->segment.pieces[i].param;
            if (param && !bindings_find(path, param))
                bindings_add(path, param, span_text(""));
        }
}

bool listable_check_groups(const struct route *route, struct findings *findings)
{
    struct bindings path = {0};
    bool found = !route->list || !route->list->groups;
    listable_add_params(route, &path);
    for (const struct route *child = route->children; child && !found; child = child->next)
        found = listable_is_group(child, &path);
    bool ok =
        found ||
        findings_add(findings, FINDING_AT(route->list),
                     "\"%s\": \"groups\" shows directories that follow from the items' keys, but "
                     "no step below it is one; add a path that continues with a part of the key",
                     route->list->path);
    for (const struct route *child = route->children; child; child = child->next)
        ok = listable_check_groups(child, findings) && ok;
    return ok;
}

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

/* Whether each parameter of A is in B or in the path. */
static bool listable_is_stated_by(const struct format *a, const struct format *b,
                                  const struct bindings *path)
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
    return listable_is_stated_by(&child->segment, &entry->segment, path);
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

static bool listable_has_kind(const struct map_pattern *list, const struct map_kind *kind)
{
    for (size_t i = 0; i < list->kind_count; i++)
        if (list->kinds[i] == kind || list->kinds[i] == list->table->any)
            return true;
    return false;
}

static bool listable_is_window_on(const struct map_pattern *list, const struct map_pattern *pattern)
{
    for (size_t i = 0; i < pattern->kind_count; i++)
        if (!listable_has_kind(list, pattern->kinds[i]))
            return false;
    return true;
}

/* Whether all items at STEP and below it are of LIST's kinds. The path to STEP has all values of
 * LIST's path, so these are some of LIST's items. */
static bool listable_shows_some_of(const struct map_pattern *list, const struct route *step)
{
    if ((step->list && !listable_is_window_on(list, step->list)) ||
        (step->file && !listable_is_window_on(list, step->file)))
        return false;
    for (const struct route *child = step->children; child; child = child->next)
        if (!child->entry && !listable_shows_some_of(list, child))
            return false;
    return true;
}

/* Whether all shown paths at STEP and below it use LIST's index or table. */
static bool listable_requests_as(const struct map_pattern *list, const struct route *step)
{
    if ((step->list && step->list->index != list->index) ||
        (step->file && step->file->index != list->index))
        return false;
    for (const struct route *child = step->children; child; child = child->next)
        if (!child->entry && !child->hidden && !listable_requests_as(list, child))
            return false;
    return true;
}

bool listable_shows(const struct route *child, const struct map_kind *kind)
{
    if ((child->list && listable_has_kind(child->list, kind)) ||
        (child->file && listable_has_kind(child->file, kind)))
        return true;
    for (const struct route *each = child->children; each; each = each->next)
        if (!each->entry && listable_shows(each, kind))
            return true;
    return false;
}

/* Whether the query of LIST, on the table itself, returns all items of KIND in its partition, even
 * if KIND is not in LIST. */
static bool listable_reads_all(const struct map_pattern *list, const struct map_kind *kind)
{
    if (list->index || list->limit || list->filter_count || list->kinds[0] == list->table->any ||
        !format_equal(&list->kinds[0]->keys[0], &kind->keys[0]))
        return false;
    return list->where_count == 1 || (list->where_count == 2 && list->where[1].op == COND_BEGINS &&
                                      format_starts(&kind->keys[1], &list->where[1].value));
}

/* Whether LIST has all items of KIND in its partition as entries. */
static bool listable_lists_all(const struct map_pattern *list, const struct map_kind *kind)
{
    const struct map_index *index = list->index;
    if (!listable_has_kind(list, kind) || list->limit || list->filter_count)
        return false;
    return index ? index->partition_count == 1 && list->where_count == 1 &&
                       strcmp(index->partition[0].attribute, list->table->keys[0].attribute) == 0
                 : listable_reads_all(list, kind);
}

/* Whether each item in CHILD or below it has, by its parameters' owners, an entry of LIST with the
 * same parts: then the directories of these entries are all. */
static bool listable_has_owners(const struct map_pattern *list, const struct route *child,
                                const struct bindings *path)
{
    for (size_t i = 0; i < child->segment.count; i++) {
        const char *name = child->segment.pieces[i].param;
        const struct map_param *param = name ? model_find_param(list->table, name) : NULL;
        const struct map_kind *owner =
            param && param->owner ? model_find_kind(list->table, param->owner) : NULL;
        if (name && !bindings_find(path, name) && !(owner && listable_lists_all(list, owner)))
            return false;
    }
    return true;
}

/* Whether the directories CHILD that follow from LIST's entries are all. The name of a listing with
 * a limit promises no more than these. */
static bool listable_follow_all(const struct map_pattern *list, const struct route *child,
                                const struct bindings *path)
{
    if (list->limit || listable_has_owners(list, child, path))
        return true;
    for (const struct map_kind *kind = list->table->kinds; kind; kind = kind->next)
        if (listable_shows(child, kind) && !listable_reads_all(list, kind))
            return false;
    return true;
}

bool listable_lacks(const struct model *table, const struct route *child,
                    const struct bindings *path)
{
    const struct map_pattern *list = child->parent->list;
    const struct map_param *param = listable_values(table, child);
    if (child->vector)
        return !format_is_literal(&child->segment);
    if (child->entry || child->hidden || format_is_literal(&child->segment) ||
        (param && param->only))
        return false;
    if (listable_follows_some(child, path) && listable_follow_all(list, child, path))
        return false;
    if (!list || !listable_shows_some_of(list, child))
        return true;
    /* The items of a listing that shows directories alone lead to each non-empty CHILD. */
    bool leads_to_all = listable_is_group(child, path) && !list->narrowed &&
                        list->filter_count == 0 && listable_requests_as(list, child);
    return !list->whole && !leads_to_all;
}
