/* The bytes of files: an item as the documents describe it (docs/semantics.md, "Files", "Secrets",
 * "Dates"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/sim_life.h"
#include "tests/sim/sim_model.h"
#include "tests/sim/sim_world.h"

#define SIM_MASK "********"

/* Where a value is printed: pretty, or on one line. */
struct sim_style {
    bool is_compact;
    unsigned depth;
};

static void sim_render_string(struct sim_text *out, struct sim_slice text)
{
    static const char shorts[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    size_t from = 0;
    sim_text_add(out, "\"", 1);
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        sim_text_add(out, text.bytes + from, i - from);
        from = i + 1;
        const char *found = c ? strchr(shorts, c) : NULL;
        while (found && (found - shorts) % 2)
            found = strchr(found + 1, c);
        if (found)
            sim_text_printf(out, "\\%c", found[1]);
        else
            sim_text_printf(out, "\\u%04x", c);
    }
    if (from < text.size)
        sim_text_add(out, text.bytes + from, text.size - from);
    sim_text_add(out, "\"", 1);
}

static void sim_render_break(struct sim_text *out, const struct sim_style *style)
{
    if (style->is_compact)
        return;
    sim_text_add(out, "\n", 1);
    for (unsigned i = 0; i < style->depth; i++)
        sim_text_add(out, "  ", 2);
}

static int sim_render_compare_names(const void *a, const void *b)
{
    const struct sim_attribute *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static int sim_render_compare_members(const void *a, const void *b)
{
    const struct sim_attribute *const *x = a, *const *y = b;
    return sim_value_compare(&(*x)->value, &(*y)->value);
}

/* The members in the order of the documents: maps by name, sets by bytes or by value, lists as they
 * are. To be freed. */
static const struct sim_attribute **sim_render_order(const struct sim_value *value)
{
    const struct sim_attribute **members = sim_alloc((value->member_count + 1) * sizeof(*members));
    for (size_t i = 0; i < value->member_count; i++)
        members[i] = &value->members[i];
    if (value->type == SIM_M)
        qsort(members, value->member_count, sizeof(*members), sim_render_compare_names);
    else if (value->type != SIM_L)
        qsort(members, value->member_count, sizeof(*members), sim_render_compare_members);
    return members;
}

static void sim_render_value(struct sim_text *out, const struct sim_value *value,
                             struct sim_style style);

static void sim_render_members(struct sim_text *out, const struct sim_value *value,
                               struct sim_style style)
{
    bool is_map = value->type == SIM_M;
    if (!value->member_count) {
        sim_text_puts(out, is_map ? "{}" : "[]");
        return;
    }
    const struct sim_attribute **members = sim_render_order(value);
    struct sim_style inner = {style.is_compact, style.depth + 1};
    sim_text_puts(out, is_map ? "{" : "[");
    for (size_t i = 0; i < value->member_count; i++) {
        if (i)
            sim_text_puts(out, ",");
        sim_render_break(out, &inner);
        if (is_map) {
            sim_render_string(out, sim_slice_of(members[i]->name));
            sim_text_puts(out, style.is_compact ? ":" : ": ");
        }
        sim_render_value(out, &members[i]->value, inner);
    }
    sim_render_break(out, &style);
    sim_text_puts(out, is_map ? "}" : "]");
    sim_free(members);
}

static void sim_render_value(struct sim_text *out, const struct sim_value *value,
                             struct sim_style style)
{
    switch (value->type) {
    case SIM_S:
        sim_render_string(out, (struct sim_slice){value->bytes, value->size});
        break;
    case SIM_N:
    case SIM_BOOL:
        sim_text_add(out, value->bytes, value->size);
        break;
    case SIM_NULL:
        sim_text_puts(out, "null");
        break;
    case SIM_B:
        sim_text_puts(out, "\"");
        sim_text_base64(out, value->bytes, value->size);
        sim_text_puts(out, "\"");
        break;
    default:
        sim_render_members(out, value, style);
    }
}

bool sim_is_secret(const struct sim_model_table *table, struct sim_slice attribute)
{
    for (unsigned i = 0; i < table->secret_count; i++)
        if (sim_slice_equal(sim_slice_of(table->secrets[i]), attribute))
            return true;
    return false;
}

static bool sim_render_is_secret(const struct sim_model_table *table, const char *attribute)
{
    return !sim_life_options()->show_secrets && sim_is_secret(table, sim_slice_of(attribute));
}

static bool sim_render_key_has(const struct sim_key_schema *key, const char *attribute)
{
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++)
        if (strcmp(key->names[i], attribute) == 0)
            return true;
    return false;
}

