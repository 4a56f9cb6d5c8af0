#include "core/read/change_scope.h"

#include "core/map/condition_template.h"
#include "core/plan/item_match.h"
#include "core/plan/item_parts.h"
#include "core/read/shortened_names.h"

/* One image that is compared with the paths of a place. */
struct scope_test {
    const struct place *place;
    const struct change_image *image;
    struct key key;
    struct arena arena; /* owns values of parts */
};

/* An item on one of the map's paths. */
struct scope_match {
    const struct map_kind *kind;
    const struct map_entry *entry; /* of a listing; NULL for a file */
    struct bindings parts;         /* of the place, the item's key, and the index's key */
};

bool change_scope_check(const struct place *place, struct error *err)
{
    switch (place->kind) {
    case PLACE_DIRECTORY:
    case PLACE_RECORD:
    case PLACE_VALUE:
    case PLACE_TYPED:
        break;
    case PLACE_ROOT:
    case PLACE_ENVIRONMENT:
    case PLACE_TABLES:
        return error_set(err, ERROR_INVALID,
                         "has several tables, and each has a stream of its own; name tables, or "
                         "directories or items of them");
    default:
        return error_set(err, ERROR_INVALID,
                         "is neither a directory nor an item of a table; name one of these");
    }
    if (place->kind == PLACE_DIRECTORY && place->route->vector)
        return error_set(err, ERROR_INVALID,
                         "is of a vector index, which lists no items; follow the table");
    if (place->is_past || place->is_snapshot)
        return error_set(err, ERROR_INVALID,
                         "is of a %s, which does not change; follow the table itself, without "
                         "%s",
                         place->is_recording ? "recording" : "snapshot",
                         place->is_past ? "@at" : "--snapshot and DDBFS_SNAPSHOT");
    return true;
}

static bool scope_adds_part(struct bindings *parts, const struct binding *part)
{
    if (bindings_find(parts, part->param))
        return true;
    if (!bindings_add(parts, part->param, part->value))
        return false;
    parts->items[parts->count - 1].type = part->type;
    return true;
}

/* Adds the parts of the index's key, as far as the image has that. False if the item is not in the
 * index, or not under the name that the path gives. */
static bool scope_add_index_parts(struct scope_test *test, const struct map_pattern *pattern,
                                  struct scope_match *match)
{
    const struct model *table = test->place->table;
    const struct map_key *key;
    for (size_t i = 0; (key = model_index_key(pattern->index, i)); i++) {
        struct value value;
        struct bindings own = {0};
        const struct format *format = model_key_format(table, key, match->kind);
        if (!format)
            return false;
        if (!item_parts_read_key(key, test->image->item, &test->arena, &value)) {
            if (test->image->is_whole)
                return false;
            continue;
        }
        bool is_table_key = model_is_key(table, key->attribute);
        if (is_table_key || !format_match_key(format, value.bytes, table->separator, &own))
            continue;
        for (size_t k = 0; k < own.count; k++) {
            const struct span *named = bindings_find(&test->place->bindings, own.items[k].param);
            bool names_it = match->entry && format_has(&match->entry->indexed, own.items[k].param);
            if ((named && names_it && !span_equal(*named, own.items[k].value)) ||
                !scope_adds_part(&match->parts, &own.items[k]))
                return false;
        }
    }
    return true;
}

static bool scope_has_param(void *arg, const struct map_cond *cond, const char *param)
{
    (void)cond;
    return bindings_find(arg, param);
}

/* The key attribute of PATTERN's index that COND compares; NULL for none. */
static const struct map_key *scope_index_key(const struct map_pattern *pattern,
                                             const struct map_cond *cond)
{
    const struct map_key *key;
    for (size_t i = 0; pattern->index && cond->attribute && cond->step_count == 0 &&
                       (key = model_index_key(pattern->index, i));
         i++)
        if (strcmp(key->attribute, cond->attribute) == 0)
            return key;
    return NULL;
}

/* How a condition is decided for an image that has only the key. */
enum scope_ground {
    SCOPE_FREE,     /* the path leaves it open: some name below fits */
    SCOPE_BY_KEY,   /* by an attribute of the table's key */
    SCOPE_BY_PARTS, /* by an attribute of the index's key, which is made of parts of the table's */
    SCOPE_BY_IMAGE, /* by another attribute */
};

