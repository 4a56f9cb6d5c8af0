/* The oracles of what was read: each compares a result with the history of all items, in the span
 * of time in which it may have been read. The spans are those that docs/semantics.md ("Freshness"),
 * docs/mount.md ("Freshness", "Outages") and docs/live.md state; nothing else excuses a result. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_facts.h"
#include "tests/sim/sim_kernel.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_paths.h"
#include "tests/sim/sim_sight.h"
#include "tests/sim/sim_vectors.h"
#include "tests/sim/sim_world.h"

enum {
    /* "A name is valid for the rest of its ttl (at least 0.1 s)"; an entry is handed over up to 0.1
     * s past its ttl (docs/internals/life-of-a-listing.md). */
    ORACLE_LEAST_TTL_MS = 200,
    /* "Not found" is reused for at most 2 s. */
    ORACLE_ABSENT_TTL_MS = 2000,
    /* The age of a result counts from its response: it may have been read that much earlier. */
    ORACLE_RESPONSE_MS = 300,
    /* docs/live.md: a change is visible "within about a second"; from a lag of 5 s on the ttl
     * counts, and "none from before the lag". The half second is for the kernel. */
    ORACLE_LIVE_MS = 6000,
    /* A failed lookup may be reused for the repetition of the kernel within a second. */
    ORACLE_FAILURE_MS = 2000,
    /* How long programs hold a file open between two reads. */
    ORACLE_HOLD_MS = 60000,
    ORACLE_MOST_REFRESHES = 64,
    /* How long directories of an old map may be in use: structure is valid for 60 s. */
    ORACLE_RELOAD_MS = 120000,
    /* SIGHUP takes effect when the program's loop has read it and the map. */
    ORACLE_SIGHUP_MS = 2000,
};

static struct {
    struct {
        char *path;            /* owned */
        int64_t at_ms, for_ms; /* reads that begin after FOR_MS show nothing older than AT_MS */
    } refreshes[ORACLE_MOST_REFRESHES];
    unsigned count;
} oracle;

static void sim_oracle_add_refresh(const char *path, int64_t asked_ms, int64_t wait_ms)
{
    unsigned at = oracle.count % ORACLE_MOST_REFRESHES;
    sim_free(oracle.refreshes[at].path);
    oracle.refreshes[at].path = sim_copy(path);
    oracle.refreshes[at].at_ms = asked_ms;
    oracle.refreshes[at].for_ms = sim_now_ms() + wait_ms;
    oracle.count++;
}

void sim_oracle_note_refresh(const char *path, int64_t asked_ms)
{
    sim_oracle_add_refresh(path, asked_ms, 0);
}

/* A kernel without epochs forgets name by name, in directories that are not read just then; what it
 * has not forgotten at the deadline stays (docs/internals/refresh.md). */
void sim_oracle_note_reload(void)
{
    if (sim_kernel_knows_epochs())
        sim_oracle_add_refresh("/", sim_now_ms(), 3 * sim_life_options()->timeout_ms);
}

static bool sim_oracle_is_below(const char *path, const char *folder)
{
    size_t size = strlen(folder);
    while (size && folder[size - 1] == '/')
        size--;
    return strncmp(path, folder, size) == 0 && (path[size] == 0 || path[size] == '/');
}

/* The last refresh of PATH that ended before AT_MS. Names that the kernel makes valid behind it, of
 * a reply that came before, are the kernel's own mistake. */
static int64_t sim_oracle_last_refresh(const char *path, int64_t at_ms)
{
    int64_t last = INT64_MIN, straddled = sim_kernel_straddled_ms();
    for (unsigned i = 0; i < ORACLE_MOST_REFRESHES && i < oracle.count; i++)
        if (oracle.refreshes[i].for_ms < at_ms &&
            (straddled == 0 || oracle.refreshes[i].at_ms > straddled) &&
            oracle.refreshes[i].at_ms > last && sim_oracle_is_below(path, oracle.refreshes[i].path))
            last = oracle.refreshes[i].at_ms;
    return last;
}

/* What was read at FROM_MS or later is at most TTL_MS older, more in an outage and with --live. */
static struct sim_span sim_oracle_span_of(const char *path, const struct sim_node *node,
                                          int64_t ttl_ms, int64_t from_ms, int64_t until_ms)
{
    const struct sim_life_options *options = sim_life_options();
    int64_t age = ttl_ms > ORACLE_LEAST_TTL_MS ? ttl_ms : ORACLE_LEAST_TTL_MS;
    if (options->live && ttl_ms > 0 && node->table && node->table->table->has_stream &&
        age < ORACLE_LIVE_MS)
        age = ORACLE_LIVE_MS;
    age += ORACLE_RESPONSE_MS;
    int64_t reach = age + 3 * options->timeout_ms;
    if (sim_causes_any(from_ms - reach - options->stale_ms, until_ms)) {
        /* A response may come late, and a request is repeated until --timeout. */
        age = reach;
        if (ttl_ms != ORACLE_ABSENT_TTL_MS)
            age += options->stale_ms;
    }
    struct sim_span span = {from_ms - age, until_ms};
    int64_t refreshed = sim_oracle_last_refresh(path, from_ms);
    if (refreshed > span.from_ms)
        span.from_ms = refreshed;
    /* "A recording shows the responses that were received", since its mount began. */
    if (options->is_replay && !sim_life_is_recording())
        span.from_ms = 1;
    return span;
}

static int64_t sim_oracle_ttl_of(const struct sim_node *node)
{
    return node->pattern ? node->pattern->ttl_ms : 60000;
}

