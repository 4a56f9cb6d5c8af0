#include "core/tree/place.h"

#include <stdlib.h>

#include "core/base/nearest.h"
#include "core/tree/noise.h"
#include "core/tree/readme.h"

static struct place *place_new(const struct place *parent)
{
    struct place *place = calloc(1, sizeof *place);
    if (!place)
        return NULL;
    struct arena own = {0};
    *place = *parent;
    place->arena = own;
    map_ref(place->map);
    model_ref(place->table);
    place->environment_name = arena_copy(&place->arena, parent->environment_name);
    place->attribute = arena_copy(&place->arena, parent->attribute);
    place->shortened = arena_copy(&place->arena, parent->shortened);
    if (parent->table_prefix)
        place->table_prefix = arena_text(&place->arena, span_text(parent->table_prefix));
    for (size_t i = 0; i < place->bindings.count; i++)
        place->bindings.items[i].value = arena_copy(&place->arena, parent->bindings.items[i].value);
    return place;
}

struct place *place_copy(const struct place *place)
{
    struct place *copy = place_new(place);
    if (!copy || !copy->arena.failed)
        return copy;
    place_destroy(copy);
    return NULL;
}

struct place *place_root(const struct map *map)
{
    struct place *place = calloc(1, sizeof *place);
    if (place)
        *place = (struct place){.kind = PLACE_ROOT, .map = map_ref(map)};
    return place;
}

void place_destroy(struct place *place)
{
    if (!place)
        return;
    arena_clean_up(&place->arena);
    model_unref(place->table);
    map_unref(place->map);
    free(place);
}

bool place_is_directory(const struct place *place)
{
    return place->kind == PLACE_ROOT || place->kind == PLACE_ENVIRONMENT ||
           place->kind == PLACE_DIRECTORY || place->kind == PLACE_ATTRS;
}

size_t place_name_limit(const struct place_options *options)
{
    return NAME_LIMIT - strlen(options->suffix);
}

char *place_table_name(const struct place *place)
{
    struct buf name = {0};
    buf_add_text(&name, place->table_prefix);
    buf_add_text(&name, place->table->base_name);
    return buf_steal(&name, NULL);
}

bool place_is_read(const struct place *place)
{
    return place->kind >= PLACE_LIST_INFO || (place->kind == PLACE_DIRECTORY && place->route->list);
}

struct plan *place_plan(const struct place *place, struct error *err)
{
    const struct route *route = place->route;
    bool listing = place->kind == PLACE_DIRECTORY || place->kind == PLACE_LIST_INFO;
    char *table = place_table_name(place);
    if (!table) {
        error_no_memory(err);
        return NULL;
    }
    struct question question = {
        .table = place->table,
        .table_name = table,
        .pattern = listing ? route->list : route->file,
        .entry = listing ? NULL : route->entry,
        .kind = listing ? NULL : route->kind,
        .path = &place->bindings,
        .attribute = place->kind == PLACE_ATTR    ? place->attribute
                     : place->kind == PLACE_VALUE ? span_text(route->file->attribute)
                                                  : span_text(""),
        .shortened = place->shortened,
    };
    struct plan *plan = plan_new(&question, err);
    free(table);
    return plan;
}

/* Decodes what NAME's pieces stand for into PLACE. False when one is no name. */
static bool bind_captures(struct place *place, const struct bindings *captures)
{
    for (size_t i = 0; i < captures->count; i++) {
        CLEAN_UP(buf_clean_up) struct buf value = {0};
        if (!name_decode(captures->items[i].value, &value))
            return false;
        place->arena.failed = place->arena.failed || value.failed;
        const char *param = captures->items[i].param;
        const struct span *said = bindings_find(&place->bindings, param);
        if (said && !span_equal(*said, buf_span(&value)))
            return false;
        if (!said &&
            !bindings_add(&place->bindings, param, arena_copy(&place->arena, buf_span(&value))))
            return false;
    }
    return true;
}

