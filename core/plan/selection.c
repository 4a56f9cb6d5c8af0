#include "core/plan/selection.h"

/* The most bytes that a condition, a step of its path, a value of its list, and a word that joins
 * conditions add to an expression of the service. */
enum { CONDITION_BYTES = 48, STEP_BYTES = 7, LIST_BYTES = 7, JOIN_BYTES = 12 };

const struct selection *selection_copy(const struct selection *from, struct arena *arena)
{
    if (!from)
        return NULL;
    struct selection *copy = arena_alloc(arena, sizeof *copy);
    struct cond *filter = from->filter && copy ? arena_alloc(arena, sizeof *filter) : NULL;
    if (!copy || (from->filter && (!filter || !cond_copy(from->filter, arena, filter))))
        return NULL;
    *copy = (struct selection){.filter = filter,
                               .limit = from->limit,
                               .begins = arena_copy(arena, from->begins),
                               .is_quiet = from->is_quiet};
    return arena->failed ? NULL : copy;
}

/* Calls FN for each comparison until FN returns false, which is then the result. */
static bool selection_each_leaf(const struct cond *cond,
                                bool (*fn)(void *arg, const struct cond *leaf), void *arg)
{
    for (size_t i = 0; i < cond->child_count; i++)
        if (!selection_each_leaf(&cond->children[i], fn, arg))
            return false;
    return cond->child_count > 0 || fn(arg, cond);
}

struct selection_lookup {
    const struct map_pattern *pattern;
    const struct model *table;
    const struct cond *found; /* the comparison for which FN returned false */
};

static bool selection_stores_secret(void *arg, const struct cond *leaf)
{
    struct selection_lookup *look = arg;
    bool shown = leaf->step_count == 0 && (leaf->op == COND_EXISTS || leaf->op == COND_MISSING);
    look->found = leaf;
    return shown || !model_is_secret(look->table, leaf->attribute);
}

bool selection_hides_secrets(const struct selection *selection, const struct model *table,
                             struct error *err)
{
    struct selection_lookup look = {.table = table};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    if (!selection->filter ||
        selection_each_leaf(selection->filter, selection_stores_secret, &look))
        return true;
    cond_write_path(look.found, &name);
    return error_set(err, ERROR_DENIED,
                     "%s is secret, and filters on it would reveal its value; pass --show-secrets, "
                     "or use \"exists\"",
                     buf_text(&name));
}

static bool selection_is_key(const struct selection_lookup *look, struct span attribute)
{
    const struct map_index *index = look->pattern->index;
    const struct map_key *key;
    if (index) {
        for (size_t i = 0; (key = model_index_key(index, i)); i++)
            if (span_is(attribute, key->attribute))
                return true;
        return false;
    }
    for (size_t i = 0; i < look->table->key_count; i++)
        if (span_is(attribute, look->table->keys[i].attribute))
            return true;
    return false;
}

static bool selection_is_no_key(void *arg, const struct cond *leaf)
{
    return !selection_is_key(arg, leaf->attribute);
}

static bool selection_is_held(void *arg, const struct cond *leaf)
{
    struct selection_lookup *look = arg;
    look->found = leaf;
    return !look->pattern->index ||
           model_index_holds(look->table, look->pattern->index, leaf->attribute.data);
}

static bool selection_refuse(const struct selection_lookup *look, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const struct map_index *index = look->pattern->index;
    bool unknown = index->projects == PROJECTS_SOME && index->include_count == 0;
    cond_write_path(look->found, &name);
    return error_set(err, ERROR_INVALID,
                     "%s can't be tested: this path shows the items of index %s, and %s",
                     buf_text(&name), index->name,
                     unknown ? "\"projects\" does not list the attribute; add it: \"projects\": […]"
                             : "the index does not include it");
}

static bool selection_counts_records(const struct map_pattern *pattern)
{
    bool counts = pattern->limit > 0;
    for (size_t i = 0; i < pattern->entry_count; i++)
        counts = counts || pattern->entries[i].rank.digits > 0;
    return counts;
}

size_t selection_expression_bytes(const struct cond *cond)
{
    size_t bytes = cond->child_count ? JOIN_BYTES
                                     : CONDITION_BYTES + STEP_BYTES * cond->step_count +
                                           LIST_BYTES * cond->list_count;
    for (size_t i = 0; i < cond->child_count; i++)
        bytes += selection_expression_bytes(&cond->children[i]);
    return bytes;
}

bool selection_split(const struct cond *filter, const struct map_pattern *pattern, bool reads_again,
                     size_t room, struct arena *arena, struct selection_parts *out,
                     struct error *err)
{
    struct selection_lookup look = {.pattern = pattern, .table = pattern->table};
    bool counts = selection_counts_records(pattern);
    const struct cond *parts = filter->op == COND_AND ? filter->children : filter;
    size_t count = filter->op == COND_AND ? filter->child_count : 1;
    struct cond *sent = arena_array(arena, count, sizeof *sent);
    struct cond *early = arena_array(arena, count, sizeof *early);
    *out = (struct selection_parts){.sent = {.op = COND_AND, .children = sent},
                                    .early = {.op = COND_AND, .children = early}};
    if (!sent || !early)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        size_t bytes = selection_expression_bytes(&parts[i]);
        if (!selection_each_leaf(&parts[i], selection_is_held, &look)) {
            if (!reads_again)
                return selection_refuse(&look, err);
            out->late = true;
        } else if (counts || bytes > room ||
                   !selection_each_leaf(&parts[i], selection_is_no_key, &look)) {
            early[out->early.child_count++] = parts[i];
        } else {
            sent[out->sent.child_count++] = parts[i];
            room -= bytes;
        }
    }
    return true;
}
