#include "core/map/route.h"

#include "core/base/escape.h"
#include "core/map/companion.h"
#include "core/map/condition_template.h"
#include "core/map/entry_names.h"

struct builder {
    struct arena *arena; /* the model's */
    const struct model *table;
    struct route *root;
    struct findings *findings;
};

static bool route_is_constrained(const struct model *table, const struct format *segment)
{
    for (size_t i = 0; i < segment->count; i++) {
        const char *name = segment->pieces[i].param;
        const struct map_param *param = name ? model_find_param(table, name) : NULL;
        if (param && param->match)
            return true;
    }
    return false;
}

/* The order in which siblings are tried: a literal; then more literal bytes; then a parameter with
 * "match". Entries of the listing come after the map's steps with literal text: "{from}..{to}"
 * precedes an entry whose name has a comma. */
static long route_precedence(const struct model *table, const struct route *route)
{
    size_t bytes = format_literal_bytes(&route->segment);
    if (format_is_literal(&route->segment))
        return 1L << 30;
    if (route->entry)
        bytes += route->entry->rank.behind.size;
    bool is_only_entry = route->entry && (!route->file || route->file == route->parent->list);
    bool first = bytes > 0 && !is_only_entry;
    return (long)bytes * 2 + route_is_constrained(table, &route->segment) + (first ? 1L << 20 : 0);
}

/* ENTRY: of PARENT's listing; else NULL. */
static struct route *route_new(struct builder *builder, struct route *parent,
                               const struct format *segment, const struct map_entry *entry,
                               struct finding_at at)
{
    struct route *route = arena_alloc(builder->arena, sizeof *route);
    if (!route) {
        findings_no_memory(builder->findings);
        return NULL;
    }
    *route = (struct route){.segment = *segment,
                            .parent = parent,
                            .entry = entry,
                            .line = at.line,
                            .column = at.column};
    if (!parent)
        return route;
    struct route **last = &parent->children;
    long mine = route_precedence(builder->table, route);
    while (*last && route_precedence(builder->table, *last) >= mine)
        last = &(*last)->next;
    route->next = *last;
    *last = route;
    return route;
}

/* The child with this very segment. Other segments that match the same names are found by
 * route_check_ambiguity. */
static struct route *route_find_child(struct route *parent, const struct format *segment)
{
    for (struct route *child = parent->children; child; child = child->next)
        if (format_equal(&child->segment, segment))
            return child;
    return NULL;
}

/* NULL, or the reason why a path can't have the segment. */
static const char *route_wrong_segment(const struct format *segment)
{
    for (size_t i = 0; i < segment->count; i++) {
        struct span literal = segment->pieces[i].literal;
        if (literal.size && memchr(literal.data, '%', literal.size))
            return "a path can't hold %, which names use for escapes";
        if (!escape_is_unneeded(literal))
            return "a path can't hold a control character";
        if (literal.size > NAME_LIMIT)
            return "a name has at most 247 bytes";
        if (i > 0 && literal.size && strchr("0123456789ABCDEF", literal.data[0]))
            return "after a parameter the text of a segment can't begin with one of 0-9 or A-F";
    }
    if (format_literal_bytes(segment) > NAME_MAX_BYTES)
        return "no name is longer than 255 bytes";
    struct span last = segment->pieces[segment->count - 1].literal;
    for (enum companion c = COMPANION_TYPED; c < COMPANION_END; c++)
        if (span_ends(last, span_text(companion_ending(c))))
            return "a path can't end in @, @typed, @info, @links, @history, @similar, @jsonl, "
                   "@csv, @table, @count, @summary or @sqlite, which are companions of an item or "
                   "of a listing";
    return NULL;
}

static bool route_parse_segment(struct builder *builder, const struct map_pattern *pattern,
                                struct span text, struct format *out)
{
    CLEAN_UP(arena_discard) struct arena scratch = {0};
    struct format segment;
    if (text.size == 0 || span_is(text, ".") || span_is(text, ".."))
        return findings_add(builder->findings, FINDING_AT(pattern),
                            "an empty segment, . or .. in a path");
    const char *wrong = format_parse(&scratch, text, &segment);
    if (scratch.failed)
        return findings_no_memory(builder->findings);
    if (!wrong)
        wrong = route_wrong_segment(&segment);
    if (wrong)
        return findings_add(builder->findings, FINDING_AT(pattern), "%s", wrong);
    return format_copy(builder->arena, &segment, out) || findings_no_memory(builder->findings);
}

/* Whether PARAM is the whole of KEY, which is binary, for KIND. */
static bool route_is_bytes_of(const struct model *table, const struct map_key *key,
                              const struct map_kind *kind, const char *param)
{
    const struct format *format = model_key_format(table, key, kind);
    const char *whole = format ? format_whole_param(format) : NULL;
    return key->type == VALUE_B && whole && strcmp(whole, param) == 0;
}