static bool enter_environment(struct place *place, struct span name,
                              const struct map_environment *environment)
{
    struct bindings captures = {0};
    place->bindings.count = 0; /* those of another that did not fit */
    if (!format_match(&environment->name, name, &captures) || !bind_captures(place, &captures))
        return false;
    CLEAN_UP(buf_clean_up) struct buf prefix = {0};
    format_expand(&environment->prefix, &place->bindings, &prefix);
    if (memchr(buf_text(&prefix), '\0', prefix.size))
        return false; /* it would pass for the name that ends there */
    place->arena.failed = place->arena.failed || prefix.failed;
    place->kind = PLACE_ENVIRONMENT;
    place->environment = environment;
    place->environment_name = arena_copy(&place->arena, name);
    place->table_prefix = arena_text(&place->arena, buf_span(&prefix));
    place->bindings.count = 0; /* its parameters are not those of the tables */
    return true;
}

static bool find_environment(struct place *place, struct span name, struct error *err)
{
    const struct map_environment *each;
    for (each = place->map->environments; each; each = each->next)
        if (format_is_literal(&each->name) && enter_environment(place, name, each))
            return true;
    /* What programs try by themselves is no branch, though it might be the name of one: such a
     * name is written escaped. */
    for (each = place->map->environments; each && !noise_is(name); each = each->next)
        if (!format_is_literal(&each->name) && enter_environment(place, name, each))
            return true;
    CLEAN_UP(buf_clean_up) struct buf names = {0}, hint = {0};
    struct nearest nearest = nearest_to(name);
    for (each = place->map->environments; each; each = each->next) {
        buf_add_text(&names, each == place->map->environments ? "" : ", ");
        format_write(&each->name, &names);
        if (format_is_literal(&each->name))
            nearest_offer(&nearest, each->name.pieces[0].literal);
    }
    nearest_write(&nearest, &hint);
    return error_set(err, ERROR_NOT_FOUND, "the map has no environment \"%.*s\"%s; it has %s",
                     (int)name.size, name.data, buf_text(&hint), buf_text(&names));
}

static void enter_table(struct place *place, const struct model *model)
{
    place->kind = PLACE_DIRECTORY;
    place->table = model_ref(model);
    place->route = model->root;
}

static bool find_table(struct place *place, struct span name, struct error *err)
{
    const struct map *map = place->map;
    const struct model *model = map_find_model(map, name);
    if (model) {
        enter_table(place, model);
        return true;
    }
    CLEAN_UP(buf_clean_up) struct buf names = {0}, hint = {0};
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < map->model_count; i++) {
        buf_printf(&names, "%s%s", names.size ? ", " : "", map->models[i]->path_name);
        nearest_offer(&nearest, span_text(map->models[i]->path_name));
    }
    nearest_write(&nearest, &hint);
    return error_set(err, ERROR_NOT_FOUND, "the map has no table \"%.*s\"%s; it has %s",
                     (int)name.size, name.data, buf_text(&hint), buf_text(&names));
}

/* Whether VALUE is what the map expects of PARAM; if not, ERR says what it is. */
static bool suits(const struct model *table, const struct binding *binding, struct error *err)
{
    const struct map_param *param = model_find_param(table, binding->param);
    if (!param || !param->match)
        return true;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_span(&text, binding->value);
    if (text.failed)
        return error_no_memory(err);
    bool whole = !memchr(buf_text(&text), '\0', text.size);
    if (whole && regexec(&param->regex, buf_text(&text), 0, NULL, 0) == 0)
        return true;
    if (param->hint)
        return error_set(err, ERROR_NOT_FOUND, "%s", param->hint);
    return error_set(err, ERROR_NOT_FOUND, "%s does not match %s", param->name, param->match);
}

static bool all_suit(const struct place *place, size_t from, struct error *err)
{
    for (size_t i = from; i < place->bindings.count; i++)
        if (!suits(place->table, &place->bindings.items[i], err))
            return false;
    return true;
}

