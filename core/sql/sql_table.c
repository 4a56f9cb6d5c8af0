#include "core/sql/sql_table.h"

#include <stdlib.h>

#include "core/base/nearest.h"
#include "core/draft/generic_view.h"
#include "core/item/item.h"
#include "core/map/compile.h"

enum { SQL_TABLE_NAMED_ITEMS = 100, SQL_TABLE_MOST_NAMES = 400 }; /* for hints of warnings */

/* A shape of lookups: they differ in their values alone, which are the parameters of PATTERN. */
struct sql_route {
    struct route route;
    struct map_pattern pattern;
    struct sql_route *next;
};

/* The name of the parameter for COND's value: the attribute if that is equal to it. A part of a key
 * has no blank in its name. */
static const char *sql_table_param(struct arena *arena, const struct cond *cond, bool upper)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    buf_add_span(&name, cond->attribute);
    if (cond->op != COND_EQ)
        buf_printf(&name, " %s", upper ? "and" : cond_word(cond->op));
    arena->failed = arena->failed || name.failed;
    return arena_text(arena, buf_span(&name));
}

/* The raw model. */

static void sql_table_describe_key(struct key_schema *out, const struct map_key *key, bool sorts)
{
    size_t *count = sorts ? &out->sort_count : &out->partition_count;
    size_t at = (*count)++;
    struct span name = span_text(key->attribute);
    if (sorts) {
        out->sort[at].name = name;
        out->sort[at].type = key->type;
    } else {
        out->partition[at].name = name;
        out->partition[at].type = key->type;
    }
}

static bool sql_table_describe_index(struct arena *arena, const struct map_index *index,
                                     struct index_info *out)
{
    struct span *included = arena_array(arena, index->include_count + 1, sizeof *included);
    if (!included)
        return false;
    *out = (struct index_info){.name = span_text(index->name),
                               .local = index->local,
                               .projection = index->projects,
                               .included = included,
                               .included_count = index->include_count};
    for (size_t i = 0; i < index->include_count; i++)
        included[i] = span_text(index->includes[i]);
    for (size_t i = 0; i < index->partition_count; i++)
        sql_table_describe_key(&out->keys, &index->partition[i], false);
    for (size_t i = 0; i < index->sort_count; i++)
        sql_table_describe_key(&out->keys, &index->sort[i], true);
    return true;
}

/* The description of MODEL's table as the service would write it. */
static bool sql_table_describe(struct arena *arena, const struct model *model,
                               struct table_info *out)
{
    size_t count = 0;
    for (const struct map_index *each = model->indexes; each; each = each->next)
        count++;
    struct index_info *indexes = arena_array(arena, count + 1, sizeof *indexes);
    *out = (struct table_info){.indexes = indexes, .item_count = -1, .size_bytes = -1};
    if (!indexes)
        return false;
    for (size_t i = 0; i < model->key_count; i++)
        sql_table_describe_key(&out->keys, &model->keys[i], i == 1);
    for (const struct map_index *each = model->indexes; each; each = each->next)
        if (!sql_table_describe_index(arena, each, &indexes[out->index_count++]))
            return false;
    return true;
}

static const struct model *sql_table_compile(const struct model *model, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct findings findings = {0};
    struct table_info info;
    struct declared_table *declared =
        sql_table_describe(&arena, model, &info)
            ? generic_view_declare_table(&arena, model->base_name, &info)
            : NULL;
    if (!declared) {
        error_no_memory(err);
        return NULL;
    }
    declared->path_name = model->path_name;
    declared->paths = NULL;
    declared->has_paths = true;
    declared->secrets = model->secrets;
    declared->secret_count = model->secret_count;
    declared->ttl_ms = model->ttl_ms;
    const struct model *raw = compile_table(declared, &findings);
    if (!raw && findings.count > 0)
        error_set(err, ERROR_INVALID, "%s can't be read in SQL: %s", model->base_name,
                  findings.items[0].text);
    else if (!raw)
        error_no_memory(err);
    findings_clean_up(&findings);
    return raw;
}