static struct sim_span sim_oracle_span_of_result(const char *path, const struct sim_node *node,
                                                 int64_t from_ms, int64_t until_ms)
{
    return sim_oracle_span_of(path, node, sim_oracle_ttl_of(node), from_ms, until_ms);
}

static bool sim_oracle_is_hidden_by_owner(const struct sim_node *node)
{
    return node->kind == SIM_NODE_CONTROL;
}

/* A description of what an item was in a span, for a report. */
static void sim_oracle_tell_item(struct sim_text *out, const struct sim_node *node,
                                 const struct sim_item *item, struct sim_span span)
{
    struct sim_sight sight;
    sim_sight_look(&sight, node, item, span);
    for (unsigned i = 0; i < sight.count; i++) {
        const struct sim_view *view = &sight.views[i];
        struct sim_text text = {0};
        if (view->version->is_deleted)
            sim_text_puts(&text, "deleted\n");
        else
            sim_render_line(&text, node->table, NULL, view->version);
        sim_text_printf(out, "\n  version %llu from %lld until %lld%s%s%s%s: %.600s",
                        (unsigned long long)view->version->number,
                        (long long)view->version->from_ms, (long long)view->version->until_ms,
                        view->in_table ? ", table" : "", view->in_index ? ", index" : "",
                        view->admits ? ", admitted" : "",
                        view->base_admits && !view->admits ? ", in the directory" : "", text.bytes);
        if (out->size && out->bytes[out->size - 1] == '\n')
            out->bytes[--out->size] = 0;
        sim_text_free(&text);
    }
}

static char *sim_oracle_complain(const struct sim_node *node, const struct sim_item *item,
                                 struct sim_span span, char *message)
{
    struct sim_text text = {0};
    sim_text_printf(&text, "%s; reads from %lld until %lld", message, (long long)span.from_ms,
                    (long long)span.until_ms);
    if (item)
        sim_oracle_tell_item(&text, node, item, span);
    sim_free(message);
    return text.bytes;
}

/* One item. */

/* The bytes of a view's file. False: it has none. */
static bool sim_oracle_render(struct sim_text *out, const struct sim_node *node,
                              const struct sim_view *view)
{
    out->size = 0;
    if (node->companion == SIM_COMPANION_TYPED) {
        sim_render_typed(out, node->table, node->pattern, view->version);
        return true;
    }
    if (node->companion == SIM_COMPANION_ATTRIBUTE)
        return sim_render_attribute(out, node->table, view->version, node->attribute);
    return sim_render_item(out, node->table, node->pattern, view->version);
}

static bool sim_oracle_is_exact(const struct sim_node *node)
{
    if (node->companion == SIM_COMPANION_ATTRIBUTE && node->pattern && node->pattern->index >= 0 &&
        !node->pattern->reads_again)
        return false; /* the index may lack the attribute, and a read by the key has it */
    return (node->kind == SIM_NODE_ENTRY || node->kind == SIM_NODE_ITEM) &&
           (node->companion == SIM_COMPANION_NONE || node->companion == SIM_COMPANION_TYPED ||
            node->companion == SIM_COMPANION_ATTRIBUTE);
}

/* The date of an item is its own; the constant of a file without one is not documented. */
static bool sim_oracle_has_date(const struct sim_node *node, const struct sim_version *version,
                                const struct stat *stat)
{
    int64_t date = sim_render_date(node->table, node->pattern, version);
    return date == INT64_MIN || date == INT64_MAX || node->companion != SIM_COMPANION_NONE ||
           stat->st_mtim.tv_sec == date;
}

/* Whether the file of some version that may be seen has SIZE bytes, and, if BYTES, these. */
static bool sim_oracle_is_some_version(const struct sim_node *node, struct sim_span span,
                                       const char *bytes, size_t size, const struct stat *stat)
{
    struct sim_items items = sim_node_items(node);
    struct sim_text text = {0};
    bool is_found = false;
    for (size_t i = 0; i < items.count && !is_found; i++) {
        struct sim_sight sight;
        sim_sight_look(&sight, node, items.items[i], span);
        if (!sim_sight_may_be(&sight, node))
            continue;
        is_found = sight.has_more;
        for (unsigned v = 0; v < sight.count && !is_found; v++)
            is_found = sim_view_is_shown(&sight.views[v], node) &&
                       sim_oracle_render(&text, node, &sight.views[v]) && text.size == size &&
                       (!bytes || memcmp(text.bytes, bytes, size) == 0) &&
                       (!stat || sim_oracle_has_date(node, sight.views[v].version, stat));
    }
    sim_text_free(&text);
    sim_free(items.items);
    return is_found;
}

/* The files that the path may have. */
static void sim_oracle_tell_files(struct sim_text *out, const struct sim_node *node,
                                  const struct sim_items *items, struct sim_span span)
{
    struct sim_text file = {0};
    unsigned told = 0;
    for (size_t i = 0; i < items->count && told < 4; i++) {
        struct sim_sight sight;
        sim_sight_look(&sight, node, items->items[i], span);
        for (unsigned v = 0; v < sight.count && told < 4; v++) {
            if (!sim_sight_may_be(&sight, node) || !sim_view_is_shown(&sight.views[v], node) ||
                !sim_oracle_render(&file, node, &sight.views[v]))
                continue;
            sim_text_printf(out, "\n  may be %zu bytes: %.500s", file.size, file.bytes);
            told++;
        }
    }
    sim_text_free(&file);
}

