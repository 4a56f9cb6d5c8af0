/* A world as texts: its map, its items, its descriptions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/worlds/world.h"

static void world_write_base64(const char *bytes, struct world_text *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size = strlen(bytes);
    for (size_t i = 0; i < size; i += 3) {
        uint32_t group = 0;
        for (size_t k = 0; k < 3; k++)
            group = group << 8 | (i + k < size ? (uint8_t)bytes[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            world_add(out, "%c", i + k > size ? '=' : digits[group >> (18 - 6 * k) & 63]);
    }
}

static void world_write_value(const struct world_value *value, struct world_text *out)
{
    if (value->type == 'J') {
        world_add(out, "%s", value->text);
        return;
    }
    world_add(out, "{\"%c\":", value->type);
    if (value->type == 'B') {
        world_add(out, "\"");
        world_write_base64(value->text, out);
        world_add(out, "\"");
    } else {
        world_add_string(out, value->text);
    }
    world_add(out, "}");
}

void world_write_typed(const struct world_table *table, const struct world_item *item,
                       const struct world_index *index, struct world_text *out)
{
    unsigned count = 0;
    world_add(out, "{");
    for (unsigned i = 0; i < item->count; i++) {
        if (index && !world_index_has(table, index, item->attributes[i].name))
            continue;
        world_add(out, "%s\"%s\":", count++ ? "," : "", item->attributes[i].name);
        world_write_value(&item->attributes[i].value, out);
    }
    world_add(out, "}");
}

static void world_write_member(const struct world_attribute *attribute, struct world_text *out)
{
    const struct world_value *value = &attribute->value;
    world_add(out, "%s\"%s\":", out->bytes[out->size - 1] == '{' ? "" : ",", attribute->name);
    if (value->type == 'J') {
        world_add(out, "%s", value->plain);
    } else if (value->type == 'N') {
        world_add(out, "%s", value->text);
    } else if (value->type == 'B') {
        world_add(out, "\"");
        world_write_base64(value->text, out);
        world_add(out, "\"");
    } else {
        world_add_string(out, value->text);
    }
}

void world_write_plain(const struct world_table *table, const struct world_item *item,
                       struct world_text *out)
{
    world_add(out, "{");
    for (unsigned k = 0; k < table->key_count; k++)
        for (unsigned i = 0; i < item->count; i++)
            if (strcmp(item->attributes[i].name, table->keys[k].attribute) == 0)
                world_write_member(&item->attributes[i], out);
    for (unsigned i = 0; i < item->count; i++) {
        bool is_key = false;
        for (unsigned k = 0; k < table->key_count; k++)
            is_key = is_key || strcmp(item->attributes[i].name, table->keys[k].attribute) == 0;
        if (!is_key)
            world_write_member(&item->attributes[i], out);
    }
    world_add(out, "}");
}

/* N is an INTEGER, or the REAL that has the same shortest decimal, else a TEXT. */
static void world_write_number(const char *text, struct world_text *out)
{
    char shortest[32];
    bool is_whole = !strchr(text, '.');
    snprintf(shortest, sizeof shortest, "%.15g", strtod(text, NULL));
    world_add(out, is_whole || strcmp(shortest, text) == 0 ? "%s" : "'%s'", text);
}

void world_write_literal(const struct world_value *value, struct world_text *out)
{
    switch (value->type) {
    case 'S':
        world_add(out, "'");
        for (const char *at = value->text; *at; at++)
            world_add(out, *at == '\'' ? "''" : "%c", *at);
        world_add(out, "'");
        break;
    case 'N':
        world_write_number(value->text, out);
        break;
    case 'B':
        world_add(out, "x'");
        for (const char *at = value->text; *at; at++)
            world_add(out, "%02x", (unsigned char)*at);
        world_add(out, "'");
        break;
    case 'J':
        world_add(out, "%s", value->shown);
        break;
    default:
        world_add(out, "NULL");
    }
}

/* The map. */

static void world_write_format(const struct world_format *format, struct world_text *out)
{
    world_add(out, "\"");
    for (unsigned i = 0; i < format->count; i++)
        world_add(out, format->pieces[i].is_part ? "{%s}" : "%s", format->pieces[i].name);
    world_add(out, "\"");
}

static bool world_formats_equal(const struct world_format *a, const struct world_format *b)
{
    return a->count == b->count && memcmp(a->pieces, b->pieces, sizeof a->pieces) == 0;
}