/* Whether a file of PATTERN shows ATTRIBUTE: all, unless it shows what an index holds
 * (docs/map.md, "Hydrate"). */
static bool sim_render_shows(const struct sim_model_table *table, const struct sim_pattern *pattern,
                             const char *attribute)
{
    if (!pattern || pattern->index < 0 || pattern->reads_again)
        return true;
    const struct sim_index *index = &table->table->indexes[pattern->index];
    if (index->projection == SIM_PROJECT_ALL || sim_render_key_has(&table->table->key, attribute) ||
        sim_render_key_has(&index->key, attribute))
        return true;
    for (unsigned i = 0; i < index->included_count; i++)
        if (strcmp(index->included[i], attribute) == 0)
            return true;
    return false;
}

static void sim_render_member(struct sim_text *out, const struct sim_model_table *table,
                              const struct sim_attribute *attribute, struct sim_style style,
                              bool *is_first)
{
    struct sim_style inner = {style.is_compact, 1};
    if (!*is_first)
        sim_text_puts(out, ",");
    *is_first = false;
    sim_render_break(out, &inner);
    sim_render_string(out, sim_slice_of(attribute->name));
    sim_text_puts(out, style.is_compact ? ":" : ": ");
    if (sim_render_is_secret(table, attribute->name))
        sim_text_puts(out, "\"" SIM_MASK "\"");
    else
        sim_render_value(out, &attribute->value, inner);
}

static const struct sim_attribute *sim_render_find_attribute(const struct sim_version *version,
                                                             struct sim_slice name)
{
    for (size_t i = 0; i < version->attribute_count; i++)
        if (sim_slice_equal(sim_slice_of(version->attributes[i].name), name))
            return &version->attributes[i];
    return NULL;
}

/* Key attributes first, then all others by name in byte order. */
static void sim_render_object(struct sim_text *out, const struct sim_model_table *table,
                              const struct sim_pattern *pattern, const struct sim_version *version,
                              struct sim_style style)
{
    const struct sim_key_schema *key = &table->table->key;
    bool is_first = true;
    sim_text_puts(out, "{");
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        const struct sim_attribute *found =
            sim_render_find_attribute(version, sim_slice_of(key->names[i]));
        if (found)
            sim_render_member(out, table, found, style, &is_first);
    }
    for (size_t i = 0; i < version->attribute_count; i++) {
        const struct sim_attribute *each = &version->attributes[i];
        if (!sim_render_key_has(key, each->name) && sim_render_shows(table, pattern, each->name))
            sim_render_member(out, table, each, style, &is_first);
    }
    sim_render_break(out, &(struct sim_style){style.is_compact, 0});
    sim_text_puts(out, "}\n");
}

static void sim_render_bare(struct sim_text *out, const struct sim_value *value)
{
    if (value->type == SIM_S)
        sim_text_add(out, value->bytes, value->size);
    else if (value->type == SIM_B)
        sim_text_base64(out, value->bytes, value->size);
    else
        sim_render_value(out, value,
                         (struct sim_style){.is_compact = sim_life_options()->is_compact});
    sim_text_puts(out, "\n");
}

bool sim_render_item(struct sim_text *out, const struct sim_model_table *table,
                     const struct sim_pattern *pattern, const struct sim_version *version)
{
    if (pattern && pattern->attribute) {
        const struct sim_value *value = sim_version_get(version, pattern->attribute);
        if (value && sim_model_is_masked(table, pattern->attribute))
            sim_text_puts(out, SIM_MASK "\n");
        else if (value)
            sim_render_bare(out, value);
        return value != NULL;
    }
    sim_render_object(out, table, pattern, version,
                      (struct sim_style){.is_compact = sim_life_options()->is_compact});
    return true;
}

