/* The oracles of listings: the names of a directory, and the lines and the count of its items. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_life.h"
#include "tests/sim/sim_oracle.h"
#include "tests/sim/sim_vectors.h"
#include "tests/sim/sim_world.h"

/* An entry that a listing may have. */
struct sim_expected {
    char *name; /* owned; NULL: its exact name is not known */
    size_t item;
    const struct sim_version *version;
    struct sim_bindings parts;
    int kind;
};

struct sim_expectation {
    const struct sim_node *node;
    struct sim_span span;
    struct sim_items items;
    bool *may, *must, *seen;      /* by item; owned */
    struct sim_expected *entries; /* owned; sorted by name */
    size_t count, room;
    size_t nameless; /* entries without a name */
    bool has_more;   /* of an item with too many versions */
};

static int sim_oracle_compare_expected(const void *a, const void *b)
{
    const struct sim_expected *x = a, *y = b;
    if (!x->name || !y->name)
        return (x->name != NULL) - (y->name != NULL);
    int order = strcmp(x->name, y->name);
    if (order == 0)
        order =
            (x->version->number > y->version->number) - (x->version->number < y->version->number);
    return order;
}

static bool sim_oracle_pattern_has_suffix(const struct sim_pattern *pattern)
{
    return !pattern->attribute && !pattern->is_groups;
}

/* The name of a view's entry; NULL: the model does not know it. To be freed. */
static char *sim_oracle_name_of(const struct sim_node *node, const struct sim_view *view)
{
    struct sim_text text = {0};
    bool is_known =
        node->pattern->is_groups
            ? sim_step_write(&text, &node->pattern->names[view->kind], &view->parts)
            : sim_name_write(&text, node->table, node->pattern, view->kind, &view->parts);
    if (is_known)
        return text.bytes;
    sim_text_free(&text);
    return NULL;
}

static void sim_oracle_expect(struct sim_expectation *out, const struct sim_node *node,
                              struct sim_span span)
{
    *out = (struct sim_expectation){.node = node, .span = span, .items = sim_node_items(node)};
    out->may = sim_alloc(out->items.count + 1);
    out->must = sim_alloc(out->items.count + 1);
    out->seen = sim_alloc(out->items.count + 1);
    for (size_t i = 0; i < out->items.count; i++) {
        struct sim_sight sight;
        sim_sight_look(&sight, node, out->items.items[i], span);
        out->may[i] = sim_sight_may_be_listed(&sight, node);
        out->must[i] = sim_sight_must_be_listed(&sight, node);
        out->has_more = out->has_more || sight.has_more;
        for (unsigned v = 0; out->may[i] && v < sight.count; v++) {
            const struct sim_view *view = &sight.views[v];
            if (!sim_view_is_listed(view, node))
                continue;
            if (out->count == out->room) {
                out->room = 2 * out->room + 16;
                out->entries = sim_grow(out->entries, out->room * sizeof(*out->entries));
            }
            struct sim_expected *entry = &out->entries[out->count++];
            *entry = (struct sim_expected){.name = sim_oracle_name_of(node, view),
                                           .item = i,
                                           .version = view->version,
                                           .parts = view->parts,
                                           .kind = view->kind};
            out->nameless += !entry->name;
        }
    }
    if (out->count)
        qsort(out->entries, out->count, sizeof(*out->entries), sim_oracle_compare_expected);
}

static void sim_oracle_forget(struct sim_expectation *expectation)
{
    for (size_t i = 0; i < expectation->count; i++)
        sim_free(expectation->entries[i].name);
    sim_free(expectation->entries);
    sim_free(expectation->may);
    sim_free(expectation->must);
    sim_free(expectation->seen);
    sim_free(expectation->items.items);
}

/* The limit of the path's listing; 0: none. */
static size_t sim_oracle_limit_of(const struct sim_node *node)
{
    if (!node->pattern->limit_part)
        return node->pattern->limit;
    const struct sim_slice *value = sim_bindings_get(&node->path, node->pattern->limit_part);
    return value ? strtoul(value->bytes, NULL, 10) : 0;
}

/* How many items certainly are in front of VERSION, whose item is ITEM; if not CERTAINLY: may be.
 */
