/* The text of a map, as the program reads it (docs/map.md). */
#include <string.h>

#include "tests/sim/sim_life.h"
#include "tests/sim/sim_model.h"
#include "tests/sim/sim_world.h"

static void sim_map_write_quoted(struct sim_text *out, const char *text)
{
    sim_text_json_string(out, text, strlen(text));
}

static void sim_map_write_quoted_format(struct sim_text *out, const struct sim_key_format *format)
{
    struct sim_text text = {0};
    sim_format_write(&text, format);
    sim_map_write_quoted(out, text.bytes ? text.bytes : "");
    sim_text_free(&text);
}

static void sim_map_write_records(struct sim_text *out, const struct sim_model_table *table)
{
    const struct sim_key_schema *key = &table->table->key;
    sim_text_puts(out, "\"records\":{");
    for (unsigned k = 0; k < table->kind_count; k++) {
        sim_text_puts(out, k ? "," : "");
        sim_map_write_quoted(out, table->kinds[k].name);
        sim_text_puts(out, ":{");
        for (unsigned i = 0; i < sim_key_count(key); i++) {
            sim_text_puts(out, i ? "," : "");
            sim_map_write_quoted(out, key->names[i]);
            sim_text_puts(out, ":");
            sim_map_write_quoted_format(out, sim_kind_format(&table->kinds[k], key->names[i]));
        }
        sim_text_puts(out, "}");
    }
    sim_text_puts(out, "}");
}

/* {"attribute": {"kind": "format", …}, …} */
static void sim_map_write_index_key(struct sim_text *out, const struct sim_model_table *table,
                                    const struct sim_key_schema *key, unsigned from, unsigned until)
{
    const struct sim_key_schema *own = &table->table->key;
    char *part = sim_part_name(key->names[from]);
    bool is_plain = strcmp(part, key->names[from]) == 0;
    sim_free(part);
    if (until - from == 1 && is_plain &&
        sim_key_has(own, 0, sim_key_count(own), key->names[from])) {
        sim_map_write_quoted(out, key->names[from]);
        return;
    }
    sim_text_puts(out, "{");
    for (unsigned i = from; i < until; i++) {
        bool is_first = true;
        sim_text_puts(out, i > from ? "," : "");
        sim_map_write_quoted(out, key->names[i]);
        if (sim_key_has(own, 0, sim_key_count(own), key->names[i])) {
            /* "A key attribute of the table has the format of its kind"; plain tables have one. */
            sim_text_puts(out, ":");
            sim_map_write_quoted_format(out, sim_kind_format(&table->kinds[0], key->names[i]));
            continue;
        }
        sim_text_puts(out, ":{");
        for (unsigned k = 0; k < table->kind_count; k++) {
            const struct sim_key_format *format = sim_kind_format(&table->kinds[k], key->names[i]);
            if (!format)
                continue;
            sim_text_puts(out, is_first ? "" : ",");
            is_first = false;
            sim_map_write_quoted(out, table->kinds[k].name);
            sim_text_puts(out, ":");
            sim_map_write_quoted_format(out, format);
        }
        sim_text_puts(out, "}");
    }
    sim_text_puts(out, "}");
}

static void sim_map_write_index(struct sim_text *out, const struct sim_model_table *table,
                                int number)
{
    const struct sim_index *index = &table->table->indexes[number];
    sim_map_write_quoted(out, index->name);
    sim_text_puts(out, ":{\"partition\":");
    sim_map_write_index_key(out, table, &index->key, 0, index->key.hash_count);
    if (index->key.range_count) {
        sim_text_puts(out, ",\"sort\":");
        sim_map_write_index_key(out, table, &index->key, index->key.hash_count,
                                sim_key_count(&index->key));
    }
    sim_text_puts(out, ",\"projects\":");
    if (index->projection == SIM_PROJECT_INCLUDE) {
        sim_text_puts(out, "[");
        for (unsigned i = 0; i < index->included_count; i++) {
            sim_text_puts(out, i ? "," : "");
            sim_map_write_quoted(out, index->included[i]);
        }
        sim_text_puts(out, "]");
    } else {
        sim_text_puts(out, index->projection == SIM_PROJECT_ALL ? "\"all\"" : "\"keys\"");
    }
    sim_text_puts(out, index->is_local ? ",\"local\":true}" : "}");
}