static bool scope_is_key_attribute(void *arg, const char *attribute)
{
    return model_is_key(arg, attribute);
}

static enum scope_ground scope_find_ground(const struct model *table,
                                           const struct map_pattern *pattern,
                                           const struct map_kind *kind,
                                           const struct bindings *parts,
                                           const struct map_cond *cond)
{
    struct bindings known = *parts;
    if (!condition_each_param(cond, scope_has_param, &known))
        return SCOPE_FREE;
    if (condition_each_attribute(cond, scope_is_key_attribute, (void *)(uintptr_t)table))
        return SCOPE_BY_KEY;
    const struct map_key *key = scope_index_key(pattern, cond);
    const struct format *format = key ? model_key_format(table, key, kind) : NULL;
    if (!format)
        return SCOPE_BY_IMAGE;
    for (size_t i = 0; i < format->count; i++)
        if (format->pieces[i].param && item_parts_count(table, kind, format->pieces[i].param) == 0)
            return SCOPE_BY_IMAGE;
    return SCOPE_BY_PARTS;
}

/* The value that the index's key has according to the map. */
static enum change_verdict scope_test_parts(struct scope_test *test,
                                            const struct map_pattern *pattern,
                                            const struct scope_match *match,
                                            const struct map_cond *from, const struct cond *cond)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const struct map_key *key = scope_index_key(pattern, from);
    const struct format *format = model_key_format(test->place->table, key, match->kind);
    if (!format_expand(format, &match->parts, &text) || text.failed)
        return text.failed ? CHANGE_NO_MEMORY : CHANGE_UNDECIDED;
    struct value value = {key->type, operand_copy(&test->arena, key->type, buf_span(&text))};
    return cond_admits(cond, value) ? CHANGE_SHOWN : CHANGE_OTHER;
}

static enum change_verdict scope_test_cond(struct scope_test *test,
                                           const struct map_pattern *pattern,
                                           const struct scope_match *match,
                                           const struct map_cond *from)
{
    struct cond cond;
    struct error why;
    bool failed = false;
    enum scope_ground ground =
        scope_find_ground(test->place->table, pattern, match->kind, &match->parts, from);
    if (ground == SCOPE_FREE)
        return CHANGE_SHOWN;
    if (!condition_expand(from, &match->parts, &test->arena, &cond, &why))
        return why.kind == ERROR_NO_MEMORY ? CHANGE_NO_MEMORY : CHANGE_OTHER;
    if (!test->image->is_whole && ground == SCOPE_BY_PARTS)
        return scope_test_parts(test, pattern, match, from, &cond);
    if (!test->image->is_whole && ground == SCOPE_BY_IMAGE)
        return CHANGE_UNDECIDED;
    bool holds = cond_holds(&cond, test->image->item, &failed);
    return failed ? CHANGE_NO_MEMORY : holds ? CHANGE_SHOWN : CHANGE_OTHER;
}

/* Condition number I of PATTERN: those of the key, then those of the filter. */
static const struct map_cond *scope_cond(const struct map_pattern *pattern, size_t i)
{
    return i < pattern->where_count ? &pattern->where[i]
                                    : &pattern->filter[i - pattern->where_count];
}

/* The item's kind on PATTERN's path, and the parts of its key. KIND is the only one that counts;
 * NULL: all of PATTERN's. */
static bool scope_match_key(const struct scope_test *test, const struct map_pattern *pattern,
                            const struct map_kind *kind, struct scope_match *match)
{
    struct bindings parts = {0};
    const struct model *table = test->place->table;
    const struct bindings *path = &test->place->bindings;
    match->kind = NULL;
    if (pattern->list && !kind) {
        match->entry = item_match_entry(table, pattern, &test->key, path, &parts);
        match->kind = match->entry ? match->entry->kind : NULL;
    } else if (kind) {
        match->kind = item_match_is_kind(table, kind, &test->key, path, &parts) ? kind : NULL;
    } else {
        for (size_t i = 0; !match->kind && i < pattern->kind_count; i++)
            if (item_match_is_kind(table, pattern->kinds[i], &test->key, path, &parts))
                match->kind = pattern->kinds[i];
    }
    match->parts = *path;
    for (size_t i = 0; match->kind && i < parts.count; i++)
        if (!scope_adds_part(&match->parts, &parts.items[i]))
            return false;
    return match->kind && !plan_excludes(pattern, path, &parts);
}