static size_t sim_oracle_count_before(const struct sim_expectation *of, size_t item,
                                      const struct sim_version *version, bool certainly)
{
    size_t count = 0, last = SIZE_MAX;
    bool *counted = sim_alloc(of->items.count + 1);
    (void)last;
    for (size_t i = 0; i < of->count; i++) {
        const struct sim_expected *entry = &of->entries[i];
        if (entry->item == item || counted[entry->item])
            continue;
        int order = sim_node_compare(of->node, entry->version, version);
        if (certainly ? of->must[entry->item] && order < 0 : order <= 0) {
            counted[entry->item] = true;
            count++;
        }
    }
    sim_free(counted);
    return count;
}

/* The first entry with NAME, in an array sorted by name. */
static size_t sim_oracle_find_name(const struct sim_expectation *of, const char *name)
{
    size_t from = of->nameless, until = of->count;
    while (from < until) {
        size_t middle = (from + until) / 2;
        if (strcmp(of->entries[middle].name, name) < 0)
            from = middle + 1;
        else
            until = middle;
    }
    return from;
}

/* Whether NAME may be one of the entries whose exact names the model does not know: it leads back
 * to the entry's parts, or is shortened. */
static bool sim_oracle_is_nameless(const struct sim_expectation *of, const char *name,
                                   const struct sim_expected **out)
{
    const struct sim_pattern *pattern = of->node->pattern;
    bool is_shortened = strstr(name, "%~") || strstr(name, "%=");
    for (size_t i = 0; i < of->nameless; i++) {
        const struct sim_expected *entry = &of->entries[i];
        struct sim_text plain = {0}, decoded = {0};
        const struct sim_key_format *format = &pattern->names[entry->kind];
        size_t size = strlen(name), suffix = strlen(sim_life_options()->suffix);
        if (sim_oracle_pattern_has_suffix(pattern) && size >= suffix)
            size -= suffix;
        bool is_same = is_shortened && strlen(name) <= 247 + suffix;
        if (!is_same && (!format->count || !sim_format_expand(format, &entry->parts, &plain)))
            is_same = true; /* a doubtful item */
        plain.size = 0;
        if (!is_same && sim_format_expand(format, &entry->parts, &plain) &&
            sim_name_decode(&decoded, (struct sim_slice){name, size}))
            is_same = plain.size == decoded.size &&
                      memcmp(plain.bytes ? plain.bytes : "", decoded.bytes ? decoded.bytes : "",
                             plain.size) == 0;
        sim_text_free(&plain);
        sim_text_free(&decoded);
        if (is_same) {
            *out = entry;
            of->seen[entry->item] = true;
            if (!is_shortened && !pattern->is_groups) /* a group has several items */
                return true;
        }
    }
    return *out != NULL;
}

static char *sim_oracle_report_name(const struct sim_expectation *of, const char *name,
                                    const char *why)
{
    struct sim_text text = {0};
    sim_text_printf(&text, "\"%s\" %s; reads from %lld until %lld; %zu items", name, why,
                    (long long)of->span.from_ms, (long long)of->span.until_ms, of->items.count);
    size_t told = 0, near = sim_oracle_find_name(of, name);
    for (size_t i = near > of->nameless ? near - 1 : near; i < of->count && i <= near; i++)
        sim_text_printf(&text, "; \"%s\" may be", of->entries[i].name);
    for (size_t i = 0; i < of->items.count && told < 3; i++)
        if (!of->may[i]) {
            sim_oracle_tell_item(&text, of->node, of->items.items[i], of->span);
            told++;
        }
    for (size_t i = 0; i < of->nameless && i < 4; i++) {
        struct sim_text plain = {0};
        sim_format_expand(&of->node->pattern->names[of->entries[i].kind], &of->entries[i].parts,
                          &plain);
        sim_text_printf(&text, "; a name of \"%s\" may be", plain.bytes ? plain.bytes : "");
        sim_text_free(&plain);
    }
    for (size_t i = 0; i < of->count && told < 4; i++)
        if (of->entries[i].name && strcmp(of->entries[i].name, name) == 0) {
            sim_oracle_tell_item(&text, of->node, of->items.items[of->entries[i].item], of->span);
            told++;
        }
    return text.bytes;
}

static int sim_oracle_compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sim_oracle_find_repeated(char *const *names, size_t count)
{
    char **sorted = sim_alloc((count + 1) * sizeof(*sorted)), *found = NULL;
    memcpy(sorted, names, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), sim_oracle_compare_texts);
    for (size_t i = 1; i < count && !found; i++)
        if (strcmp(sorted[i], sorted[i - 1]) == 0)
            found = sim_printf("\"%s\" is listed twice", sorted[i]);
    sim_free(sorted);
    return found;
}

