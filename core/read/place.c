#include "core/read/place.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/instant.h"
#include "core/base/nearest.h"
#include "core/name/names.h"
#include "core/read/moments.h"

/* Copies TEXT, which is another place's, into PLACE's arena. */
static void place_copy_text(struct place *place, struct span *text)
{
    if (text->size > 0)
        *text = arena_copy(&place->arena, *text);
    else
        *text = span_text("");
}

static struct place *place_new(const struct place *parent)
{
    struct place *place = calloc(1, sizeof *place);
    if (!place)
        return NULL;
    struct arena own = {0};
    *place = *parent;
    place->arena = own;
    place->self = place;
    place->plan = NULL;
    map_ref(place->map);
    model_ref(place->table);
    model_ref(place->described);
    place_copy_text(place, &place->vector_name);
    place_copy_text(place, &place->similar_name);
    place_copy_text(place, &place->environment_name);
    place_copy_text(place, &place->at);
    place_copy_text(place, &place->attribute);
    place_copy_text(place, &place->link_ending);
    place_copy_text(place, &place->shortened);
    place_copy_text(place, &place->columns);
    place_copy_text(place, &place->below);
    if (parent->table_prefix)
        place->table_prefix = arena_text(&place->arena, span_text(parent->table_prefix));
    if (parent->table_name)
        place->table_name = arena_text(&place->arena, span_text(parent->table_name));
    place->selection = selection_copy(parent->selection, &place->arena);
    for (size_t i = 0; i < place->bindings.count; i++)
        place->bindings.items[i].value = arena_copy(&place->arena, parent->bindings.items[i].value);
    return place;
}

struct place *place_copy(const struct place *place)
{
    struct place *copy = place_new(place);
    if (copy && copy->arena.failed) {
        place_destroy(copy);
        return NULL;
    }
    if (copy)
        copy->plan = plan_ref(place->self->plan);
    return copy;
}

static void place_drop_plan(struct place *place)
{
    plan_unref(place->plan);
    place->plan = NULL;
}

struct place *place_copy_as(const struct place *place, enum companion companion)
{
    struct place *copy = place_copy(place);
    if (!copy)
        return NULL;
    if ((copy->companion == COMPANION_COUNT) != (companion == COMPANION_COUNT))
        place_drop_plan(copy);
    copy->kind = companion == COMPANION_NONE   ? PLACE_DIRECTORY
                 : companion == COMPANION_INFO ? PLACE_LIST_INFO
                                               : PLACE_LIST_FILE;
    copy->companion = companion;
    return copy;
}

struct place *place_copy_at(const struct place *place, int64_t at_ms, enum companion companion)
{
    struct place *copy = place_copy(place);
    if (!copy)
        return NULL;
    copy->kind = companion == COMPANION_INFO    ? PLACE_INFO
                 : companion == COMPANION_TYPED ? PLACE_TYPED
                                                : PLACE_RECORD;
    copy->companion = COMPANION_NONE;
    copy->is_past = true;
    copy->is_snapshot = true;
    copy->at_ms = at_ms;
    return copy;
}

struct place *place_copy_subject(const struct place *place)
{
    struct place *copy = place_copy(place);
    if (!copy)
        return NULL;
    place_drop_plan(copy);
    copy->kind = PLACE_RECORD;
    copy->companion = COMPANION_NONE;
    copy->columns = span_text("");
    return copy;
}

struct place *place_root(const struct map *map)
{
    struct place *place = calloc(1, sizeof *place);
    if (place)
        *place = (struct place){.kind = PLACE_ROOT, .map = map_ref(map), .self = place};
    return place;
}

void place_destroy(struct place *place)
{
    if (!place)
        return;
    plan_unref(place->plan);
    arena_clean_up(&place->arena);
    model_unref(place->described);
    model_unref(place->table);
    map_unref(place->map);
    free(place);
}

size_t place_memory(const struct place *place)
{
    return place ? sizeof *place + arena_memory(&place->arena) : 0;
}

bool place_is_directory(const struct place *place)
{
    return place->kind <= PLACE_COLUMNS || place->kind == PLACE_ATTRS ||
           place->kind == PLACE_LINKS || place->kind == PLACE_HISTORY ||
           place->kind == PLACE_SIMILAR;
}

bool place_has_facts(const struct place *place)
{
    return place->kind == PLACE_DIRECTORY && place->table_name && !place->route->parent;
}

char *place_table_name(const struct place *place)
{
    struct buf name = {0};
    buf_add_text(&name, place->table_prefix);
    buf_add_text(&name, place->table->base_name);
    return buf_steal(&name, NULL);
}

bool place_is_listing(const struct place *place)
{
    return (place->kind == PLACE_DIRECTORY || place->kind == PLACE_LIST_INFO ||
            place->kind == PLACE_LIST_FILE) &&
           place->route->list;
}