/* What the pattern itself says of a part ("where": {"index_name": "x"}) is bound like the rest. */
static bool bind_said(struct place *place, const struct map_pattern *pattern)
{
    for (size_t i = 0; pattern && i < pattern->said_count; i++) {
        const struct map_part *part = &pattern->said[i];
        CLEAN_UP(buf_clean_up) struct buf value = {0};
        if (bindings_find(&place->bindings, part->param))
            continue;
        bool known = format_expand(&part->value, &place->bindings, &value);
        place->arena.failed = place->arena.failed || value.failed;
        if (!known || !bindings_add(&place->bindings, part->param,
                                    arena_copy(&place->arena, buf_span(&value))))
            return false;
    }
    return true;
}

static bool step_into(struct place *place, const struct route *route, struct span name,
                      struct error *err)
{
    size_t before = place->bindings.count;
    struct bindings captures = {0};
    if (format_match(&route->segment, name, &captures) && bind_captures(place, &captures) &&
        all_suit(place, before, err) && bind_said(place, route->file ? route->file : route->list)) {
        place->route = route;
        return true;
    }
    place->bindings.count = before;
    return false;
}

static enum place_kind file_kind(const struct route *route, enum companion companion)
{
    static const enum place_kind kinds[] = {
        [COMPANION_NONE] = PLACE_RECORD,
        [COMPANION_TYPED] = PLACE_TYPED,
        [COMPANION_INFO] = PLACE_INFO,
        [COMPANION_ATTRS] = PLACE_ATTRS,
    };
    return route->file->attribute ? PLACE_VALUE : kinds[companion];
}

/* NAME as the name of a record: without companion and suffix. False when it has not the suffix. */
static bool strip_record_name(struct span *name, enum companion *companion,
                              const struct place_options *options)
{
    struct span suffix = span_text(options->suffix);
    *companion = name_split_companion(name);
    if (!span_ends(*name, suffix) || name->size <= suffix.size)
        return false;
    name->size -= suffix.size;
    return true;
}

bool place_is_hidden(const struct route *route, const struct place_options *options)
{
    const struct map_pattern *file = route->file;
    return options->hide_secrets && file && file->attribute &&
           model_is_secret(file->table, span_text(file->attribute));
}

static bool try_file(struct place *place, const struct route *route, struct span name,
                     const struct place_options *options, struct error *err)
{
    enum companion companion = COMPANION_NONE;
    if (!route->file->attribute && !strip_record_name(&name, &companion, options))
        return false;
    if (!step_into(place, route, name, err))
        return false;
    if (place_is_hidden(route, options))
        return error_set(err, ERROR_DENIED,
                         "this is a secret, and others may read here; --show-secrets allows it");
    place->kind = file_kind(route, companion);
    return true;
}

/* A directory, or "latest@info" beside the listing "latest". */
static bool try_directory(struct place *place, const struct route *route, struct span name,
                          struct error *err)
{
    struct span listing = name;
    bool info = route->list && name_split_companion(&listing) == COMPANION_INFO;
    if (!step_into(place, route, info ? listing : name, err))
        return false;
    place->kind = info ? PLACE_LIST_INFO : PLACE_DIRECTORY;
    return true;
}

/* A shortened name is looked for in the listing above it. */
static bool try_shortened(struct place *place, struct span name,
                          const struct place_options *options)
{
    struct span prefix;
    enum companion companion;
    if (!place->route->list || !strip_record_name(&name, &companion, options) ||
        !name_is_shortened(name, &prefix))
        return false;
    for (const struct route *child = place->route->children; child; child = child->next) {
        if (child->entry) {
            place->route = child;
            place->kind = file_kind(child, companion);
            place->shortened = arena_copy(&place->arena, name);
            return true;
        }
    }
    return false;
}

/* All that ROUTE has below it; and, when one of the literals is near to NAME, which one was meant.
 */