/* A listing that a limit refused begins anew: what came meanwhile is at its end
 * (docs/internals/life-of-a-listing.md, "Limits"). */
static bool sim_oracle_may_begin_anew(void)
{
    return sim_life_options()->max_rcu > 0 || sim_life_options()->max_rcu_per_process > 0;
}

/* Finds the entry of NAME that may follow PREVIOUS in the order; the one with the least sort key.
 */
static char *sim_oracle_place_name(struct sim_expectation *of, const char *name,
                                   const struct sim_version **previous)
{
    const struct sim_version *best = NULL;
    bool is_known = false;
    for (size_t i = sim_oracle_find_name(of, name);
         i < of->count && strcmp(of->entries[i].name, name) == 0; i++) {
        const struct sim_expected *entry = &of->entries[i];
        is_known = true;
        of->seen[entry->item] = true;
        if (*previous && sim_node_compare(of->node, *previous, entry->version) > 0)
            continue;
        if (!best || sim_node_compare(of->node, entry->version, best) < 0)
            best = entry->version;
    }
    const struct sim_expected *nameless = NULL;
    if (!is_known && (sim_oracle_is_nameless(of, name, &nameless) || of->has_more))
        return NULL;
    if (!is_known)
        return sim_oracle_report_name(of, name, "is no entry that may be listed");
    if (!best && !of->has_more && !sim_oracle_may_begin_anew())
        return sim_oracle_report_name(of, name, "is behind an entry that it should precede");
    if (best)
        *previous = best;
    return NULL;
}

static char *sim_oracle_judge_must(const struct sim_expectation *of)
{
    size_t limit = sim_oracle_limit_of(of->node);
    for (size_t i = 0; i < of->count; i++) {
        const struct sim_expected *entry = &of->entries[i];
        if (!of->must[entry->item] || of->seen[entry->item])
            continue;
        if (limit && sim_oracle_count_before(of, entry->item, entry->version, false) >= limit)
            continue;
        return sim_oracle_complain(of->node, of->items.items[entry->item], of->span,
                                   sim_printf("\"%s\" is not listed",
                                              entry->name ? entry->name : "(a name with escapes)"));
    }
    return NULL;
}

/* Of the first N, each listed item has fewer than N in front of it. */
static char *sim_oracle_judge_limit(const struct sim_expectation *of, size_t listed)
{
    size_t limit = sim_oracle_limit_of(of->node);
    if (!limit || of->node->pattern->has_ties || of->has_more)
        return NULL;
    if (listed > limit)
        return sim_printf("%zu entries are listed, and the path has a limit of %zu", listed, limit);
    for (size_t i = of->nameless; i < of->count; i++) {
        const struct sim_expected *entry = &of->entries[i];
        bool has_other = false; /* another version of it may be further in front */
        for (size_t k = 0; k < of->count; k++)
            has_other = has_other || (of->entries[k].item == entry->item &&
                                      of->entries[k].version != entry->version);
        if (!of->seen[entry->item] || has_other)
            continue;
        if (sim_oracle_count_before(of, entry->item, entry->version, true) >= limit)
            return sim_oracle_complain(
                of->node, of->items.items[entry->item], of->span,
                sim_printf("\"%s\" is not among the first %zu", entry->name, limit));
    }
    return NULL;
}

/* Children that the map alone defines. */
struct sim_children {
    const char *names[256];
    bool may_lack[256]; /* borrowed */
    char *owned[256];
    unsigned count, owned_count;
    bool is_open; /* there may be others */
};

/* MAY_LACK: nothing says that it is listed. */
static void sim_oracle_add_child_if(struct sim_children *out, const char *name, bool may_lack)
{
    for (unsigned i = 0; i < out->count; i++)
        if (strcmp(out->names[i], name) == 0) {
            out->may_lack[i] = out->may_lack[i] && may_lack;
            return;
        }
    if (out->count == 256 || out->owned_count >= 250)
        sim_broken("a directory has too many children");
    out->may_lack[out->count] = may_lack;
    out->names[out->count++] = name;
}

static void sim_oracle_add_child(struct sim_children *out, const char *name)
{
    sim_oracle_add_child_if(out, name, false);
}