struct plan *place_new_plan(const struct place *place, struct error *err)
{
    const struct route *route = place->route;
    bool listing = place_is_listing(place);
    bool one = place->kind == PLACE_ATTR && !place->attribute_shortened;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct span *columns = NULL;
    size_t column_count = 0;
    char *table = place_table_name(place);
    if (listing && place->columns.size > 0)
        names_find_columns(place->columns, &arena, &columns, &column_count, NULL);
    if (!table || arena.failed) {
        free(table);
        error_no_memory(err);
        return NULL;
    }
    struct plan_subject subject = {
        .table = place->table,
        .table_name = table,
        .pattern = listing ? route->list : route->file,
        .entry = listing ? NULL : route->entry,
        .kind = listing ? NULL : route->kind,
        .path = &place->bindings,
        .attribute = one                          ? place->attribute
                     : place->kind == PLACE_VALUE ? span_text(route->file->attribute)
                                                  : span_text(""),
        .shortened = place->shortened,
        .selection = listing ? place->selection : NULL,
        .counts = place->kind == PLACE_LIST_FILE && place->companion == COMPANION_COUNT,
        .columns = columns,
        .column_count = column_count,
        .vector = place->kind >= PLACE_SIMILAR ? place->vector : NULL,
        .top = place->top,
        .found = place->kind == PLACE_SIMILAR_ITEM ? PLAN_FOUND_ONE
                 : place->kind == PLACE_SIMILAR_FILE &&
                         (place->companion == COMPANION_INFO || place->companion == COMPANION_COUNT)
                     ? PLAN_FOUND_NONE
                     : PLAN_FOUND_ALL,
    };
    struct plan *plan = plan_new(&subject, err);
    free(table);
    return plan;
}

const struct plan *place_plan(const struct place *place, struct error *err)
{
    if (!place->self->plan)
        place->self->plan = place_new_plan(place, err);
    return place->self->plan;
}

void place_release_plan(const struct place *place)
{
    place_drop_plan(place->self);
}

/* Appends the directories below DIRECTORY that list records, with a comma between, as far as ROOM
 * goes, which the last takes for an ellipsis. PATH leads from where the first began to this one. */
static void place_add_listings_below(const struct route *directory, struct buf *path, size_t *room,
                                     struct buf *out)
{
    size_t size = path->size;
    for (const struct route *child = directory->children; child; child = child->next) {
        if (child->file || child->hidden)
            continue;
        route_write_segment(child, path);
        buf_add_char(path, '/');
        if (child->list && !child->list->groups && *room > 0)
            buf_printf(out, "%s%s", out->size ? ", " : "", --*room ? buf_text(path) : "…");
        place_add_listings_below(child, path, room, out);
        buf_truncate(path, size);
    }
}

static bool place_describe_no_listing(const struct place *place, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0}, below = {0};
    size_t room = 9;
    if (!place_is_directory(place))
        return error_set(err, ERROR_INVALID,
                         "is no listing of items, but one file; use counts, limits and filters "
                         "with a directory that lists items");
    if (place->kind != PLACE_DIRECTORY)
        return error_set(err, ERROR_INVALID,
                         "is no listing of items; use a directory of one of its tables");
    place_add_listings_below(place->route, &path, &room, &below);
    if (path.failed || below.failed)
        return error_no_memory(err);
    if (below.size == 0)
        return error_set(err, ERROR_INVALID,
                         "is no listing of items, nor is anything below it: an item opens here by "
                         "its key");
    return error_set(err, ERROR_INVALID, "is no listing of items; directories below it are: %s",
                     buf_text(&below));
}

bool place_has_records(const struct place *place, struct error *err)
{
    if (!place_is_listing(place))
        return place_describe_no_listing(place, err);
    return !place->route->list->groups ||
           error_set(err, ERROR_INVALID,
                     "lists directories for the values of items, and not the items; use one of "
                     "these directories");
}

void place_count(struct place *place)
{
    place->kind = PLACE_LIST_FILE;
    place->companion = COMPANION_COUNT;
    place->columns = span_text("");
    place_drop_plan(place);
}

void place_set_columns(struct place *place, struct span columns)
{
    place_drop_plan(place);
    place->columns = arena_copy(&place->arena, columns);
}

bool place_select(struct place *place, const struct selection *selection, bool show_secrets,
                  struct error *err)
{
    if (!place_has_records(place, err))
        return false;
    if (!show_secrets && !selection_hides_secrets(selection, place->table, err))
        return false;
    const struct selection *own = selection_copy(selection, &place->arena);
    if (!own || place->arena.failed)
        return error_no_memory(err);
    const struct selection *before = place->selection;
    place_drop_plan(place);
    place->selection = own;
    if (place_plan(place, err))
        return true;
    place->selection = before;
    return false;
}

/* Whether the present of PLACE is a snapshot. */
static void place_note_snapshot(struct place *place, const struct place_options *options)
{
    const struct moments *moments = options->moments;
    place->is_snapshot = moments && moments->is_snapshot(moments->arg, place->environment);
    place->is_recording = place->is_snapshot && moments->is_recording &&
                          moments->is_recording(moments->arg, place->environment);
}

static bool place_find_environment(struct place *place, struct span name,
                                   const struct place_options *options, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf prefix = {0};
    struct bindings values = {0};
    const struct map_environment *environment = names_find_environment(
        place->map, name, options->opens_probed, &place->arena, &values, err);
    if (!environment)
        return false;
    format_expand(&environment->prefix, &values, &prefix);
    if (memchr(buf_text(&prefix), '\0', prefix.size)) /* its name would end there */
        return error_set(err, ERROR_INVALID, "no table's name holds a NUL");
    place->arena.failed = place->arena.failed || prefix.failed;
    place->kind = PLACE_ENVIRONMENT;
    place->environment = environment;
    place->environment_name = arena_copy(&place->arena, name);
    place->table_prefix = arena_text(&place->arena, buf_span(&prefix));
    place_note_snapshot(place, options);
    return true;
}