/* Whether the item is on PATTERN's path; then MATCH is filled. */
static enum change_verdict scope_test_pattern(struct scope_test *test,
                                              const struct map_pattern *pattern,
                                              const struct map_kind *kind,
                                              struct scope_match *match)
{
    enum change_verdict worst = CHANGE_SHOWN;
    if (!scope_match_key(test, pattern, kind, match) ||
        (pattern->index && !scope_add_index_parts(test, pattern, match)))
        return test->arena.failed ? CHANGE_NO_MEMORY : CHANGE_OTHER;
    for (size_t i = 0; i < pattern->where_count + pattern->filter_count; i++) {
        enum change_verdict verdict = scope_test_cond(test, pattern, match, scope_cond(pattern, i));
        if (verdict == CHANGE_OTHER || verdict == CHANGE_NO_MEMORY)
            return verdict;
        worst = verdict == CHANGE_UNDECIDED ? verdict : worst;
    }
    return test->arena.failed ? CHANGE_NO_MEMORY : worst;
}

/* Of ROUTE and all below it, the verdict that includes most. */
static enum change_verdict scope_test_route(struct scope_test *test, const struct route *route)
{
    struct scope_match match = {0};
    const struct map_pattern *pattern = route->list ? route->list : route->file;
    enum change_verdict best = CHANGE_OTHER;
    if (pattern && !route->entry)
        best = scope_test_pattern(test, pattern, NULL, &match);
    for (const struct route *child = route->children;
         child && (best == CHANGE_OTHER || best == CHANGE_UNDECIDED); child = child->next) {
        enum change_verdict verdict = scope_test_route(test, child);
        best = verdict == CHANGE_OTHER ? best : verdict;
    }
    return best;
}

static bool scope_has_conds(const struct map_pattern *pattern)
{
    return pattern->where_count + pattern->filter_count > 0;
}

static enum change_verdict scope_test_item(struct scope_test *test,
                                           const struct place_options *names)
{
    struct error why;
    struct scope_match match = {.entry = test->place->route->entry};
    const struct place *place = test->place;
    const struct plan *plan = place_plan(place, &why);
    bool failed = false;
    if (!plan)
        return why.kind == ERROR_NO_MEMORY ? CHANGE_NO_MEMORY : CHANGE_OTHER;
    if (plan->kind == PLAN_KEY && !plan_admits(plan, &test->key, test->image->item, &failed))
        return CHANGE_OTHER;
    if (plan->kind == PLAN_KEY && !scope_has_conds(place->route->file))
        return CHANGE_SHOWN;
    enum change_verdict verdict =
        scope_test_pattern(test, place->route->file, place->route->kind, &match);
    if (place->shortened.size == 0 || verdict == CHANGE_OTHER || verdict == CHANGE_NO_MEMORY)
        return verdict;
    bool is_named = shortened_names_match(place, names, &test->key, test->image->item, &failed);
    return failed ? CHANGE_NO_MEMORY : is_named ? verdict : CHANGE_OTHER;
}

static bool scope_test_begin(struct scope_test *test, const struct place *place,
                             const struct change_image *image)
{
    *test = (struct scope_test){.place = place, .image = image};
    return item_match_key(place->table, image->item, &test->arena, &test->key);
}

static void scope_test_clean_up(struct scope_test *test)
{
    arena_clean_up(&test->arena);
}

enum change_verdict change_scope_test(const struct place *place, const struct place_options *names,
                                      const struct change_image *image)
{
    CLEAN_UP(scope_test_clean_up) struct scope_test test = {0};
    if (!scope_test_begin(&test, place, image))
        return test.arena.failed ? CHANGE_NO_MEMORY : CHANGE_OTHER;
    if (place->kind != PLACE_DIRECTORY)
        return scope_test_item(&test, names);
    return place->route->parent ? scope_test_route(&test, place->route) : CHANGE_SHOWN;
}

