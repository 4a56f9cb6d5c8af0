/* Paths and items of the model: formats, conditions, and what a path is (docs/map.md,
 * docs/semantics.md). */
#include "tests/sim/sim_model.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_life.h"
#include "tests/sim/sim_world.h"

const struct sim_slice *sim_bindings_get(const struct sim_bindings *bindings, const char *name)
{
    for (unsigned i = 0; i < bindings->count; i++)
        if (strcmp(bindings->parts[i].name, name) == 0)
            return &bindings->parts[i].value;
    return NULL;
}

bool sim_bindings_add(struct sim_bindings *bindings, const char *name, struct sim_slice value)
{
    const struct sim_slice *old = sim_bindings_get(bindings, name);
    if (old)
        return sim_slice_equal(*old, value);
    if (bindings->count == SIM_MODEL_PARTS)
        sim_broken("too many parts in a path");
    bindings->parts[bindings->count].name = name;
    bindings->parts[bindings->count++].value = value;
    return true;
}

static char *sim_model_copy_range(const char *from, const char *to)
{
    return sim_printf("%.*s", (int)(to - from), from);
}

void sim_format_read(struct sim_key_format *out, const char *text)
{
    *out = (struct sim_key_format){0};
    while (*text) {
        if (out->count == SIM_MODEL_PIECES)
            sim_broken("a format has too many pieces");
        struct sim_piece *piece = &out->pieces[out->count++];
        const char *end;
        if (*text == '{') {
            end = strchr(text, '}');
            piece->is_part = true;
            piece->is_open = end[-1] == '*';
            piece->text = sim_model_copy_range(text + 1, piece->is_open ? end - 1 : end);
            end++;
        } else {
            end = strchr(text, '{');
            if (!end)
                end = text + strlen(text);
            piece->text = sim_model_copy_range(text, end);
        }
        text = end;
    }
}

void sim_format_write(struct sim_text *out, const struct sim_key_format *format)
{
    for (unsigned i = 0; i < format->count; i++) {
        const struct sim_piece *piece = &format->pieces[i];
        if (piece->is_part)
            sim_text_printf(out, "{%s%s}", piece->text, piece->is_open ? "*" : "");
        else
            sim_text_puts(out, piece->text);
    }
}

bool sim_format_has(const struct sim_key_format *format, const char *part)
{
    for (unsigned i = 0; i < format->count; i++)
        if (format->pieces[i].is_part && strcmp(format->pieces[i].text, part) == 0)
            return true;
    return false;
}

/* The end of a part that begins at VALUE's first byte: where the text behind it is found first. */
static bool sim_model_find_end(const struct sim_key_format *format, unsigned next,
                               struct sim_slice value, size_t *end)
{
    if (next == format->count) {
        *end = value.size;
        return true;
    }
    const char *text = format->pieces[next].text;
    size_t size = strlen(text);
    for (size_t i = 0; i + size <= value.size; i++) {
        if (memcmp(value.bytes + i, text, size) != 0)
            continue;
        *end = i;
        return true;
    }
    return false;
}

bool sim_format_match(const struct sim_key_format *format, struct sim_slice value,
                      struct sim_bindings *bindings)
{
    for (unsigned i = 0; i < format->count; i++) {
        const struct sim_piece *piece = &format->pieces[i];
        size_t used;
        if (!piece->is_part) {
            if (!sim_slice_begins(value, sim_slice_of(piece->text)))
                return false;
            used = strlen(piece->text);
        } else {
            if (!sim_model_find_end(format, i + 1, value, &used))
                return false;
            struct sim_slice part = {value.bytes, used};
            if (!piece->is_open && !piece->is_bytes && used && memchr(part.bytes, '#', used))
                return false;
            if (!sim_bindings_add(bindings, piece->text, part))
                return false;
        }
        value.bytes += used;
        value.size -= used;
    }
    return value.size == 0;
}