static void place_enter_table(struct place *place, const struct model *model)
{
    place->kind = PLACE_DIRECTORY;
    place->table = model_ref(model);
    place->route = model->root;
}

static bool place_find_table(struct place *place, struct span name, struct error *err)
{
    const struct map *map = place->map;
    const struct model *model = map_find_model(map, name);
    if (model) {
        place_enter_table(place, model);
        return true;
    }
    CLEAN_UP(buf_clean_up) struct buf names = {0}, hint = {0};
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < map->model_count; i++) {
        buf_printf(&names, "%s%s", names.size ? ", " : "", map->models[i]->path_name);
        nearest_offer(&nearest, span_text(map->models[i]->path_name));
    }
    nearest_write(&nearest, &hint);
    return error_set(err, ERROR_NOT_FOUND,
                     "the map has no table \"%.*s\"%s; it has %s; others are in " MAP_TABLES_NAME
                     "/",
                     (int)name.size, name.data, buf_text(&hint), buf_text(&names));
}

bool place_hides_tables(const struct place *root, const struct place_options *options)
{
    const struct moments *moments = options->moments;
    const struct map_environment *each = root->map->environments;
    bool is_offline = each && moments && !moments->is_snapshot(moments->arg, NULL);
    for (; is_offline && each; each = each->next)
        is_offline = moments->is_snapshot(moments->arg, each);
    return is_offline;
}

static bool place_enter_tables(struct place *place, const struct place_options *options,
                               struct error *err)
{
    if (!place->environment && place_hides_tables(place, options))
        return error_set(err, ERROR_NOT_FOUND,
                         "all environments of the map are snapshots, so no table of DynamoDB is "
                         "read; the tables of an environment are in /ENVIRONMENT/" MAP_TABLES_NAME);
    if (options->hide_secrets)
        return error_set(err, ERROR_DENIED,
                         "other users may read this mount (allow_other), and no map declares which "
                         "attributes of these tables are secret; use --show-secrets to show all");
    place->kind = PLACE_TABLES;
    if (!place->environment)
        place_note_snapshot(place, options);
    return true;
}

/* Without a map the root has tables/ alone. */
static bool place_find_without_map(struct span name, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf table = {0};
    struct error ignored;
    error_set(err, ERROR_NOT_FOUND,
              "without a map there is " MAP_TABLES_NAME "/ alone, and no \"%.*s\"; a map is "
              "given by --map FILE or DDBFS_MAP, or found in ~/.config/ddbfs/map.json",
              (int)name.size, name.data);
    if (names_find_table(name, &table, &ignored))
        error_add(err, "; if it is a table: /" MAP_TABLES_NAME "/%.*s", (int)name.size, name.data);
    return false;
}

/* Binds the parts that the pattern itself declares ("where": {"index_name": "x"}). */
static bool place_bind_stated(struct place *place, const struct map_pattern *pattern)
{
    for (size_t i = 0; pattern && i < pattern->stated_count; i++) {
        const struct map_part *part = &pattern->stated[i];
        CLEAN_UP(buf_clean_up) struct buf text = {0}, value = {0};
        if (bindings_find(&place->bindings, part->param))
            continue;
        bool known = format_expand(&part->value, &place->bindings, &text);
        if (!model_read_part(place->table, part->param, buf_span(&text), &value))
            buf_add_span(&value, buf_span(&text)); /* the plan refuses it */
        place->arena.failed = place->arena.failed || text.failed || value.failed;
        if (!known || !bindings_add(&place->bindings, part->param,
                                    arena_copy(&place->arena, buf_span(&value))))
            return false;
    }
    return true;
}

static enum place_kind place_file_kind(const struct route *route, enum companion companion)
{
    static const enum place_kind kinds[] = {
        [COMPANION_NONE] = PLACE_RECORD,
        [COMPANION_TYPED] = PLACE_TYPED,
        [COMPANION_INFO] = PLACE_INFO,
        [COMPANION_ATTRS] = PLACE_ATTRS,
        [COMPANION_LINKS] = PLACE_LINKS,
        [COMPANION_HISTORY] = PLACE_HISTORY,
        [COMPANION_SIMILAR] = PLACE_SIMILAR,
        [COMPANION_END] = PLACE_RECORD, /* an item has no others */
    };
    return route->file->attribute ? PLACE_VALUE : kinds[companion];
}

/* DIR@csv is a file. In a mount DIR@table is a directory of files, one for each choice of columns;
 * elsewhere it is a file, too. */
static enum place_kind place_directory_kind(const struct names_found *found,
                                            const struct place_options *options)
{
    switch (found->companion) {
    case COMPANION_INFO:
        return PLACE_LIST_INFO;
    case COMPANION_JSONL:
    case COMPANION_CSV:
    case COMPANION_COUNT:
    case COMPANION_SUMMARY:
    case COMPANION_SQLITE:
        return PLACE_LIST_FILE;
    case COMPANION_TABLE:
        return found->columns.size || options->table_is_file ? PLACE_LIST_FILE : PLACE_COLUMNS;
    default:
        return PLACE_DIRECTORY;
    }
}

