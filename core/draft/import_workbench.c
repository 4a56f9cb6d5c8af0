/* NoSQL Workbench's models: tables with their keys and indexes. A facet is a kind of record where
 * it states how its keys are written; where no facet does, the table is as its description says. */
#include "core/draft/blueprint.h"
#include "core/draft/imported_kinds.h"
#include "core/draft/infer.h"

/* One table while it is read. */
struct workbench_table {
    struct import_reader *reader;
    struct attribute_parts names;
    struct declared_table *table;
    struct blueprint blueprint; /* of which the keys are */
    const char *keys[2];        /* its own key attributes; the second may be NULL */
    struct json facet;          /* whose aliases are read */
};

static bool workbench_recognizes(struct json root)
{
    return json_is(json_member(root, "ModelName"), JSON_STRING) &&
           json_is(json_member(root, "DataModel"), JSON_ARRAY);
}

static const char *workbench_needed_text(struct import_reader *reader, struct json owner,
                                         const char *name)
{
    const char *text = import_reader_text(reader, json_member(owner, name));
    if (!text)
        import_reader_leave_out(reader, owner, "\"%s\" is missing", name);
    return text;
}

/* "PartitionKey" or "SortKey" of KeyAttributes, if it is there. */
static bool workbench_read_key(struct workbench_table *to, struct json owner, const char *member,
                               bool sort, struct key_schema *keys)
{
    struct json key = json_member(json_member(owner, "KeyAttributes"), member);
    struct blueprint *blueprint = &to->blueprint;
    if (!json_present(key) || json_is(key, JSON_NULL))
        return true;
    const char *name = workbench_needed_text(to->reader, key, "AttributeName");
    const char *type = workbench_needed_text(to->reader, key, "AttributeType");
    for (size_t i = 0; name && i < blueprint->attribute_count; i++)
        if (strcmp(blueprint->attributes[i].name, name) == 0)
            return blueprint_add_key(blueprint, key, keys, name, sort);
    blueprint_add_attribute(blueprint, key, name, type);
    return blueprint_add_key(blueprint, key, keys, name, sort);
}

static bool workbench_read_keys(struct workbench_table *to, struct json owner,
                                struct key_schema *keys)
{
    return workbench_read_key(to, owner, "PartitionKey", false, keys) &&
           workbench_read_key(to, owner, "SortKey", true, keys);
}

static void workbench_read_included(struct workbench_table *to, struct json list,
                                    struct index_info *index)
{
    struct span *names = arena_array(to->reader->arena, json_count(list), sizeof *names);
    index->included = names;
    for (struct json each = json_first(list); names && json_present(each); each = json_next(each)) {
        const char *name = import_reader_text(to->reader, each);
        if (name)
            names[index->included_count++] = span_text(name);
        else
            import_reader_leave_out(to->reader, each, "an attribute's name is a text");
    }
}

static void workbench_read_indexes(struct workbench_table *to, struct json list, bool local)
{
    for (struct json each = json_first(list); json_present(each); each = json_next(each)) {
        const char *name = workbench_needed_text(to->reader, each, "IndexName");
        struct json projection = json_member(each, "Projection");
        struct index_info index = {.name = span_text(name), .local = local};
        if (!name || !workbench_read_keys(to, each, &index.keys))
            continue;
        blueprint_projection(&to->blueprint, each,
                             workbench_needed_text(to->reader, projection, "ProjectionType"),
                             &index.projection);
        struct json included = json_member(projection, "NonKeyAttributes");
        if (index.projection == PROJECTS_SOME && json_is(included, JSON_ARRAY))
            workbench_read_included(to, included, &index);
        blueprint_add_index(&to->blueprint, each, &index);
    }
}

/* Facets. */

/* The aliases of a facet are names for people. One is a format when it says what it is made of:
 * "USER#{id}", "USER#${id}" or "USER#<id>". */
static bool workbench_states_format(struct span alias)
{
    return memchr(alias.data, '{', alias.size) ||
           (memchr(alias.data, '<', alias.size) && memchr(alias.data, '>', alias.size));
}

/* Whether each of the facet's sample items, of which there is one at least, has VALUE in
 * ATTRIBUTE: then an alias is a text that stands in the key. */
static bool workbench_is_in_samples(struct json facet, const char *attribute, struct span value)
{
    struct json samples = json_member(facet, "TableData");
    for (struct json each = json_first(samples); json_present(each); each = json_next(each))
        if (!json_string_is(json_member(json_member(each, attribute), "S"), value))
            return false;
    return json_count(samples) > 0;
}

