#include "core/plan/plan.h"

#include <stdlib.h>

#include "core/base/escape.h"
#include "core/base/utf8.h"
#include "core/condition/condition.h"
#include "core/item/item.h"
#include "core/map/condition_template.h"
#include "core/map/entry_names.h"
#include "core/plan/cost.h"
#include "core/plan/item_parts.h"
#include "core/plan/vector_search.h"

enum { MAX_SORT_BYTES = 1024, MAX_EXPRESSION = 4096 }; /* of the service */

/* The value of a key attribute whose parts all have values in the path. */
static bool plan_expand_key(struct plan *plan, size_t i, struct key_attribute *out,
                            struct error *err)
{
    const struct model *table = plan->table;
    const struct map_key *key = &table->keys[i];
    const struct format *format = &plan->kind_of->keys[i];
    const struct format *stated = plan->entry ? format : &plan->pattern->where[i].value;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct bindings parts = {0};
    if (!format_check_parts(stated, &plan->path, err))
        return false;
    if (!format_expand(stated, &plan->path, &text))
        return error_set(err, ERROR_INVALID, "the path lacks a part of the key");
    if (text.failed)
        return error_no_memory(err);
    if (!operand_check_key(key->attribute, key->type, buf_span(&text), err))
        return false;
    if (!format_match_key(format, buf_span(&text), table->separator, &parts))
        return error_set(err, ERROR_INVALID,
                         "no %s has the key \"%.*s\": none of its parts holds a \"%c\"",
                         plan->kind_of == table->any ? "record" : plan->kind_of->name,
                         text.size > 200 ? 200 : (int)text.size, buf_text(&text), table->separator);
    if (i == 1 && text.size > MAX_SORT_BYTES)
        return error_set(err, ERROR_INVALID, "no sort key is longer than %d bytes", MAX_SORT_BYTES);
    *out =
        (struct key_attribute){span_text(key->attribute),
                               {key->type, operand_copy(&plan->arena, key->type, buf_span(&text))}};
    return !plan->arena.failed || error_no_memory(err);
}

/* The full key, of PLAN_KEY or of an entry. */
static bool plan_expand_keys(struct plan *plan, struct key *out, struct error *err)
{
    *out = (struct key){.count = plan->table->key_count};
    for (size_t i = 0; i < out->count; i++)
        if (!plan_expand_key(plan, i, &out->attributes[i], err))
            return false;
    return true;
}

static bool plan_add_conds(const struct plan *plan, const struct map_cond *conds, size_t count,
                           void (*add)(struct read *, const struct cond *), struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    for (size_t i = 0; i < count; i++) {
        struct cond cond;
        if (!condition_expand(&conds[i], &plan->path, &arena, &cond, err))
            return false;
        add(plan->query, &cond);
    }
    return true;
}

/* Refuses values for which the service's order differs from the map's range. */
static bool plan_check_bounds(const struct plan *plan, struct error *err)
{
    const struct map_pattern *pattern = plan->pattern;
    for (size_t i = 0; i < pattern->bound_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        if (format_expand(&pattern->bounds[i].value, &plan->path, &text) &&
            !condition_check_bound(&pattern->bounds[i], buf_span(&text), err))
            return false;
        if (text.failed)
            return error_no_memory(err);
    }
    return true;
}

/* Directories need only the keys of items. */
static void plan_project_keys(const struct plan *plan)
{
    const struct map_index *index = plan->pattern->index;
    const struct map_key *key;
    for (size_t i = 0; i < plan->table->key_count; i++)
        read_add_attribute(plan->query, span_text(plan->table->keys[i].attribute));
    for (size_t i = 0; index && (key = model_index_key(index, i)); i++)
        if (!model_is_key(plan->table, key->attribute))
            read_add_attribute(plan->query, span_text(key->attribute));
}

static bool plan_project_operand(void *arg, struct span attribute)
{
    read_add_attribute(arg, attribute);
    return true;
}

/* A bare value needs its attribute, the attributes that select it, and its date. */
static void plan_project_query(const struct plan *plan)
{
    const struct map_pattern *pattern = plan->pattern;
    if (pattern->groups)
        plan_project_keys(plan);
    if (!pattern->attribute || plan->reads_again)
        return;
    if (plan->selection && plan->selection->filter)
        cond_each_attribute(plan->selection->filter, plan_project_operand, plan->query);
    for (size_t i = 0; i < plan->table->key_count; i++)
        read_add_attribute(plan->query, span_text(plan->table->keys[i].attribute));
    read_add_attribute(plan->query, span_text(pattern->attribute));
    if (pattern->pick && strcmp(pattern->pick_attribute, pattern->attribute) != 0)
        read_add_attribute(plan->query, span_text(pattern->pick_attribute));
    if (pattern->mtime && strcmp(pattern->mtime, pattern->attribute) != 0 &&
        !(pattern->pick && strcmp(pattern->mtime, pattern->pick_attribute) == 0))
        read_add_attribute(plan->query, span_text(pattern->mtime));
}

