#include "core/plan/item_match.h"

#include "core/item/item.h"
#include "core/plan/item_parts.h"

bool item_match_key(const struct model *table, struct json item, struct arena *arena,
                    struct key *out)
{
    *out = (struct key){.count = table->key_count};
    for (size_t i = 0; i < table->key_count; i++) {
        out->attributes[i].name = span_text(table->keys[i].attribute);
        if (!item_parts_read_key(&table->keys[i], item, arena, &out->attributes[i].value))
            return false;
    }
    return true;
}

/* A part that occurs twice must have one value. */
static bool item_match_is_of_kind(const struct model *table, const struct map_kind *kind,
                                  const struct key *key, struct bindings *parts)
{
    parts->count = 0;
    for (size_t i = 0; i < key->count; i++)
        if (!format_match_key(&kind->keys[i], key->attributes[i].value.bytes, table->separator,
                              parts))
            return false;
    return bindings_agree(parts, parts);
}

bool item_match_is_kind(const struct model *table, const struct map_kind *kind,
                        const struct key *key, const struct bindings *path, struct bindings *parts)
{
    return item_match_is_of_kind(table, kind, key, parts) && bindings_agree(path, parts);
}

static size_t item_match_literal_bytes(const struct model *table, const struct map_kind *kind)
{
    size_t bytes = 0;
    for (size_t i = 0; i < table->key_count; i++)
        bytes += format_literal_bytes(&kind->keys[i]);
    return bytes;
}

const struct map_kind *item_match_kind(const struct model *table, const struct key *key,
                                       struct bindings *parts)
{
    const struct map_kind *best = NULL;
    for (const struct map_kind *kind = table->kinds; kind; kind = kind->next) {
        struct bindings taken = {0};
        if (!item_match_is_of_kind(table, kind, key, &taken) ||
            (best &&
             item_match_literal_bytes(table, kind) <= item_match_literal_bytes(table, best)))
            continue;
        best = kind;
        *parts = taken;
    }
    return best;
}

/* Of several matching kinds ("INDEX#DEFAULT_CONFIGS" is an "INDEX#{index_name}", too), the one with
 * the most literal bytes. */
const struct map_entry *item_match_entry(const struct model *table,
                                         const struct map_pattern *pattern, const struct key *key,
                                         const struct bindings *path, struct bindings *parts)
{
    const struct map_entry *best = NULL;
    size_t best_bytes = 0;
    for (size_t i = 0; i < pattern->entry_count; i++) {
        const struct map_entry *entry = &pattern->entries[i];
        struct bindings taken = {0};
        size_t bytes = item_match_literal_bytes(table, entry->kind);
        if ((best && bytes <= best_bytes) ||
            !item_match_is_kind(table, entry->kind, key, path, &taken))
            continue;
        best = entry;
        best_bytes = bytes;
        *parts = taken;
    }
    return best && plan_excludes(pattern, path, parts) ? NULL : best;
}

/* Adds the parts of the index's key in the entry's name to PARTS. */
static enum item_match_verdict item_match_add_index_parts(const struct plan *plan,
                                                          const struct map_entry *entry,
                                                          struct json item, struct arena *arena,
                                                          struct bindings *parts)
{
    if (!entry || entry->indexed.count == 0)
        return ITEM_MATCH_COUNTS;
    if (!item_parts_add_of_index(plan->table, plan->pattern->index, entry->kind, &entry->indexed,
                                 item, arena, parts))
        return arena->failed ? ITEM_MATCH_NO_MEMORY : ITEM_MATCH_UNDECLARED;
    return bindings_agree(&plan->path, parts) ? ITEM_MATCH_COUNTS : ITEM_MATCH_OTHER;
}

enum item_match_verdict item_match_item(const struct plan *plan, struct json item,
                                        struct arena *arena, struct matched_item *out)
{
    *out = (struct matched_item){0};
    if (!item_match_key(plan->table, item, arena, &out->key))
        return arena->failed ? ITEM_MATCH_NO_MEMORY : ITEM_MATCH_UNREADABLE;
    bool counts;
    if (plan->kind_of) {
        counts =
            item_match_is_kind(plan->table, plan->kind_of, &out->key, &plan->path, &out->parts);
    } else {
        out->entry =
            item_match_entry(plan->table, plan->pattern, &out->key, &plan->path, &out->parts);
        counts = out->entry;
    }
    if (counts)
        return item_match_add_index_parts(plan, plan->kind_of ? plan->entry : out->entry, item,
                                          arena, &out->parts);
    for (const struct map_kind *kind = plan->table->kinds; kind; kind = kind->next) {
        struct bindings parts = {0};
        if (item_match_is_of_kind(plan->table, kind, &out->key, &parts))
            return ITEM_MATCH_OTHER;
    }
    return ITEM_MATCH_UNDECLARED;
}

