#include "core/read/entries.h"

#include <stdlib.h>

#include "core/map/listable.h"
#include "core/name/names.h"
#include "core/read/fact.h"

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
        .name = arena_copy(&entries->arena, name),
        .directory = directory,
        .size = -1,
        .ttl_left_ms = MAP_STRUCTURE_TTL_MS,
    };
    entries->failed = entries->failed || entries->arena.failed;
    if (entries->failed)
        return NULL;
    entries->count++;
    return entry;
}

static int entries_order_names(const void *a, const void *b)
{
    return span_compare(((const struct tree_entry *)a)->name, ((const struct tree_entry *)b)->name);
}

void entries_sort(struct entries *entries)
{
    if (entries->count > 0)
        qsort(entries->items, entries->count, sizeof *entries->items, entries_order_names);
}

bool entries_have(const struct entries *entries, struct span name)
{
    for (size_t i = 0; i < entries->count; i++)
        if (span_equal(entries->items[i].name, name))
            return true;
    return false;
}

static void entries_add_text(struct entries *entries, const struct buf *name, bool directory)
{
    entries->failed = entries->failed || name->failed;
    if (!entries->failed && !entries_have(entries, buf_span(name)))
        entries_add(entries, buf_span(name), directory);
}

static void entries_add_placeholder(struct entries *entries, struct span name)
{
    struct tree_entry *entry = entries->failed ? NULL : entries_add(entries, name, true);
    if (entry)
        entry->placeholder = true;
}

static void entries_add_segment(struct entries *entries, const struct place *place,
                                const struct route *child, const struct bindings *parts,
                                const struct place_options *names)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    size_t before = entries->count;
    if (!place_write_name(place, child, parts, 0, names, &name, &entries->why))
        entries->failed = true;
    else
        entries_add_text(entries, &name, !child->file);
    if (entries->count > before)
        entries->items[before].secret =
            child->file && child->file->attribute &&
            model_is_secret(place->table, span_text(child->file->attribute));
}

/* Whether the map has a literal step for SEGMENT with VALUES. */
static bool entries_is_literal(const struct route *directory, const struct format *segment,
                               const struct bindings *values)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    format_expand(segment, values, &text);
    for (const struct route *child = directory->children; child; child = child->next)
        if (format_is_literal(&child->segment) &&
            span_equal(child->segment.pieces[0].literal, buf_span(&text)))
            return true;
    return false;
}

static void entries_add_values(struct entries *entries, const struct place *place,
                               const struct route *child, const struct map_param *param,
                               const struct place_options *names)
{
    for (size_t i = 0; i < param->value_count; i++) {
        struct binding value = {.param = param->name, .value = param->values[i]};
        struct bindings one = {.items = {value}, .count = 1};
        const struct span *said = bindings_find(&place->bindings, param->name);
        bool other = said && !span_equal(*said, param->values[i]);
        if (other || entries_is_literal(place->route, &child->segment, &one))
            continue;
        entries_add_segment(entries, place, child, &one, names);
    }
}

/* The names of the steps below PLACE whose names the map has in full: those of files, or of
 * directories.
 */
static void entries_add_routes(struct entries *entries, const struct place *place, bool files,
                               const struct place_options *names)
{
    struct bindings nothing = {0};
    for (const struct route *child = place->route->children; child; child = child->next) {
        if (child->entry || child->hidden || !child->file == files || names_withhold(child, names))
            continue;
        const struct map_param *values = listable_values(place->table, child);
        if (values)
            entries_add_values(entries, place, child, values, names);
        else if (format_is_literal(&child->segment))
            entries_add_segment(entries, place, child, &nothing, names);
    }
}

void entries_add_declared(struct entries *entries, const struct place *place,
                          const struct place_options *names)
{
    bool has_tables = place->kind == PLACE_ROOT || place->kind == PLACE_ENVIRONMENT;
    if (place->kind == PLACE_ENVIRONMENT)
        for (size_t i = 0; i < place->map->model_count; i++)
            entries_add(entries, span_text(place->map->models[i]->path_name), true);
    const struct map_environment *each =
        place->kind == PLACE_ROOT ? place->map->environments : NULL;
    for (; each; each = each->next) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        if (!format_is_literal(&each->name))
            continue;
        format_write(&each->name, &name);
        entries_add_text(entries, &name, true);
    }
    has_tables = has_tables && !(place->kind == PLACE_ROOT && place_hides_tables(place, names));
    if (has_tables && !names->hide_secrets) /* there the map declares no secrets */
        entries_add(entries, SPAN_LITERAL(MAP_TABLES_NAME), true);
    if (place->kind == PLACE_COLUMNS) {
        entries_add(entries, SPAN_LITERAL(README_NAME), false);
        if (!names->omit_placeholders)
            entries_add_placeholder(entries, SPAN_LITERAL(PLACEHOLDER_COLUMNS));
    }
    if (place->kind != PLACE_DIRECTORY)
        return;
    if (names_list_readme(place->table, place->route, &place->bindings))
        entries_add(entries, SPAN_LITERAL(README_NAME), false);
    /* Other facts need requests that may be denied, which a walk over all files must not meet. */
    if (place_has_facts(place))
        entries_add(entries, span_text(fact_name(FACT_SCHEMA)), false);
    entries_add_routes(entries, place, false, names);
    /* Each reader sees by a placeholder that names are missing, and each program that walks the
     * tree meets an error there. */
    const struct route *step = NULL;
    while (!names->omit_placeholders && (step = place_next_unlisted(place, names, step))) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        names_write_placeholder(step, &name);
        entries->failed = entries->failed || name.failed;
        entries_add_placeholder(entries, buf_span(&name));
    }
}

void entries_add_files(struct entries *entries, const struct place *place,
                       const struct place_options *names)
{
    if (place->kind == PLACE_DIRECTORY)
        entries_add_routes(entries, place, true, names);
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
        if (!names_write_environment(each, &captures, &name)) {
            entries->failed = true;
            return;
        }
        bool taken = false; /* by a literal environment, which has priority */
        for (const struct map_environment *other = map->environments; other; other = other->next)
            taken = taken || (format_is_literal(&other->name) &&
                              format_match(&other->name, buf_span(&name), &(struct bindings){0}));
        if (!taken)
            entries_add_text(entries, &name, true);
    }
}