bool sim_format_expand(const struct sim_key_format *format, const struct sim_bindings *bindings,
                       struct sim_text *out)
{
    for (unsigned i = 0; i < format->count; i++) {
        const struct sim_piece *piece = &format->pieces[i];
        if (!piece->is_part) {
            sim_text_puts(out, piece->text);
            continue;
        }
        const struct sim_slice *value = sim_bindings_get(bindings, piece->text);
        if (!value)
            return false;
        sim_text_add(out, value->bytes, value->size);
    }
    return true;
}

const struct sim_key_format *sim_kind_format(const struct sim_model_kind *kind,
                                             const char *attribute)
{
    for (unsigned i = 0; i < kind->key_count; i++)
        if (strcmp(kind->keys[i].attribute, attribute) == 0)
            return &kind->keys[i].format;
    return NULL;
}

static bool sim_model_match_key(const struct sim_model_kind *kind, const struct sim_key_schema *key,
                                const struct sim_version *version, struct sim_bindings *parts)
{
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        const struct sim_key_format *format = sim_kind_format(kind, key->names[i]);
        const struct sim_value *value = sim_version_get(version, key->names[i]);
        if (!format || !value || value->type != key->types[i] ||
            !sim_format_match(format, (struct sim_slice){value->bytes, value->size}, parts))
            return false;
    }
    return true;
}

/* Text that a kind's formats fix: of the wanted kinds "the most specific one wins"
 * (docs/internals/plan.md). */
static size_t sim_model_fixed_text(const struct sim_model_kind *kind,
                                   const struct sim_key_schema *key)
{
    size_t sum = 0;
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        const struct sim_key_format *format = sim_kind_format(kind, key->names[i]);
        for (unsigned p = 0; format && p < format->count; p++)
            sum += format->pieces[p].is_part ? 0 : strlen(format->pieces[p].text);
    }
    return sum;
}

int sim_kind_of(const struct sim_model_table *table, const struct sim_version *version,
                unsigned wanted)
{
    int best = -1;
    size_t most = 0;
    for (unsigned k = 0; k < table->kind_count; k++) {
        struct sim_bindings parts = {0};
        if (!(wanted & 1u << k) ||
            !sim_model_match_key(&table->kinds[k], &table->table->key, version, &parts))
            continue;
        size_t text = sim_model_fixed_text(&table->kinds[k], &table->table->key);
        if (best < 0 || text > most) {
            best = (int)k;
            most = text;
        }
    }
    return best;
}

static int sim_model_compare_slice(struct sim_slice a, struct sim_slice b, enum sim_type type)
{
    if (type != SIM_N)
        return sim_slice_compare(a, b);
    char left[256], right[256];
    struct sim_value x = {.type = SIM_N, .bytes = left}, y = {.type = SIM_N, .bytes = right};
    x.size = a.size < 255 ? a.size : 255;
    y.size = b.size < 255 ? b.size : 255;
    memcpy(left, a.bytes, x.size);
    memcpy(right, b.bytes, y.size);
    left[x.size] = right[y.size] = 0;
    return sim_value_compare(&x, &y);
}

static enum sim_type sim_model_type_of_key(const struct sim_table *table, int index,
                                           const char *name)
{
    const struct sim_key_schema *key = index < 0 ? &table->key : &table->indexes[index].key;
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++)
        if (strcmp(key->names[i], name) == 0)
            return key->types[i];
    return SIM_S;
}

/* docs/map.md, "Conditions": parts compare by their beginning, whole attributes as DynamoDB does,
 * except that a range of text includes all that begins with its end. */