/* Whether PARAM is a binary key of PATTERN's kinds, in the table or in the index. */
static bool route_is_binary_key(const struct map_pattern *pattern, const char *param)
{
    const struct model *table = pattern->table;
    for (size_t kind = 0; kind < pattern->kind_count; kind++) {
        const struct map_key *key;
        for (size_t i = 0; i < table->key_count; i++)
            if (route_is_bytes_of(table, &table->keys[i], pattern->kinds[kind], param))
                return true;
        for (size_t i = 0; pattern->index && (key = model_index_key(pattern->index, i)); i++)
            if (route_is_bytes_of(table, key, pattern->kinds[kind], param))
                return true;
    }
    return false;
}

static bool route_is_not_binary(void *arg, const struct map_cond *cond, const char *used)
{
    const char *const *param = arg;
    return cond->type != VALUE_B || strcmp(used, *param) != 0;
}

/* Whether PATTERN compares PARAM with bytes. */
static bool route_is_binary(const struct map_pattern *pattern, const char *param)
{
    for (size_t i = 0; i < pattern->where_count; i++)
        if (!condition_each_param(&pattern->where[i], route_is_not_binary, &param))
            return true;
    for (size_t i = 0; i < pattern->filter_count; i++)
        if (!condition_each_param(&pattern->filter[i], route_is_not_binary, &param))
            return true;
    return route_is_binary_key(pattern, param);
}

/* Marks the segment's parameters that are bytes, which may be typed in base64. */
static void route_note_types(struct format *segment, const struct map_pattern *pattern)
{
    for (size_t i = 0; i < segment->count; i++) {
        const char *param = segment->pieces[i].param;
        if (param && route_is_binary(pattern, param))
            segment->pieces[i].type = VALUE_B;
    }
}

/* The route of PATTERN, made with its parents. */
static struct route *route_lay_path(struct builder *builder, const struct map_pattern *pattern)
{
    struct route *route = builder->root;
    struct span rest = span_text(pattern->path);
    if (pattern->list)
        rest.size--;
    for (int depth = 0; route; depth++) {
        if (depth == ROUTE_MAX_DEPTH) {
            findings_add(builder->findings, FINDING_AT(pattern), "a path has more than %d segments",
                         ROUTE_MAX_DEPTH);
            return NULL;
        }
        const char *slash = rest.size ? memchr(rest.data, '/', rest.size) : NULL;
        struct span text = slash ? span_of(rest.data, (size_t)(slash - rest.data)) : rest;
        struct format segment;
        if (!route_parse_segment(builder, pattern, text, &segment))
            return NULL;
        struct route *child = route_find_child(route, &segment);
        route = child ? child : route_new(builder, route, &segment, NULL, FINDING_AT(pattern));
        if (route && pattern->limit_param && format_has(&segment, pattern->limit_param))
            route->count = pattern->limit_param;
        if (route)
            route_note_types(&route->segment, pattern);
        if (!slash)
            return route;
        rest = span_from(rest, text.size + 1);
    }
    return NULL;
}

static bool route_place_pattern(struct builder *builder, const struct map_pattern *pattern)
{
    struct route *route = route_lay_path(builder, pattern);
    if (!route)
        return false;
    if (route->list || route->file)
        return findings_add(builder->findings, FINDING_AT(pattern),
                            "\"%s\" has the same path as line %u", pattern->path, route->line);
    route->line = pattern->line;
    route->column = pattern->column;
    if (pattern->list) {
        route->list = pattern;
        return true;
    }
    route->file = pattern;
    route->kind = pattern->kind_count == 1 ? pattern->kinds[0] : NULL;
    return true;
}

/* An entry's name opens its item, so it is a path of its own; or the path that the map declares for
 * the same item. */
static bool route_join_entry(struct builder *builder, struct route *existing,
                             const struct map_entry *entry, const struct map_pattern *listing)
{
    if (existing->file && !existing->file->attribute && existing->kind == entry->kind) {
        existing->entry = entry;
        return true;
    }
    CLEAN_UP(buf_clean_up) struct buf segment = {0};
    format_write(&existing->segment, &segment);
    return findings_add(builder->findings, FINDING_AT(existing),
                        "\"%s\" has the same names as the entries of \"%s\" (line %u); remove it, "
                        "or give it a literal",
                        buf_text(&segment), listing->path, listing->line);
}

static bool route_place_entries(struct builder *builder, struct route *listing)
{
    const struct map_pattern *pattern = listing->list;
    for (size_t i = 0; !pattern->groups && i < pattern->entry_count; i++) {
        const struct map_entry *entry = &pattern->entries[i];
        struct route *existing =
            entry->rank.digits == 0 ? route_find_child(listing, &entry->name) : NULL;
        if (existing && !route_join_entry(builder, existing, entry, pattern))
            return false;
        if (existing) {
            route_note_types(&existing->segment, pattern);
            continue;
        }
        struct route *route = route_new(builder, listing, &entry->name, entry, FINDING_AT(pattern));
        if (!route)
            return false;
        route_note_types(&route->segment, pattern);
        route->file = pattern;
        route->kind = entry->kind;
    }
    return true;
}