static bool sim_oracle_steps_agree(const struct sim_pattern *pattern, const struct sim_node *node,
                                   const char *path)
{
    /* The node's own steps, literal by literal: parameters have taken any text. */
    const char *at = path;
    for (unsigned i = 0; i < node->depth; i++) {
        size_t size = strcspn(at, "/");
        const struct sim_key_format *step = &pattern->steps[i];
        if (i >= pattern->step_count)
            return false;
        if (step->count == 1 && !step->pieces[0].is_part) {
            if (!sim_slice_equal((struct sim_slice){at, size}, sim_slice_of(step->pieces[0].text)))
                return false;
        }
        at += size;
        at += *at == '/';
    }
    return true;
}

/* The part of PATH below the table's directory. */
static const char *sim_oracle_below_table(const struct sim_node *node, const char *path)
{
    const char *at = path + strlen(path);
    for (unsigned i = 0; i < node->depth; i++) {
        while (at > path && at[-1] == '/')
            at--;
        while (at > path && at[-1] != '/')
            at--;
    }
    return at;
}

/* A Scan, or a snapshot, lists the partition keys of items/ ("Facts and partition keys", "The
 * past"). */
static bool sim_oracle_keys_are_listed(void)
{
    const struct sim_life_options *options = sim_life_options();
    return options->allow_scan || options->is_snapshot || options->is_replay;
}

static void sim_oracle_find_children(struct sim_children *out, const struct sim_node *node,
                                     const char *path)
{
    const struct sim_model_table *table = node->table;
    const char *rest = sim_oracle_below_table(node, path);
    bool has_placeholder = false;
    for (unsigned p = 0; p < table->pattern_count; p++) {
        const struct sim_pattern *pattern = &table->patterns[p];
        if (pattern->is_hidden || pattern->step_count <= node->depth ||
            !sim_oracle_steps_agree(pattern, node, rest))
            continue;
        const struct sim_key_format *step = &pattern->steps[node->depth];
        bool is_file = !pattern->is_listing && pattern->step_count == node->depth + 1;
        if (step->count == 1 && !step->pieces[0].is_part && is_file) {
            /* "A listing shows … then files of the map"; one whose item is not there is no file. */
            char *name = sim_printf("%s%s", step->pieces[0].text,
                                    pattern->attribute ? "" : sim_life_options()->suffix);
            out->owned[out->owned_count++] = name;
            sim_oracle_add_child_if(out, name, true);
            continue;
        }
        if (step->count == 1 && !step->pieces[0].is_part) {
            /* A vector index is in descriptions of the table from some time on. */
            sim_oracle_add_child_if(out, step->pieces[0].text, !pattern->kinds);
            continue;
        }
        if (node->pattern && node->pattern->is_groups)
            continue; /* the values are listed */
        for (unsigned v = 0; sim_step_is_valued(table, step) && v < table->value_count; v++) {
            char *name =
                sim_printf("%s%s", table->values[v],
                           is_file && !pattern->attribute ? sim_life_options()->suffix : "");
            out->owned[out->owned_count++] = name;
            sim_oracle_add_child_if(out, name, is_file);
        }
        if (sim_step_is_valued(table, step) && table->values_are_all)
            continue;
        has_placeholder = true;
        if (sim_oracle_keys_are_listed() && table->is_generic && node->depth == 1 &&
            strncmp(rest, "items", 5) == 0) {
            out->is_open = true;
            continue;
        }
        struct sim_text text = {0};
        sim_format_write(&text, step);
        out->owned[out->owned_count++] = text.bytes;
        /* The documents do not say how a part is called whose attribute has the name of a parameter
         * of windows. */
        static const char reserved[] = "{count}{key}{prefix}{from}{to}{rank}";
        if (table->is_generic && strstr(reserved, text.bytes))
            out->is_open = true;
        else if (!sim_life_options()->is_quiet)
            sim_oracle_add_child(out, text.bytes);
    }
    if (has_placeholder || node->depth == 0)
        sim_oracle_add_child(out, "README");
    if (node->depth == 0 && table->is_generic)
        sim_oracle_add_child(out, "schema.json");
}

static void sim_oracle_free_children(struct sim_children *children)
{
    for (unsigned i = 0; i < children->owned_count; i++)
        sim_text_free(&(struct sim_text){.bytes = children->owned[i]});
}