static char *sim_oracle_report_items(const struct sim_node *node, struct sim_span span,
                                     char *message)
{
    struct sim_items items = sim_node_items(node);
    struct sim_text text = {0};
    sim_text_printf(&text, "%s; reads from %lld until %lld; %zu items", message,
                    (long long)span.from_ms, (long long)span.until_ms, items.count);
    for (size_t i = 0; i < items.count && i < 5; i++)
        sim_oracle_tell_item(&text, node, items.items[i], span);
    sim_oracle_tell_files(&text, node, &items, span);
    sim_free(message);
    sim_free(items.items);
    return text.bytes;
}

/* The file of a listing's items, one per line. */
static char *sim_oracle_judge_lines(const struct sim_node *node, struct sim_span span,
                                    const char *bytes, size_t size);
static char *sim_oracle_judge_count(const struct sim_node *node, struct sim_span span,
                                    const char *bytes, size_t size);

static char *sim_oracle_judge_json(const char *bytes, size_t size)
{
    struct sim_json json;
    if (!sim_json_parse(&json, bytes, size))
        return sim_printf("it is no JSON: %.300s", bytes);
    sim_json_free(&json);
    return NULL;
}

static char *sim_oracle_judge_file(const char *path, const struct sim_node *node, const char *bytes,
                                   size_t size, int64_t from_ms, int64_t until_ms)
{
    struct sim_span span = sim_oracle_span_of_result(path, node, from_ms, until_ms);
    switch (node->kind) {
    case SIM_NODE_ENTRY:
    case SIM_NODE_ITEM:
        if (node->companion == SIM_COMPANION_INFO)
            return sim_oracle_judge_json(bytes, size);
        if (!sim_oracle_is_exact(node) || sim_oracle_is_some_version(node, span, bytes, size, NULL))
            return NULL;
        return sim_oracle_report_items(
            node, span, sim_printf("no version has these %zu bytes: %.700s", size, bytes));
    case SIM_NODE_LISTING:
        if (node->companion == SIM_COMPANION_JSONL)
            return sim_oracle_judge_lines(node, span, bytes, size);
        if (node->companion == SIM_COMPANION_COUNT)
            return sim_oracle_judge_count(node, span, bytes, size);
        if (node->companion == SIM_COMPANION_INFO)
            return sim_oracle_judge_json(bytes, size);
        return node->companion == SIM_COMPANION_NONE ? sim_copy("a directory was read") : NULL;
    case SIM_NODE_FACT:
        return sim_life_options()->is_snapshot || sim_life_options()->is_replay
                   ? NULL
                   : sim_fact_judge(node->table->table, strrchr(path, '/') + 1, bytes, size);
    case SIM_NODE_README:
    case SIM_NODE_UNKNOWN:
    case SIM_NODE_CONTROL:
        return NULL;
    default:
        return sim_copy("the path has no file");
    }
}

/* Listings. */

/* An entry that a listing may have. */
struct expected {
    char *name; /* owned; NULL: its exact name is not known */
    size_t item;
    const struct sim_version *version;
    struct sim_bindings parts;
    int kind;
};

struct expectation {
    const struct sim_node *node;
    struct sim_span span;
    struct sim_items items;
    bool *may, *must, *seen;  /* by item; owned */
    struct expected *entries; /* owned; sorted by name */
    size_t count, room;
    size_t nameless; /* entries without a name */
    bool has_more;   /* of an item with too many versions */
};