static enum sim_fit sim_model_meets_where(const struct sim_model_table *table,
                                          const struct sim_pattern *pattern,
                                          const struct sim_version *version,
                                          const struct sim_bindings *parts)
{
    if (pattern->where == SIM_WHERE_NONE)
        return SIM_FIT_YES;
    struct sim_slice value;
    enum sim_type type = sim_model_type_of_key(table->table, pattern->index, pattern->where_name);
    if (pattern->where_is_attribute) {
        const struct sim_value *found = sim_version_get(version, pattern->where_name);
        if (!found)
            return SIM_FIT_NO;
        value = (struct sim_slice){found->bytes, found->size};
    } else {
        const struct sim_slice *part = sim_bindings_get(parts, pattern->where_name);
        if (!part)
            return SIM_FIT_NO;
        value = *part;
    }
    struct sim_text low = {0}, high = {0};
    bool is_met = false, is_behind = false;
    if (sim_format_expand(&pattern->low, parts, &low) &&
        sim_format_expand(&pattern->high, parts, &high)) {
        struct sim_slice from = {low.bytes ? low.bytes : "", low.size};
        struct sim_slice to = {high.bytes ? high.bytes : "", high.size};
        if (pattern->where == SIM_WHERE_PREFIX)
            is_met = sim_slice_begins(value, from);
        else if (pattern->where == SIM_WHERE_AFTER)
            is_met = sim_model_compare_slice(value, from, type) > 0;
        else
            is_met =
                sim_model_compare_slice(value, from, type) >= 0 &&
                (sim_model_compare_slice(value, to, type) <= 0 ||
                 (type != SIM_N && !pattern->where_is_attribute && sim_slice_begins(value, to)));
    }
    /* Behind U+10FFFF a key may be left out (ADR 8). */
    if (pattern->where == SIM_WHERE_BETWEEN && type == SIM_S && high.size &&
        value.size >= high.size + 4)
        is_behind = memcmp(value.bytes + high.size, "\xf4\x8f\xbf\xbf", 4) == 0;
    sim_text_free(&low);
    sim_text_free(&high);
    return !is_met ? SIM_FIT_NO : is_behind ? SIM_FIT_MAYBE : SIM_FIT_YES;
}

bool sim_model_is_masked(const struct sim_model_table *table, const char *attribute)
{
    const struct sim_life_options *options = sim_life_options();
    return options->is_replay && !sim_life_is_recording() && !options->show_secrets &&
           sim_is_secret(table, sim_slice_of(attribute));
}

/* Filters of the model compare top-level attributes with texts. */
static bool sim_model_meets_filter(const struct sim_pattern *pattern,
                                   const struct sim_version *version)
{
    if (pattern->filter == SIM_FILTER_NONE)
        return true;
    const struct sim_value *value = sim_version_get(version, pattern->filter_name);
    bool is_equal = value && value->type == SIM_S && pattern->filter_value &&
                    sim_slice_equal((struct sim_slice){value->bytes, value->size},
                                    sim_slice_of(pattern->filter_value));
    switch (pattern->filter) {
    case SIM_FILTER_EQUAL:
        return is_equal;
    case SIM_FILTER_UNEQUAL:
        return !is_equal;
    case SIM_FILTER_EXISTS:
        return value != NULL;
    default:
        return value == NULL;
    }
}

/* Whether VERSION has the key of an index, which the kind's items have. */
static bool sim_model_has_key(const struct sim_model_kind *kind, const struct sim_key_schema *key,
                              const struct sim_version *version)
{
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        const struct sim_value *value = sim_version_get(version, key->names[i]);
        if (!value || value->type != key->types[i] || !sim_kind_format(kind, key->names[i]))
            return false;
    }
    return true;
}

enum sim_fit sim_pattern_takes_apart(const struct sim_model_table *table,
                                     const struct sim_pattern *pattern, unsigned kinds,
                                     const struct sim_bindings *path,
                                     const struct sim_version *version, struct sim_bindings *parts)
{
    int number = version->is_deleted ? -1 : sim_kind_of(table, version, pattern->kinds);
    if (number < 0 || !(kinds & 1u << number))
        return SIM_FIT_NO;
    const struct sim_model_kind *kind = &table->kinds[number];
    *parts = *path;
    if (!sim_model_match_key(kind, &table->table->key, version, parts))
        return SIM_FIT_NO;
    if (pattern->index < 0)
        return SIM_FIT_YES;
    const struct sim_key_schema *key = &table->table->indexes[pattern->index].key;
    struct sim_bindings own = {0}, before = *parts;
    if (!sim_model_has_key(kind, key, version))
        return SIM_FIT_OUTSIDE;
    if (sim_model_match_key(kind, &table->table->key, version, &own) &&
        sim_model_match_key(kind, key, version, &own))
        return sim_model_match_key(kind, key, version, parts) ? SIM_FIT_YES : SIM_FIT_NO;
    *parts = before;
    return SIM_FIT_MAYBE;
}

