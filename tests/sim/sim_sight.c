#include "tests/sim/sim_sight.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_life.h"
#include "tests/sim/sim_world.h"

static const struct sim_key_schema *sim_sight_key_of(const struct sim_node *node)
{
    const struct sim_table *table = node->table->table;
    return node->pattern->index < 0 ? &table->key : &table->indexes[node->pattern->index].key;
}

/* Until when a read may return a version that was replaced at UNTIL_MS. */
static int64_t sim_sight_last_seen(int64_t until_ms, int64_t lag_ms)
{
    return until_ms == INT64_MAX ? INT64_MAX : until_ms + lag_ms;
}

static void sim_sight_judge_view(struct sim_view *view, const struct sim_node *node)
{
    struct sim_bindings base = node->path, ignored;
    bool is_entry = node->kind == SIM_NODE_ENTRY;
    /* A query of the index finds an item, which may have left it when it is read; the read is
     * compared with the path alone (docs/internals/plan.md, "Requests"). */
    bool may_be_outside = view->in_table && (is_entry || node->kind == SIM_NODE_ITEM);
    if (is_entry)
        base.count = node->base_count;
    view->kind = view->version->is_deleted
                     ? -1
                     : sim_kind_of(node->table, view->version, node->pattern->kinds);
    enum sim_fit fit =
        sim_pattern_admits(node->table, node->pattern, ~0u, &base, view->version, &view->parts);
    view->base_admits = view->admits =
        fit != SIM_FIT_NO && (fit != SIM_FIT_OUTSIDE || may_be_outside);
    view->is_doubtful = fit == SIM_FIT_MAYBE || fit == SIM_FIT_OUTSIDE;
    view->is_outside = fit == SIM_FIT_OUTSIDE;
    if (is_entry && view->base_admits)
        view->admits = sim_pattern_admits(node->table, node->pattern, node->kinds, &node->path,
                                          view->version, &ignored) != SIM_FIT_NO;
}

void sim_sight_look(struct sim_sight *out, const struct sim_node *node, const struct sim_item *item,
                    struct sim_span span)
{
    const struct sim_table *table = node->table->table;
    int number = node->pattern->index;
    /* "Of local indexes as of the table" (sim_history.h). */
    int64_t index_lag = number < 0                        ? 0
                        : table->indexes[number].is_local ? table->most_lag_ms
                                                          : table->indexes[number].most_lag_ms;
    int64_t most_lag = index_lag > table->most_lag_ms ? index_lag : table->most_lag_ms;
    out->count = 0;
    out->has_more = false;
    const struct sim_version *version = item->newest, *oldest = NULL;
    for (; version; version = version->older) {
        bool in_table = version->from_ms <= span.until_ms &&
                        sim_sight_last_seen(version->until_ms, table->most_lag_ms) >= span.from_ms;
        /* The index shows a version from its own time on, and no longer than its lag after the end.
         */
        bool in_index = number >= 0 && version->index_ms[number] <= span.until_ms &&
                        sim_sight_last_seen(version->until_ms, index_lag) >= span.from_ms;
        if (sim_life_is_frozen() && number >= 0)
            in_index = in_table; /* a snapshot's indexes have no lag */
        oldest = version;
        if (in_table || in_index) {
            if (out->count == SIM_SIGHT_VIEWS) {
                out->has_more = true;
                break;
            }
            struct sim_view *view = &out->views[out->count++];
            view->version = version;
            view->in_table = in_table;
            view->in_index = in_index;
            sim_sight_judge_view(view, node);
        } else if (sim_sight_last_seen(version->until_ms, most_lag) < span.from_ms) {
            break;
        }
    }
    out->table_may_lack =
        !oldest || sim_sight_last_seen(oldest->from_ms, table->most_lag_ms) >= span.from_ms;
    out->index_may_lack =
        number >= 0 && (!oldest || sim_sight_last_seen(oldest->from_ms, index_lag) >= span.from_ms);
}

/* Whether some (all: ALL) views of the table or of the index count. */
static bool sim_sight_some_admit(const struct sim_sight *sight, bool of_index, bool base)
{
    for (unsigned i = 0; i < sight->count; i++) {
        const struct sim_view *view = &sight->views[i];
        if ((of_index ? view->in_index && !view->is_outside : view->in_table) &&
            (base ? view->base_admits : view->admits))
            return true;
    }
    return sight->has_more;
}

static bool sim_sight_some_refuse(const struct sim_sight *sight, bool of_index, bool base)
{
    for (unsigned i = 0; i < sight->count; i++) {
        const struct sim_view *view = &sight->views[i];
        if ((of_index ? view->in_index : view->in_table) &&
            (view->is_doubtful || !(base ? view->base_admits : view->admits)))
            return true;
    }
    return sight->has_more || (of_index ? sight->index_may_lack : sight->table_may_lack);
}