struct sql_table *sql_table_new(const struct place *place, struct span schema, struct span name,
                                const struct map_index *index, bool show_secrets, struct error *err)
{
    struct sql_table *table = calloc(1, sizeof *table);
    CLEAN_UP(buf_clean_up) struct buf shown = {0};
    if (!table) {
        error_no_memory(err);
        return NULL;
    }
    if (!span_is(schema, "main"))
        buf_printf(&shown, "%.*s.", (int)schema.size, schema.data);
    buf_add_span(&shown, name);
    table->schema = arena_text(&table->arena, schema);
    table->name = arena_text(&table->arena, name);
    table->shown = arena_text(&table->arena, buf_span(&shown));
    table->place = place_copy(place);
    table->index = index;
    table->columns = sql_columns_new(place->table, show_secrets);
    table->raw = sql_table_compile(place->table, err);
    if (table->raw && table->place && table->columns && !table->arena.failed && !shown.failed)
        return table;
    if (table->raw)
        error_no_memory(err);
    sql_table_destroy(table);
    return NULL;
}

void sql_table_destroy(struct sql_table *table)
{
    if (!table)
        return;
    sql_columns_destroy(table->columns);
    place_destroy(table->place);
    model_unref(table->raw);
    arena_clean_up(&table->attributes);
    arena_clean_up(&table->arena);
    free(table->seen);
    free(table->names);
    free(table);
}

/* Places. */

static struct format sql_table_format(struct arena *arena, const struct cond *cond, bool upper)
{
    const char *param = sql_table_param(arena, cond, upper);
    struct format_piece *piece = arena_alloc(arena, sizeof *piece);
    if (piece)
        *piece = (struct format_piece){.param = param, .open = true};
    return (struct format){piece, piece ? 1 : 0};
}

/* Whether ROUTE is the shape of LOOKUP with CONDS. */
static bool sql_table_suits(const struct sql_route *route, const struct map_index *index,
                            const struct sql_lookup *lookup, const struct cond *conds, size_t count)
{
    const struct map_pattern *pattern = &route->pattern;
    if (pattern->index != index || pattern->by_key != (lookup->kind == SQL_ACCESS_KEYS) ||
        pattern->where_count != count || pattern->descending != lookup->descending ||
        pattern->hydrates != (index && lookup->hydrates))
        return false;
    for (size_t i = 0; i < count; i++)
        if (pattern->where[i].op != conds[i].op || pattern->where[i].type != conds[i].value.type ||
            !span_is(conds[i].attribute, pattern->where[i].attribute))
            return false;
    return true;
}

static struct sql_route *sql_table_add_route(struct sql_table *table, const struct map_index *index,
                                             const struct sql_lookup *lookup,
                                             const struct cond *conds, size_t count)
{
    struct arena *arena = &table->raw->self->arena;
    struct sql_route *made = arena_alloc(arena, sizeof *made);
    const struct map_kind **kinds = arena_array(arena, 1, sizeof *kinds);
    struct map_entry *entry = arena_alloc(arena, sizeof *entry);
    struct map_cond *where = arena_array(arena, count, sizeof *where);
    bool by_key = lookup->kind == SQL_ACCESS_KEYS;
    if (!made || !kinds || !entry || !where)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        where[i] = (struct map_cond){.attribute = arena_text(arena, conds[i].attribute),
                                     .type = conds[i].value.type,
                                     .op = conds[i].op,
                                     .value = sql_table_format(arena, &conds[i], false),
                                     .on_key = true};
        if (conds[i].op == COND_BETWEEN)
            where[i].upper = sql_table_format(arena, &conds[i], true);
    }
    kinds[0] = table->raw->kinds;
    entry->kind = table->raw->kinds;
    made->pattern = (struct map_pattern){.path = "",
                                         .list = !by_key,
                                         .table = table->raw,
                                         .kinds = kinds,
                                         .kind_count = 1,
                                         .index = index,
                                         .by_key = by_key,
                                         .where = where,
                                         .where_count = count,
                                         .descending = lookup->descending,
                                         .hydrates = index && lookup->hydrates,
                                         .ttl_ms = table->raw->ttl_ms,
                                         .entries = by_key ? NULL : entry,
                                         .entry_count = by_key ? 0 : 1};
    made->route.list = by_key ? NULL : &made->pattern;
    made->route.file = by_key ? &made->pattern : NULL;
    made->route.kind = by_key ? table->raw->kinds : NULL;
    if (arena->failed)
        return NULL;
    made->next = table->routes;
    table->routes = made;
    return made;
}