enum sim_fit sim_pattern_admits(const struct sim_model_table *table,
                                const struct sim_pattern *pattern, unsigned kinds,
                                const struct sim_bindings *path, const struct sim_version *version,
                                struct sim_bindings *parts)
{
    enum sim_fit fit = sim_pattern_takes_apart(table, pattern, kinds, path, version, parts);
    bool is_masked =
        pattern->filter != SIM_FILTER_NONE && sim_model_is_masked(table, pattern->filter_name);
    if (fit == SIM_FIT_NO || (!is_masked && !sim_model_meets_filter(pattern, version)))
        return SIM_FIT_NO;
    if (fit != SIM_FIT_YES)
        return fit;
    fit = sim_model_meets_where(table, pattern, version, parts);
    return fit == SIM_FIT_YES && is_masked ? SIM_FIT_MAYBE : fit;
}

/* Paths. */

struct sim_model_walk {
    const struct sim_model *model;
    struct sim_slice steps[64];
    unsigned count;
    struct sim_node *node;
};

/* The decoded bytes live as long as the node. False: an escape is not valid. */
static bool sim_model_decode(struct sim_node *node, struct sim_slice raw, struct sim_slice *out)
{
    struct sim_text text = {0};
    bool is_valid = sim_name_decode(&text, raw);
    char *at = node->values + node->values_used;
    if (is_valid) {
        memcpy(at, text.bytes ? text.bytes : "", text.size);
        node->values_used += text.size;
        *out = (struct sim_slice){at, text.size};
    }
    sim_text_free(&text);
    return is_valid;
}

enum sim_match { SIM_MATCH_NO, SIM_MATCH_YES, SIM_MATCH_INVALID, SIM_MATCH_UNSURE };

/* Whether a typed step or name has the form FORMAT: its raw text is taken apart, its parts are
 * decoded. */
static enum sim_match sim_model_match_name(struct sim_node *node,
                                           const struct sim_key_format *format,
                                           struct sim_slice raw, struct sim_bindings *path)
{
    struct sim_bindings found = {0};
    /* The parts of a raw name may hold the separator. */
    struct sim_key_format open = *format;
    for (unsigned i = 0; i < open.count; i++)
        open.pieces[i].is_open = true;
    if (!sim_format_match(&open, raw, &found))
        return SIM_MATCH_NO;
    for (unsigned i = 0; i < found.count; i++) {
        struct sim_slice value;
        if (!sim_model_decode(node, found.parts[i].value, &value))
            return SIM_MATCH_INVALID;
        if (!sim_bindings_add(path, found.parts[i].name, value))
            return SIM_MATCH_NO;
    }
    return SIM_MATCH_YES;
}

static size_t sim_model_text_of(const struct sim_key_format *format)
{
    size_t sum = 0;
    for (unsigned i = 0; i < format->count; i++)
        sum += format->pieces[i].is_part ? 0 : strlen(format->pieces[i].text);
    return sum;
}

static bool sim_model_is_literal(const struct sim_key_format *format)
{
    return format->count == 1 && !format->pieces[0].is_part;
}

static bool sim_model_formats_are_equal(const struct sim_key_format *a,
                                        const struct sim_key_format *b)
{
    if (a->count != b->count)
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (a->pieces[i].is_part != b->pieces[i].is_part ||
            strcmp(a->pieces[i].text, b->pieces[i].text) != 0)
            return false;
    return true;
}

bool sim_step_is_valued(const struct sim_model_table *table, const struct sim_key_format *step)
{
    return table->valued && step->count == 1 && step->pieces[0].is_part &&
           strcmp(step->pieces[0].text, table->valued) == 0;
}