/* The attributes that order the items, and those that identify them. */
static void plan_add_sort(const struct plan *plan)
{
    const struct map_index *index = plan->pattern->index;
    for (size_t i = 0; index && i < plan->table->key_count; i++)
        read_add_own_key(plan->query, span_text(plan->table->keys[i].attribute));
    for (size_t i = 0; index && i < index->sort_count; i++)
        read_add_sort(plan->query, span_text(index->sort[i].attribute));
    if (!index && plan->table->key_count == KEY_MAX_BASE_ATTRIBUTES)
        read_add_sort(plan->query, span_text(plan->table->keys[1].attribute));
}

/* Adds the selection's filter, as far as the source can test it. */
static bool plan_add_selection(struct plan *plan, struct error *err)
{
    const struct cond *filter = plan->selection ? plan->selection->filter : NULL;
    size_t used = 0;
    if (!filter)
        return true;
    for (size_t i = 0; i < plan->query->filter_count; i++)
        used += selection_expression_bytes(&plan->query->filter[i]);
    size_t room = used < MAX_EXPRESSION ? MAX_EXPRESSION - used : 0;
    if (!selection_split(filter, plan->pattern, plan->reads_again, room, &plan->arena, &plan->parts,
                         err))
        return false;
    if (plan->parts.sent.child_count > 0)
        read_add_filter(plan->query, &plan->parts.sent);
    return true;
}

/* A recording masks the table's secrets. */
static void plan_name_secrets(const struct plan *plan, struct read *read)
{
    read->secrets = (const char *const *)plan->table->secrets;
    read->secret_count = plan->table->secret_count;
}

static bool plan_make_query(struct plan *plan, struct error *err)
{
    const struct map_pattern *pattern = plan->pattern;
    plan->query =
        read_new(READ_QUERY, plan->table_name, pattern->index ? pattern->index->name : NULL);
    if (!plan->query)
        return error_no_memory(err);
    read_set_pattern(plan->query, plan->table->path_name, pattern->path);
    plan_add_sort(plan);
    plan->query->descending = pattern->descending;
    plan->query->consistent = pattern->consistent;
    plan->query->unstored = pattern->ttl_ms == 0;
    plan_project_query(plan);
    plan->query->whole = plan->query->attribute_count == 0 &&
                         (!pattern->index || pattern->index->projects == PROJECTS_ALL);
    plan_name_secrets(plan, plan->query);
    return plan_add_conds(plan, pattern->where, pattern->where_count, read_add_where, err) &&
           plan_add_conds(plan, pattern->filter, pattern->filter_count, read_add_filter, err) &&
           plan_add_selection(plan, err) && (!read_failed(plan->query) || error_no_memory(err));
}

/* The beginning of the sort key of ENTRY for BEGINS, a beginning of its name. False if the name
 * does not determine it. */
static bool plan_expand_prefix(const struct plan *plan, const struct map_entry *entry,
                               struct span begins, struct buf *out)
{
    return entry->has_sort_prefix && plan->table->key_count == 2 &&
           plan->table->keys[1].type == VALUE_S &&
           format_expand(&entry->sort_prefix, &plan->path, out) && escape_decode(begins, out) &&
           utf8_valid(buf_span(out)) && out->size > 0;
}

static void plan_narrow_to(const struct plan *plan, const struct buf *prefix)
{
    struct cond cond = {.attribute = span_text(plan->table->keys[1].attribute),
                        .op = COND_BEGINS,
                        .value = {VALUE_S, buf_span(prefix)}};
    plan->query->where_count = 1; /* the partition key comes first */
    read_add_where(plan->query, &cond);
}

/* Shortens PREFIX to its common beginning with OTHER, in whole characters. */
static void plan_store_common(struct buf *prefix, struct span other)
{
    size_t size = 0;
    while (size < prefix->size && size < other.size && prefix->data[size] == other.data[size])
        size++;
    while (size > 0 && !utf8_valid(span_of(prefix->data, size)))
        size--;
    buf_truncate(prefix, size);
}

/* The common beginning of the sort keys of all items, of any of the listing's kinds, whose names
 * begin with SHOWN. False without one. */