static bool sim_oracle_is_child(const struct sim_children *children, const char *name)
{
    for (unsigned i = 0; i < children->count; i++)
        if (strcmp(children->names[i], name) == 0)
            return true;
    return false;
}

static char *sim_oracle_judge_children(const struct sim_children *children, char *const *names,
                                       size_t count)
{
    for (unsigned i = 0; i < children->count; i++) {
        bool is_listed = false;
        for (size_t k = 0; k < count && !is_listed; k++)
            is_listed = strcmp(names[k], children->names[i]) == 0;
        if (!is_listed && !children->may_lack[i])
            return sim_printf("\"%s\", which the map has, is not listed", children->names[i]);
    }
    return NULL;
}

/* "{rank}_" is the position of the entry, with leading zeros ("Names of entries"). In a listing
 * that began anew it is the position since then. */
static bool sim_oracle_strip_rank(const char **name, size_t position)
{
    char *end;
    unsigned long number = strtoul(*name, &end, 10);
    bool is_right =
        end != *name && *end == '_' && (number == position || sim_oracle_may_begin_anew());
    *name = is_right ? end + 1 : *name;
    return is_right;
}

static char *sim_oracle_judge_items_listed(const char *path, const struct sim_node *node,
                                           char *const *names, size_t count, int64_t from_ms,
                                           int64_t until_ms)
{
    struct sim_children children = {0};
    struct sim_expectation of;
    const struct sim_version *previous = NULL;
    size_t listed = 0;
    sim_oracle_find_children(&children, node, path);
    sim_oracle_expect(&of, node, sim_oracle_span_of_result(path, node, from_ms, until_ms));
    char *message = sim_oracle_judge_children(&children, names, count);
    if (!message)
        message = sim_oracle_find_repeated(names, count);
    for (size_t i = 0; i < count && !message; i++) {
        if (sim_oracle_is_child(&children, names[i]) &&
            sim_oracle_find_name(&of, names[i]) == of.count)
            continue;
        if (sim_oracle_is_child(&children, names[i]))
            continue;
        listed++;
        const char *name = names[i];
        if (node->pattern->has_rank && !sim_oracle_strip_rank(&name, listed))
            message = sim_printf("\"%s\" is at the position %zu", names[i], listed);
        if (!message)
            message = sim_oracle_place_name(&of, name, &previous);
    }
    if (!message && !sim_oracle_may_begin_anew())
        message = sim_oracle_judge_limit(&of, listed);
    if (!message)
        message = sim_oracle_judge_must(&of);
    sim_oracle_forget(&of);
    sim_oracle_free_children(&children);
    return message;
}

/* The root, an environment, tables/. */
static char *sim_oracle_judge_top(const struct sim_model *model, const struct sim_node *node,
                                  char *const *names, size_t count)
{
    struct sim_children children = {0};
    const struct sim_life_options *options = sim_life_options();
    size_t prefix = node->is_environment && model->prefix ? strlen(model->prefix) : 0;
    if (node->is_tables) {
        for (unsigned i = 0; i < model->generic_count; i++)
            if (strncmp(model->generic[i].table->name, prefix ? model->prefix : "", prefix) == 0)
                sim_oracle_add_child(&children, model->generic[i].table->name);
    } else if (node->is_environment) {
        for (unsigned i = 0; i < model->table_count; i++)
            sim_oracle_add_child(&children, model->tables[i].directory);
        sim_oracle_add_child(&children, "tables");
    } else {
        if (model->environment)
            sim_oracle_add_child(&children, model->environment);
        sim_oracle_add_child(&children, "tables");
    }
    /* docs/mount.md, "Access by others": tables/ fails for all then. */
    if (children.count && options->allow_other && !options->show_secrets && !node->is_tables)
        children.count--;
    bool may_have_tables = !node->is_tables;
    char *message = sim_oracle_judge_children(&children, names, count);
    for (size_t i = 0; i < count && !message; i++)
        if (!sim_oracle_is_child(&children, names[i]) &&
            !(may_have_tables && strcmp(names[i], "tables") == 0))
            message = sim_printf("\"%s\" is listed, which nothing defines", names[i]);
    return message ? message : sim_oracle_find_repeated(names, count);
}