static void write_children(const struct route *route, struct span name, struct buf *out,
                           struct buf *hint)
{
    struct nearest nearest = nearest_to(name);
    for (const struct route *child = route->children; child; child = child->next) {
        buf_add_text(out, out->size ? ", " : "");
        format_write(&child->segment, out);
        buf_add_text(out, child->file ? "" : "/");
        if (format_is_literal(&child->segment))
            nearest_offer(&nearest, child->segment.pieces[0].literal);
    }
    nearest_write(&nearest, hint);
}

static bool try_readme(struct place *place, struct span name)
{
    if (!span_is(name, README_NAME) || !readme_is_in(place))
        return false;
    place->kind = PLACE_README;
    return true;
}

/* Whether NAME is "access-token@info" beside the bare value "access-token". */
static bool is_companion_of_value(const struct route *parent, struct span name)
{
    if (name_split_companion(&name) == COMPANION_NONE)
        return false;
    for (const struct route *child = parent->children; child; child = child->next)
        if (child->file && child->file->attribute && format_is_literal(&child->segment) &&
            span_equal(child->segment.pieces[0].literal, name))
            return true;
    return false;
}

static bool find_in_table(struct place *place, struct span name,
                          const struct place_options *options, struct error *err)
{
    struct error why = {0};
    const struct route *parent = place->route;
    bool noise = noise_is(name);
    if (try_shortened(place, name, options))
        return true;
    if (is_companion_of_value(parent, name))
        return error_set(err, ERROR_NOT_FOUND,
                         "a file of a bare value has no companions; its record has");
    for (const struct route *child = parent->children; child; child = child->next) {
        if (noise && !format_is_literal(&child->segment))
            continue;
        if (!format_is_literal(&child->segment) && try_readme(place, name))
            return true;
        place->kind = PLACE_DIRECTORY;
        bool found = child->file ? try_file(place, child, name, options, &why)
                                 : try_directory(place, child, name, &why);
        if (found)
            return true;
        if (why.kind == ERROR_DENIED)
            break; /* that it is another pattern's record is no way around */
    }
    place->kind = PLACE_DIRECTORY;
    if (try_readme(place, name))
        return true;
    if (why.kind != ERROR_NONE) {
        *err = why;
        return false;
    }
    CLEAN_UP(buf_clean_up) struct buf names = {0}, hint = {0};
    write_children(parent, name, &names, &hint);
    return error_set(err, ERROR_NOT_FOUND, "nothing here is called \"%.*s\"%s; there is %s%s%s",
                     (int)name.size, name.data, buf_text(&hint), buf_text(&names),
                     options->suffix[0] ? ", and records end in " : "", options->suffix);
}

static bool find_attribute(struct place *place, struct span name, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf attribute = {0};
    bool known = name_decode(name, &attribute);
    place->arena.failed = place->arena.failed || attribute.failed;
    if (!known)
        return error_set(err, ERROR_NOT_FOUND, "\"%.*s\" is no name of an attribute",
                         (int)name.size, name.data);
    place->kind = PLACE_ATTR;
    place->attribute = arena_copy(&place->arena, buf_span(&attribute));
    return true;
}

static bool find_child(struct place *place, struct span name, const struct place_options *options,
                       struct error *err)
{
    switch (place->kind) {
    case PLACE_ROOT:
        return find_environment(place, name, err);
    case PLACE_ENVIRONMENT:
        return find_table(place, name, err);
    case PLACE_DIRECTORY:
        return find_in_table(place, name, options, err);
    case PLACE_ATTRS:
        return find_attribute(place, name, err);
    default:
        return error_set(err, ERROR_NOT_DIRECTORY, "a record is a file; nothing is below it");
    }
}

struct place *place_child(const struct place *place, struct span name,
                          const struct place_options *options, struct error *err)
{
    struct place *child = place_new(place);
    if (child && find_child(child, name, options, err) && !child->arena.failed)
        return child;
    if (!child || child->arena.failed)
        error_no_memory(err);
    place_destroy(child);
    return NULL;
}

struct place *place_table(const struct place *environment, const struct model *model)
{
    struct place *place = place_copy(environment);
    if (!place)
        return NULL;
    enter_table(place, model);
    return place;
}