static bool plan_prefix_of_all(const struct plan *plan, struct span shown, struct buf *out)
{
    const struct map_pattern *pattern = plan->pattern;
    for (size_t i = 0; i < pattern->entry_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf prefix = {0};
        bool told = plan_expand_prefix(plan, &pattern->entries[i], shown, &prefix);
        out->failed = out->failed || prefix.failed;
        if (!told)
            return false;
        if (i == 0)
            buf_add_span(out, buf_span(&prefix));
        else
            plan_store_common(out, buf_span(&prefix));
    }
    return out->size > 0;
}

/* The listing's query, narrowed to the part of the name before its digest, if that begins the sort
 * key. */
static bool plan_make_search(struct plan *plan, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf prefix = {0};
    struct span shown;
    enum escape_mark mark;
    if (!plan_make_query(plan, err))
        return false;
    const struct cond *sort = plan->query->where_count > 1 ? &plan->query->where[1] : NULL;
    if (escape_is_shortened(plan->shortened, &mark, &shown) &&
        plan_prefix_of_all(plan, shown, &prefix) &&
        !(sort && sort->op == COND_BEGINS && span_starts(sort->value.bytes, buf_span(&prefix))))
        plan_narrow_to(plan, &prefix);
    return (!read_failed(plan->query) && !prefix.failed) || error_no_memory(err);
}

/* Narrows the query to the selection's beginning of names. */
static bool plan_narrow_to_begins(struct plan *plan, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf prefix = {0};
    const struct map_pattern *pattern = plan->pattern;
    const struct cond *sort = plan->query->where_count > 1 ? &plan->query->where[1] : NULL;
    /* The newest hundred items, and an item's rank, do not depend on names. */
    bool may_narrow = !pattern->limit && !pattern->limit_param && !pattern->index &&
                      pattern->entry_count == 1 && pattern->entries[0].rank.digits == 0;
    if (plan->selection && plan->selection->begins.size > 0 && may_narrow &&
        plan_expand_prefix(plan, pattern->entries, plan->selection->begins, &prefix) &&
        (!sort || (sort->op == COND_BEGINS && span_starts(buf_span(&prefix), sort->value.bytes))))
        plan_narrow_to(plan, &prefix);
    return (!read_failed(plan->query) && !prefix.failed) || error_no_memory(err);
}

/* The value of KEY, a sort attribute of the index, from the entry's name and the path. False if
 * they do not determine it. */
static bool plan_stated_of_sort(struct plan *plan, const struct map_key *key,
                                const struct key *base, struct value *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    for (size_t i = 0; i < base->count; i++) {
        if (span_is(base->attributes[i].name, key->attribute)) {
            *out = base->attributes[i].value;
            return true;
        }
    }
    const struct format *format = model_key_format(plan->table, key, plan->entry->kind);
    if (plan->entry->indexed.count == 0 || !format || !format_expand(format, &plan->path, &text))
        return false;
    out->type = key->type;
    out->bytes = operand_copy(&plan->arena, key->type, buf_span(&text));
    plan->arena.failed = plan->arena.failed || text.failed;
    struct error ignored;
    return operand_check_key(key->attribute, key->type, buf_span(&text), &ignored);
}

/* Sort attributes of the index with known values become equalities, up to the first without one.
 * False with ERR filled if the listing's own condition excludes a value. */
static bool plan_narrow_sort(struct plan *plan, const struct key *base, struct error *err)
{
    const struct map_index *index = plan->pattern->index;
    struct read *query = plan->query;
    for (size_t i = 0; i < index->sort_count; i++) {
        struct cond same = {.attribute = span_text(index->sort[i].attribute), .op = COND_EQ};
        size_t at = index->partition_count + i;
        bool has = at < query->where_count;
        if (has && query->where[at].op == COND_EQ)
            continue;
        if (!plan_stated_of_sort(plan, &index->sort[i], base, &same.value))
            break;
        if (has && !cond_admits(&query->where[at], same.value))
            return error_set(err, ERROR_NOT_FOUND,
                             "no item of this directory can have this name: the directory does not "
                             "list such a key");
        query->where_count = at;
        read_add_where(query, &same);
    }
    return true;
}

/* One entry of a listing that shows the index's attributes: the listing's query, narrowed to the
 * entry's key. An attribute of the index's key can't be in a filter; it is in the key condition. */