bool item_match_report(const struct model *table, const char *table_name, struct json item,
                       struct error *err)
{
    for (size_t i = 0; i < table->key_count; i++) {
        const struct map_key *key = &table->keys[i];
        CLEAN_UP(buf_clean_up) struct buf bytes = {0};
        struct value value;
        struct json typed = item_attribute(item, span_text(key->attribute));
        bool read = value_read(typed, &bytes, &value);
        if (bytes.failed)
            return error_no_memory(err);
        if (!json_present(typed))
            return error_set(
                err, ERROR_INVALID,
                "an item of %s has no %s, a key in the map; ddbfs check prints the table's keys",
                table_name, key->attribute);
        if (!read || value.type != key->type)
            return error_set(err, ERROR_INVALID,
                             "%s of %s is of type %s, but of type %s in the map; add \"types\": { "
                             "\"%s\": \"%s\" }, as ddbfs check prints",
                             key->attribute, table_name,
                             read ? value_type_name(value.type) : "another",
                             value_type_name(key->type), key->attribute,
                             read ? value_type_name(value.type) : "…");
    }
    return error_set(err, ERROR_BAD_ANSWER, "an item of %s is not understood", table_name);
}

void pick_clean_up(struct pick *pick)
{
    record_unref(pick->best);
    pick->best = NULL;
}

/* Whether ITEM is better than the best so far. All items must have the attribute, in one type. */
static bool pick_compare(const struct pick *pick, struct json item, bool *better, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf mine = {0}, theirs = {0};
    const struct map_pattern *pattern = pick->plan->pattern;
    struct span name = span_text(pattern->pick_attribute);
    struct value candidate, best;
    *better = true;
    if (!value_read(item_attribute(item, name), &mine, &candidate))
        return mine.failed ? error_no_memory(err)
                           : error_set(err, ERROR_INVALID,
                                       "\"pick\" compares the items of %s by %s, but one of them "
                                       "lacks it (or it is not a text, number or binary)",
                                       pick->plan->table_name, pattern->pick_attribute);
    if (!pick->best)
        return true;
    if (!value_read(item_attribute(record_item(pick->best), name), &theirs, &best))
        return error_no_memory(err); /* it was read before */
    if (candidate.type != best.type)
        return error_set(err, ERROR_INVALID,
                         "\"pick\" compares the items of %s by %s, which is of type %s in one and "
                         "of type %s in another",
                         pick->plan->table_name, pattern->pick_attribute,
                         value_type_name(best.type), value_type_name(candidate.type));
    int order = value_compare(candidate, best);
    *better = pattern->pick == PICK_GREATEST ? order > 0 : order < 0;
    return true;
}

/* Whether the first item that counts, in the plan's order, is the result. */
static bool pick_is_first_meant(const struct pick *pick)
{
    const struct plan *plan = pick->plan;
    return !plan->pattern->pick && plan->query && plan->query->limit == 1;
}

/* Whether the best item so far has KEY: while an item moves in an index, the index may have it at
 * both places. */
static bool pick_is_best(const struct pick *pick, const struct key *key, struct arena *arena)
{
    struct key best;
    return pick->best && item_match_key(pick->plan->table, record_item(pick->best), arena, &best) &&
           key_compare(key, &best) == 0;
}

bool pick_consider(struct pick *pick, struct json item, const struct record_origin *origin,
                   struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    const struct map_pattern *pattern = pick->plan->pattern;
    struct matched_item matched;
    bool better = true;
    switch (item_match_item(pick->plan, item, &arena, &matched)) {
    case ITEM_MATCH_NO_MEMORY:
        return error_no_memory(err);
    case ITEM_MATCH_UNREADABLE:
        return item_match_report(pick->plan->table, pick->plan->table_name, item, err);
    case ITEM_MATCH_OTHER:
    case ITEM_MATCH_UNDECLARED:
        pick->passed_over++;
        return true;
    case ITEM_MATCH_COUNTS:
        break;
    }
    pick->found += !pick_is_best(pick, &matched.key, &arena);
    if (arena.failed)
        return error_no_memory(err);
    if (pattern->pick && !pick_compare(pick, item, &better, err))
        return false;
    if (!pattern->pick && pick->found > 1 && !(pick->backwards && pick_is_first_meant(pick)))
        return error_set(
            err, ERROR_AMBIGUOUS,
            "several items of %s match; add \"pick\" or \"newest\": 1 to the path in the map",
            pick->plan->table_name);
    if (!better)
        return true;
    record_unref(pick->best);
    pick->best = record_new(item, origin, err);
    return pick->best;
}

bool pick_is_done(const struct pick *pick)
{
    return pick_is_first_meant(pick) && pick->found > 0 && !pick->backwards;
}