static const char *workbench_parse_alias(struct workbench_table *to, struct span alias,
                                         struct format *format)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct key_template_parts parts = {.names = &to->names, .notation = KEY_TEMPLATE_BRACES};
    bool braces = memchr(alias.data, '{', alias.size);
    if (memmem(alias.data, alias.size, "${", 2))
        parts.notation = KEY_TEMPLATE_DOLLAR;
    for (size_t i = 0; i < alias.size; i++) {
        char c = alias.data[i];
        buf_add_char(&text, braces ? c : c == '<' ? '{' : c == '>' ? '}' : c);
    }
    const char *wrong = text.failed ? "out of memory" : NULL;
    to->reader->arena->failed = to->reader->arena->failed || text.failed;
    return wrong ? wrong : key_template_parse(&parts, buf_span(&text), format);
}

static enum kind_key workbench_read_alias(struct workbench_table *to, const char *member,
                                          const char *attribute, enum value_type type,
                                          struct format *format)
{
    struct json aliases = json_member(to->facet, "KeyAttributeAlias");
    struct json value = json_member(aliases, member);
    const char *alias = import_reader_text(to->reader, value);
    if (!alias)
        return KIND_KEY_ABSENT;
    const char *wrong = NULL;
    if (type != VALUE_S && workbench_states_format(span_text(alias)))
        wrong = "a key that is no text has no parts";
    else if (type != VALUE_S)
        wrong = key_template_add_part(&to->names, format, span_text(attribute));
    else if (workbench_states_format(span_text(alias)) ||
             workbench_is_in_samples(to->facet, attribute, span_text(alias)))
        wrong = workbench_parse_alias(to, span_text(alias), format);
    else
        wrong = "it does not state how the key is written, as \"USER#{id}\" does";
    if (wrong)
        import_reader_leave_out(to->reader, value, "the alias \"%s\": %s", alias, wrong);
    return wrong ? KIND_KEY_LEFT_OUT : KIND_KEY_FOUND;
}

static bool workbench_has_attribute(struct json facet, const char *name)
{
    struct json each = json_first(json_member(facet, "NonKeyAttributes"));
    while (json_present(each) && !json_string_is(each, span_text(name)))
        each = json_next(each);
    return json_present(each);
}

static enum value_type workbench_type_of(const struct blueprint *blueprint, const char *attribute)
{
    for (size_t i = 0; i < blueprint->attribute_count; i++)
        if (strcmp(blueprint->attributes[i].name, attribute) == 0)
            return blueprint->attributes[i].type;
    return VALUE_S;
}

/* A facet lists the attributes that its items have; how one that is an index's key is written, it
 * does not say. */
static enum kind_key workbench_find_key(void *context, const char *attribute, struct format *format,
                                        enum value_type *type)
{
    struct workbench_table *to = context;
    *type = workbench_type_of(&to->blueprint, attribute);
    if (strcmp(attribute, to->keys[0]) == 0)
        return workbench_read_alias(to, "PartitionKeyAlias", attribute, *type, format);
    if (to->keys[1] && strcmp(attribute, to->keys[1]) == 0)
        return workbench_read_alias(to, "SortKeyAlias", attribute, *type, format);
    if (!workbench_has_attribute(to->facet, attribute))
        return KIND_KEY_ABSENT;
    key_template_add_part(&to->names, format, span_text(attribute));
    if (format->count == 1)
        format->pieces[0].open = *type == VALUE_S;
    return KIND_KEY_FOUND;
}

/* Whether some facet states a format. */
static bool workbench_has_formats(struct json facets)
{
    for (struct json each = json_first(facets); json_present(each); each = json_next(each)) {
        struct json aliases = json_member(each, "KeyAttributeAlias");
        for (struct json name = json_first(aliases); json_present(name);
             name = json_next(json_next(name)))
            if (workbench_states_format(json_raw(json_next(name))) &&
                json_is(json_next(name), JSON_STRING))
                return true;
    }
    return false;
}

static void workbench_declare_index(struct workbench_table *to, const struct index_info *info)
{
    const char *name = arena_text(to->reader->arena, info->name);
    struct declared_index *index =
        name ? import_reader_add_index(to->reader, to->blueprint.at, to->table, name) : NULL;
    if (!index)
        return;
    index->projects = info->projection;
    index->local = info->local;
    index->includes = arena_array(to->reader->arena, info->included_count, sizeof *index->includes);
    for (size_t i = 0; index->includes && i < info->included_count; i++)
        index->includes[index->include_count++] = info->included[i].data;
    for (size_t i = 0; i < info->keys.partition_count; i++)
        import_reader_add_index_key(to->reader, to->blueprint.at, index, false,
                                    info->keys.partition[i].name.data);
    for (size_t i = 0; i < info->keys.sort_count; i++)
        import_reader_add_index_key(to->reader, to->blueprint.at, index, true,
                                    info->keys.sort[i].name.data);
}

/* Of the attributes that are no keys. */
static void workbench_look_at_secrets(struct workbench_table *to, struct declared_table *table,
                                      struct json model)
{
    struct json each = json_first(json_member(model, "NonKeyAttributes"));
    for (; json_present(each); each = json_next(each))
        import_reader_add_secret(to->reader, table, json_member(each, "AttributeName"),
                                 json_member(each, "AttributeName"), each);
}