static char *sim_oracle_judge_structure(const char *path, const struct sim_node *node,
                                        char *const *names, size_t count)
{
    struct sim_children children = {0};
    sim_oracle_find_children(&children, node, path);
    char *message = sim_oracle_judge_children(&children, names, count);
    for (size_t i = 0; i < count && !message && !children.is_open; i++)
        if (!sim_oracle_is_child(&children, names[i]))
            message = sim_printf("\"%s\" is listed, which the map lacks", names[i]);
    sim_oracle_free_children(&children);
    return message ? message : sim_oracle_find_repeated(names, count);
}

/* The attributes of an item, and nothing else. */
static char *sim_oracle_judge_attributes(const struct sim_node *node, struct sim_span span,
                                         char *const *names, size_t count)
{
    struct sim_items items = sim_node_items(node);
    bool is_some = false;
    for (size_t i = 0; i < items.count && !is_some; i++) {
        struct sim_sight sight;
        sim_sight_look(&sight, node, items.items[i], span);
        for (unsigned v = 0; v < sight.count && !is_some; v++) {
            const struct sim_version *version = sight.views[v].version;
            if (!sim_view_is_shown(&sight.views[v], node))
                continue;
            bool is_whole = count == version->attribute_count;
            for (size_t k = 0; k < count && is_whole; k++) {
                struct sim_text decoded = {0};
                sim_name_decode(&decoded, sim_slice_of(names[k]));
                is_whole = strstr(names[k], "%~") ||
                           sim_version_get(version, decoded.bytes ? decoded.bytes : "") != NULL;
                sim_text_free(&decoded);
            }
            is_some = is_whole;
        }
        is_some = is_some || sight.has_more;
    }
    sim_free(items.items);
    return is_some ? NULL
                   : sim_oracle_report_items(
                         node, span, sim_printf("no version has these %zu attributes", count));
}

char *sim_oracle_judge_listing(const struct sim_model *model, const char *path,
                               const struct sim_node *node, char *const *names, size_t count,
                               int64_t from_ms, int64_t until_ms)
{
    if (node->companion == SIM_COMPANION_ATTRIBUTES &&
        (node->kind == SIM_NODE_ENTRY || node->kind == SIM_NODE_ITEM) &&
        (node->pattern->index < 0 || node->pattern->reads_again))
        return sim_oracle_judge_attributes(
            node, sim_oracle_span_of_result(path, node, from_ms, until_ms), names, count);
    if (node->companion != SIM_COMPANION_NONE)
        return NULL;
    if (node->is_root || node->is_environment || node->is_tables)
        return sim_oracle_judge_top(model, node, names, count);
    if (node->kind == SIM_NODE_STRUCTURE)
        return sim_oracle_judge_structure(path, node, names, count);
    if (node->kind == SIM_NODE_LISTING)
        return sim_oracle_judge_items_listed(path, node, names, count, from_ms, until_ms);
    if (node->kind == SIM_NODE_UNKNOWN || node->kind == SIM_NODE_CONTROL)
        return NULL;
    return sim_printf("the path has no directory (kind %d)", (int)node->kind);
}

/* Companions of a listing. */

char *sim_oracle_judge_count(const struct sim_node *node, struct sim_span span, const char *bytes,
                             size_t size)
{
    struct sim_expectation of;
    char *end;
    size_t number = strtoul(bytes, &end, 10), least = 0, most = 0,
           limit = sim_oracle_limit_of(node);
    if (size < 2 || end != bytes + size - 1 || *end != '\n')
        return sim_printf("it is no number: %.100s", bytes);
    sim_oracle_expect(&of, node, span);
    for (size_t i = 0; i < of.items.count; i++)
        least += of.must[i];
    /* "@count shows what the index has": also items that the table has no more, or twice if they
     * move. */
    for (size_t i = 0; i < of.items.count; i++) {
        struct sim_sight sight;
        unsigned places = 0;
        sim_sight_look(&sight, node, of.items.items[i], span);
        for (unsigned v = 0; v < sight.count; v++) {
            if (!sim_view_is_listed(&sight.views[v], node))
                continue;
            bool is_new = true;
            for (unsigned w = 0; w < v; w++)
                if (sim_view_is_listed(&sight.views[w], node) &&
                    sim_node_compare(node, sight.views[v].version, sight.views[w].version) == 0)
                    is_new = false;
            places += is_new;
        }
        most += places;
    }
    if (limit && least > limit)
        least = limit;
    if (limit && most > limit && !node->pattern->has_ties)
        most = limit;
    bool is_right = of.has_more || (number >= least && number <= most);
    sim_oracle_forget(&of);
    return is_right
               ? NULL
               : sim_printf("the count is %zu, and was from %zu to %zu; reads from %lld until %lld",
                            number, least, most, (long long)span.from_ms, (long long)span.until_ms);
}