static void sim_map_write_where(struct sim_text *out, const struct sim_pattern *pattern)
{
    if (pattern->where == SIM_WHERE_NONE)
        return;
    struct sim_text low = {0}, high = {0};
    sim_format_write(&low, &pattern->low);
    sim_format_write(&high, &pattern->high);
    sim_text_puts(out, ",\"where\":{");
    sim_map_write_quoted(out, pattern->where_text);
    if (pattern->where == SIM_WHERE_PREFIX)
        sim_text_printf(out, ":\"%s*\"}", low.bytes);
    else if (pattern->where == SIM_WHERE_BETWEEN)
        sim_text_printf(out, ":\"%s..%s\"}", low.bytes, high.bytes);
    else
        sim_text_printf(out, ":{\">\":\"%s\"}}", low.bytes);
    sim_text_free(&low);
    sim_text_free(&high);
}

static void sim_map_write_filter(struct sim_text *out, const struct sim_pattern *pattern)
{
    if (pattern->filter == SIM_FILTER_NONE)
        return;
    /* Quotes: the name may have dots and brackets. */
    char *name = sim_printf("'%s'", pattern->filter_name);
    sim_text_puts(out, ",\"filter\":{");
    sim_map_write_quoted(out, name);
    sim_free(name);
    if (pattern->filter == SIM_FILTER_EXISTS || pattern->filter == SIM_FILTER_ABSENT) {
        sim_text_printf(out, ":{\"exists\":%s}}",
                        pattern->filter == SIM_FILTER_EXISTS ? "true" : "false");
        return;
    }
    sim_text_printf(out, ":{\"%s\":", pattern->filter == SIM_FILTER_EQUAL ? "=" : "!=");
    sim_map_write_quoted(out, pattern->filter_value);
    sim_text_puts(out, "}}");
}

static void sim_map_write_order(struct sim_text *out, const struct sim_pattern *pattern)
{
    if (!pattern->descends && !pattern->limit && !pattern->is_first)
        return;
    sim_text_printf(out, ",\"%s\":", pattern->descends ? "newest" : "oldest");
    if (pattern->limit || pattern->is_first)
        sim_text_printf(out, "%u", pattern->is_first ? 1 : pattern->limit);
    else
        sim_text_puts(out, "\"all\"");
}

static void sim_map_write_pattern(struct sim_text *out, const struct sim_model_table *table,
                                  const struct sim_pattern *pattern)
{
    sim_map_write_quoted(out, pattern->text);
    sim_text_puts(out, pattern->is_listing ? ":{\"list\":[" : ":{\"record\":");
    const char *comma = "";
    for (unsigned k = 0; k < table->kind_count; k++) {
        if (!(pattern->kinds & 1u << k))
            continue;
        sim_text_puts(out, comma);
        sim_map_write_quoted(out, table->kinds[k].name);
        comma = ",";
    }
    sim_text_puts(out, pattern->is_listing ? "]" : "");
    if (pattern->index >= 0) {
        const struct sim_index *index = &table->table->indexes[pattern->index];
        sim_text_puts(out, ",\"index\":");
        sim_map_write_quoted(out, index->name);
        if (index->projection != SIM_PROJECT_ALL && !pattern->reads_again)
            sim_text_puts(out, ",\"hydrate\":false");
    }
    sim_map_write_where(out, pattern);
    sim_map_write_filter(out, pattern);
    if (pattern->attribute) {
        sim_text_puts(out, ",\"attribute\":");
        sim_map_write_quoted(out, pattern->attribute);
    }
    sim_map_write_order(out, pattern);
    if (pattern->name_is_written) {
        unsigned k = 0;
        while (!pattern->names[k].count)
            k++;
        struct sim_text name = {0};
        sim_text_puts(&name, pattern->has_rank ? "{rank}_" : "");
        sim_format_write(&name, &pattern->names[k]);
        sim_text_puts(out, ",\"name\":");
        sim_map_write_quoted(out, name.bytes);
        sim_text_free(&name);
    }
    if (pattern->has_own_ttl)
        sim_text_printf(out, ",\"ttl\":%d", (int)(pattern->ttl_ms / 1000));
    sim_text_puts(out, "}");
}

