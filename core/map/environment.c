#include "core/map/environment.h"

#include "core/base/nearest.h"

static bool environment_fits(const struct map_environment *each, const char *name,
                             struct bindings *values)
{
    CLEAN_UP(buf_clean_up) struct buf written = {0};
    format_write(&each->name, &written);
    *values = (struct bindings){0};
    if (name && !span_is(buf_span(&written), name))
        return format_match(&each->name, span_text(name), values);
    for (size_t i = 0; i < each->name.count; i++)
        if (each->name.pieces[i].param)
            bindings_add(values, each->name.pieces[i].param, SPAN_LITERAL("*"));
    return true;
}

/* A name that the map itself has goes before one with a parameter. */
static bool environment_is_own(const struct map *map, const char *name)
{
    struct bindings values;
    for (const struct map_environment *each = map->environments; each; each = each->next)
        if (format_is_literal(&each->name) && environment_fits(each, name, &values))
            return true;
    return false;
}

bool environment_is_meant(const struct map *map, const struct map_environment *each,
                          const char *name, struct bindings *values)
{
    struct bindings own;
    return environment_fits(each, name, values ? values : &own) &&
           (!name || format_is_literal(&each->name) || !environment_is_own(map, name));
}

bool environment_fail(const struct map *map, const char *name, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf names = {0}, hint = {0};
    struct nearest nearest = nearest_to(span_text(name));
    for (const struct map_environment *each = map->environments; each; each = each->next) {
        buf_add_text(&names, names.size ? ", " : "");
        format_write(&each->name, &names);
        if (format_is_literal(&each->name))
            nearest_offer(&nearest, each->name.pieces[0].literal);
    }
    nearest_write(&nearest, &hint);
    return error_set(err, ERROR_INVALID, "the map has no environment \"%s\"%s; it has %s", name,
                     buf_text(&hint), buf_text(&names));
}

bool environment_calls(const struct map *map, const struct model *model, struct span table)
{
    struct span base = span_text(model->base_name);
    if (!span_ends(table, base))
        return false;
    struct span prefix = span_of(table.data, table.size - base.size);
    for (const struct map_environment *each = map->environments; each; each = each->next) {
        struct bindings values = {0};
        if (format_match(&each->prefix, prefix, &values))
            return true;
    }
    return false;
}