static void world_write_index_key(const struct world_table *table, const struct world_key *key,
                                  struct world_text *out)
{
    bool all_equal = true;
    unsigned count = 0;
    for (unsigned i = 0; i < table->kind_count; i++)
        all_equal = all_equal && world_formats_equal(&key->formats[i], &key->formats[0]);
    world_add(out, "\"%s\":", key->attribute);
    if (all_equal && key->formats[0].count) {
        world_write_format(&key->formats[0], out);
        return;
    }
    world_add(out, "{");
    for (unsigned i = 0; i < table->kind_count; i++)
        if (key->formats[i].count) {
            world_add(out, "%s\"k%u\":", count++ ? "," : "", i);
            world_write_format(&key->formats[i], out);
        }
    world_add(out, "}");
}

/* Keys of the table are names: their formats are those of the kinds. */
static void world_write_side(const struct world_table *table, const struct world_index *index,
                             unsigned from, unsigned to, struct world_text *out)
{
    bool bare = to - from == 1 && index->keys[from].of_table;
    if (bare) {
        world_add(out, "\"%s\"", index->keys[from].attribute);
        return;
    }
    world_add(out, "{");
    for (unsigned i = from; i < to; i++) {
        world_add(out, i > from ? "," : "");
        if (index->keys[i].of_table)
            world_add(out, "\"%s\":\"{%s}\"", index->keys[i].attribute, index->keys[i].attribute);
        else
            world_write_index_key(table, &index->keys[i], out);
    }
    world_add(out, "}");
}

static void world_write_kinds(const bool *kinds, unsigned count, struct world_text *out)
{
    world_add(out, "[");
    for (unsigned i = 0, listed = 0; i < count; i++)
        if (kinds[i])
            world_add(out, "%s\"k%u\"", listed++ ? "," : "", i);
    world_add(out, "]");
}

static void world_write_indexes(const struct world_table *table, struct world_text *out)
{
    world_add(out, ",\"indexes\":{");
    for (unsigned i = 0; i < table->index_count; i++) {
        const struct world_index *index = &table->indexes[i];
        world_add(out, "%s\"%s\":{\"partition\":", i ? "," : "", index->name);
        world_write_side(table, index, 0, index->partition_count, out);
        if (index->key_count > index->partition_count) {
            world_add(out, ",\"sort\":");
            world_write_side(table, index, index->partition_count, index->key_count, out);
        }
        if (index->projects == 's')
            world_add(out, ",\"projects\":[\"%s\",\"%s\"]", index->included[0], index->included[1]);
        else
            world_add(out, ",\"projects\":\"%s\"", index->projects == 'a' ? "all" : "keys");
        if (index->states_holds) {
            world_add(out, ",\"holds\":");
            world_write_kinds(index->holds, table->kind_count, out);
        }
        world_add(out, "}");
    }
    world_add(out, "}");
}

static void world_write_types(const struct world_table *table, struct world_text *out)
{
    char seen[WORLD_COLUMNS][WORLD_NAME];
    unsigned count = 0;
    world_add(out, ",\"types\":{");
    for (unsigned i = 0; i < table->key_count; i++)
        if (table->keys[i].type != 'S') {
            world_add(out, "%s\"%s\":\"%c\"", count ? "," : "", table->keys[i].attribute,
                      table->keys[i].type);
            memcpy(seen[count++], table->keys[i].attribute, WORLD_NAME);
        }
    for (unsigned i = 0; i < table->index_count; i++)
        for (unsigned k = 0; k < table->indexes[i].key_count; k++) {
            const struct world_key *key = &table->indexes[i].keys[k];
            bool known = key->type == 'S';
            for (unsigned s = 0; s < count; s++)
                known = known || strcmp(seen[s], key->attribute) == 0;
            if (known)
                continue;
            world_add(out, "%s\"%s\":\"%c\"", count ? "," : "", key->attribute, key->type);
            memcpy(seen[count++], key->attribute, WORLD_NAME);
        }
    world_add(out, "}");
}

/* Paths. */

/* The names of the parts of FORMAT that NAMES lacks. */
static void world_add_names(const struct world_format *format, char names[][WORLD_NAME],
                            unsigned *count)
{
    for (unsigned i = 0; i < format->count; i++) {
        bool known = !format->pieces[i].is_part;
        for (unsigned k = 0; k < *count; k++)
            known = known || strcmp(names[k], format->pieces[i].name) == 0;
        if (!known)
            memcpy(names[(*count)++], format->pieces[i].name, WORLD_NAME);
    }
}