static bool sim_model_is_placeholder(const struct sim_key_format *step, struct sim_slice name)
{
    struct sim_text text = {0};
    sim_format_write(&text, step);
    bool is_equal = !sim_model_is_literal(step) &&
                    sim_slice_equal(name, (struct sim_slice){text.bytes, text.size});
    sim_text_free(&text);
    return is_equal;
}

/* An empty part of a step is written "%"; what is typed without is no such step. */
static bool sim_model_has_empty_part(const struct sim_bindings *parts)
{
    for (unsigned i = 0; i < parts->count; i++)
        if (parts->parts[i].value.size == 0)
            return true;
    return false;
}

/* The alive pattern whose step DEPTH takes NAME first: a literal, then the one with more text. */
static const struct sim_key_format *sim_model_best_step(const struct sim_model_table *table,
                                                        const bool *alive, unsigned depth,
                                                        struct sim_slice name)
{
    const struct sim_key_format *best = NULL;
    for (unsigned p = 0; p < table->pattern_count; p++) {
        const struct sim_pattern *pattern = &table->patterns[p];
        if (!alive[p] || pattern->step_count <= depth)
            continue;
        const struct sim_key_format *step = &pattern->steps[depth];
        struct sim_bindings ignored = {0};
        struct sim_key_format open = *step;
        for (unsigned i = 0; i < open.count; i++)
            open.pieces[i].is_open = true;
        if (!sim_format_match(&open, name, &ignored) || sim_model_has_empty_part(&ignored))
            continue;
        if (!best || (sim_model_is_literal(step) && !sim_model_is_literal(best)) ||
            (sim_model_is_literal(step) == sim_model_is_literal(best) &&
             sim_model_text_of(step) > sim_model_text_of(best)))
            best = step;
    }
    return best;
}

/* Whether NAME begins and ends with the texts of FORMAT, which has parts. */
static bool sim_model_has_ends(const struct sim_key_format *format, struct sim_slice name)
{
    const struct sim_piece *first = &format->pieces[0], *last = &format->pieces[format->count - 1];
    struct sim_slice begin = sim_slice_of(first->is_part ? "" : first->text);
    struct sim_slice end = sim_slice_of(last->is_part ? "" : last->text);
    return begin.size + end.size > 0 && begin.size + end.size <= name.size && format->count > 1 &&
           sim_slice_begins(name, begin) &&
           memcmp(name.bytes + name.size - end.size, end.bytes, end.size) == 0;
}

bool sim_name_is_taken(const struct sim_model_table *table, const struct sim_pattern *pattern,
                       struct sim_slice name)
{
    for (unsigned p = 0; p < table->pattern_count; p++) {
        const struct sim_pattern *other = &table->patterns[p];
        bool is_below = other->step_count > pattern->step_count;
        for (unsigned i = 0; i < pattern->step_count && is_below; i++)
            is_below = sim_model_formats_are_equal(&other->steps[i], &pattern->steps[i]);
        if (!is_below)
            continue;
        struct sim_bindings ignored = {0};
        struct sim_key_format open = other->steps[pattern->step_count];
        for (unsigned i = 0; i < open.count; i++)
            open.pieces[i].is_open = true;
        if (sim_format_match(&open, name, &ignored) || sim_model_has_ends(&open, name))
            return true;
    }
    return false;
}

static bool sim_model_is_fact(struct sim_slice name)
{
    static const char *const facts[] = {"schema.json",  "ttl.json",    "backups.json",
                                        "exports.json", "stream.json", "changes.jsonl",
                                        "usage.csv",    "hot"};
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        if (sim_slice_equal(name, sim_slice_of(facts[i])))
            return true;
    return false;
}

/* Takes the suffix of items' names away; false: NAME lacks it. */
static bool sim_model_strip_suffix(struct sim_slice *name)
{
    struct sim_slice suffix = sim_slice_of(sim_life_options()->suffix);
    if (name->size < suffix.size ||
        memcmp(name->bytes + name->size - suffix.size, suffix.bytes, suffix.size) != 0)
        return false;
    name->size -= suffix.size;
    return true;
}

