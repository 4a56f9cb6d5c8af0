#include "core/draft/blueprint.h"

#include "core/draft/generic_view.h"

static const enum value_type *blueprint_type_of(const struct blueprint *blueprint, const char *name)
{
    for (size_t i = 0; i < blueprint->attribute_count; i++)
        if (strcmp(blueprint->attributes[i].name, name) == 0)
            return &blueprint->attributes[i].type;
    return NULL;
}

static bool blueprint_find_type(const char *name, enum value_type *out)
{
    for (*out = VALUE_S; *out <= VALUE_B; (*out)++)
        if (strcmp(name, value_type_name(*out)) == 0)
            return true;
    return false;
}

void blueprint_add_attribute(struct blueprint *blueprint, struct json at, const char *name,
                             const char *type)
{
    enum value_type found;
    if (!name || !type)
        return;
    if (!blueprint_find_type(type, &found))
        import_reader_leave_out(blueprint->reader, at,
                                "a key attribute is of type S, N or B, and not \"%s\"", type);
    else if (blueprint->attribute_count == BLUEPRINT_MAX_ATTRIBUTES)
        import_reader_leave_out(blueprint->reader, at, "a table has at most %d key attributes",
                                BLUEPRINT_MAX_ATTRIBUTES);
    else
        blueprint->attributes[blueprint->attribute_count++] =
            (struct blueprint_attribute){name, found};
}

static bool blueprint_has_key(const struct key_schema *keys, const char *name)
{
    for (size_t i = 0; i < keys->partition_count; i++)
        if (span_is(keys->partition[i].name, name))
            return true;
    for (size_t i = 0; i < keys->sort_count; i++)
        if (span_is(keys->sort[i].name, name))
            return true;
    return false;
}

bool blueprint_add_key(struct blueprint *blueprint, struct json at, struct key_schema *keys,
                       const char *name, bool sort)
{
    struct import_reader *reader = blueprint->reader;
    if (!name)
        return false;
    const enum value_type *type = blueprint_type_of(blueprint, name);
    bool fits = false;
    if (!type)
        import_reader_leave_out(reader, at, "the type of the key attribute \"%s\" is not said",
                                name);
    else if (blueprint_has_key(keys, name))
        import_reader_leave_out(reader, at, "\"%s\" stands twice in one key", name);
    else
        fits = true;
    if (!fits)
        return false;
    if (sort) {
        keys->sort[keys->sort_count].name = span_text(name);
        keys->sort[keys->sort_count++].type = *type;
    } else {
        keys->partition[keys->partition_count].name = span_text(name);
        keys->partition[keys->partition_count++].type = *type;
    }
    return true;
}

bool blueprint_projection(struct blueprint *blueprint, struct json at, const char *projection_type,
                          enum projection *out)
{
    static const char *const types[] = {
        [PROJECTS_ALL] = "ALL", [PROJECTS_SOME] = "INCLUDE", [PROJECTS_KEYS] = "KEYS_ONLY"};
    for (*out = PROJECTS_ALL; projection_type && *out <= PROJECTS_KEYS; (*out)++)
        if (strcmp(projection_type, types[*out]) == 0)
            return true;
    *out = PROJECTS_SOME;
    if (projection_type)
        import_reader_leave_out(blueprint->reader, at,
                                "an index projects ALL, INCLUDE or KEYS_ONLY, and not \"%s\"",
                                projection_type);
    return false;
}

static bool blueprint_has_index(const struct blueprint *blueprint, struct span name)
{
    for (size_t i = 0; i < blueprint->index_count; i++)
        if (span_equal(blueprint->indexes[i].name, name))
            return true;
    return false;
}

void blueprint_add_index(struct blueprint *blueprint, struct json at,
                         const struct index_info *index)
{
    struct import_reader *reader = blueprint->reader;
    const struct key_schema *keys = &index->keys;
    if (keys->partition_count == 0)
        import_reader_leave_out(reader, at, "this index has no partition key");
    else if (index->local &&
             (blueprint->keys.partition_count == 0 ||
              !span_equal(keys->partition[0].name, blueprint->keys.partition[0].name)))
        import_reader_leave_out(reader, at, "a local index has the table's partition key");
    else if (index->local && keys->sort_count == 0)
        import_reader_leave_out(reader, at, "a local index has a sort key");
    else if (blueprint_has_index(blueprint, index->name))
        import_reader_leave_out(reader, at, "there is another index called \"%s\"",
                                index->name.data);
    else if (blueprint->index_count == BLUEPRINT_MAX_INDEXES)
        import_reader_leave_out(reader, at, "a table has at most %d indexes",
                                BLUEPRINT_MAX_INDEXES);
    else
        blueprint->indexes[blueprint->index_count++] = *index;
}

struct declared_table *blueprint_declare(struct blueprint *blueprint, const char *name)
{
    struct import_reader *reader = blueprint->reader;
    if (blueprint->broken || blueprint->keys.partition_count == 0) {
        import_reader_leave_out(reader, blueprint->at, "the key of this table is not known");
        return NULL;
    }
    const struct table_info info = {.keys = blueprint->keys,
                                    .indexes = blueprint->indexes,
                                    .index_count = blueprint->index_count,
                                    .item_count = -1, /* nobody was asked */
                                    .size_bytes = -1};
    struct declared_table *described = generic_view_declare_table(reader->arena, name, &info);
    struct declared_table *table =
        described ? import_reader_add_table(reader, blueprint->at, name, name) : NULL;
    if (!table)
        return NULL;
    described->path_name = table->path_name;
    described->base_name = table->base_name;
    described->at = table->at;
    *table = *described;
    return table;
}