static bool plan_make_entry_query(struct plan *plan, struct error *err)
{
    struct key key;
    const struct map_index *index = plan->pattern->index;
    if (!plan_make_query(plan, err) || !plan_expand_keys(plan, &key, err) ||
        !plan_narrow_sort(plan, &key, err))
        return false;
    for (size_t i = 0; i < key.count; i++) {
        struct cond cond = {
            .attribute = key.attributes[i].name, .op = COND_EQ, .value = key.attributes[i].value};
        if (!model_is_index_key(index, plan->table->keys[i].attribute))
            read_add_filter(plan->query, &cond);
    }
    return !read_failed(plan->query) || error_no_memory(err);
}

/* If the source tests the whole selection, its limit can be the query's limit. */
static void plan_set_selection_limit(const struct plan *plan)
{
    uint32_t most = plan->selection ? plan->selection->limit : 0;
    uint32_t *limit = &plan->query->limit;
    bool all_count = plan->parts.early.child_count == 0 && !plan->parts.late;
    if (most == 0 || !all_count || (*limit > 0 && *limit < most))
        return;
    *limit = most;
    plan->query->ties = false;
}

/* Sets the limit of the first page; 0 for none. A file is one item: the limit is two, so that a
 * second one is noticed. */
static bool plan_set_first_page(struct plan *plan, struct error *err)
{
    const struct map_pattern *pattern = plan->pattern;
    const char *param = pattern->limit_param;
    uint32_t *limit = &plan->query->limit;
    if (plan->kind == PLAN_SEARCH || plan->entry)
        return true;
    plan->query->ties = pattern->ties;
    *limit = plan->kind == PLAN_LIST || pattern->limit ? pattern->limit : pattern->pick ? 0 : 2;
    const struct span *number = param ? bindings_find(&plan->path, param) : NULL;
    if (param && !entry_limit_parse(param, number ? *number : span_text(""), limit, err))
        return false;
    plan_set_selection_limit(plan);
    return true;
}

/* For a count, the source counts if every item that it returns counts. Else it returns keys and
 * tested attributes only. With a limit, the first page has all items, and the listing counts them.
 */
static void plan_set_counting(struct plan *plan)
{
    struct read *query = plan->query;
    plan->counts = true;
    if (query->limit > 0)
        return;
    bool tested = plan->parts.early.child_count > 0 || plan->parts.late;
    query->counts =
        !plan->reads_again && !tested && item_parts_all_count(plan->pattern, query, &plan->path);
    if (query->counts)
        return;
    plan_project_keys(plan);
    if (plan->parts.early.child_count > 0)
        cond_each_attribute(&plan->parts.early, plan_project_operand, query);
}

static bool plan_index_holds_columns(struct plan *plan, const struct plan_subject *subject)
{
    const struct map_index *index = plan->pattern->index;
    if (index->projects == PROJECTS_ALL) /* the map wants these read again all the same */
        return false;
    for (size_t i = 0; i < subject->column_count; i++) {
        struct span column = subject->columns[i];
        if (memchr(column.data, '\0', column.size) ||
            !model_index_holds(plan->table, index, arena_text(&plan->arena, column)))
            return false;
    }
    return subject->column_count > 0;
}

/* WHOLE: all steps could be made. */
static void plan_price_steps(struct plan *plan, const struct plan_subject *subject, bool whole)
{
    const struct map_pattern *pattern = plan->pattern;
    if (plan->kind == PLAN_SEARCH)
        cost_of_search(pattern, &plan->cost);
    else
        cost_of_pattern(pattern, subject->entry, plan->query ? plan->query->limit : 0, &plan->cost);
    if (whole && plan->selection)
        cost_of_selection(pattern, plan->query->limit, plan->query->ties,
                          plan->query->filter_count > 0, &plan->cost);
    if (plan->index_suffices)
        cost_of_index_alone(&plan->cost);
    plan->cost.filters |= plan->selection && plan->selection->filter;
    plan->cost.parallel = whole && plan->kind == PLAN_LIST && read_is_divisible(plan->query) &&
                          !(plan->selection && plan->selection->limit > 0);
}