/* docs/semantics.md, "Listings": a lookup below a listing is one GetItem, and the item must fit the
 * path; "Items that move": a listing that is fresh serves a former name, too. */
bool sim_sight_may_be(const struct sim_sight *sight, const struct sim_node *node)
{
    const struct sim_pattern *pattern = node->pattern;
    if (pattern->index < 0)
        return sim_sight_some_admit(sight, false, false);
    if (node->kind == SIM_NODE_ITEM)
        return sim_sight_some_admit(sight, true, false) &&
               (!pattern->reads_again || sim_sight_some_admit(sight, false, false));
    return sim_sight_some_admit(sight, false, false) ||
           (sim_sight_some_admit(sight, true, false) &&
            (!pattern->reads_again || sim_sight_some_admit(sight, false, true)));
}

bool sim_sight_may_lack(const struct sim_sight *sight, const struct sim_node *node)
{
    const struct sim_pattern *pattern = node->pattern;
    if (!sim_sight_may_be(sight, node))
        return true;
    if (pattern->index < 0)
        return sim_sight_some_refuse(sight, false, false);
    if (node->kind == SIM_NODE_ENTRY && pattern->reads_again)
        return sim_sight_some_refuse(sight, false, false);
    return sim_sight_some_refuse(sight, false, false) || sim_sight_some_refuse(sight, true, false);
}

bool sim_sight_may_refuse(const struct sim_sight *sight)
{
    for (unsigned i = 0; i < sight->count; i++) {
        const struct sim_view *view = &sight->views[i];
        if (!view->version->is_deleted && (view->is_doubtful || !view->admits))
            return true;
    }
    return sight->has_more;
}

bool sim_sight_may_be_picked(const struct sim_sight *sight)
{
    return sim_sight_some_admit(sight, true, false);
}

bool sim_sight_may_be_listed(const struct sim_sight *sight, const struct sim_node *node)
{
    const struct sim_pattern *pattern = node->pattern;
    if (pattern->index < 0)
        return sim_sight_some_admit(sight, false, true);
    return sim_sight_some_admit(sight, true, true) &&
           (!pattern->reads_again || sim_sight_some_admit(sight, false, true));
}

/* In an index an item that moves "from ahead of the query to behind it is in no page" (ADR 66).
 * Where each read of the index is as late as the one before it, an item that moves ahead is in a
 * page. */
static bool sim_sight_moves(const struct sim_sight *sight, const struct sim_node *node)
{
    const struct sim_version *first = NULL;
    const struct sim_table *table = node->table->table;
    const struct sim_index *index = &table->indexes[node->pattern->index];
    bool is_strict = (index->is_local ? table->most_lag_ms : index->most_lag_ms) == 0 &&
                     !node->pattern->limit && !node->pattern->limit_part;
    for (unsigned i = 0; i < sight->count; i++) {
        const struct sim_view *view = &sight->views[i];
        if (!sim_view_is_listed(view, node))
            continue;
        int order = first ? sim_node_compare(node, first, view->version) : 0;
        if (is_strict ? order < 0 : order != 0) /* FIRST is the later version */
            return true;
        first = view->version;
    }
    return false;
}

bool sim_sight_must_be_listed(const struct sim_sight *sight, const struct sim_node *node)
{
    const struct sim_pattern *pattern = node->pattern;
    if (!sim_sight_may_be_listed(sight, node))
        return false;
    if (pattern->index < 0)
        return !sim_sight_some_refuse(sight, false, true);
    return !sim_sight_some_refuse(sight, true, true) && !sim_sight_moves(sight, node) &&
           (!pattern->reads_again || !sim_sight_some_refuse(sight, false, true));
}

bool sim_view_is_shown(const struct sim_view *view, const struct sim_node *node)
{
    const struct sim_pattern *pattern = node->pattern;
    if (pattern->index < 0)
        return view->in_table && view->admits;
    if (pattern->reads_again)
        return view->in_table && (node->kind == SIM_NODE_ENTRY ? view->base_admits : view->admits);
    return view->admits;
}

bool sim_view_is_listed(const struct sim_view *view, const struct sim_node *node)
{
    return view->base_admits && !view->is_outside &&
           (node->pattern->index < 0 ? view->in_table : view->in_index);
}

int sim_node_compare(const struct sim_node *node, const struct sim_version *a,
                     const struct sim_version *b)
{
    const struct sim_key_schema *key = sim_sight_key_of(node);
    int order = 0;
    for (unsigned i = key->hash_count; order == 0 && i < key->hash_count + key->range_count; i++)
        order =
            sim_value_compare(sim_version_get(a, key->names[i]), sim_version_get(b, key->names[i]));
    return node->pattern->descends ? -order : order;
}