const struct route *place_key_step(const struct place *place)
{
    if (!place->table_name || !place->route)
        return NULL;
    const char *key = format_whole_param(&place->table->kinds->keys[0]);
    for (const struct route *step = place->route->children; step; step = step->next) {
        const struct map_pattern *pattern = step->list ? step->list : step->file;
        const char *param = format_whole_param(&step->segment);
        if (pattern && !pattern->index && !step->entry && param && key && strcmp(param, key) == 0)
            return step;
    }
    return NULL;
}

/* The latest moment that PLACE shows. */
static int64_t place_last_ms(const struct place *place)
{
    return place->is_past ? place->at_ms : INT64_MAX;
}

static struct names_directory place_names_of(const struct place *place,
                                             const struct place_options *options)
{
    bool scans = options->scan || place_scans_snapshot(place);
    const struct route *scanned = scans ? place_key_step(place) : NULL;
    return (struct names_directory){place->table, place->route, &place->bindings,
                                    options,      scanned,      false};
}

const struct route *place_next_unlisted(const struct place *place,
                                        const struct place_options *options,
                                        const struct route *after)
{
    struct names_directory directory = place_names_of(place, options);
    bool is_of_directory = place->kind == PLACE_DIRECTORY || place->kind == PLACE_README ||
                           place->kind == PLACE_LIST_INFO || place->kind == PLACE_LIST_FILE;
    return is_of_directory && place->route ? names_next_unlisted(&directory, after) : NULL;
}

/* The default number of results. */
enum { SIMILAR_TOP = 10, SIMILAR_MOST = 100 };

char *place_undescribed_table(const struct place *place)
{
    return place->kind >= PLACE_SIMILAR && !place->described ? place_table_name(place) : NULL;
}

/* Appends the names of the table's vector indexes, with a comma between. */
static void place_write_vectors(const struct model *model, struct buf *out)
{
    for (const struct map_vector *each = model->vectors; each; each = each->next)
        buf_printf(out, "%s%s", each == model->vectors ? "" : ", ", each->name);
}

/* Whether VECTOR can be searched, and the order of its results is known. */
static bool place_check_vector(const struct map_vector *vector, const char *table,
                               struct error *err)
{
    static const char *const known[] = {DISTANCE_COSINE, DISTANCE_EUCLIDEAN, DISTANCE_DOT_PRODUCT};
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        is_known = is_known || strcmp(vector->distance, known[i]) == 0;
    if (!is_known)
        return error_set(err, ERROR_INVALID,
                         "the vector index %s of table %s has the distance function %s, which this "
                         "version does not know, and so not the order of its results; update ddbfs",
                         vector->name, table, vector->distance);
    return model_vector_is_ready(vector) ||
           error_set(err, ERROR_NO_TABLE,
                     "the vector index %s of table %s is not ready for searches: it is %s%s; wait "
                     "until it is ACTIVE and not backfilling, which schema.json shows",
                     vector->name, table, vector->status,
                     vector->is_backfilling ? " and backfilling" : "");
}

/* Chooses the index of PLACE, whose DESCRIBED is known. */
static bool place_find_vector(struct place *place, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf names = {0};
    const struct model *model = place->described;
    const char *table = model->base_name; /* the whole name */
    place_write_vectors(model, &names);
    if (!model->vectors)
        return error_set(err, ERROR_NO_TABLE,
                         "table %s has no vector index, and @similar searches one by the item's "
                         "vector; add one to the table (UpdateTable, VectorIndexUpdates)",
                         table);
    if (place->vector_name.size == 0 && model->vectors->next)
        return error_set(err, ERROR_INVALID,
                         "table %s has several vector indexes: %s; type the one that is meant: "
                         "@similar:%s",
                         table, buf_text(&names), model->vectors->name);
    place->vector =
        place->vector_name.size > 0 ? model_find_vector(model, place->vector_name) : model->vectors;
    if (!place->vector)
        return error_set(err, ERROR_NO_TABLE, "table %s has no vector index \"%.*s\"; it has %s",
                         table, (int)place->vector_name.size, place->vector_name.data,
                         buf_text(&names));
    return place_check_vector(place->vector, table, err);
}

struct place *place_describe(const struct place *place, const struct model *model,
                             struct error *err)
{
    struct place *copy = place_copy(place);
    if (!copy) {
        error_no_memory(err);
        return NULL;
    }
    place_drop_plan(copy);
    copy->described = model_ref(model);
    if (place_find_vector(copy, err))
        return copy;
    place_destroy(copy);
    return NULL;
}

/* NAME@similar:INDEX becomes a PLACE_SIMILAR. Of a table of the map the index is found later, when
 * the table's description is known. */
static bool place_enter_similar(struct place *place, struct span index, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    if (place_scans_snapshot(place))
        return error_set(err, ERROR_NO_TABLE,
                         "a snapshot has no vector index, and @similar needs one; use the same "
                         "path in the table itself");
    if (!escape_decode(index, &name) && index.size > 0)
        return error_set(err, ERROR_INVALID, "\"%.*s\" is no name of an index", (int)index.size,
                         index.data);
    place->arena.failed = place->arena.failed || name.failed;
    place->companion = COMPANION_SIMILAR;
    place->vector_name = arena_copy(&place->arena, buf_span(&name));
    place->top = SIMILAR_TOP;
    if (!place->table_name)
        return true;
    place->described = model_ref(place->table);
    return place_find_vector(place, err);
}