/* A table whose facets are its kinds of record. False when not one of them could be imported. */
static bool workbench_declare_kinds(struct workbench_table *to, const char *name, struct json model)
{
    struct json facets = json_member(model, "TableFacets");
    struct blueprint *blueprint = &to->blueprint;
    struct declared_table *table = import_reader_add_table(to->reader, blueprint->at, name, name);
    to->table = table;
    if (!table)
        return true;
    for (size_t i = 0; i < blueprint->index_count; i++)
        workbench_declare_index(to, &blueprint->indexes[i]);
    for (struct json each = json_first(facets); json_present(each); each = json_next(each)) {
        to->facet = each;
        const struct imported_kind kind = {.name =
                                               workbench_needed_text(to->reader, each, "FacetName"),
                                           .at = each,
                                           .keys = {to->keys[0], to->keys[1]},
                                           .key = workbench_find_key,
                                           .context = to};
        if (kind.name)
            imported_kinds_add(to->reader, table, &kind);
    }
    if (!table->records)
        return false;
    imported_kinds_finish(to->reader, &to->names, blueprint->at, table, to->keys);
    workbench_look_at_secrets(to, table, model);
    return true;
}

static bool workbench_add_samples(struct inference *inference, struct json samples)
{
    for (struct json each = json_first(samples); json_present(each); each = json_next(each))
        if (!inference_add(inference, each))
            return false;
    return true;
}

/* A table whose facets state nothing: as its description says it, and with what its sample items
 * show of keys. */
static void workbench_declare_described(struct workbench_table *to, const char *name,
                                        struct json table)
{
    struct arena *arena = to->reader->arena;
    struct json facets = json_member(table, "TableFacets");
    struct declared_table *declared = blueprint_declare(&to->blueprint, name);
    struct inference *inference = declared ? inference_new(declared) : NULL;
    bool added = inference && workbench_add_samples(inference, json_member(table, "TableData"));
    for (struct json each = json_first(facets); added && json_present(each); each = json_next(each))
        added = workbench_add_samples(inference, json_member(each, "TableData"));
    bool sampled = added && inference_count(inference) > 0;
    struct declared_table *learnt = sampled ? inference_end(inference, arena) : NULL;
    if (declared && (!added || (sampled && !learnt)))
        arena->failed = true;
    inference_destroy(inference);
    if (learnt) {
        learnt->path_name = declared->path_name;
        learnt->base_name = declared->base_name;
        learnt->at = declared->at;
        *declared = *learnt;
    }
    if (declared)
        workbench_look_at_secrets(to, declared, table);
    for (struct json each = json_first(facets); json_present(each); each = json_next(each))
        import_reader_leave_out(to->reader, each,
                                "the facet does not state how its keys are written, as the aliases "
                                "\"USER#{id}\" and \"PROFILE\" do");
}

static void workbench_read_table(struct import_reader *reader, struct json table)
{
    struct workbench_table to = {.reader = reader, .blueprint = {.reader = reader, .at = table}};
    struct blueprint *blueprint = &to.blueprint;
    struct json facets = json_member(table, "TableFacets");
    const char *name = workbench_needed_text(reader, table, "TableName");
    if (!name)
        return;
    blueprint->broken = !workbench_read_keys(&to, table, &blueprint->keys);
    workbench_read_indexes(&to, json_member(table, "GlobalSecondaryIndexes"), false);
    workbench_read_indexes(&to, json_member(table, "LocalSecondaryIndexes"), true);
    if (!workbench_has_formats(facets) || blueprint->broken ||
        blueprint->keys.partition_count == 0) {
        workbench_declare_described(&to, name, table);
        return;
    }
    to.keys[0] = blueprint->keys.partition[0].name.data;
    if (blueprint->keys.sort_count > 0)
        to.keys[1] = blueprint->keys.sort[0].name.data;
    if (attribute_parts_init(&to.names, reader->arena) &&
        !workbench_declare_kinds(&to, name, table)) {
        import_reader_drop_table(reader, to.table);
        struct declared_table *bare = blueprint_declare(blueprint, name);
        if (bare)
            workbench_look_at_secrets(&to, bare, table);
    }
    attribute_parts_clean_up(&to.names);
}

static void workbench_read(struct import_reader *reader, struct json root)
{
    struct json tables = json_member(root, "DataModel");
    for (struct json each = json_first(tables); json_present(each); each = json_next(each))
        workbench_read_table(reader, each);
}

const struct import_format workbench_format = {
    .name = "NoSQL Workbench model",
    .looks_for = "\"ModelName\" and \"DataModel\"",
    .recognizes = workbench_recognizes,
    .read = workbench_read,
};