/* The last step of a path is an entry of the listing PATTERN. */
static void sim_model_resolve_entry(struct sim_node *node, const struct sim_pattern *pattern,
                                    struct sim_slice name)
{
    node->pattern = pattern;
    bool is_readme = sim_slice_equal(name, sim_slice_of("README"));
    if (is_readme || sim_name_is_probe(name)) {
        node->kind = is_readme ? SIM_NODE_README : SIM_NODE_PROBE;
        return;
    }
    node->kind = SIM_NODE_UNKNOWN;
    if (pattern->is_groups || !sim_model_strip_suffix(&name) ||
        memmem(name.bytes, name.size, "%~", 2))
        return;
    node->kind = SIM_NODE_NONE;
    if (pattern->has_rank) {
        size_t digits = 0;
        while (digits < name.size && name.bytes[digits] >= '0' && name.bytes[digits] <= '9')
            digits++;
        if (!digits || digits == name.size || name.bytes[digits] != '_')
            return;
        name.bytes += digits + 1;
        name.size -= digits + 1;
    }
    struct sim_bindings before = node->path;
    unsigned tried = 0;
    node->base_count = before.count;
    for (;;) {
        /* The kind with the most text in its names that is not tried yet. */
        int best = -1;
        for (unsigned k = 0; k < node->table->kind_count; k++)
            if ((pattern->kinds & ~tried & 1u << k) && pattern->names[k].count &&
                (best < 0 ||
                 sim_model_text_of(&pattern->names[k]) > sim_model_text_of(&pattern->names[best])))
                best = (int)k;
        if (best < 0)
            return;
        node->path = before;
        tried |= 1u << best;
        switch (sim_model_match_name(node, &pattern->names[best], name, &node->path)) {
        case SIM_MATCH_YES:
            node->kind = SIM_NODE_ENTRY;
            node->kinds = 1u << best;
            for (unsigned k = 0; k < node->table->kind_count; k++)
                if (sim_model_formats_are_equal(&pattern->names[k], &pattern->names[best]))
                    node->kinds |= 1u << k;
            return;
        case SIM_MATCH_NO:
            break;
        default:
            node->kind = SIM_NODE_REFUSED;
            return;
        }
    }
}