/* PLACE becomes the item or the directory FOUND. */
static bool place_take_found(struct place *place, const struct names_found *found,
                             const struct place_options *options, struct error *err)
{
    place->route = found->route;
    place->kind = found->route->file ? place_file_kind(found->route, found->companion)
                                     : place_directory_kind(found, options);
    if (companion_is_of_listing(found->companion)) {
        place->companion = found->companion;
        place->columns = arena_copy(&place->arena, found->columns);
    }
    if (found->kind == NAMES_SHORTENED) {
        place->shortened = arena_copy(&place->arena, found->bare);
        return true;
    }
    for (size_t i = 0; i < found->values.count; i++)
        if (!bindings_add(&place->bindings, found->values.items[i].param,
                          arena_copy(&place->arena, found->values.items[i].value)))
            return error_no_memory(err);
    const struct route *route = found->route;
    return place_bind_stated(place, route->file ? route->file : route->list) ||
           error_set(err, ERROR_INVALID, "a path has at most %d parameters", BINDINGS_MAX);
}

static bool place_find_in_table(struct place *place, struct span name,
                                const struct place_options *options, struct error *err);

/* The forms of PLACE, a PLACE_SIMILAR, as one file. */
static bool place_take_form(struct place *place, enum companion form, struct span columns,
                            struct error *err)
{
    if (form == COMPANION_SUMMARY || form == COMPANION_SQLITE)
        return error_set(err, ERROR_NOT_FOUND,
                         "similar items have no %s; they have @jsonl, @csv, @table, @count and "
                         "@info",
                         companion_ending(form));
    place->kind = PLACE_SIMILAR_FILE;
    place->companion = form;
    place->columns = arena_copy(&place->arena, columns);
    return true;
}

/* Takes the ending of a form off NAME, which then is NAME@similar. COMPANION_NONE, with NAME
 * unchanged, if it has no such ending. */
static enum companion place_split_form(struct span *name, struct span *columns)
{
    struct span base = *name, inner, ignored;
    enum companion form = companion_split(&base, columns);
    inner = base;
    if ((form != COMPANION_INFO && !companion_is_of_listing(form)) ||
        companion_split(&inner, &ignored) != COMPANION_SIMILAR)
        return COMPANION_NONE;
    *name = base;
    return form;
}

/* The number of results that NAME is; 0 if it is not a number. */
static uint32_t place_read_top(struct span name)
{
    uint32_t number = 0;
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] < '0' || name.data[i] > '9' || (i == 0 && name.data[i] == '0'))
            return 0;
        number = number * 10 + (uint32_t)(name.data[i] - '0');
        if (number > SIMILAR_MOST)
            return SIMILAR_MOST + 1;
    }
    return number;
}

/* RECORD@similar/5, /5@csv, /02_NAME and /02_NAME@info. Reading decides whether an item has the
 * name. */
static bool place_find_similar(struct place *place, struct span name, struct error *err)
{
    struct span base = name, columns, index = name;
    enum companion companion = companion_split(&base, &columns);
    uint32_t top = place->is_top_typed ? 0 : place_read_top(base);
    bool is_form = companion == COMPANION_INFO || companion_is_of_listing(companion);
    if (span_is(name, README_NAME)) {
        place->kind = PLACE_README;
        return true;
    }
    if (top > SIMILAR_MOST)
        return error_set(err, ERROR_INVALID, "a search returns 1 to %d items, and not %.*s",
                         SIMILAR_MOST, (int)base.size, base.data);
    if (top > 0 && (companion == COMPANION_NONE || is_form)) {
        place->top = top;
        place->is_top_typed = true;
        return companion == COMPANION_NONE || place_take_form(place, companion, columns, err);
    }
    while (index.size > 0 && index.data[0] >= '0' && index.data[0] <= '9')
        index = span_from(index, 1);
    bool is_entry = index.size < name.size && index.size > 1 && index.data[0] == '_' &&
                    (companion == COMPANION_NONE || companion == COMPANION_INFO ||
                     companion == COMPANION_TYPED);
    if (!is_entry)
        return error_set(err, ERROR_NOT_FOUND,
                         "not found here: \"%.*s\"; there are the names that the listing shows, "
                         "such as 01_KEY, with @info and @typed%s",
                         (int)name.size, name.data,
                         place->is_top_typed ? "" : ", and numbers of results from 1 to 100");
    place->kind = PLACE_SIMILAR_ITEM;
    place->companion = companion;
    place->similar_name = arena_copy(&place->arena, base);
    return true;
}

static bool place_find_in_table(struct place *place, struct span name,
                                const struct place_options *options, struct error *err)
{
    struct span form_columns = span_text("");
    enum companion form = place_split_form(&name, &form_columns);
    if (form != COMPANION_NONE)
        return place_find_in_table(place, name, options, err) &&
               place_take_form(place, form, form_columns, err);
    struct names_directory directory = place_names_of(place, options);
    struct names_found found;
    directory.opens_probed = options->opens_probed;
    if (place_has_facts(place) && fact_find(name, &place->fact)) {
        place->kind = PLACE_FACT;
        return true;
    }
    if (place_has_facts(place) && span_is(name, PLACE_CHANGES_NAME)) {
        place->kind = PLACE_CHANGES;
        return !place->is_snapshot ||
               error_set(err, ERROR_NOT_FOUND, "the table is of a snapshot, which never changes");
    }
    if (!names_find(&directory, name, &place->arena, &found, err))
        return false;
    if (found.companion == COMPANION_SIMILAR && !place_enter_similar(place, found.columns, err))
        return false;
    if (found.kind == NAMES_README) {
        place->kind = PLACE_README;
        return true;
    }
    if (found.kind == NAMES_PLACEHOLDER) {
        place->kind = PLACE_PLACEHOLDER;
        place->route = found.route;
        return true;
    }
    if (found.companion == COMPANION_LINKS && !place->table->links)
        return error_set(err, ERROR_NOT_FOUND, "the map has no \"links\" for this table's items");
    if (found.companion == COMPANION_HISTORY) {
        int64_t newest_ms;
        place->companion = COMPANION_HISTORY;
        place->is_snapshot = true;
        if (!moments_find(options->moments, place->environment, place_last_ms(place), &newest_ms,
                          err))
            return false;
    }
    return place_take_found(place, &found, options, err);
}