static bool route_place_all_entries(struct builder *builder, struct route *route)
{
    if (route->list && !route_place_entries(builder, route))
        return false;
    for (struct route *child = route->children; child; child = child->next)
        if (!child->entry && !route_place_all_entries(builder, child))
            return false;
    return true;
}

/* Sets HIDDEN of ROUTE and the steps below. Returns whether a listing shows it; an entry is its
 * listing's. */
static bool route_mark_hidden(struct route *route)
{
    bool shown = (route->list && !route->list->hidden) || (route->file && !route->file->hidden) ||
                 route->vector;
    for (struct route *child = route->children; child; child = child->next)
        if (!child->entry || child->file != route->list)
            shown = route_mark_hidden(child) || shown;
    route->hidden = !shown;
    return shown;
}

/* Whether a name could match both. The values of an entry's parts contain no separator unless the
 * part is open; names.c relies on that, too. */
static bool route_overlaps(const struct model *table, const struct route *a, const struct route *b)
{
    CLEAN_UP(buf_clean_up) struct buf separator = {0};
    if (!format_overlaps(&a->segment, &b->segment))
        return false;
    if (!a->entry || !b->entry)
        return true;
    escape_add_value(&separator, span_of(&table->separator, 1), span_text(""), NULL);
    return separator.failed ||
           format_overlaps_within(&a->segment, &b->segment, buf_span(&separator));
}

static bool route_check_pair(struct builder *builder, const struct route *a, const struct route *b)
{
    if (route_precedence(builder->table, a) != route_precedence(builder->table, b) ||
        !route_overlaps(builder->table, a, b))
        return true;
    CLEAN_UP(buf_clean_up) struct buf left = {0}, right = {0};
    route_write_segment(a, &left);
    route_write_segment(b, &right);
    bool in_order = a->line < b->line || (a->line == b->line && a->column < b->column);
    const struct route *first = in_order ? a : b, *second = in_order ? b : a;
    return findings_add(builder->findings, FINDING_AT(second),
                        "ambiguous: \"%s\" and \"%s\" (line %u) match the same names; use one name "
                        "for both, or distinguish them by a literal or a \"match\"",
                        buf_text(&right), buf_text(&left), first->line);
}

static bool route_check_ambiguity(struct builder *builder, const struct route *route)
{
    if (route->file && !route->entry && route->children)
        return findings_add(builder->findings, FINDING_AT(route),
                            "this path is a file, but line %u makes it a directory",
                            route->children->line);
    for (const struct route *a = route->children; a; a = a->next) {
        for (const struct route *b = a->next; b; b = b->next)
            if (!route_check_pair(builder, a, b))
                return false;
        if (!route_check_ambiguity(builder, a))
            return false;
    }
    return true;
}

/* The step TEXT of PARENT, which is a plain one: made unless it exists. */
static struct route *route_lay_step(struct builder *builder, struct route *parent, const char *text)
{
    CLEAN_UP(arena_discard) struct arena scratch = {0};
    struct format segment, copy;
    const char *wrong = parent ? format_parse(&scratch, span_text(text), &segment) : NULL;
    if (!parent || wrong || scratch.failed || !format_copy(builder->arena, &segment, &copy)) {
        findings_no_memory(builder->findings); /* TEXT is a format */
        return NULL;
    }
    struct route *child = route_find_child(parent, &copy);
    return child ? child : route_new(builder, parent, &copy, NULL, FINDING_AT(builder->table));
}

/* by/INDEX/, with a placeholder. */
static bool route_place_vector(struct builder *builder, const struct map_vector *vector)
{
    struct route *by = route_lay_step(builder, builder->root, "by");
    struct route *index = route_lay_step(builder, by, vector->step);
    struct route *names = route_lay_step(builder, index, "{vector}");
    if (!names)
        return false;
    index->vector = vector;
    names->vector = vector;
    return true;
}

struct route *route_build(const struct model *model, struct arena *arena, bool whole,
                          struct findings *findings)
{
    struct builder builder = {.arena = arena, .table = model, .findings = findings};
    struct format nothing = {0};
    bool ok = true;
    builder.root = route_new(&builder, NULL, &nothing, NULL, FINDING_AT(model));
    for (const struct map_pattern *each = model->patterns; builder.root && each; each = each->next)
        ok = route_place_pattern(&builder, each) && ok;
    for (const struct map_vector *each = model->vectors; ok && builder.root && each;
         each = each->next)
        ok = route_place_vector(&builder, each);
    ok = ok && whole && builder.root && route_place_all_entries(&builder, builder.root) &&
         route_check_ambiguity(&builder, builder.root);
    if (builder.root)
        route_mark_hidden(builder.root);
    return ok ? builder.root : NULL;
}

void route_write_segment(const struct route *route, struct buf *out)
{
    if (route->entry)
        rank_write_format(&route->entry->rank, out);
    format_write(&route->segment, out);
}

const struct route *route_of_entry(const struct route *listing, const struct map_entry *entry)
{
    for (const struct route *child = listing->children; child; child = child->next)
        if (child->entry == entry)
            return child;
    return NULL;
}