/* The steps from FIRST on, below the directory of TABLE. */
static void sim_model_resolve_table(struct sim_model_walk *walk,
                                    const struct sim_model_table *table, unsigned first)
{
    struct sim_node *node = walk->node;
    bool alive[SIM_MODEL_PATTERNS];
    memset(alive, true, sizeof(alive));
    node->table = table;
    node->kind = SIM_NODE_STRUCTURE;
    const struct sim_pattern *here = NULL; /* the pattern that ends at this step */
    for (unsigned i = first; i < walk->count; i++) {
        struct sim_slice name = walk->steps[i];
        unsigned depth = i - first;
        bool is_last = i + 1 == walk->count;
        if (here && !here->is_listing) {
            node->kind = SIM_NODE_BELOW_FILE;
            return;
        }
        struct sim_slice stem = name;
        bool has_suffix = is_last && *sim_life_options()->suffix && sim_model_strip_suffix(&stem);
        for (unsigned p = 0; p < table->pattern_count; p++) {
            const struct sim_pattern *pattern = &table->patterns[p];
            if (alive[p] && !pattern->is_hidden && pattern->step_count > depth &&
                sim_model_is_placeholder(&pattern->steps[depth], name)) {
                bool is_value =
                    sim_step_is_valued(table, &pattern->steps[depth]) && table->values_are_all;
                node->kind = is_value ? SIM_NODE_UNKNOWN : SIM_NODE_PLACEHOLDER;
                node->depth = walk->count - i - 1;
                return;
            }
        }
        const struct sim_key_format *step = sim_model_best_step(table, alive, depth, name);
        if (!step && has_suffix) {
            /* A file that the map declares by its name has the suffix, too. */
            step = sim_model_best_step(table, alive, depth, stem);
            if (step && !sim_model_is_literal(step))
                step = NULL;
        }
        if ((!step || !sim_model_is_literal(step)) &&
            sim_slice_equal(name, sim_slice_of("README"))) {
            node->kind = is_last ? SIM_NODE_README : SIM_NODE_BELOW_FILE;
            return;
        }
        if (!step) {
            if (depth == 0 && table->is_generic && sim_model_is_fact(name))
                node->kind = is_last ? SIM_NODE_FACT : SIM_NODE_UNKNOWN;
            else if (here && is_last)
                sim_model_resolve_entry(node, here, name);
            else if (here)
                node->kind = SIM_NODE_UNKNOWN;
            else
                node->kind = sim_name_is_probe(name) ? SIM_NODE_PROBE : SIM_NODE_NONE;
            return;
        }
        if (!sim_model_is_literal(step) && sim_name_is_probe(name)) {
            node->kind = SIM_NODE_PROBE;
            return;
        }
        /* A directory and an item of the listing above may have one form: the model's maps have
         * none such but hidden windows, whose texts no name has. */
        const struct sim_pattern *ended = NULL;
        for (unsigned p = 0; p < table->pattern_count; p++) {
            const struct sim_pattern *pattern = &table->patterns[p];
            alive[p] = alive[p] && pattern->step_count > depth &&
                       sim_model_formats_are_equal(&pattern->steps[depth], step);
            if (alive[p] && pattern->step_count == depth + 1)
                ended = pattern;
        }
        bool is_file = ended && !ended->is_listing && !ended->attribute;
        if (is_file && *sim_life_options()->suffix && !has_suffix) {
            node->kind = SIM_NODE_UNKNOWN;
            return;
        }
        switch (
            sim_model_match_name(node, step, is_file && has_suffix ? stem : name, &node->path)) {
        case SIM_MATCH_YES:
            break;
        case SIM_MATCH_NO:
            node->kind = SIM_NODE_UNKNOWN;
            return;
        default:
            /* A shortened name may look like a window. */
            node->kind =
                memmem(name.bytes, name.size, "%~", 2) ? SIM_NODE_UNKNOWN : SIM_NODE_REFUSED;
            return;
        }
        here = ended;
        node->pattern = here;
        node->kinds = here ? here->kinds : 0;
        node->kind =
            here ? (here->is_listing ? SIM_NODE_LISTING : SIM_NODE_ITEM) : SIM_NODE_STRUCTURE;
        node->depth = depth + 1;
    }
}

static const struct sim_model_table *sim_model_find_table(const struct sim_model_table *tables,
                                                          unsigned count, struct sim_slice name,
                                                          bool is_real)
{
    for (unsigned i = 0; i < count; i++)
        if (sim_slice_equal(name,
                            sim_slice_of(is_real ? tables[i].table->name : tables[i].directory)))
            return &tables[i];
    return NULL;
}

static void sim_model_resolve_steps(struct sim_model_walk *walk)
{
    const struct sim_model *model = walk->model;
    struct sim_node *node = walk->node;
    unsigned at = 0;
    if (walk->count == 0) {
        node->kind = SIM_NODE_STRUCTURE;
        node->is_root = true;
        return;
    }
    if (sim_slice_equal(walk->steps[0], sim_slice_of(".ddbfs"))) {
        node->kind = SIM_NODE_CONTROL;
        return;
    }
    if (model->environment && sim_slice_equal(walk->steps[0], sim_slice_of(model->environment))) {
        if (walk->count == 1) {
            node->kind = SIM_NODE_STRUCTURE;
            node->is_environment = true;
            return;
        }
        const struct sim_model_table *table =
            sim_model_find_table(model->tables, model->table_count, walk->steps[1], false);
        if (table) {
            sim_model_resolve_table(walk, table, 2);
            return;
        }
        at = 1;
    }
    struct sim_slice name = walk->steps[at];
    if (!sim_slice_equal(name, sim_slice_of("tables"))) {
        bool is_past = memmem(name.bytes, name.size, "@at", 3) != NULL;
        node->kind = is_past                                         ? SIM_NODE_UNKNOWN
                     : sim_slice_equal(name, sim_slice_of("README")) ? SIM_NODE_README
                     : sim_name_is_probe(name)                       ? SIM_NODE_PROBE
                                                                     : SIM_NODE_NONE;
        return;
    }
    if (walk->count == at + 1) {
        node->kind = SIM_NODE_STRUCTURE;
        node->is_tables = true;
        node->is_environment = at == 1;
        return;
    }
    const struct sim_model_table *table =
        sim_model_find_table(model->generic, model->generic_count, walk->steps[at + 1], true);
    if (table)
        sim_model_resolve_table(walk, table, at + 2);
    else if (sim_slice_equal(walk->steps[at + 1], sim_slice_of("README")))
        node->kind = SIM_NODE_README;
    else
        node->kind = sim_name_is_probe(walk->steps[at + 1]) ? SIM_NODE_PROBE : SIM_NODE_NONE;
}