/* DIR@table/status,created_at, and outside of a mount DIR@csv/status,created_at. */
static bool place_find_columns(struct place *place, struct span name, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct span *columns;
    size_t count;
    if (place->companion == COMPANION_TABLE && span_is(name, README_NAME)) {
        place->kind = PLACE_README;
        return true;
    }
    if (place->kind == PLACE_COLUMNS && span_is(name, PLACEHOLDER_COLUMNS)) {
        place->kind = PLACE_PLACEHOLDER;
        return true;
    }
    if (!names_find_columns(name, &arena, &columns, &count, err))
        return false;
    place->kind = PLACE_LIST_FILE;
    place->columns = arena_copy(&place->arena, name);
    return true;
}

static bool place_find_attribute(struct place *place, struct span name, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf attribute = {0};
    struct span prefix;
    enum escape_mark mark;
    place->kind = PLACE_ATTR;
    place->attribute_shortened =
        escape_is_shortened(name, &mark, &prefix) && mark == ESCAPE_MARK_FILE;
    if (place->attribute_shortened) {
        place->attribute = arena_copy(&place->arena, name);
        return true;
    }
    if (!names_find_attribute(name, &attribute, err))
        return false;
    place->attribute = arena_copy(&place->arena, buf_span(&attribute));
    return true;
}

/* NAME@info in an item's links is the companion of the target of NAME. */
static bool place_find_link(struct place *place, struct span name, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf names = {0}, hint = {0};
    struct nearest nearest = nearest_to(name);
    const char *at = memchr(name.data, '@', name.size);
    size_t size = at ? (size_t)(at - name.data) : name.size;
    place->link = model_find_link(place->table, span_of(name.data, size));
    if (place->link) {
        place->kind = PLACE_LINK;
        place->link_ending = arena_copy(&place->arena, span_from(name, size));
        return true;
    }
    for (const struct map_link *each = place->table->links; each; each = each->next) {
        buf_printf(&names, "%s%s", names.size ? ", " : "", each->name);
        nearest_offer(&nearest, span_text(each->name));
    }
    nearest_write(&nearest, &hint);
    return error_set(err, ERROR_NOT_FOUND, "the map has no link \"%.*s\"%s; it has %s",
                     (int)name.size, name.data, buf_text(&hint), buf_text(&names));
}

/* Whether NAME is that of a moment in the listings of PLACE, a PLACE_TIMES or a PLACE_HISTORY. */
static bool place_find_listed_time(struct place *place, struct span name,
                                   const struct place_options *options, int64_t *moment_ms)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct instant exact = instant_parse(name);
    int64_t last_ms = place_last_ms(place);
    if (!exact.known || exact.ms > last_ms ||
        !moments_find(options->moments, place->environment, exact.ms, moment_ms, NULL))
        return false;
    instant_write_exact(&text, *moment_ms);
    place->arena.failed = place->arena.failed || text.failed;
    return span_equal(buf_span(&text), name);
}

/* ENV@at/TIME. */
static bool place_find_time(struct place *place, struct span name,
                            const struct place_options *options, struct error *err)
{
    int64_t moment_ms;
    bool is_listed = place_find_listed_time(place, name, options, &place->at_ms);
    if (!is_listed && !instant_parse_prefix(name, &place->at_ms)) {
        CLEAN_UP(buf_clean_up) struct buf known = {0};
        moments_write(options->moments, place->environment, &known);
        return error_set(err, ERROR_NOT_FOUND,
                         "\"%.*s\" is no time; type a date, a time or a part of one, such as "
                         "2026-11-02 or 2026-11-02T06:00; %s",
                         (int)name.size, name.data, buf_text(&known));
    }
    if (!moments_find(options->moments, place->environment, place->at_ms, &moment_ms, err))
        return false;
    place->kind = place->environment ? PLACE_ENVIRONMENT : PLACE_TABLES;
    place->at = arena_copy(&place->arena, name);
    return true;
}

/* TIME, TIME@info and TIME@typed in an item's history, TIME as the listing writes it. Reading
 * decides whether the item changed then. */
static bool place_find_version(struct place *place, struct span name,
                               const struct place_options *options, struct error *err)
{
    struct span base = name, columns;
    int64_t moment_ms;
    enum companion companion = companion_split(&base, &columns);
    bool has =
        companion == COMPANION_NONE || companion == COMPANION_INFO || companion == COMPANION_TYPED;
    if (!has || !place_find_listed_time(place, base, options, &moment_ms))
        return error_set(err, ERROR_NOT_FOUND,
                         "the item has no version of this name; the listing of this directory "
                         "has the names; a part of a time opens only below @at; the companions "
                         "of a version are @info and @typed");
    place->kind = PLACE_VERSION;
    place->companion = companion;
    place->is_past = true;
    place->is_snapshot = true;
    place->at_ms = moment_ms;
    place->at = arena_copy(&place->arena, base);
    return true;
}