static const struct world_format *world_format_of(const struct world_table *table,
                                                  const struct world_key *key, unsigned kind)
{
    for (unsigned i = 0; i < table->key_count; i++)
        if (strcmp(table->keys[i].attribute, key->attribute) == 0)
            return &table->keys[i].formats[kind];
    return &key->formats[kind];
}

bool world_key_names(const struct world_table *table, const struct world_index *index,
                     unsigned kind, bool sorts, char names[][WORLD_NAME], unsigned *count)
{
    unsigned partitions = index ? index->partition_count : 1;
    unsigned key_count = index ? index->key_count : table->key_count;
    const struct world_key *keys = index ? index->keys : table->keys;
    *count = 0;
    for (unsigned i = 0; i < key_count; i++)
        if (!world_format_of(table, &keys[i], kind)->count)
            return false;
    for (unsigned i = sorts ? partitions : 0; i < (sorts ? key_count : partitions); i++)
        world_add_names(world_format_of(table, &keys[i], kind), names, count);
    return true;
}

/* The parts that a path of the kind has. False if the map has no such path. */
static bool world_path_names(const struct world_table *table, const struct world_index *index,
                             unsigned kind, bool lists, char names[][WORLD_NAME], unsigned *count)
{
    if (index)
        return lists && world_key_names(table, index, kind, false, names, count);
    *count = 0;
    for (unsigned i = 0; i < (lists ? 1 : table->key_count); i++)
        world_add_names(&table->keys[i].formats[kind], names, count);
    return !lists || table->key_count > 1;
}

static void world_write_step(const struct world_table *table, const struct world_index *index,
                             unsigned kind, bool lists, struct world_text *out)
{
    if (index)
        world_add(out, "x%uk%u", (unsigned)(index - table->indexes), kind);
    else
        world_add(out, "%c%u", lists ? 'l' : 'k', kind);
}

static void world_write_pattern(const struct world_table *table, const struct world_index *index,
                                unsigned kind, bool lists, bool *any, struct world_text *out)
{
    char names[WORLD_COLUMNS][WORLD_NAME];
    unsigned count;
    if (!world_path_names(table, index, kind, lists, names, &count))
        return;
    world_add(out, *any ? ",\"" : "\"");
    *any = true;
    world_write_step(table, index, kind, lists, out);
    for (unsigned i = 0; i < count; i++)
        world_add(out, "/{%s}", names[i]);
    world_add(out, lists ? "/\":{\"list\":\"k%u\"" : "\":{\"record\":\"k%u\"", kind);
    if (index)
        world_add(out, ",\"index\":\"%s\"", index->name);
    world_add(out, "}");
}

static void world_write_paths(const struct world_table *table, bool all, struct world_text *out)
{
    bool any = false;
    world_add(out, ",\"paths\":{");
    for (unsigned kind = 0; kind < table->kind_count; kind++) {
        if (all) {
            world_write_pattern(table, NULL, kind, false, &any, out);
            world_write_pattern(table, NULL, kind, true, &any, out);
        }
        for (unsigned i = 0; i < table->index_count; i++)
            if (all || table->indexes[i].reads[kind])
                world_write_pattern(table, &table->indexes[i], kind, true, &any, out);
    }
    world_add(out, "}");
}

bool world_write_path(const struct world_table *table, const struct world_index *index,
                      const struct world_item *item, bool lists, struct world_text *out)
{
    char names[WORLD_COLUMNS][WORLD_NAME];
    unsigned count;
    struct world_parts parts;
    if (item->kind < 0 || (index && !world_is_in(item, index)) ||
        !world_path_names(table, index, (unsigned)item->kind, lists, names, &count))
        return false;
    world_take_apart(table, item, &parts);
    for (unsigned i = 0; index && i < index->partition_count; i++)
        if (!index->keys[i].of_table &&
            !world_match(&index->keys[i].formats[item->kind],
                         world_find(item, index->keys[i].attribute), &parts))
            return false;
    world_write_step(table, index, (unsigned)item->kind, lists, out);
    for (unsigned i = 0; i < count; i++) {
        const struct world_value *value = world_find_part(&parts, names[i]);
        world_add(out, value->text[0] ? "/" : "/%%");
        for (const char *at = value->text; *at; at++)
            world_add(out, "%%%02X", (unsigned char)*at);
    }
    return true;
}