static enum sim_companion sim_model_companion_of(struct sim_slice *name)
{
    static const struct {
        const char *ending;
        enum sim_companion companion;
    } endings[] = {{"@typed", SIM_COMPANION_TYPED},   {"@info", SIM_COMPANION_INFO},
                   {"@jsonl", SIM_COMPANION_JSONL},   {"@count", SIM_COMPANION_COUNT},
                   {"@", SIM_COMPANION_ATTRIBUTES},   {"@links", SIM_COMPANION_OTHER},
                   {"@history", SIM_COMPANION_OTHER}, {"@similar", SIM_COMPANION_OTHER},
                   {"@csv", SIM_COMPANION_OTHER},     {"@table", SIM_COMPANION_OTHER},
                   {"@sqlite", SIM_COMPANION_OTHER},  {"@summary", SIM_COMPANION_OTHER}};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t size = strlen(endings[i].ending);
        if (name->size > size &&
            memcmp(name->bytes + name->size - size, endings[i].ending, size) == 0) {
            name->size -= size;
            /* ITEM@similar@count: a companion of the directory of an item's companion. */
            return sim_model_companion_of(name) == SIM_COMPANION_OTHER ? SIM_COMPANION_OTHER
                                                                       : endings[i].companion;
        }
    }
    static const char *const middles[] = {"@csv:", "@table:", "@sqlite:", "@similar:"};
    for (size_t i = 0; i < sizeof(middles) / sizeof(middles[0]); i++) {
        char *found = memmem(name->bytes, name->size, middles[i], strlen(middles[i]));
        if (found && found > name->bytes) {
            name->size = (size_t)(found - name->bytes);
            return SIM_COMPANION_OTHER;
        }
    }
    return SIM_COMPANION_NONE;
}

void sim_model_resolve(const struct sim_model *model, const char *path, struct sim_node *out)
{
    *out = (struct sim_node){.values = sim_alloc(2 * strlen(path) + 16)};
    struct sim_model_walk walk = {.model = model, .node = out};
    while (*path) {
        while (*path == '/')
            path++;
        size_t size = strcspn(path, "/");
        if (!size)
            break;
        if (walk.count == 64) {
            out->kind = SIM_NODE_UNKNOWN;
            return;
        }
        walk.steps[walk.count++] = (struct sim_slice){path, size};
        path += size;
    }
    bool is_control = walk.count && sim_slice_equal(walk.steps[0], sim_slice_of(".ddbfs"));
    for (unsigned i = 0; i < walk.count && !is_control; i++) {
        enum sim_companion companion = sim_model_companion_of(&walk.steps[i]);
        if (companion == SIM_COMPANION_NONE)
            continue;
        if (companion == SIM_COMPANION_ATTRIBUTES && i + 2 == walk.count) {
            companion = SIM_COMPANION_ATTRIBUTE;
            if (!sim_model_decode(out, walk.steps[i + 1], &out->attribute))
                companion = SIM_COMPANION_OTHER;
        } else if (i + 1 != walk.count) {
            companion = SIM_COMPANION_OTHER;
        }
        walk.count = i + 1;
        sim_model_resolve_steps(&walk);
        out->companion = companion;
        return;
    }
    sim_model_resolve_steps(&walk);
}

void sim_node_clean_up(struct sim_node *node)
{
    sim_free(node->values);
}