/* The lookup's place without its filter. */
static struct place *sql_table_place(struct sql_table *table, const struct sql_lookup *lookup,
                                     const struct cond *conds, size_t count, struct error *err)
{
    struct bindings values = {0};
    const struct map_index *index =
        lookup->index ? model_find_index(table->raw, lookup->index->name) : NULL;
    struct sql_route *route = table->routes;
    while (route && !sql_table_suits(route, index, lookup, conds, count))
        route = route->next;
    if (!route)
        route = sql_table_add_route(table, index, lookup, conds, count);
    for (size_t i = 0; route && i < count; i++) {
        const struct map_cond *where = &route->pattern.where[i];
        bindings_add(&values, where->value.pieces->param, conds[i].value.bytes);
        if (conds[i].op == COND_BETWEEN)
            bindings_add(&values, where->upper.pieces->param, conds[i].upper.bytes);
    }
    struct place *place =
        route ? place_of_route(table->place, table->raw, &route->route, &values) : NULL;
    if (!place)
        error_no_memory(err);
    return place;
}

struct place *sql_table_find(struct sql_table *table, const struct sql_lookup *lookup,
                             uint32_t most, struct error *err)
{
    struct cond of_key[KEY_MAX_BASE_ATTRIBUTES];
    const struct cond *conds = lookup->where;
    size_t count = lookup->where_count;
    if (lookup->kind == SQL_ACCESS_KEYS) {
        count = lookup->key.count;
        for (size_t i = 0; i < count; i++)
            of_key[i] = (struct cond){.attribute = lookup->key.attributes[i].name,
                                      .op = COND_EQ,
                                      .value = lookup->key.attributes[i].value};
        conds = of_key;
    }
    struct place *place = sql_table_place(table, lookup, conds, count, err);
    const struct selection selection = {.filter = lookup->filter, .limit = most, .is_quiet = true};
    bool selects = place && lookup->kind == SQL_ACCESS_QUERY && (lookup->filter || most > 0);
    if (!selects || place_select(place, &selection, true, err))
        return place;
    place_destroy(place);
    return NULL;
}

/* Notes, for warnings. */

bool sql_table_use(struct sql_table *table, size_t column)
{
    if (column >= table->seen_count) {
        size_t count = table->columns->count;
        struct sql_seen *seen = realloc(table->seen, count * sizeof *seen);
        if (!seen)
            return false;
        memset(seen + table->seen_count, 0, (count - table->seen_count) * sizeof *seen);
        table->seen = seen;
        table->seen_count = count;
    }
    table->seen[column].used = true;
    return true;
}

static bool sql_table_has_name(const struct sql_table *table, struct span name)
{
    for (size_t i = 0; i < table->name_count; i++)
        if (span_equal(table->names[i], name))
            return true;
    return false;
}

/* Collects names of attributes, for "did you mean". */
static bool sql_table_note_names(struct sql_table *table, struct json item)
{
    if (!table->names)
        table->names = calloc(SQL_TABLE_MOST_NAMES, sizeof *table->names);
    if (!table->names)
        return false;
    for (struct json name = json_first(item);
         json_present(name) && table->name_count < SQL_TABLE_MOST_NAMES;
         name = json_next(json_next(name))) {
        struct span text;
        if (json_plain_string(name, &text) && !sql_table_has_name(table, text))
            table->names[table->name_count++] = arena_copy(&table->attributes, text);
    }
    return !table->attributes.failed;
}

bool sql_table_note(struct sql_table *table, struct sql_row *row)
{
    bool wanting = false;
    table->items++;
    for (size_t i = 0; i < table->seen_count; i++) {
        struct sql_seen *seen = &table->seen[i];
        const struct sql_column *column = &table->columns->items[i];
        if (!seen->used || column->role == SQL_ITEM)
            continue;
        enum sql_hiding hiding = sql_row_hides(row, i);
        seen->hidden += hiding == SQL_HIDES_VALUE;
        seen->unstated += hiding == SQL_HIDES_UNSTATED;
        if (column->role == SQL_PART)
            continue;
        if (!seen->has)
            seen->has = json_present(item_attribute(row->item, span_text(column->name)));
        wanting = wanting || !seen->has;
    }
    return !wanting || table->items > SQL_TABLE_NAMED_ITEMS ||
           sql_table_note_names(table, row->item);
}