/* The README of a directory whose names come from no table. A name of the map has priority. */
static bool place_find_readme(struct place *place, struct span name)
{
    if (span_is(name, README_NAME))
        place->kind = PLACE_README;
    return place->kind == PLACE_README;
}

/* An entry of a directory of moments. */
static bool place_find_moment(struct place *place, struct span name,
                              const struct place_options *options, struct error *err)
{
    if (place_find_readme(place, name))
        return true;
    return place->kind == PLACE_TIMES ? place_find_time(place, name, options, err)
                                      : place_find_version(place, name, options, err);
}

/* An environment or tables/; with @at behind it, the times of its snapshots. */
static bool place_find_in_root(struct place *place, struct span name,
                               const struct place_options *options, struct error *err)
{
    struct span ending = SPAN_LITERAL(PLACE_TIMES_ENDING), base = name;
    bool is_past = span_ends(name, ending) && name.size > ending.size;
    const int64_t *times;
    size_t count;
    if (is_past)
        base.size -= ending.size;
    bool found = span_is(base, MAP_TABLES_NAME) ? place_enter_tables(place, options, err)
                 : map_is_none(place->map)      ? place_find_without_map(base, err)
                                                : place_find_environment(place, base, options, err);
    if (!found || !is_past)
        return found || place_find_readme(place, name);
    if (!moments_list(options->moments, place->environment, INT64_MAX, &times, &count, err))
        return false;
    place->kind = PLACE_TIMES;
    place->is_past = true;
    place->is_snapshot = true;
    place->at_ms = INT64_MAX;
    return true;
}

/* The names in other directories are found by the steps of the map. */
static bool place_has_plain_names(const struct place *place)
{
    switch (place->kind) {
    case PLACE_TABLES:
    case PLACE_TIMES:
    case PLACE_HISTORY:
    case PLACE_PLACEHOLDER:
    case PLACE_COLUMNS:
    case PLACE_ATTRS:
        return true;
    default:
        return false;
    }
}

static bool place_find_child(struct place *place, struct span name,
                             const struct place_options *options, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf table = {0};
    if (place_has_plain_names(place) && names_refuse_probed(options, name, err))
        return false;
    switch (place->kind) {
    case PLACE_ROOT:
        return place_find_in_root(place, name, options, err);
    case PLACE_TIMES:
    case PLACE_HISTORY:
        return place_find_moment(place, name, options, err);
    case PLACE_ENVIRONMENT:
        if (span_is(name, MAP_TABLES_NAME))
            return place_enter_tables(place, options, err);
        return place_find_table(place, name, err) || place_find_readme(place, name);
    case PLACE_TABLES:
        if (!names_find_table(name, &table, err))
            return false;
        place->kind = PLACE_TABLE;
        place->table_prefix = arena_text(&place->arena, span_text("")); /* the name is whole */
        place->table_name = arena_text(&place->arena, buf_span(&table));
        return true;
    case PLACE_TABLE:
        return error_set(err, ERROR_NOT_FOUND, "the table %s has not been described yet",
                         place->table_name);
    case PLACE_DIRECTORY:
        return place_find_in_table(place, name, options, err);
    case PLACE_PLACEHOLDER:
        /* The names below are not known, so none is proven to be not found. */
        return place->companion == COMPANION_TABLE
                   ? names_refuse_columns(err)
                   : names_refuse_unlisted(place->table, place->route, &place->bindings, err);
    case PLACE_SIMILAR:
        return place_find_similar(place, name, err);
    case PLACE_COLUMNS:
        return place_find_columns(place, name, err);
    case PLACE_ATTRS:
        return place_find_attribute(place, name, err);
    case PLACE_LINKS:
        return place_find_link(place, name, err);
    case PLACE_LIST_FILE:
        if (place->columns.size == 0 &&
            (place->companion == COMPANION_CSV || place->companion == COMPANION_TABLE))
            return place_find_columns(place, name, err);
        return error_set(err, ERROR_NOT_DIRECTORY, "a file; nothing is below it");
    default:
        return error_set(err, ERROR_NOT_DIRECTORY, "an item is a file; nothing is below it");
    }
}

struct place *place_child(const struct place *place, struct span name,
                          const struct place_options *options, struct error *err)
{
    struct place *child = place_new(place);
    bool found = child && place_find_child(child, name, options, err);
    if (found && child->table_name && child->table) {
        CLEAN_UP(buf_clean_up) struct buf below = {0};
        buf_printf(&below, "%.*s/", (int)child->below.size, child->below.data);
        buf_add_span(&below, name);
        child->arena.failed = child->arena.failed || below.failed;
        child->below = arena_copy(&child->arena, buf_span(&below));
    }
    if (found && !child->arena.failed)
        return child;
    if (!child || child->arena.failed)
        error_no_memory(err);
    place_destroy(child);
    return NULL;
}

struct place *place_table(const struct place *place, const struct model *model)
{
    struct place *table = place_copy(place);
    if (!table)
        return NULL;
    place_drop_plan(table);
    place_enter_table(table, model);
    return table;
}

