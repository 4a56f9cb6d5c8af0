#include "core/map/directory_groups.h"

/* Whether a record of KIND that is found by LIST tells what PARAM is. */
static bool groups_is_reported(const struct map_pattern *list, const struct map_kind *kind,
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

bool directory_groups_show(const struct route *child, const struct bindings *path)
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
            if (!groups_is_reported(list, list->kinds[k], param))
                return false;
    }
    return told;
}

/* What the path to ROUTE says, by name alone. */
static void groups_describe_params(const struct route *route, struct bindings *path)
{
    for (; route; route = route->parent)
        for (size_t i = 0; i < route->segment.count; i++) {
            const char *param = route->segment.pieces[i].param;
            if (param && !bindings_find(path, param))
                bindings_add(path, param, span_text(""));
        }
}

/* A listing that shows directories alone has a step for them. */
bool directory_groups_check(const struct route *route, struct findings *findings)
{
    struct bindings path = {0};
    bool found = !route->list || !route->list->groups;
    groups_describe_params(route, &path);
    for (const struct route *child = route->children; child && !found; child = child->next)
        found = directory_groups_show(child, &path);
    bool ok =
        found ||
        findings_add(findings, FINDING_AT(route->list),
                     "\"%s\": \"groups\" shows the directories that records bring along, and "
                     "no step below it is one: a path goes on from here by a part of the key of "
                     "what is asked",
                     route->list->path);
    for (const struct route *child = route->children; child; child = child->next)
        ok = directory_groups_check(child, findings) && ok;
    return ok;
}