bool sql_table_note_void(struct sql_table *table, struct span why)
{
    if (!table->is_void)
        table->is_void = arena_text(&table->arena, why);
    return table->is_void;
}

/* Whether an index or the table has the attribute in its key: then items without it are no error of
 * the statement. */
static bool sql_table_is_known(const struct sql_table *table, const char *attribute)
{
    const struct model *model = table->columns->model;
    if (model_is_key(model, attribute))
        return true;
    for (const struct map_index *each = model->indexes; each; each = each->next)
        if (model_is_index_key(each, attribute))
            return true;
    return false;
}

bool sql_table_is_quoted(struct span name, struct span text)
{
    const char *from = text.data, *end = text.data + text.size, *at;
    while ((at = memmem(from, (size_t)(end - from), name.data, name.size)) != NULL) {
        const char *behind = at + name.size;
        if (at > text.data && behind < end && (at[-1] == '"' || at[-1] == '`') && at[-1] == *behind)
            return true;
        if (at == end)
            return false;
        from = at + 1;
    }
    return false;
}

static void sql_table_warn_column(const struct sql_table *table, size_t i, struct span statement,
                                  void (*fn)(void *arg, const char *text), void *arg)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, hint = {0};
    const struct sql_seen *seen = &table->seen[i];
    const char *name = table->columns->items[i].name;
    enum sql_role role = table->columns->items[i].role;
    if (seen->hidden > 0)
        buf_printf(&text,
                   "%s.%s is the value in the key, and %llu item%s an attribute of this name with "
                   "another value; item ->> '$.%s' reads the attribute",
                   table->shown, name, (unsigned long long)seen->hidden,
                   seen->hidden == 1 ? " has" : "s have", name);
    if (seen->unstated > 0)
        buf_printf(
            &text,
            "%s%s.%s is NULL in %llu item%s with this attribute, because the map has no such "
            "attribute for their kinds; item ->> '$.%s' reads it, and \"attributes\" of the "
            "map makes it a value of the column",
            text.size > 0 ? "; " : "", table->shown, name, (unsigned long long)seen->unstated,
            seen->unstated == 1 ? "" : "s", name);
    if (role == SQL_ATTRIBUTE && seen->used && !seen->has && table->items > 0 &&
        !sql_table_is_known(table, name)) {
        struct nearest nearest = nearest_to(span_text(name));
        for (size_t k = 0; k < table->name_count; k++)
            nearest_offer(&nearest, table->names[k]);
        nearest_write(&nearest, &hint);
        buf_printf(&text, "no item of %s that was read has the attribute %s%s%s", table->shown,
                   name, buf_text(&hint),
                   sql_table_is_quoted(span_text(name), statement)
                       ? "; a text is written in single quotes"
                       : "");
    }
    if (text.size > 0)
        fn(arg, buf_text(&text));
}

void sql_table_warn(const struct sql_table *table, struct span text,
                    void (*fn)(void *arg, const char *text), void *arg)
{
    CLEAN_UP(buf_clean_up) struct buf unmatched = {0};
    if (table->is_void) {
        buf_printf(&unmatched, "no row of %s can match: %s", table->shown, table->is_void);
        if (!unmatched.failed)
            fn(arg, buf_text(&unmatched));
        buf_truncate(&unmatched, 0);
    }
    for (size_t i = 0; i < table->seen_count; i++)
        if (table->seen[i].used)
            sql_table_warn_column(table, i, text, fn, arg);
    if (table->items > 0 || table->tested == 0)
        return;
    buf_printf(&unmatched,
               "no item of %s satisfies the conditions, and %llu %s tested; check the names of "
               "attributes, and the types: 5 is not '5'",
               table->shown, (unsigned long long)table->tested,
               table->tested == 1 ? "was" : "were");
    if (!unmatched.failed)
        fn(arg, buf_text(&unmatched));
}