static bool plan_make_steps(struct plan *plan, const struct plan_subject *subject,
                            struct error *err)
{
    const struct map_pattern *pattern = plan->pattern;
    plan->reads_again = plan->kind == PLAN_SEARCH ? !cost_index_alone(pattern) : pattern->hydrates;
    bool ok = false;
    if (!plan_check_bounds(plan, err))
        return false;
    switch (plan->kind) {
    case PLAN_KEY:
        plan->reads_again = false;
        ok = plan_expand_keys(plan, &plan->key, err);
        break;
    case PLAN_FIND:
        ok = plan->entry ? plan_make_entry_query(plan, err) : plan_make_query(plan, err);
        break;
    case PLAN_SEARCH:
        ok = plan_make_search(plan, err);
        break;
    case PLAN_LIST:
        ok = plan_make_query(plan, err) && plan_narrow_to_begins(plan, err);
        break;
    }
    /* A count counts names, which consist of keys, and every index has these. */
    plan->index_suffices = ok && plan->kind == PLAN_LIST && plan->reads_again &&
                           !plan->parts.late &&
                           (subject->counts || plan_index_holds_columns(plan, subject));
    if (plan->index_suffices)
        plan->reads_again = false;
    ok = ok && (!plan->query || plan_set_first_page(plan, err));
    if (ok && subject->counts && plan->kind == PLAN_LIST)
        plan_set_counting(plan);
    if (ok && ((plan->query && read_failed(plan->query)) || plan->arena.failed))
        ok = error_no_memory(err);
    plan_price_steps(plan, subject, ok);
    return ok;
}

static enum plan_kind plan_kind_for(const struct plan_subject *subject)
{
    const struct map_pattern *pattern = subject->pattern;
    if (!subject->kind)
        return PLAN_LIST;
    if (subject->shortened.size)
        return PLAN_SEARCH;
    if (subject->entry)
        return cost_index_alone(pattern) ? PLAN_FIND : PLAN_KEY;
    return pattern->by_key ? PLAN_KEY : PLAN_FIND;
}

static unsigned long plans_made;

unsigned long plan_count_made(void)
{
    return plans_made;
}

/* Adds the search for the item's vector. */
static bool plan_add_search(struct plan *plan, const struct plan_subject *subject,
                            struct error *err)
{
    if (!subject->vector)
        return true;
    plan->search = vector_search_new(subject->vector, plan->table, plan->table_name, subject->top);
    if (!plan->search)
        return error_no_memory(err);
    read_set_pattern(plan->search, plan->table->path_name, plan->pattern->path);
    plan_name_secrets(plan, plan->search);
    plan->found = subject->found;
    cost_of_found(subject->found != PLAN_FOUND_NONE, subject->found == PLAN_FOUND_ONE, &plan->cost);
    return !read_failed(plan->search) || error_no_memory(err);
}

struct plan *plan_new(const struct plan_subject *subject, struct error *err)
{
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        error_no_memory(err);
        return NULL;
    }
    *plan = (struct plan){
        .kind = plan_kind_for(subject),
        .table = model_ref(subject->table),
        .pattern = subject->pattern,
        .entry = subject->entry,
        .kind_of = subject->kind,
        .path = *subject->path,
        .references = 1,
        .self = plan,
    };
    plans_made++;
    if (plan->kind == PLAN_LIST)
        plan->selection = selection_copy(subject->selection, &plan->arena);
    plan->table_name = arena_text(&plan->arena, span_text(subject->table_name));
    plan->attribute = arena_copy(&plan->arena, subject->attribute);
    plan->shortened = arena_copy(&plan->arena, subject->shortened);
    for (size_t i = 0; i < plan->path.count; i++)
        plan->path.items[i].value = arena_copy(&plan->arena, plan->path.items[i].value);
    if (plan->arena.failed)
        error_no_memory(err);
    else if (plan_make_steps(plan, subject, err) && plan_add_search(plan, subject, err))
        return plan;
    plan_unref(plan);
    return NULL;
}

const struct plan *plan_ref(const struct plan *plan)
{
    if (plan)
        plan->self->references++;
    return plan;
}

void plan_unref(const struct plan *plan)
{
    struct plan *mine = plan ? plan->self : NULL;
    if (!mine || --mine->references > 0)
        return;
    read_destroy(mine->query);
    read_destroy(mine->search);
    arena_clean_up(&mine->arena);
    model_unref(mine->table);
    free(mine);
}

int64_t plan_ttl_ms(const struct plan *plan, struct source *source)
{
    int64_t ttl_ms = plan->pattern->ttl_ms;
    return plan->pattern->consistent ? ttl_ms : source_ttl_ms(source, plan->table_name, ttl_ms);
}

/* The attributes that plan_holds tests, and the item's date, are read with the wanted attribute. */
struct plan_lookup {
    const struct plan *plan;
    struct read *read;
};

static bool plan_project_attribute(void *arg, const char *attribute)
{
    struct plan_lookup *look = arg;
    if (!model_is_key(look->plan->table, attribute) && !span_is(look->plan->attribute, attribute))
        read_add_attribute(look->read, span_text(attribute));
    return true;
}