bool change_scope_is_one_item(const struct place *place)
{
    const struct map_pattern *pattern = place->kind == PLACE_DIRECTORY ? NULL : place->route->file;
    return pattern && (pattern->list || (!pattern->pick && !pattern->limit));
}

/* Marks in PARTS all parts of KIND's key as known. */
static bool scope_add_params(const struct model *table, const struct map_kind *kind,
                             struct bindings *parts)
{
    for (size_t i = 0; i < table->key_count; i++)
        for (size_t k = 0; k < kind->keys[i].count; k++) {
            const char *param = kind->keys[i].pieces[k].param;
            if (param && !bindings_find(parts, param) && !bindings_add(parts, param, span_text("")))
                return false;
        }
    return true;
}

/* Whether PATTERN's path shows items of KIND, or of any kind. */
static bool scope_has_kind(const struct place *place, const struct map_pattern *pattern,
                           const struct map_kind *kind)
{
    const struct map_kind *any = place->table->any;
    for (size_t i = 0; pattern->list && i < pattern->entry_count; i++)
        if (pattern->entries[i].kind == kind || pattern->entries[i].kind == any)
            return true;
    for (size_t i = 0; !pattern->list && i < pattern->kind_count; i++)
        if (pattern->kinds[i] == kind || pattern->kinds[i] == any)
            return true;
    return false;
}

/* Whether keys decide which items of KIND are on PATTERN's path; else ATTRIBUTE is set. */
static bool scope_is_decided(const struct place *place, const struct map_pattern *pattern,
                             const struct map_kind *kind, const char **attribute)
{
    struct bindings parts = place->bindings;
    if (!scope_add_params(place->table, kind, &parts))
        return true; /* no item has as many parts */
    for (size_t i = 0; i < pattern->where_count + pattern->filter_count; i++) {
        const struct map_cond *cond = scope_cond(pattern, i);
        if (scope_find_ground(place->table, pattern, kind, &parts, cond) != SCOPE_BY_IMAGE)
            continue;
        *attribute = cond->attribute ? cond->attribute : cond->written;
        return false;
    }
    return true;
}

/* Whether a path at ROUTE or below shows items of KIND, and keys decide which. Else ATTRIBUTE is
 * set if such a path needs more. */
static bool scope_find_decided(const struct place *place, const struct route *route,
                               const struct map_kind *kind, const char **attribute)
{
    const struct map_pattern *pattern = route->list ? route->list : route->file;
    if (pattern && !route->entry && scope_has_kind(place, pattern, kind) &&
        scope_is_decided(place, pattern, kind, attribute))
        return true;
    for (const struct route *child = route->children; child; child = child->next)
        if (scope_find_decided(place, child, kind, attribute))
            return true;
    return false;
}

/* The attribute beside the key that decides for items of KIND; NULL for none. */
static const char *scope_find_attribute(const struct place *place, const struct map_kind *kind)
{
    const char *attribute = NULL;
    const struct route *route = place->route;
    if (place->kind == PLACE_DIRECTORY)
        return scope_find_decided(place, route, kind, &attribute) ? NULL : attribute;
    bool is_of_kind = route->kind ? route->kind == kind : scope_has_kind(place, route->file, kind);
    if (is_of_kind)
        scope_is_decided(place, route->file, kind, &attribute);
    return attribute;
}

bool change_scope_is_by_key(const struct place *place, const char **attribute)
{
    struct error ignored;
    const char *needed = NULL;
    bool is_item = place->kind != PLACE_DIRECTORY;
    const struct plan *plan = is_item ? place_plan(place, &ignored) : NULL;
    bool is_by_key = is_item
                         ? !plan || (plan->kind == PLAN_KEY && !scope_has_conds(place->route->file))
                         : !place->route->parent;
    for (const struct map_kind *kind = place->table->kinds; kind && !is_by_key && !needed;
         kind = kind->next)
        needed = scope_find_attribute(place, kind);
    if (!is_by_key && !needed && place->table->any)
        needed = scope_find_attribute(place, place->table->any);
    if (attribute)
        *attribute = needed;
    return !needed;
}

/* Paths. */