static void world_write_table(const struct world_table *table, bool all_paths,
                              struct world_text *out)
{
    world_add(out, "\"%s\":{\"table\":\"%s\"", table->name, table->service + strlen("e-"));
    world_write_types(table, out);
    world_add(out, ",\"records\":{");
    for (unsigned i = 0; i < table->kind_count; i++) {
        world_add(out, "%s\"k%u\":{", i ? "," : "", i);
        for (unsigned k = 0; k < table->key_count; k++) {
            world_add(out, "%s\"%s\":", k ? "," : "", table->keys[k].attribute);
            world_write_format(&table->keys[k].formats[i], out);
        }
        world_add(out, "}");
    }
    world_add(out, "}");
    world_write_indexes(table, out);
    if (table->stated_count > 0) {
        world_add(out, ",\"attributes\":{");
        for (unsigned i = 0; i < table->stated_count; i++) {
            world_add(out, "%s\"%s\":", i ? "," : "", table->stated[i].name);
            world_write_kinds(table->stated[i].kinds, table->kind_count, out);
        }
        world_add(out, "}");
    }
    world_write_paths(table, all_paths, out);
    world_add(out, "}");
}

void world_write_map(const struct world *world, bool all_paths, struct world_text *out)
{
    world_add(out, "{\"environments\":{\"e\":{\"prefix\":\"e-\"}},\"tables\":{");
    for (unsigned i = 0; i < world->table_count; i++) {
        world_add(out, i ? "," : "");
        world_write_table(&world->tables[i], all_paths, out);
    }
    world_add(out, "}}");
}

/* DescribeTable. */

static void world_write_schema(const struct world_key *keys, unsigned partition_count,
                               unsigned count, struct world_text *out)
{
    world_add(out, "\"KeySchema\":[");
    for (unsigned i = 0; i < count; i++)
        world_add(out, "%s{\"AttributeName\":\"%s\",\"KeyType\":\"%s\"}", i ? "," : "",
                  keys[i].attribute, i < partition_count ? "HASH" : "RANGE");
    world_add(out, "]");
}

static void world_write_definitions(const struct world_table *table, struct world_text *out)
{
    char seen[WORLD_COLUMNS][WORLD_NAME];
    unsigned count = 0;
    for (unsigned i = 0; i <= table->index_count; i++) {
        const struct world_key *keys = i ? table->indexes[i - 1].keys : table->keys;
        unsigned key_count = i ? table->indexes[i - 1].key_count : table->key_count;
        for (unsigned k = 0; k < key_count; k++) {
            bool known = false;
            for (unsigned s = 0; s < count; s++)
                known = known || strcmp(seen[s], keys[k].attribute) == 0;
            if (known)
                continue;
            world_add(out, "%s{\"AttributeName\":\"%s\",\"AttributeType\":\"%c\"}",
                      count ? "," : "", keys[k].attribute, keys[k].type);
            memcpy(seen[count++], keys[k].attribute, WORLD_NAME);
        }
    }
}

void world_write_description(const struct world_table *table, struct world_text *out)
{
    world_add(out,
              "{\"TableName\":\"%s\",\"TableStatus\":\"ACTIVE\",\"ItemCount\":%u,"
              "\"TableSizeBytes\":%u,",
              table->service, table->item_count, 200 * table->item_count);
    world_write_schema(table->keys, 1, table->key_count, out);
    world_add(out, ",\"AttributeDefinitions\":[");
    world_write_definitions(table, out);
    world_add(out, "],\"GlobalSecondaryIndexes\":[");
    for (unsigned i = 0; i < table->index_count; i++) {
        const struct world_index *index = &table->indexes[i];
        world_add(out, "%s{\"IndexName\":\"%s\",\"IndexStatus\":\"ACTIVE\",", i ? "," : "",
                  index->name);
        world_write_schema(index->keys, index->partition_count, index->key_count, out);
        if (index->projects == 's')
            world_add(out,
                      ",\"Projection\":{\"ProjectionType\":\"INCLUDE\",\"NonKeyAttributes\":"
                      "[\"%s\",\"%s\"]}}",
                      index->included[0], index->included[1]);
        else
            world_add(out, ",\"Projection\":{\"ProjectionType\":\"%s\"}}",
                      index->projects == 'a' ? "ALL" : "KEYS_ONLY");
    }
    world_add(out, "]}");
}