static int sim_oracle_compare_expected(const void *a, const void *b)
{
    const struct expected *x = a, *y = b;
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

static void sim_oracle_expect(struct expectation *out, const struct sim_node *node,
                              struct sim_span span)
{
    *out = (struct expectation){.node = node, .span = span, .items = sim_node_items(node)};
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
            struct expected *entry = &out->entries[out->count++];
            *entry = (struct expected){.name = sim_oracle_name_of(node, view),
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

static void sim_oracle_forget(struct expectation *expectation)
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
static size_t sim_oracle_count_before(const struct expectation *of, size_t item,
                                      const struct sim_version *version, bool certainly)
{
    size_t count = 0, last = SIZE_MAX;
    bool *counted = sim_alloc(of->items.count + 1);
    (void)last;
    for (size_t i = 0; i < of->count; i++) {
        const struct expected *entry = &of->entries[i];
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
static size_t sim_oracle_find_name(const struct expectation *of, const char *name)
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
static bool sim_oracle_is_nameless(const struct expectation *of, const char *name,
                                   const struct expected **out)
{
    const struct sim_pattern *pattern = of->node->pattern;
    bool is_shortened = strstr(name, "%~") || strstr(name, "%=");
    for (size_t i = 0; i < of->nameless; i++) {
        const struct expected *entry = &of->entries[i];
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
            if (!is_shortened)
                return true;
        }
    }
    return *out != NULL;
}

static char *sim_oracle_report_name(const struct expectation *of, const char *name, const char *why)
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
static char *sim_oracle_place_name(struct expectation *of, const char *name,
                                   const struct sim_version **previous)
{
    const struct sim_version *best = NULL;
    bool is_known = false;
    for (size_t i = sim_oracle_find_name(of, name);
         i < of->count && strcmp(of->entries[i].name, name) == 0; i++) {
        const struct expected *entry = &of->entries[i];
        is_known = true;
        of->seen[entry->item] = true;
        if (*previous && sim_node_compare(of->node, *previous, entry->version) > 0)
            continue;
        if (!best || sim_node_compare(of->node, entry->version, best) < 0)
            best = entry->version;
    }
    const struct expected *nameless = NULL;
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

static char *sim_oracle_judge_must(const struct expectation *of)
{
    size_t limit = sim_oracle_limit_of(of->node);
    for (size_t i = 0; i < of->count; i++) {
        const struct expected *entry = &of->entries[i];
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
static char *sim_oracle_judge_limit(const struct expectation *of, size_t listed)
{
    size_t limit = sim_oracle_limit_of(of->node);
    if (!limit || of->node->pattern->has_ties || of->has_more)
        return NULL;
    if (listed > limit)
        return sim_printf("%zu entries are listed, and the path has a limit of %zu", listed, limit);
    for (size_t i = of->nameless; i < of->count; i++) {
        const struct expected *entry = &of->entries[i];
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
struct children {
    const char *names[256];
    bool may_lack[256]; /* borrowed */
    char *owned[256];
    unsigned count, owned_count;
    bool is_open; /* there may be others */
};

/* MAY_LACK: nothing says that it is listed. */
static void sim_oracle_add_child_if(struct children *out, const char *name, bool may_lack)
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

static void sim_oracle_add_child(struct children *out, const char *name)
{
    sim_oracle_add_child_if(out, name, false);
}

static bool sim_oracle_steps_agree(const struct sim_pattern *pattern, const struct sim_node *node,
                                   const char *path)
{
    /* The node's own steps, literal by literal: parameters have taken any text. */
    const char *at = path;
    unsigned skip = node->table->is_generic ? 0 : 0;
    (void)skip;
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

static void sim_oracle_find_children(struct children *out, const struct sim_node *node,
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

static void sim_oracle_free_children(struct children *children)
{
    for (unsigned i = 0; i < children->owned_count; i++)
        sim_text_free(&(struct sim_text){.bytes = children->owned[i]});
}

static bool sim_oracle_is_child(const struct children *children, const char *name)
{
    for (unsigned i = 0; i < children->count; i++)
        if (strcmp(children->names[i], name) == 0)
            return true;
    return false;
}

static char *sim_oracle_judge_children(const struct children *children, char *const *names,
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
    struct children children = {0};
    struct expectation of;
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
    struct children children = {0};
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
    struct children children = {0};
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

static char *sim_oracle_judge_listing(const struct sim_model *model, const char *path,
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

static char *sim_oracle_judge_count(const struct sim_node *node, struct sim_span span,
                                    const char *bytes, size_t size)
{
    struct expectation of;
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

struct line {
    struct sim_text text;
    size_t item;
};

static int sim_oracle_compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return sim_slice_compare((struct sim_slice){x->text.bytes, x->text.size},
                             (struct sim_slice){y->text.bytes, y->text.size});
}

/* All lines that the items may have, sorted. */
static struct line *sim_oracle_expect_lines(const struct expectation *of, size_t *count)
{
    struct line *lines = NULL;
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
            struct line *line = &lines[(*count)++];
            *line = (struct line){.item = i};
            sim_render_line(&line->text, of->node->table, of->node->pattern, view->version);
        }
    }
    if (*count)
        qsort(lines, *count, sizeof(*lines), sim_oracle_compare_lines);
    return lines;
}

static bool sim_oracle_find_line(const struct expectation *of, const struct line *lines,
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

static char *sim_oracle_report_line(const struct line *lines, size_t count, struct sim_slice line,
                                    struct sim_span span)
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

static char *sim_oracle_judge_lines(const struct sim_node *node, struct sim_span span,
                                    const char *bytes, size_t size)
{
    struct expectation of;
    size_t count, listed = 0;
    char *message = NULL;
    sim_oracle_expect(&of, node, span);
    struct line *lines = sim_oracle_expect_lines(&of, &count);
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

/* Attributes of files. */

static char *sim_oracle_judge_mode(const struct sim_node *node, const struct stat *stat)
{
    const struct sim_life_options *options = sim_life_options();
    bool is_item = node->kind == SIM_NODE_ENTRY || node->kind == SIM_NODE_ITEM;
    bool is_directory;
    switch (node->kind) {
    case SIM_NODE_STRUCTURE:
    case SIM_NODE_PLACEHOLDER:
        is_directory = true;
        break;
    case SIM_NODE_LISTING:
        /* LIST@table is a directory, and so is one whose own name ends in "@". */
        if (node->companion == SIM_COMPANION_OTHER || node->companion == SIM_COMPANION_ATTRIBUTES)
            return NULL;
        is_directory = node->companion == SIM_COMPANION_NONE;
        break;
    case SIM_NODE_README:
        is_directory = false;
        break;
    default:
        if (!is_item || node->companion == SIM_COMPANION_OTHER)
            return NULL;
        is_directory = node->companion == SIM_COMPANION_ATTRIBUTES;
    }
    unsigned mode = (is_directory ? 0555 : 0444) & ~options->umask;
    bool is_secret =
        is_item && (node->pattern->attribute || (node->companion == SIM_COMPANION_ATTRIBUTE &&
                                                 sim_is_secret(node->table, node->attribute)));
    if (is_directory ? !S_ISDIR(stat->st_mode) : !S_ISREG(stat->st_mode))
        return sim_printf("its mode is %o", (unsigned)stat->st_mode);
    /* "files 0444, files of a secret 0400". */
    unsigned other = is_secret ? 0400 & ~options->umask : mode;
    if ((stat->st_mode & 07777) != mode && (stat->st_mode & 07777) != other)
        return sim_printf("its mode is %o instead of %o", (unsigned)stat->st_mode & 07777, mode);
    return NULL;
}

static char *sim_oracle_judge_stat(const char *path, const struct sim_node *node,
                                   const struct stat *stat, int64_t from_ms, int64_t until_ms)
{
    char *message = sim_oracle_judge_mode(node, stat);
    if (message)
        return message;
    if (node->kind == SIM_NODE_NONE || node->kind == SIM_NODE_PROBE ||
        node->kind == SIM_NODE_REFUSED || node->kind == SIM_NODE_BELOW_FILE ||
        (node->kind == SIM_NODE_PLACEHOLDER && node->depth))
        return sim_copy("nothing defines this path");
    if (!sim_oracle_is_exact(node))
        return NULL;
    struct sim_span span = sim_oracle_span_of_result(path, node, from_ms, until_ms);
    if (sim_oracle_is_some_version(node, span, NULL, (size_t)stat->st_size, stat))
        return NULL;
    return sim_oracle_report_items(node, span,
                                   sim_printf("no version has %lld bytes and the date %lld",
                                              (long long)stat->st_size,
                                              (long long)stat->st_mtim.tv_sec));
}

/* Errors. */

/* A query of an index picks an item, and the read of that item decides (docs/internals/plan.md),
 * even if others would fit. */
static bool sim_oracle_may_pick_another(const struct sim_node *node, const struct sim_items *items,
                                        struct sim_span span)
{
    if (node->kind != SIM_NODE_ITEM || node->pattern->index < 0)
        return false;
    for (size_t i = 0; i < items->count; i++) {
        struct sim_sight sight;
        sim_sight_look(&sight, node, items->items[i], span);
        if (sim_sight_may_lack(&sight, node) && sim_sight_may_be_picked(&sight))
            return true;
    }
    return false;
}

/* Whether the path may be proven not found: no item certainly was there all the time. */
static char *sim_oracle_judge_absence(const char *path, const struct sim_node *node,
                                      int64_t from_ms, int64_t until_ms)
{
    int64_t ttl = sim_oracle_ttl_of(node) < ORACLE_ABSENT_TTL_MS ? sim_oracle_ttl_of(node)
                                                                 : ORACLE_ABSENT_TTL_MS;
    struct sim_span span = sim_oracle_span_of(path, node, ttl, from_ms, until_ms);
    struct sim_span item_span = sim_oracle_span_of_result(path, node, from_ms, until_ms);
    struct sim_items items = sim_node_items(node);
    struct sim_text text = {0};
    char *message = NULL;
    bool picks = sim_oracle_may_pick_another(node, &items, item_span);
    for (size_t i = 0; i < items.count && !message && !picks; i++) {
        struct sim_sight sight;
        /* "Not found" is reused for 2 s, an item that did not fit for its ttl. */
        sim_sight_look(&sight, node, items.items[i], item_span);
        if (sim_sight_may_refuse(&sight))
            continue;
        sim_sight_look(&sight, node, items.items[i], span);
        if (sim_sight_may_lack(&sight, node))
            continue;
        bool has_file = true; /* in each version */
        for (unsigned v = 0; v < sight.count; v++) {
            if (!sim_view_is_shown(&sight.views[v], node))
                continue;
            if (sim_oracle_is_exact(node))
                has_file = has_file && sim_oracle_render(&text, node, &sight.views[v]);
            if (node->pattern->attribute)
                has_file =
                    has_file && sim_version_get(sight.views[v].version, node->pattern->attribute);
        }
        /* Another item may be the first one. */
        if (node->kind == SIM_NODE_ITEM && node->pattern->is_first && items.count > 1)
            has_file =
                has_file && node->companion != SIM_COMPANION_ATTRIBUTE && !node->pattern->attribute;
        if (has_file)
            message = sim_oracle_complain(node, items.items[i], span,
                                          sim_copy("an item that exists is not found"));
    }
    sim_text_free(&text);
    sim_free(items.items);
    return message;
}

static char *sim_oracle_judge_not_found(const char *path, const struct sim_node *node,
                                        int64_t from_ms, int64_t until_ms)
{
    switch (node->kind) {
    case SIM_NODE_ENTRY:
    case SIM_NODE_ITEM:
        /* No document says whether bare values have companions. */
        if (node->companion == SIM_COMPANION_OTHER ||
            (node->companion != SIM_COMPANION_NONE && node->pattern->attribute) ||
            (node->companion == SIM_COMPANION_ATTRIBUTE && !sim_oracle_is_exact(node)))
            return NULL;
        return sim_oracle_judge_absence(path, node, from_ms, until_ms);
    case SIM_NODE_LISTING:
        if (node->companion != SIM_COMPANION_NONE &&
            (node->companion == SIM_COMPANION_OTHER || node->pattern->is_groups ||
             node->companion == SIM_COMPANION_TYPED ||
             node->companion == SIM_COMPANION_ATTRIBUTES ||
             node->companion == SIM_COMPANION_ATTRIBUTE))
            return NULL;
        return sim_copy("a directory of the map is not found");
    case SIM_NODE_STRUCTURE:
        return node->companion == SIM_COMPANION_NONE
                   ? sim_copy("a directory of the map is not found")
                   : NULL;
    case SIM_NODE_README:
        return sim_copy("a README is not found");
    case SIM_NODE_PLACEHOLDER:
        return node->companion == SIM_COMPANION_NONE ? sim_copy("a placeholder is not found")
                                                     : NULL;
    default:
        return NULL;
    }
}

/* Whether the part NAME is a whole number or binary key, and VALUE is no number. */
static bool sim_oracle_is_no_number(const struct sim_model_table *table, const char *name,
                                    struct sim_slice value)
{
    for (unsigned k = 0; k < table->kind_count; k++)
        for (unsigned i = 0; i < table->kinds[k].key_count; i++) {
            const struct sim_piece *piece = &table->kinds[k].keys[i].format.pieces[0];
            if (!piece->is_bytes || strcmp(piece->text, name) != 0)
                continue;
            for (size_t c = 0; c < value.size; c++)
                if (!value.bytes[c] || !strchr("0123456789+-.eE", value.bytes[c]))
                    return true;
        }
    return false;
}

/* docs/map.md, "Conditions": values that can't be compared; docs/errors.md, "invalid". */
static bool sim_oracle_may_be_refused(const struct sim_node *node)
{
    if (node->kind == SIM_NODE_REFUSED || node->kind == SIM_NODE_UNKNOWN)
        return true;
    for (unsigned i = 0; i < node->path.count; i++) {
        struct sim_slice value = node->path.parts[i].value;
        if (value.size == 0 ||
            (node->table && sim_oracle_is_no_number(node->table, node->path.parts[i].name, value)))
            return true;
        for (size_t c = 0; c < value.size; c++)
            if (strchr("# !\"", value.bytes[c]))
                return true;
    }
    return node->pattern &&
           (node->pattern->where == SIM_WHERE_BETWEEN || node->pattern->limit_part);
}

/* The number of items that a query of the path reads at most. */
static size_t sim_oracle_count_read(const struct sim_node *node)
{
    struct sim_node folder = *node;
    folder.kind = SIM_NODE_LISTING;
    if (node->kind == SIM_NODE_ENTRY)
        folder.path.count = node->base_count;
    struct sim_items items = sim_node_items(&folder);
    sim_free(items.items);
    return items.count;
}

static bool sim_oracle_is_directory(const struct sim_node *node)
{
    return node->kind == SIM_NODE_STRUCTURE || node->kind == SIM_NODE_LISTING ||
           node->kind == SIM_NODE_PLACEHOLDER || node->companion == SIM_COMPANION_ATTRIBUTES;
}

static bool sim_oracle_has_long_step(const char *path)
{
    for (const char *at = path; *at; at += strcspn(at, "/"), at += *at == '/')
        if (strcspn(at, "/") > 255)
            return true;
    return false;
}

/* Whether ERROR is one that the documents state for the path, without any fault. */
static bool sim_oracle_is_documented(const char *path, const struct sim_node *node, int error,
                                     int64_t from_ms, int64_t until_ms)
{
    const struct sim_life_options *options = sim_life_options();
    bool is_item = node->kind == SIM_NODE_ENTRY || node->kind == SIM_NODE_ITEM;
    bool is_query = node->pattern && (node->kind == SIM_NODE_LISTING ||
                                      node->kind == SIM_NODE_ITEM || node->pattern->index >= 0);
    switch (error) {
    case EOPNOTSUPP:
        return node->kind == SIM_NODE_PLACEHOLDER ||
               (node->kind == SIM_NODE_ITEM && !node->pattern->kinds);
    case ENOTDIR:
        return !sim_oracle_is_directory(node) || node->companion != SIM_COMPANION_NONE;
    case EISDIR:
        return sim_oracle_is_directory(node);
    case EINVAL:
        return sim_oracle_may_be_refused(node) || node->companion == SIM_COMPANION_OTHER;
    case ENOTUNIQ:
        /* A directory reads the files that the map declares in it. */
        return node->kind == SIM_NODE_STRUCTURE ||
               (node->kind == SIM_NODE_ITEM && !node->pattern->is_first &&
                (node->companion == SIM_COMPANION_OTHER || sim_oracle_count_read(node) > 1));
    case ENAMETOOLONG:
        /* "A directory that is named after an entry cannot have a shortened name." */
        return sim_oracle_has_long_step(path) ||
               (node->kind == SIM_NODE_LISTING && node->pattern->is_groups);
    case EFBIG:
        /* The shards of stream.json are entries, too. The rows of @csv before the columns are known
         * have at most 256 KB. */
        return ((node->kind == SIM_NODE_STRUCTURE || node->kind == SIM_NODE_FACT) &&
                options->max_entries < 1000000) ||
               node->companion == SIM_COMPANION_OTHER ||
               (node->companion == SIM_COMPANION_ATTRIBUTES && options->max_entries < 100) ||
               (is_query && sim_oracle_count_read(node) > options->max_entries) ||
               (node->companion != SIM_COMPANION_NONE &&
                (options->no_spool || options->spool_bytes || options->show_secrets)) ||
               options->allow_scan;
    case ENOSPC:
        return node->companion != SIM_COMPANION_NONE && options->spool_bytes;
    case EAGAIN:
        return node->companion != SIM_COMPANION_NONE && options->cache_bytes < 64 << 20;
    case EDQUOT:
        return options->max_rcu > 0 || options->max_rcu_per_process > 0;
    case EACCES:
        return sim_oracle_is_hidden_by_owner(node) ||
               (options->allow_other && !options->show_secrets &&
                (strstr(path, "/tables") || (is_item && node->pattern->attribute)));
    case ESTALE: {
        /* Without memory the bytes are not kept. */
        if (node->kind == SIM_NODE_CONTROL)
            return sim_causes_any(from_ms - ORACLE_HOLD_MS, until_ms);
        /* The bytes were dropped, and the item has changed, or left the map, since. */
        const struct sim_model *before = sim_model_now()->older;
        if (before && before->until_ms >= from_ms - ORACLE_HOLD_MS)
            return true;
        /* READMEs and facts change with the description of their table. */
        if (!is_item)
            return node->companion != SIM_COMPANION_NONE || node->kind == SIM_NODE_UNKNOWN ||
                   node->kind == SIM_NODE_README || node->kind == SIM_NODE_FACT;
        struct sim_span span =
            sim_oracle_span_of_result(path, node, from_ms - ORACLE_HOLD_MS, until_ms);
        struct sim_items items = sim_node_items(node);
        bool has_changed = false;
        for (size_t i = 0; i < items.count && !has_changed; i++) {
            struct sim_sight sight;
            sim_sight_look(&sight, node, items.items[i], span);
            has_changed = sight.count > 1 || sim_sight_may_lack(&sight, node);
        }
        sim_free(items.items);
        return has_changed || node->companion == SIM_COMPANION_INFO;
    }
    default:
        return false;
    }
}

static char *sim_oracle_judge_error(const char *path, const struct sim_node *node, int error,
                                    int64_t from_ms, int64_t until_ms)
{
    if (error == ENOENT && sim_oracle_is_below(path, "/.ddbfs"))
        return NULL;
    if (error == ENOENT)
        return sim_oracle_judge_not_found(path, node, from_ms, until_ms);
    if (sim_oracle_is_documented(path, node, error, from_ms, until_ms))
        return NULL;
    return sim_copy("it has no cause");
}

typedef char *judge_fn(const struct sim_model *model, const struct sim_node *node, void *arg);

static bool sim_oracle_is_of_map(const struct sim_node *node)
{
    return node->kind == SIM_NODE_STRUCTURE || node->kind == SIM_NODE_LISTING ||
           node->kind == SIM_NODE_ENTRY || node->kind == SIM_NODE_ITEM ||
           node->kind == SIM_NODE_PLACEHOLDER;
}

/* Whether a result may be of MODEL, which a reload has replaced. "A directory that the map no
 * longer has keeps its old place" (docs/internals/immutable-inodes.md); IS_LACKED: the present map
 * has no such path. */
static bool sim_oracle_may_be_of(const struct sim_model *model, bool is_lacked, int64_t from_ms)
{
    /* A map that can't be read is refused, and the old one stays. */
    if (sim_causes_any(model->until_ms, model->until_ms + ORACLE_SIGHUP_MS))
        return true;
    return from_ms < model->until_ms + (is_lacked ? ORACLE_RELOAD_MS : ORACLE_SIGHUP_MS);
}

static void sim_oracle_judge(const char *oracle_name, const char *path, int64_t from_ms,
                             judge_fn *fn, void *arg)
{
    char *message = NULL;
    bool is_lacked = false;
    for (const struct sim_model *model = sim_model_now(); model; model = model->older) {
        struct sim_node node;
        if (model->until_ms != INT64_MAX && !sim_oracle_may_be_of(model, is_lacked, from_ms))
            break;
        sim_model_resolve(model, path, &node);
        char *own = fn(model, &node, arg);
        is_lacked = is_lacked || !sim_oracle_is_of_map(&node);
        sim_node_clean_up(&node);
        if (!own) {
            sim_free(message);
            return;
        }
        if (!message)
            message = own;
        else
            sim_free(own);
    }
    sim_defect(oracle_name, "%s: %s", path, message);
}

struct reading {
    const char *path, *bytes, *operation;
    size_t size;
    char *const *names;
    size_t count;
    const struct stat *stat;
    int error;
    int64_t from_ms, until_ms;
};

static char *sim_oracle_judge_reading(const struct sim_model *model, const struct sim_node *node,
                                      void *arg)
{
    const struct reading *of = arg;
    (void)model;
    return sim_oracle_judge_file(of->path, node, of->bytes, of->size, of->from_ms, of->until_ms);
}

static char *sim_oracle_judge_names(const struct sim_model *model, const struct sim_node *node,
                                    void *arg)
{
    const struct reading *of = arg;
    return sim_oracle_judge_listing(model, of->path, node, of->names, of->count, of->from_ms,
                                    of->until_ms);
}

static char *sim_oracle_judge_attributes_of(const struct sim_model *model,
                                            const struct sim_node *node, void *arg)
{
    const struct reading *of = arg;
    (void)model;
    return sim_oracle_judge_stat(of->path, node, of->stat, of->from_ms, of->until_ms);
}

static char *sim_oracle_judge_failure(const struct sim_model *model, const struct sim_node *node,
                                      void *arg)
{
    const struct reading *of = arg;
    (void)model;
    return sim_oracle_judge_error(of->path, node, of->error, of->from_ms, of->until_ms);
}

void sim_oracle_file(const char *path, const char *bytes, size_t size, int64_t from_ms,
                     int64_t until_ms)
{
    struct reading reading = {
        .path = path, .bytes = bytes, .size = size, .from_ms = from_ms, .until_ms = until_ms};
    sim_oracle_judge("file", path, from_ms, sim_oracle_judge_reading, &reading);
}

void sim_oracle_listing(const char *path, char *const *names, size_t count, int64_t from_ms,
                        int64_t until_ms)
{
    struct reading reading = {
        .path = path, .names = names, .count = count, .from_ms = from_ms, .until_ms = until_ms};
    if (count > sim_life_options()->max_entries)
        sim_defect("limits", "%s has %zu entries, with --max-entries %u", path, count,
                   sim_life_options()->max_entries);
    sim_oracle_judge("listing", path, from_ms, sim_oracle_judge_names, &reading);
}

void sim_oracle_stat(const char *path, const struct stat *stat, int64_t from_ms, int64_t until_ms)
{
    struct reading reading = {.path = path, .stat = stat, .from_ms = from_ms, .until_ms = until_ms};
    sim_oracle_judge("stat", path, from_ms, sim_oracle_judge_attributes_of, &reading);
}

/* ITEM@similar is ENODEV without a vector index that is ready and finds something, EINVAL if the
 * item has no vector that suits it, ENOENT if it does not exist, and ENOTUNIQ if the path means
 * several. */
static bool sim_oracle_is_similar_refusal(const char *path, int error)
{
    return strstr(path, "@similar") && (error == ENODEV || error == EINVAL || error == ENOENT ||
                                        error == ENOTDIR || error == ENOTUNIQ);
}

void sim_oracle_error(const char *path, const char *operation, int error, int64_t from_ms,
                      int64_t until_ms)
{
    struct reading reading = {.path = path,
                              .operation = operation,
                              .error = error,
                              .from_ms = from_ms,
                              .until_ms = until_ms};
    if (error == EROFS && strcmp(operation, "write") == 0)
        return;
    if (sim_oracle_is_similar_refusal(path, error))
        return;
    /* A recording lacks what was not read. */
    /* "The newest response counts, an error too": of the recorded mount, whose causes are not known
     * here. */
    if (error != ENOENT && sim_life_options()->is_replay && !sim_life_is_recording())
        return;
    if (error != ENOENT &&
        sim_causes_explain(error, from_ms, until_ms,
                           3 * sim_life_options()->timeout_ms + ORACLE_FAILURE_MS))
        return;
    char *name = sim_printf("error: %s of %s", strerror(error), operation);
    sim_oracle_judge(name, path, from_ms, sim_oracle_judge_failure, &reading);
    sim_free(name);
}

/* PATH, whose last step TARGET replaces, without "." and "..". */
static char *sim_oracle_follow(const char *path, const char *target)
{
    struct sim_text out = {0};
    sim_text_add(&out, path, (size_t)(strrchr(path, '/') - path));
    while (*target) {
        size_t size = strcspn(target, "/");
        if (size == 2 && memcmp(target, "..", 2) == 0) {
            while (out.size && out.bytes[--out.size] != '/')
                continue;
            out.bytes[out.size] = 0;
        } else if (size && !(size == 1 && *target == '.')) {
            sim_text_puts(&out, "/");
            sim_text_add(&out, target, size);
        }
        target += size;
        target += *target == '/';
    }
    return out.bytes;
}

/* Where the map's link of the item leads; NULL: the model does not know. */
static char *sim_oracle_expect_target(const struct sim_model *model, const struct sim_node *node,
                                      const struct sim_bindings *parts)
{
    const struct sim_model_table *table = node->table;
    const struct sim_pattern *pattern = &table->patterns[table->link_pattern];
    struct sim_text out = {0};
    bool is_known = true;
    sim_text_printf(&out, "/%s/%s", model->environment, table->directory);
    for (unsigned i = 0; i < pattern->step_count && is_known; i++) {
        sim_text_puts(&out, "/");
        is_known = sim_step_write(&out, &pattern->steps[i], parts);
    }
    if (is_known)
        return out.bytes;
    sim_text_free(&out);
    return NULL;
}

static char *sim_oracle_judge_target(const struct sim_model *model, const struct sim_node *node,
                                     void *arg)
{
    const struct reading *of = arg;
    const char *name = strrchr(of->path, '/') + 1;
    if ((node->kind != SIM_NODE_ENTRY && node->kind != SIM_NODE_ITEM) || node->table->is_generic ||
        !node->table->link || strcmp(name, node->table->link) != 0 || !strstr(of->path, "@links/"))
        return NULL;
    struct sim_items items = sim_node_items(node);
    struct sim_span span = sim_oracle_span_of_result(of->path, node, of->from_ms, of->until_ms);
    char *actual = sim_oracle_follow(of->path, of->bytes), *message = NULL;
    for (size_t i = 0; i < items.count && !message; i++) {
        struct sim_sight sight;
        struct sim_bindings none = {0}, parts;
        sim_sight_look(&sight, node, items.items[i], span);
        struct sim_pattern any = {.index = -1, .kinds = 1u << node->table->link_kind};
        for (unsigned v = 0; v < sight.count && items.count == 1 && !message; v++) {
            if (sim_pattern_takes_apart(node->table, &any, ~0u, &none, sight.views[v].version,
                                        &parts) != SIM_FIT_YES)
                continue;
            char *expected = sim_oracle_expect_target(model, node, &parts);
            if (expected && strcmp(expected, actual) != 0)
                message = sim_printf("it leads to %s instead of %s", actual, expected);
            sim_free(expected);
        }
    }
    sim_free(actual);
    sim_free(items.items);
    return message;
}

void sim_oracle_link(const char *path, const char *target, int64_t from_ms, int64_t until_ms)
{
    struct reading reading = {
        .path = path, .bytes = target, .from_ms = from_ms, .until_ms = until_ms};
    if (target[0] == '/' || !*target)
        sim_defect("link", "%s leads to %s, which is not relative", path, target);
    sim_oracle_judge("link", path, from_ms, sim_oracle_judge_target, &reading);
}

bool sim_paths_has(const char *path)
{
    struct sim_node node;
    sim_model_resolve(sim_model_now(), path, &node);
    bool has = node.kind != SIM_NODE_NONE && node.kind != SIM_NODE_UNKNOWN &&
               node.kind != SIM_NODE_PROBE && node.kind != SIM_NODE_REFUSED &&
               node.kind != SIM_NODE_BELOW_FILE;
    sim_node_clean_up(&node);
    return has;
}

int64_t sim_paths_ttl_ms(const char *path)
{
    struct sim_node node;
    sim_model_resolve(sim_model_now(), path, &node);
    int64_t ttl_ms = node.pattern ? node.pattern->ttl_ms : 0;
    sim_node_clean_up(&node);
    return ttl_ms;
}

bool sim_paths_is_item(const char *path, const char *name)
{
    struct sim_node node;
    char *child = sim_printf("%s/%s", path, name);
    sim_model_resolve(sim_model_now(), child, &node);
    bool is_item = node.kind == SIM_NODE_ENTRY && node.companion == SIM_COMPANION_NONE;
    sim_node_clean_up(&node);
    sim_free(child);
    return is_item;
}