/* Whether PATTERN's path is meant for one item each, so that its name opens that item. */
static bool scope_is_exact(const struct map_pattern *pattern, const struct map_entry *entry)
{
    if (pattern->attribute)
        return false;
    if (entry)
        return !pattern->groups && entry->rank.digits == 0;
    return !pattern->pick && !pattern->limit;
}

/* The step for PATTERN at ROUTE or below, not through a hidden one; NULL for none. DEPTH gets the
 * number of steps from ROUTE. */
static const struct route *scope_find_step(const struct route *route,
                                           const struct map_pattern *pattern, size_t *depth)
{
    if (!route->entry && (route->list == pattern || route->file == pattern)) {
        *depth = 0;
        return route;
    }
    for (const struct route *child = route->children; child; child = child->next) {
        const struct route *found = child->hidden ? NULL : scope_find_step(child, pattern, depth);
        if (found) {
            ++*depth;
            return found;
        }
    }
    return NULL;
}

/* Whether all parts of the names from FROM (not included) to STEP are known. */
static bool scope_knows_steps(const struct route *from, const struct route *step,
                              const struct bindings *parts)
{
    for (; step != from; step = step->parent)
        for (size_t i = 0; i < step->segment.count; i++) {
            const char *param = step->segment.pieces[i].param;
            if (param && !bindings_find(parts, param))
                return false;
        }
    return true;
}

/* Replaces *AT by the place STEP below it, and appends its name. False if no name leads there. */
static bool scope_enter_step(struct place **at, const struct route *step,
                             const struct bindings *parts, const struct place_options *names,
                             struct buf *out)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    if (names_withhold(step, names) || !place_write_name(*at, step, parts, 0, names, &name, &why))
        return false;
    struct place *child = place_child(*at, buf_span(&name), names, &why);
    bool is_step = child && child->route == step &&
                   child->kind == (step->file ? PLACE_RECORD : PLACE_DIRECTORY);
    place_destroy(*at);
    *at = child;
    buf_add_text(out, out->size ? "/" : "");
    buf_add_span(out, buf_span(&name));
    return is_step;
}

/* Enters all steps below FROM up to STEP. */
static bool scope_enter_steps(struct place **at, const struct route *from, const struct route *step,
                              const struct bindings *parts, const struct place_options *names,
                              struct buf *out)
{
    if (step == from)
        return true;
    return scope_enter_steps(at, from, step->parent, parts, names, out) &&
           scope_enter_step(at, step, parts, names, out);
}

/* Sets OUT to the path of the item at STEP, or below it if STEP is a listing. */
static bool scope_write_steps(const struct place *place, const struct route *step,
                              const struct scope_match *match, const struct place_options *names,
                              struct buf *out)
{
    const struct route *last = match->entry ? route_of_entry(step, match->entry) : step;
    if (!last || !scope_knows_steps(place->route, last, &match->parts))
        return false;
    struct place *at = place_copy(place);
    buf_truncate(out, 0);
    bool ok = at && scope_enter_steps(&at, place->route, last, &match->parts, names, out);
    place_destroy(at);
    return ok && !out->failed;
}

bool change_scope_write_path(const struct place *place, const struct place_options *names,
                             const struct change_image *image, struct buf *out)
{
    CLEAN_UP(scope_test_clean_up) struct scope_test test = {0};
    CLEAN_UP(buf_clean_up) struct buf path = {0}, best = {0};
    size_t least = SIZE_MAX, depth = 0;
    if (place->kind != PLACE_DIRECTORY || !scope_test_begin(&test, place, image))
        return false;
    for (const struct map_pattern *each = place->table->patterns; each; each = each->next) {
        struct scope_match match = {0};
        const struct route *step = scope_find_step(place->route, each, &depth);
        depth += each->list;
        if (!step || depth >= least || (!each->list && step == place->route) ||
            scope_test_pattern(&test, each, NULL, &match) != CHANGE_SHOWN ||
            !scope_is_exact(each, match.entry) ||
            !scope_write_steps(place, step, &match, names, &path))
            continue;
        least = depth;
        buf_truncate(&best, 0);
        buf_add_span(&best, buf_span(&path));
    }
    out->failed = out->failed || test.arena.failed || path.failed || best.failed;
    buf_add_span(out, buf_span(&best));
    return best.size > 0 && !out->failed;
}