static void plan_project_conds(const struct plan *plan, struct read *read,
                               const struct map_cond *conds, size_t count)
{
    struct plan_lookup look = {plan, read};
    for (size_t i = 0; i < count; i++)
        condition_each_attribute(&conds[i], plan_project_attribute, &look);
}

/* A listing that reads items again needs the attributes that it tests: the index's key, the query's
 * conditions, and the selection. */
static void plan_project_counted(const struct plan *plan, struct read *read)
{
    const struct map_index *index = plan->pattern->index;
    const struct map_key *key;
    for (size_t i = 0; i < plan->table->key_count; i++)
        read_add_attribute(read, span_text(plan->table->keys[i].attribute));
    for (size_t i = 0; (key = model_index_key(index, i)); i++)
        read_add_attribute(read, span_text(key->attribute));
    for (size_t i = 0; i < plan->query->where_count; i++)
        cond_each_attribute(&plan->query->where[i], plan_project_operand, read);
    for (size_t i = 0; i < plan->query->filter_count; i++)
        cond_each_attribute(&plan->query->filter[i], plan_project_operand, read);
    if (plan->selection && plan->selection->filter)
        cond_each_attribute(plan->selection->filter, plan_project_operand, read);
}

struct read *plan_items(const struct plan *plan, const struct key *keys, size_t count,
                        struct error *err)
{
    const struct map_pattern *pattern = plan->pattern;
    struct read *read = read_new(READ_ITEMS, plan->table_name, NULL);
    if (read)
        read_set_pattern(read, plan->table->path_name, pattern->path);
    for (size_t i = 0; read && i < count; i++)
        read_add_key(read, &keys[i]);
    if (read && plan->attribute.size) {
        read_add_attribute(read, plan->attribute);
        plan_project_conds(plan, read, pattern->where, pattern->where_count);
        plan_project_conds(plan, read, pattern->filter, pattern->filter_count);
        struct plan_lookup look = {plan, read};
        const struct map_key *key;
        bool indexed = plan->entry && plan->entry->indexed.count > 0;
        /* If a name contains parts of the index's key, the item must still have that key. */
        for (size_t i = 0; indexed && (key = model_index_key(pattern->index, i)); i++)
            plan_project_attribute(&look, key->attribute);
        if (pattern->mtime)
            plan_project_attribute(&look, pattern->mtime);
    }
    if (read && plan->counts && plan->query->limit == 0)
        plan_project_counted(plan, read);
    if (read) {
        read->consistent = pattern->consistent;
        read->unstored = pattern->ttl_ms == 0;
        plan_name_secrets(plan, read);
    }
    if (read && !read_failed(read))
        return read;
    read_destroy(read);
    error_no_memory(err);
    return NULL;
}

/* Key attributes come from KEY: the item may have only the requested attributes. */
static bool plan_holds_cond(const struct cond *cond, const struct key *key, struct json item,
                            bool *failed)
{
    for (size_t i = 0; i < key->count; i++)
        if (span_equal(key->attributes[i].name, cond->attribute))
            return cond_admits(cond, key->attributes[i].value);
    return cond_holds(cond, item, failed);
}

static bool plan_all_hold(const struct plan *plan, const struct map_cond *conds, size_t count,
                          const struct key *key, struct json item, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    for (size_t i = 0; i < count; i++) {
        struct cond cond;
        bool failed = false;
        if (!condition_expand(&conds[i], &plan->path, &arena, &cond, err))
            return false;
        if (!plan_holds_cond(&cond, key, item, &failed))
            return failed ? error_no_memory(err)
                          : error_set(
                                err, ERROR_NOT_FOUND,
                                "the item exists, but it is not (or no longer) in this directory");
    }
    return true;
}

/* Whether the item has the parts of the index's key that are in its name. The parts
 * of a shortened name are unknown; the caller compares the whole name. */
static bool plan_index_holds(const struct plan *plan, struct json item, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct bindings parts = {0};
    const struct map_entry *entry = plan->entry;
    if (!entry || entry->indexed.count == 0)
        return true;
    bool in = item_parts_add_of_index(plan->table, plan->pattern->index, entry->kind,
                                      &entry->indexed, item, &arena, &parts);
    if (arena.failed)
        return error_no_memory(err);
    return (in && bindings_agree(&plan->path, &parts)) ||
           error_set(err, ERROR_NOT_FOUND,
                     "the item exists, but %s does not (or no longer) have it by the part of the "
                     "index's key in its name; list the directory again",
                     plan->pattern->index->name);
}