/* The key attributes FROM to UNTIL of KEY as the path determines them. False: it does not. */
static bool sim_sight_expand_key(const struct sim_node *node, const struct sim_bindings *path,
                                 const struct sim_model_kind *kind,
                                 const struct sim_key_schema *key, unsigned count,
                                 struct sim_value *out, struct sim_text *texts)
{
    for (unsigned i = 0; i < count; i++) {
        const struct sim_key_format *format = sim_kind_format(kind, key->names[i]);
        if (!format || !sim_format_expand(format, path, &texts[i]))
            return false;
        sim_text_add(&texts[i], "", 1); /* so that BYTES is never NULL */
        out[i] = (struct sim_value){
            .type = key->types[i], .bytes = texts[i].bytes, .size = texts[i].size - 1};
    }
    (void)node;
    return true;
}

static void sim_sight_free_texts(struct sim_text *texts)
{
    for (unsigned i = 0; i < 2 * SIM_MOST_KEYS; i++)
        sim_text_free(&texts[i]);
}

/* A name that means another path of an older map may have no number for an attribute of type N. */
static bool sim_sight_may_exist(const struct sim_value *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct sim_text digits = {0};
        bool is_value =
            values[i].type != SIM_N || sim_number_write(&digits, values[i].bytes, values[i].size);
        sim_text_free(&digits);
        if (!is_value)
            return false;
    }
    return true;
}

static bool sim_sight_find_by_key(const struct sim_node *node, const struct sim_model_kind *kind,
                                  struct sim_items *out)
{
    const struct sim_key_schema *key = &node->table->table->key;
    unsigned count = key->hash_count + key->range_count;
    struct sim_value values[2 * SIM_MOST_KEYS];
    struct sim_text texts[2 * SIM_MOST_KEYS] = {0};
    struct sim_attribute like[2 * SIM_MOST_KEYS];
    bool is_known = sim_sight_expand_key(node, &node->path, kind, key, count, values, texts);
    for (unsigned i = 0; is_known && i < count; i++)
        like[i] = (struct sim_attribute){.name = key->names[i], .value = values[i]};
    struct sim_item *found = is_known && sim_sight_may_exist(values, count)
                                 ? sim_history_find(node->table->table, like, count)
                                 : NULL;
    if (found) {
        out->items = sim_alloc(sizeof(struct sim_item *));
        out->items[out->count++] = found;
    }
    sim_sight_free_texts(texts);
    return is_known;
}

/* By a number, because addresses differ between builds. */
static int sim_sight_compare_items(const void *a, const void *b)
{
    const struct sim_item *const *x = a, *const *y = b;
    uint64_t first = (*x)->newest->number, second = (*y)->newest->number;
    return (first > second) - (first < second);
}

/* An item that has moved has several places in its partition. */
static void sim_sight_add_partition(struct sim_items *out, const struct sim_partition *partition)
{
    if (!partition)
        return;
    out->items = sim_alloc((partition->place_count + 1) * sizeof(struct sim_item *));
    for (size_t i = 0; i < partition->place_count; i++)
        out->items[i] = partition->places[i]->item;
    qsort(out->items, partition->place_count, sizeof(struct sim_item *), sim_sight_compare_items);
    for (size_t i = 0; i < partition->place_count; i++)
        if (i == 0 || out->items[i] != out->items[i - 1])
            out->items[out->count++] = out->items[i];
}

struct sim_items sim_node_items(const struct sim_node *node)
{
    struct sim_items out = {0};
    const struct sim_key_schema *key = sim_sight_key_of(node);
    const struct sim_order *order = sim_history_order(node->table->table, node->pattern->index);
    unsigned kinds = node->pattern->kinds & (node->kind == SIM_NODE_LISTING ? ~0u : node->kinds);
    unsigned first = 0;
    while (first < node->table->kind_count && !(kinds & 1u << first))
        first++;
    if (first == node->table->kind_count)
        return out;
    const struct sim_model_kind *kind = &node->table->kinds[first];
    if (!(kinds & (kinds - 1)) && node->kind != SIM_NODE_LISTING &&
        sim_sight_find_by_key(node, kind, &out))
        return out;
    struct sim_value values[2 * SIM_MOST_KEYS];
    struct sim_text texts[2 * SIM_MOST_KEYS] = {0};
    const struct sim_value *hash[SIM_MOST_KEYS];
    bool is_known =
        sim_sight_expand_key(node, &node->path, kind, key, key->hash_count, values, texts);
    for (unsigned i = 0; is_known && i < key->hash_count; i++)
        hash[i] = &values[i];
    if (is_known && sim_sight_may_exist(values, key->hash_count))
        sim_sight_add_partition(&out, sim_order_find(order, hash));
    sim_sight_free_texts(texts);
    if (is_known)
        return out;
    size_t room = 0;
    for (struct sim_item *item = node->table->table->first; item; item = item->next)
        room++;
    out.items = sim_alloc((room + 1) * sizeof(struct sim_item *));
    for (struct sim_item *item = node->table->table->first; item; item = item->next)
        out.items[out.count++] = item;
    return out;
}