struct sim_line {
    struct sim_text text;
    size_t item;
};

static int sim_oracle_compare_lines(const void *a, const void *b)
{
    const struct sim_line *x = a, *y = b;
    return sim_slice_compare((struct sim_slice){x->text.bytes, x->text.size},
                             (struct sim_slice){y->text.bytes, y->text.size});
}

/* All lines that the items may have, sorted. */
static struct sim_line *sim_oracle_expect_lines(const struct sim_expectation *of, size_t *count)
{
    struct sim_line *lines = NULL;
    size_t room = 0;
    *count = 0;
    for (size_t i = 0; i < of->items.count; i++) {
        struct sim_sight sight;
        if (!of->may[i])
            continue;
        sim_sight_look(&sight, of->node, of->items.items[i], of->span);
        for (unsigned v = 0; v < sight.count; v++) {
            const struct sim_view *view = &sight.views[v];
            bool is_read = of->node->pattern->reads_again ? view->in_table
                                                          : sim_view_is_listed(view, of->node);
            if (!view->base_admits || !is_read)
                continue;
            if (*count == room) {
                room = 2 * room + 16;
                lines = sim_grow(lines, room * sizeof(*lines));
            }
            struct sim_line *line = &lines[(*count)++];
            *line = (struct sim_line){.item = i};
            sim_render_line(&line->text, of->node->table, of->node->pattern, view->version);
        }
    }
    if (*count)
        qsort(lines, *count, sizeof(*lines), sim_oracle_compare_lines);
    return lines;
}

static bool sim_oracle_find_line(const struct sim_expectation *of, const struct sim_line *lines,
                                 size_t count, struct sim_slice text)
{
    size_t from = 0, until = count;
    while (from < until) {
        size_t middle = (from + until) / 2;
        struct sim_slice own = {lines[middle].text.bytes, lines[middle].text.size};
        if (sim_slice_compare(own, text) < 0)
            from = middle + 1;
        else
            until = middle;
    }
    bool is_found = false;
    for (; from < count && lines[from].text.size == text.size &&
           memcmp(lines[from].text.bytes, text.bytes, text.size) == 0;
         from++) {
        is_found = true;
        of->seen[lines[from].item] = true;
    }
    return is_found;
}

static char *sim_oracle_report_line(const struct sim_line *lines, size_t count,
                                    struct sim_slice line, struct sim_span span)
{
    struct sim_text text = {0};
    sim_text_printf(&text, "no version has the line %.*s of %zu bytes; reads from %lld until %lld",
                    line.size < 900 ? (int)line.size - 1 : 900, line.bytes, line.size,
                    (long long)span.from_ms, (long long)span.until_ms);
    for (size_t i = 0; i < count; i++)
        if (sim_slice_compare((struct sim_slice){lines[i].text.bytes, lines[i].text.size}, line) >
                0 ||
            i + 1 == count) {
            for (size_t k = i ? i - 1 : 0; k <= i; k++)
                sim_text_printf(&text, "\n  may be: %.900s", lines[k].text.bytes);
            break;
        }
    return text.bytes;
}

char *sim_oracle_judge_lines(const struct sim_node *node, struct sim_span span, const char *bytes,
                             size_t size)
{
    struct sim_expectation of;
    size_t count, listed = 0;
    char *message = NULL;
    sim_oracle_expect(&of, node, span);
    struct sim_line *lines = sim_oracle_expect_lines(&of, &count);
    for (size_t at = 0; at < size && !message; listed++) {
        const char *end = memchr(bytes + at, '\n', size - at);
        size_t length = end ? (size_t)(end - bytes) - at + 1 : size - at;
        if (!sim_oracle_find_line(&of, lines, count, (struct sim_slice){bytes + at, length}) &&
            !of.has_more)
            message =
                sim_oracle_report_line(lines, count, (struct sim_slice){bytes + at, length}, span);
        at += length;
    }
    if (!message)
        message = sim_oracle_judge_limit(&of, listed);
    if (!message)
        message = sim_oracle_judge_must(&of);
    for (size_t i = 0; i < count; i++)
        sim_text_free(&lines[i].text);
    sim_free(lines);
    sim_oracle_forget(&of);
    return message;
}