bool plan_excludes(const struct map_pattern *pattern, const struct bindings *path,
                   const struct bindings *parts)
{
    for (size_t i = 0; i < pattern->excluded_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf end = {0}, value = {0};
        const char *param = pattern->excluded[i].param;
        const struct span *part = bindings_find(parts, param);
        if (part && format_expand(&pattern->excluded[i].value, path, &end) &&
            model_read_part(pattern->table, param, buf_span(&end), &value) &&
            span_equal(*part, buf_span(&value)))
            return true;
    }
    return false;
}

bool plan_holds(const struct plan *plan, const struct key *key, struct json item, struct error *err)
{
    const struct map_pattern *pattern = plan->pattern;
    if (plan_excludes(pattern, &plan->path, &plan->path))
        return error_set(err, ERROR_NOT_FOUND, "the item exists, but not in this directory");
    return plan_all_hold(plan, pattern->where, pattern->where_count, key, item, err) &&
           plan_all_hold(plan, pattern->filter, pattern->filter_count, key, item, err) &&
           plan_index_holds(plan, item, err);
}

/* The query's condition on the table's key attribute I, or NULL. */
static const struct cond *plan_cond_on_key(const struct plan *plan, size_t i)
{
    struct span name = span_text(plan->table->keys[i].attribute);
    for (size_t w = 0; w < plan->query->where_count; w++)
        if (span_equal(plan->query->where[w].attribute, name))
            return &plan->query->where[w];
    return NULL;
}

/* The value of key attribute I in FILE's first step, or its beginning. False for none. */
static bool plan_key_prefix(const struct plan *file, size_t i, struct value *out)
{
    if (file->kind == PLAN_KEY) {
        *out = file->key.attributes[i].value;
        return true;
    }
    const struct cond *cond = plan_cond_on_key(file, i);
    if (!cond || (cond->op != COND_EQ && cond->op != COND_BEGINS))
        return false;
    *out = cond->value;
    return true;
}

bool plan_covers(const struct plan *list, const struct plan *file)
{
    struct value selection;
    bool of_table_itself =
        list->kind == PLAN_LIST && !list->query->index &&
        (file->kind == PLAN_KEY || (file->kind == PLAN_FIND && !file->query->index));
    if (!of_table_itself || list->table != file->table || list->query->filter_count ||
        list->query->limit || list->query->attribute_count || list->reads_again ||
        list->query->consistent != file->pattern->consistent)
        return false;
    const struct cond *partition = plan_cond_on_key(list, 0);
    if (!partition || partition->op != COND_EQ || !plan_key_prefix(file, 0, &selection) ||
        value_compare(partition->value, selection) != 0)
        return false;
    const struct cond *sort = list->table->key_count == 2 ? plan_cond_on_key(list, 1) : NULL;
    return !sort || (sort->op == COND_BEGINS && plan_key_prefix(file, 1, &selection) &&
                     span_starts(selection.bytes, sort->value.bytes));
}

/* Whether ITEM has the key of the plan's index, as all items in the index have; without an index,
 * it has. It may be only the requested attributes, and so lack the table's key. */
static bool plan_is_in_index(const struct plan *plan, struct json item)
{
    const struct map_index *index = plan->pattern->index;
    const struct map_key *key;
    for (size_t i = 0; index && (key = model_index_key(index, i)); i++)
        if (!model_is_key(plan->table, key->attribute) &&
            !json_present(item_attribute(item, span_text(key->attribute))))
            return false;
    return true;
}

bool plan_admits(const struct plan *plan, const struct key *key, struct json item, bool *failed)
{
    if (plan->kind == PLAN_KEY)
        return key_compare(&plan->key, key) == 0;
    for (size_t i = 0; i < plan->query->where_count; i++)
        if (!plan_holds_cond(&plan->query->where[i], key, item, failed))
            return false;
    for (size_t i = 0; i < plan->query->filter_count; i++)
        if (!plan_holds_cond(&plan->query->filter[i], key, item, failed))
            return false;
    return plan_is_in_index(plan, item);
}

bool plan_may_select(const struct plan *plan, struct json item, bool *failed)
{
    return plan->parts.early.child_count == 0 || cond_holds(&plan->parts.early, item, failed);
}

bool plan_selects(const struct plan *plan, struct json item, bool *failed)
{
    return !plan->selection || !plan->selection->filter ||
           cond_holds(plan->selection->filter, item, failed);
}

static void plan_add_sized(struct buf *out, struct span text)
{
    buf_printf(out, " %zu:", text.size);
    buf_add_span(out, text);
}