void sim_render_line(struct sim_text *out, const struct sim_model_table *table,
                     const struct sim_pattern *pattern, const struct sim_version *version)
{
    sim_render_object(out, table, pattern, version, (struct sim_style){.is_compact = true});
}

bool sim_render_attribute(struct sim_text *out, const struct sim_model_table *table,
                          const struct sim_version *version, struct sim_slice attribute)
{
    const struct sim_attribute *found = sim_render_find_attribute(version, attribute);
    if (!found)
        return false;
    if (sim_render_is_secret(table, found->name))
        sim_text_puts(out, SIM_MASK "\n");
    else
        sim_render_bare(out, &found->value);
    return true;
}

static void sim_render_typed_value(struct sim_text *out, const struct sim_value *value)
{
    static const char *const names[] = {"S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"};
    sim_text_printf(out, "{\"%s\":", names[value->type]);
    if (value->type == SIM_N) {
        sim_text_printf(out, "\"%s\"", value->bytes);
    } else if (value->type == SIM_NULL) {
        sim_text_puts(out, "true");
    } else if (!value->members && value->type < SIM_M) {
        sim_render_value(out, value, (struct sim_style){.is_compact = true});
    } else {
        const struct sim_attribute **members = sim_render_order(value);
        sim_text_puts(out, value->type == SIM_M ? "{" : "[");
        for (size_t i = 0; i < value->member_count; i++) {
            if (i)
                sim_text_puts(out, ",");
            if (value->type == SIM_M) {
                sim_render_string(out, sim_slice_of(members[i]->name));
                sim_text_puts(out, ":");
            }
            if (value->type == SIM_M || value->type == SIM_L)
                sim_render_typed_value(out, &members[i]->value);
            else if (value->type == SIM_NS)
                sim_text_printf(out, "\"%s\"", members[i]->value.bytes);
            else
                sim_render_value(out, &members[i]->value, (struct sim_style){.is_compact = true});
        }
        sim_text_puts(out, value->type == SIM_M ? "}" : "]");
        sim_free(members);
    }
    sim_text_puts(out, "}");
}

void sim_render_typed(struct sim_text *out, const struct sim_model_table *table,
                      const struct sim_pattern *pattern, const struct sim_version *version)
{
    bool is_first = true;
    sim_text_puts(out, "{");
    for (size_t i = 0; i < version->attribute_count; i++) {
        const struct sim_attribute *each = &version->attributes[i];
        if (!sim_render_shows(table, pattern, each->name))
            continue;
        if (!is_first)
            sim_text_puts(out, ",");
        is_first = false;
        sim_render_string(out, sim_slice_of(each->name));
        sim_text_puts(out, ":");
        if (sim_render_is_secret(table, each->name))
            sim_text_puts(out, "{\"S\":\"" SIM_MASK "\"}");
        else
            sim_render_typed_value(out, &each->value);
    }
    sim_text_puts(out, "}\n");
}

/* Of the forms that the documents allow, the histories have seconds and milliseconds since 1970,
 * and ISO-8601 text in UTC. Numbers with more than 11 digits are milliseconds. */
int64_t sim_render_date(const struct sim_model_table *table, const struct sim_pattern *pattern,
                        const struct sim_version *version)
{
    if (table->mtime && !sim_render_shows(table, pattern, table->mtime))
        return INT64_MAX;
    if (table->mtime && sim_model_is_masked(table, table->mtime))
        return INT64_MIN;
    const struct sim_value *value = table->mtime ? sim_version_get(version, table->mtime) : NULL;
    if (!value)
        return INT64_MIN;
    if (value->type == SIM_N) {
        char *end;
        long long number = strtoll(value->bytes, &end, 10);
        if (*end || number < 0 || value->size > 13)
            return INT64_MAX;
        return value->size > 11 ? number / 1000 : number;
    }
    if (value->type != SIM_S)
        return INT64_MIN;
    struct tm tm = {0};
    int used = 0;
    if (sscanf(value->bytes, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &used) != 6 ||
        used != 19 || value->bytes[value->size - 1] != 'Z')
        return INT64_MAX;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return (int64_t)timegm(&tm);
}