bool place_next_segment(struct span *path, struct span *segment)
{
    while (path->size > 0 && path->data[0] == '/')
        *path = span_from(*path, 1);
    const char *slash = path->size ? memchr(path->data, '/', path->size) : NULL;
    *segment = slash ? span_of(path->data, (size_t)(slash - path->data)) : *path;
    *path = span_from(*path, segment->size);
    return segment->size > 0;
}

struct place *place_resolve(const struct map *map, struct span path,
                            const struct place_options *options, struct error *err)
{
    bool slash = span_ends(path, SPAN_LITERAL("/"));
    struct place *place = place_root(map);
    struct span segment;
    if (!place)
        error_no_memory(err);
    while (place && place_next_segment(&path, &segment)) {
        struct place *child = place_child(place, segment, options, err);
        place_destroy(place);
        place = child;
    }
    if (place && slash && !place_is_directory(place)) {
        error_set(err, ERROR_NOT_DIRECTORY, "a record is a file; take the final / away");
        place_destroy(place);
        return NULL;
    }
    return place;
}

/* The first byte of the literal after piece I, which a value before it may not show. */
static char stop_after(const struct format *format, size_t i)
{
    return i + 1 < format->count ? format->pieces[i + 1].literal.data[0] : 0;
}

static bool write_name(const struct format *format, const struct bindings *path,
                       const struct bindings *parts, struct buf *out)
{
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        if (!piece->param) {
            buf_add_span(out, piece->literal);
            continue;
        }
        const struct span *value = bindings_find(parts, piece->param);
        if (!value)
            value = bindings_find(path, piece->param);
        if (!value)
            return false;
        /* The last value ends where the final literal begins, whatever it holds. */
        name_add_value(out, *value, i + 2 < format->count ? stop_after(format, i) : 0);
    }
    return !out->failed;
}

bool place_segment_name(const struct place *place, const struct route *child,
                        const struct bindings *parts, const struct place_options *options,
                        struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    if (!write_name(&child->segment, &place->bindings, parts, &name))
        return false;
    if (!format_is_literal(&child->segment) && !name_seal(&name, place_name_limit(options)))
        return false;
    buf_add_span(out, buf_span(&name));
    if (child->file && !child->file->attribute)
        buf_add_text(out, options->suffix);
    return !out->failed;
}

/* Whether a sibling would take the name before ENTRY does, or nobody at all. */
static bool is_captured(const struct route *entry, struct span name)
{
    if (noise_is(name) || span_is(name, README_NAME))
        return true;
    for (const struct route *child = entry->parent->children; child; child = child->next) {
        struct bindings captures = {0};
        if (child == entry)
            return false;
        if (format_match(&child->segment, name, &captures))
            return true;
    }
    return false;
}

/* Escapes bytes, from the last to the first, until no sibling takes the name. */
static void escape_until_free(const struct route *entry, struct buf *name)
{
    if (is_captured(entry, buf_span(name)))
        name_escape_at(name, 0);
    for (size_t i = name->size; i > 0 && is_captured(entry, buf_span(name)); i--) {
        bool escaped = name->data[i - 1] == '%' || (i > 1 && name->data[i - 2] == '%') ||
                       (i > 2 && name->data[i - 3] == '%');
        if (!escaped)
            name_escape_at(name, i - 1);
    }
}

bool place_entry_name(const struct place *place, const struct route *entry,
                      const struct bindings *parts, const struct place_options *options,
                      struct buf *out)
{
    size_t limit = place_name_limit(options);
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct span prefix;
    if (!write_name(&entry->segment, &place->bindings, parts, &name) || !name_seal(&name, limit))
        return false;
    if (!name_is_shortened(buf_span(&name), &prefix)) {
        escape_until_free(entry, &name);
        if (!name_seal(&name, limit))
            return false;
    }
    buf_add_span(out, buf_span(&name));
    buf_add_text(out, options->suffix);
    return !name.failed && !out->failed;
}
