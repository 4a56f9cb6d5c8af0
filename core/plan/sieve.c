#include "core/plan/sieve.h"

#include "core/item/item.h"

/* The value that ITEM has for KEY; false when it is missing or of a wrong type. */
static bool read_key(const struct map_key *key, struct json item, struct arena *arena,
                     struct value *out)
{
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    bool read = value_read(item_attribute(item, span_text(key->attribute)), &bytes, out);
    arena->failed = arena->failed || bytes.failed;
    if (!read || out->type != key->type)
        return false;
    out->bytes = arena_copy(arena, out->bytes);
    return !arena->failed;
}

bool sieve_key(const struct model *table, struct json item, struct arena *arena, struct key *out)
{
    *out = (struct key){.count = table->key_count};
    for (size_t i = 0; i < table->key_count; i++) {
        out->attributes[i].name = span_text(table->keys[i].attribute);
        if (!read_key(&table->keys[i], item, arena, &out->attributes[i].value))
            return false;
    }
    return true;
}

/* A part that stands twice says the same both times. */
static bool is_of_kind(const struct model *table, const struct map_kind *kind,
                       const struct key *key, struct bindings *parts)
{
    parts->count = 0;
    for (size_t i = 0; i < key->count; i++)
        if (!format_match_key(&kind->keys[i], key->attributes[i].value.bytes, table->separator,
                              parts))
            return false;
    return bindings_agree(parts, parts);
}

bool sieve_is_kind(const struct model *table, const struct map_kind *kind, const struct key *key,
                   const struct bindings *path, struct bindings *parts)
{
    return is_of_kind(table, kind, key, parts) && bindings_agree(path, parts);
}

static bool is_declared(const struct model *table, const struct key *key)
{
    struct bindings parts = {0};
    for (const struct map_kind *kind = table->kinds; kind; kind = kind->next)
        if (is_of_kind(table, kind, key, &parts))
            return true;
    return false;
}

/* How much of its keys the kind says itself. */
static size_t literal_bytes(const struct model *table, const struct map_kind *kind)
{
    size_t bytes = 0;
    for (size_t i = 0; i < table->key_count; i++)
        bytes += format_literal_bytes(&kind->keys[i]);
    return bytes;
}

/* Where several kinds fit ("INDEX#DEFAULT_CONFIGS" is an "INDEX#{index_name}" too), it is the one
 * that says most. */
const struct map_entry *sieve_entry(const struct model *table, const struct map_pattern *pattern,
                                    const struct key *key, const struct bindings *path,
                                    struct bindings *parts)
{
    const struct map_entry *best = NULL;
    size_t best_bytes = 0;
    for (size_t i = 0; i < pattern->entry_count; i++) {
        const struct map_entry *entry = &pattern->entries[i];
        struct bindings taken = {0};
        size_t bytes = literal_bytes(table, entry->kind);
        if ((best && bytes <= best_bytes) || !sieve_is_kind(table, entry->kind, key, path, &taken))
            continue;
        best = entry;
        best_bytes = bytes;
        *parts = taken;
    }
    return best && plan_excludes(pattern, path, parts) ? NULL : best;
}

enum sieve_verdict sieve_item(const struct plan *plan, struct json item, struct arena *arena,
                              struct sifted *out)
{
    *out = (struct sifted){0};
    if (!sieve_key(plan->table, item, arena, &out->key))
        return arena->failed ? SIEVE_NO_MEMORY : SIEVE_UNREADABLE;
    bool counts;
    if (plan->kind_of) {
        counts = sieve_is_kind(plan->table, plan->kind_of, &out->key, &plan->path, &out->parts);
    } else {
        out->entry = sieve_entry(plan->table, plan->pattern, &out->key, &plan->path, &out->parts);
        counts = out->entry;
    }
    if (counts)
        return SIEVE_COUNTS;
    return is_declared(plan->table, &out->key) ? SIEVE_OTHER : SIEVE_UNDECLARED;
}

/* Whether a part of FORMAT stands in WANTED and is not in PARTS. */
static bool adds_parts(const struct format *format, const struct format *wanted,
                       const struct bindings *parts)
{
    for (size_t i = 0; i < format->count; i++) {
        const char *param = format->pieces[i].param;
        if (param && format_has(wanted, param) && !bindings_find(parts, param))
            return true;
    }
    return false;
}

bool sieve_index_parts(const struct model *table, const struct map_index *index,
                       const struct map_kind *kind, const struct format *wanted, struct json item,
                       struct arena *arena, struct bindings *parts)
{
    const struct map_key *key;
    for (size_t i = 0; (key = model_index_key(index, i)); i++) {
        struct value value;
        struct bindings own = {0};
        const struct format *format = model_key_format(table, key, kind);
        if (!read_key(key, item, arena, &value) || !format)
            return false;
        if (!adds_parts(format, wanted, parts))
            continue;
        if (!format_match_key(format, value.bytes, table->separator, &own) ||
            !bindings_agree(&own, &own))
            return false;
        for (size_t k = 0; k < own.count; k++) {
            const struct binding *part = &own.items[k];
            if (!format_has(wanted, part->param) || bindings_find(parts, part->param))
                continue;
            if (!bindings_add(parts, part->param, part->value))
                return false;
            parts->items[parts->count - 1].type = part->type;
        }
    }
    return true;
}

bool sieve_complain(const struct plan *plan, struct json item, struct error *err)
{
    for (size_t i = 0; i < plan->table->key_count; i++) {
        const struct map_key *key = &plan->table->keys[i];
        CLEAN_UP(buf_clean_up) struct buf bytes = {0};
        struct value value;
        struct json typed = item_attribute(item, span_text(key->attribute));
        bool read = value_read(typed, &bytes, &value);
        if (bytes.failed)
            return error_no_memory(err);
        if (!json_present(typed))
            return error_set(
                err, ERROR_INVALID,
                "an item of %s has no %s, which the map calls a key of it; ddbfs check "
                "tells what the keys are",
                plan->table_name, key->attribute);
        if (!read || value.type != key->type)
            return error_set(err, ERROR_INVALID,
                             "%s of %s is of type %s, but the map says %s; write \"types\": "
                             "{ \"%s\": \"%s\" }, as ddbfs check tells",
                             key->attribute, plan->table_name,
                             read ? value_type_name(value.type) : "another",
                             value_type_name(key->type), key->attribute,
                             read ? value_type_name(value.type) : "…");
    }
    return error_set(err, ERROR_BAD_ANSWER, "an item of %s is not understood", plan->table_name);
}