static void sim_map_write_types(struct sim_text *out, const struct sim_model_table *model)
{
    const struct sim_table *table = model->table;
    struct sim_text seen = {0};
    sim_text_puts(out, ",\"types\":{");
    const char *comma = "";
    for (int index = -1; index < (int)table->index_count; index++) {
        const struct sim_key_schema *key = index < 0 ? &table->key : &table->indexes[index].key;
        for (unsigned i = 0; i < sim_key_count(key) && (index < 0 || model->used[index]); i++) {
            char *member = sim_printf("\"%s\":", key->names[i]);
            if (key->types[i] != SIM_S && (!seen.bytes || !strstr(seen.bytes, member))) {
                sim_text_printf(out, "%s%s\"%s\"", comma, member,
                                key->types[i] == SIM_N ? "N" : "B");
                sim_text_puts(&seen, member);
                comma = ",";
            }
            sim_free(member);
        }
    }
    sim_text_puts(out, "}");
    sim_text_free(&seen);
}

static void sim_map_write_values(struct sim_text *out, const struct sim_model_table *table)
{
    if (!table->valued)
        return;
    sim_text_puts(out, ",\"params\":{");
    sim_map_write_quoted(out, table->valued);
    sim_text_puts(out, ":{\"values\":[");
    for (unsigned i = 0; i < table->value_count; i++) {
        sim_text_puts(out, i ? "," : "");
        sim_map_write_quoted(out, table->values[i]);
    }
    sim_text_puts(out, table->values_are_all ? "],\"only\":true}}" : "]}}");
}

static void sim_map_write_link(struct sim_text *out, const struct sim_model_table *table)
{
    if (!table->link)
        return;
    char *to =
        sim_printf("/{env}/%s/%s", table->directory, table->patterns[table->link_pattern].text);
    sim_text_printf(out, ",\"links\":{\"%s\":{\"record\":", table->link);
    sim_map_write_quoted(out, table->kinds[table->link_kind].name);
    sim_text_puts(out, ",\"to\":");
    sim_map_write_quoted(out, to);
    sim_text_puts(out, "}}");
    sim_free(to);
}

static void sim_map_write_table(struct sim_text *out, const struct sim_model_table *table)
{
    const char *comma = "";
    sim_map_write_quoted(out, table->directory);
    sim_text_puts(out, ":{\"table\":");
    sim_map_write_quoted(out, table->table->base_name);
    sim_text_puts(out, ",");
    sim_map_write_records(out, table);
    sim_text_puts(out, ",\"indexes\":{");
    for (unsigned i = 0; i < table->table->index_count; i++) {
        if (!table->used[i])
            continue;
        sim_text_puts(out, comma);
        sim_map_write_index(out, table, (int)i);
        comma = ",";
    }
    sim_text_puts(out, "}");
    sim_map_write_types(out, table);
    sim_map_write_values(out, table);
    sim_map_write_link(out, table);
    if (table->secret_count) {
        sim_text_puts(out, ",\"secret\":[");
        for (unsigned i = 0; i < table->secret_count; i++) {
            sim_text_puts(out, i ? "," : "");
            sim_map_write_quoted(out, table->secrets[i]);
        }
        sim_text_puts(out, "]");
    }
    if (table->mtime) {
        sim_text_puts(out, ",\"mtime\":");
        sim_map_write_quoted(out, table->mtime);
    }
    sim_text_printf(out, ",\"ttl\":%d,\"paths\":{", (int)(table->ttl_ms / 1000));
    for (unsigned i = 0; i < table->pattern_count; i++) {
        sim_text_puts(out, i ? ",\n" : "\n");
        sim_map_write_pattern(out, table, &table->patterns[i]);
    }
    sim_text_puts(out, "}}");
}

void sim_map_write_text(struct sim_model *model)
{
    struct sim_text text = {0};
    sim_text_printf(&text, "{\"environments\":{\"%s\":{\"prefix\":\"%s\"}},\n\"tables\":{",
                    model->environment, model->prefix);
    for (unsigned i = 0; i < model->table_count; i++) {
        sim_text_puts(&text, i ? ",\n" : "\n");
        sim_map_write_table(&text, &model->tables[i]);
    }
    sim_text_puts(&text, "}}\n");
    model->text = text.bytes;
}