/* The formats of a kind, without its name: two tables of a map may be one of the service's, each
 * with a kind of that name. */
static void plan_add_kind(const struct plan *plan, const struct map_kind *kind, struct buf *out)
{
    for (size_t i = 0; i < plan->table->key_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf format = {0};
        plan_add_sized(out, span_text(plan->table->keys[i].attribute));
        buf_printf(out, " %d", (int)plan->table->keys[i].type);
        format_write(&kind->keys[i], &format);
        plan_add_sized(out, buf_span(&format));
        out->failed = out->failed || format.failed;
    }
}

/* The parts of the index's key in names, which item_match uses in the same way. */
static void plan_add_index(const struct plan *plan, const struct map_entry *entry, struct buf *out)
{
    const struct map_key *key;
    for (size_t i = 0; entry->indexed.count && (key = model_index_key(plan->pattern->index, i));
         i++) {
        CLEAN_UP(buf_clean_up) struct buf format = {0};
        plan_add_sized(out, span_text(key->attribute));
        buf_printf(out, " %d", (int)key->type);
        const struct format *written = model_key_format(plan->table, key, entry->kind);
        if (written)
            format_write(written, &format);
        plan_add_sized(out, buf_span(&format));
        out->failed = out->failed || format.failed;
    }
}

static void plan_add_kinds(const struct plan *plan, struct buf *out)
{
    const struct map_pattern *pattern = plan->pattern;
    if (plan->kind_of)
        plan_add_kind(plan, plan->kind_of, out);
    for (size_t i = 0; (plan->kind == PLAN_SEARCH || !plan->kind_of) && i < pattern->entry_count;
         i++)
        plan_add_kind(plan, pattern->entries[i].kind, out);
}

/* A search compares names; other plans use only the entry's parts of the index's key. */
static void plan_add_names(const struct plan *plan, struct buf *out)
{
    const struct map_pattern *pattern = plan->pattern;
    bool by_name = plan->kind == PLAN_SEARCH;
    for (size_t i = 0; by_name && i < pattern->entry_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        format_write(&pattern->entries[i].name, &name);
        plan_add_sized(out, buf_span(&name));
        plan_add_index(plan, &pattern->entries[i], out);
        out->failed = out->failed || name.failed;
    }
    if (!by_name && plan->entry)
        plan_add_index(plan, plan->entry, out);
}

/* The formats of keys and the values of the path decide which items count. */
void plan_identity(const struct plan *plan, struct buf *out)
{
    const struct map_pattern *pattern = plan->pattern;
    if (plan->kind == PLAN_KEY)
        return; /* the Read identifies a key */
    buf_printf(out, " %d %c %d", (int)plan->kind, plan->table->separator, (int)pattern->pick);
    plan_add_sized(out, span_text(pattern->pick ? pattern->pick_attribute : ""));
    plan_add_kinds(plan, out);
    plan_add_names(plan, out);
    plan_add_sized(out, plan->shortened);
    for (size_t i = 0; i < plan->path.count; i++) {
        plan_add_sized(out, span_text(plan->path.items[i].param));
        plan_add_sized(out, plan->path.items[i].value);
    }
    buf_add_char(out, ' ');
    if (plan->selection && plan->selection->filter)
        cond_write_identity(plan->selection->filter, out);
    if (plan->selection)
        buf_printf(out, " first %lu ", (unsigned long)plan->selection->limit);
}

void plan_cost_of_key(const struct plan *plan, struct cost *out)
{
    *out = (struct cost){0};
    if (plan->kind == PLAN_KEY)
        return;
    *out = plan->cost;
    if (plan->reads_again)
        cost_of_key_alone(plan->pattern, out);
}

void plan_find_operations(const struct model *table, struct plan_operations *out)
{
    bool has_items = false;
    *out = (struct plan_operations){0};
    for (const struct map_pattern *each = table->patterns; each; each = each->next) {
        bool queries = each->list || !each->by_key;
        /* An entry is read by its own key, unless the listing shows the index's attributes alone.
         */
        bool has_entries = each->list && !cost_index_alone(each);
        out->query |= queries && !each->index;
        out->get |= !queries || each->hydrates || has_entries;
        out->batch_get |= each->list && each->hydrates;
        has_items |= !cost_index_alone(each);
    }
    out->batch_get |= out->get; /* single items are batched */
    out->get |= has_items;      /* --together reads items by their keys, however they are found */
}

bool plan_queries_index(const struct model *table, const struct map_index *index)
{
    for (const struct map_pattern *each = table->patterns; each; each = each->next)
        if (each->index == index)
            return true;
    return false;
}
