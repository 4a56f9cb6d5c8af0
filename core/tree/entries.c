#include "core/tree/entries.h"

#include <stdlib.h>

#include "core/tree/noise.h"
#include "core/tree/readme.h"

void entries_clean_up(struct entries *entries)
{
    arena_clean_up(&entries->arena);
    free(entries->items);
    *entries = (struct entries){0};
}

void entries_clear(struct entries *entries)
{
    arena_clean_up(&entries->arena);
    entries->count = 0;
}

struct tree_entry *entries_add(struct entries *entries, struct span name, bool directory)
{
    if (entries->count == entries->capacity) {
        size_t capacity = entries->capacity ? entries->capacity * 2 : 16;
        struct tree_entry *grown = realloc(entries->items, capacity * sizeof *grown);
        if (!grown) {
            entries->failed = true;
            return NULL;
        }
        entries->items = grown;
        entries->capacity = capacity;
    }
    struct tree_entry *entry = &entries->items[entries->count];
    *entry = (struct tree_entry){
        .name = arena_copy(&entries->arena, name), .directory = directory, .size = -1};
    entries->failed = entries->failed || entries->arena.failed;
    if (entries->failed)
        return NULL;
    entries->count++;
    return entry;
}

bool entries_have(const struct entries *entries, struct span name)
{
    for (size_t i = 0; i < entries->count; i++)
        if (span_equal(entries->items[i].name, name))
            return true;
    return false;
}

static void add_text(struct entries *entries, const struct buf *name, bool directory)
{
    entries->failed = entries->failed || name->failed;
    if (!entries->failed && !entries_have(entries, buf_span(name)))
        entries_add(entries, buf_span(name), directory);
}

static void add_environments(struct entries *entries, const struct map *map)
{
    for (const struct map_environment *each = map->environments; each; each = each->next) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        if (!format_is_literal(&each->name))
            continue;
        format_write(&each->name, &name);
        add_text(entries, &name, true);
    }
}

static void add_tables(struct entries *entries, const struct map *map)
{
    for (size_t i = 0; i < map->model_count; i++)
        entries_add(entries, span_text(map->models[i]->path_name), true);
}

/* The one parameter of a segment that the path has not bound yet; NULL when there are others. */
static const char *only_param(const struct format *segment)
{
    const char *param = NULL;
    for (size_t i = 0; i < segment->count; i++) {
        if (segment->pieces[i].param && param)
            return NULL;
        if (segment->pieces[i].param)
            param = segment->pieces[i].param;
    }
    return param;
}

static const struct map_param *known_values(const struct place *place, const struct route *child)
{
    const char *name = only_param(&child->segment);
    const struct map_param *param = name ? model_find_param(place->table, name) : NULL;
    return param && param->value_count ? param : NULL;
}

static bool is_secret(const struct place *place, const struct route *child)
{
    return child->file && child->file->attribute &&
           model_is_secret(place->table, span_text(child->file->attribute));
}

static void add_segment(struct entries *entries, const struct place *place,
                        const struct route *child, const struct bindings *parts,
                        const struct place_options *names)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    size_t before = entries->count;
    if (place_segment_name(place, child, parts, names, &name))
        add_text(entries, &name, !child->file);
    else
        entries->failed = true;
    if (entries->count > before)
        entries->items[before].secret = is_secret(place, child);
}

static void add_values(struct entries *entries, const struct place *place,
                       const struct route *child, const struct map_param *param,
                       const struct place_options *names)
{
    for (size_t i = 0; i < param->value_count; i++) {
        struct bindings one = {.items = {{param->name, param->values[i]}}, .count = 1};
        add_segment(entries, place, child, &one, names);
    }
}

/* The names of the steps below PLACE that the map tells in full: those of files, or of directories.
 */
static void add_routes(struct entries *entries, const struct place *place, bool files,
                       const struct place_options *names)
{
    struct bindings nothing = {0};
    for (const struct route *child = place->route->children; child; child = child->next) {
        if (child->entry || !child->file == files)
            continue;
        const struct map_param *values = known_values(place, child);
        if (values)
            add_values(entries, place, child, values, names);
        else if (format_is_literal(&child->segment) && !place_is_hidden(child, names))
            add_segment(entries, place, child, &nothing, names);
    }
}

void entries_add_declared(struct entries *entries, const struct place *place,
                          const struct place_options *names)
{
    if (place->kind == PLACE_ROOT)
        add_environments(entries, place->map);
    else if (place->kind == PLACE_ENVIRONMENT)
        add_tables(entries, place->map);
    if (place->kind != PLACE_DIRECTORY)
        return;
    if (readme_is_in(place))
        entries_add(entries, SPAN_LITERAL(README_NAME), false);
    add_routes(entries, place, false, names);
}

void entries_add_files(struct entries *entries, const struct place *place,
                       const struct place_options *names)
{
    if (place->kind == PLACE_DIRECTORY)
        add_routes(entries, place, true, names);
}

bool entries_follow(const struct route *child, const struct route *entry,
                    const struct bindings *path)
{
    for (size_t i = 0; i < entry->segment.count; i++) {
        const char *param = entry->segment.pieces[i].param;
        if (param && !bindings_find(path, param) && !format_has(&child->segment, param))
            return false;
    }
    for (size_t i = 0; i < child->segment.count; i++) {
        const char *param = child->segment.pieces[i].param;
        if (param && !bindings_find(path, param) && !format_has(&entry->segment, param))
            return false;
    }
    return true;
}

static bool follows_some_entry(const struct place *place, const struct route *child)
{
    for (const struct route *entry = place->route->children; entry; entry = entry->next)
        if (entry->entry && !child->file && entries_follow(child, entry, &place->bindings))
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

const struct route *entries_unlisted(const struct place *place)
{
    if (place->kind != PLACE_DIRECTORY && place->kind != PLACE_README &&
        place->kind != PLACE_LIST_INFO)
        return NULL;
    const struct map_pattern *list = place->route->list;
    for (const struct route *child = place->route->children; child; child = child->next)
        if (!child->entry && !format_is_literal(&child->segment) && !known_values(place, child) &&
            !follows_some_entry(place, child) &&
            !(list && list->whole && shows_some_of(list, child)))
            return child;
    return NULL;
}

/* Whether the map names an environment so, which then goes before one with a parameter. */
static bool is_named(const struct map *map, struct span name)
{
    struct bindings nothing = {0};
    for (const struct map_environment *each = map->environments; each; each = each->next)
        if (format_is_literal(&each->name) && format_match(&each->name, name, &nothing))
            return true;
    return false;
}

/* Where the first value stands in a name of FORMAT. */
static size_t first_value_at(const struct format *format)
{
    return format->pieces[0].param ? 0 : format->pieces[0].literal.size;
}

void entries_add_environment(struct entries *entries, const struct map *map,
                             const struct map_environment *each, struct span table_name)
{
    for (size_t i = 0; i < map->model_count; i++) {
        struct bindings captures = {0};
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        struct span base = span_text(map->models[i]->base_name);
        if (!span_ends(table_name, base) ||
            !format_match(&each->prefix, span_of(table_name.data, table_name.size - base.size),
                          &captures))
            continue;
        format_expand(&each->name, &captures, &name);
        if (is_named(map, buf_span(&name)))
            continue;
        if (!name.failed && noise_is(buf_span(&name)))
            name_escape_at(&name, first_value_at(&each->name));
        add_text(entries, &name, true);
    }
}