struct place *place_undescribed(const struct place *place)
{
    struct place *table = place_copy(place);
    if (!table)
        return NULL;
    place_drop_plan(table);
    model_unref(table->table);
    model_unref(table->described);
    table->kind = PLACE_TABLE;
    table->table = NULL;
    table->described = NULL;
    table->vector = NULL;
    table->route = NULL;
    table->bindings = (struct bindings){0};
    table->below = span_text("");
    table->attribute = span_text("");
    table->companion = COMPANION_NONE;
    table->columns = span_text("");
    table->attribute_shortened = false;
    table->shortened = span_text("");
    return table;
}

/* Binds example values: numbers, which are valid texts and binaries, too. Each is greater than the
 * one before, so that a range ends behind its beginning. */
static void place_substitute(struct place *place, const struct format *segment)
{
    for (size_t i = 0; i < segment->count; i++) {
        char value[16];
        const char *param = segment->pieces[i].param;
        if (!param || bindings_find(&place->bindings, param))
            continue;
        size_t number = place->bindings.count + 1; /* few digits, for keys with little room */
        snprintf(value, sizeof value, number < 9 ? "%zu" : "9%02zu", number);
        bindings_add(&place->bindings, param, arena_copy(&place->arena, span_text(value)));
    }
}

static void place_enter_step(struct place *place, const struct route *directory,
                             const struct route *step)
{
    if (step != directory)
        place_enter_step(place, directory, step->parent);
    place->kind = step->file ? place_file_kind(step, COMPANION_NONE) : PLACE_DIRECTORY;
    place->route = step;
    place_substitute(place, &step->segment);
    place_bind_stated(place, step->file ? step->file : step->list);
}

struct place *place_example(const struct place *directory, const struct route *step)
{
    struct place *place = place_new(directory);
    if (!place)
        return NULL;
    place_enter_step(place, directory->route, step);
    if (!place->arena.failed)
        return place;
    place_destroy(place);
    return NULL;
}

struct place *place_of_route(const struct place *table, const struct model *model,
                             const struct route *route, const struct bindings *values)
{
    struct place *place = place_copy(table);
    if (!place)
        return NULL;
    place_drop_plan(place);
    model_unref(place->table);
    place->table = model_ref(model);
    place->table_name = NULL; /* a newer description of the table changes nothing here */
    place->below = span_text("");
    place->kind = route->file ? PLACE_RECORD : PLACE_DIRECTORY;
    place->route = route;
    place->bindings = *values;
    for (size_t i = 0; i < values->count; i++)
        place->bindings.items[i].value = arena_copy(&place->arena, values->items[i].value);
    if (!place->arena.failed)
        return place;
    place_destroy(place);
    return NULL;
}

/* The route of items by their keys in MODEL, which is a table's own description; or NULL. */
static const struct route *place_find_items(const struct model *model)
{
    const struct place items = {.table = model, .table_name = model->base_name};
    for (const struct route *each = model->root->children; each; each = each->next) {
        struct place directory = items;
        directory.route = each;
        const struct route *step =
            format_is_literal(&each->segment) ? place_key_step(&directory) : NULL;
        if (step && step->file)
            return step;
        for (const struct route *entry = step ? step->children : NULL; entry; entry = entry->next)
            if (entry->entry && entry->file == step->list)
                return entry;
    }
    return NULL;
}

struct place *place_of_similar(const struct place *place, const struct key *key)
{
    struct bindings values = {0};
    const struct model *model = place->described;
    const struct route *route = place_find_items(model);
    struct place *subject = place_copy_subject(place);
    bool ok = subject && route;
    for (size_t i = 0; ok && i < key->count; i++)
        ok = bindings_add(&values, format_whole_param(&model->kinds->keys[i]),
                          key->attributes[i].value.bytes);
    if (subject)
        subject->shortened = span_text("");
    struct place *item = ok ? place_of_route(subject, model, route, &values) : NULL;
    place_destroy(subject);
    if (!item)
        return NULL;
    item->table_prefix = arena_text(&item->arena, span_text("")); /* the model has the whole name */
    item->kind = place_file_kind(route, place->companion);
    if (!item->arena.failed)
        return item;
    place_destroy(item);
    return NULL;
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

bool place_suits_slash(const struct place *place, struct error *err)
{
    if (place_is_directory(place))
        return true;
    bool has_columns = place->kind == PLACE_LIST_FILE && place->columns.size == 0 &&
                       (place->companion == COMPANION_CSV || place->companion == COMPANION_TABLE);
    return error_set(err, ERROR_NOT_DIRECTORY, "%s",
                     has_columns ? "one file with all items of the listing; remove the final /, or "
                                   "type columns behind it: status,created_at"
                     : place->kind == PLACE_RECORD ? "an item is a file; remove the final /"
                                                   : "one file; remove the final /");
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
    if (place && slash && !place_suits_slash(place, err)) {
        place_destroy(place);
        return NULL;
    }
    return place;
}

void place_add_way(struct place *place, const struct place *from)
{
    const struct plan *plan = from->is_snapshot ? NULL : place_plan(from, NULL);
    if (plan)
        cost_add(&place->way, &plan->cost);
}

bool place_write_name(const struct place *place, const struct route *child,
                      const struct bindings *parts, uint64_t rank,
                      const struct place_options *options, struct buf *out, struct error *err)
{
    struct names_directory directory = place_names_of(place, options);
    return names_write(&directory, child, parts, rank, out, err);
}
