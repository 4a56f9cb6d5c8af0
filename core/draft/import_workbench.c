/* NoSQL Workbench's models: tables with their keys and indexes. A facet whose aliases are key
 * formats is a kind of item. A table without such a facet has the generic view, with all that its
 * sample items show of key formats. */
#include "core/draft/generic_view.h"
#include "core/draft/imported_kinds.h"
#include "core/draft/infer.h"

/* The service's limits are lower. */
enum { WORKBENCH_MAX_ATTRIBUTES = 250, WORKBENCH_MAX_INDEXES = 100 };

struct workbench_attribute {
    const char *name;
    enum value_type type;
};

/* One table while it is read. */
struct workbench_table {
    struct import_reader *reader;
    struct json at;
    struct attribute_parts names;
    struct declared_table *table;
    struct workbench_attribute attributes[WORKBENCH_MAX_ATTRIBUTES]; /* of keys */
    size_t attribute_count;
    struct key_schema schema;
    struct index_info indexes[WORKBENCH_MAX_INDEXES];
    size_t index_count;
    const char *keys[2]; /* its own key attributes; the second may be NULL */
    struct json facet;   /* whose aliases are read */
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

/* Keys and indexes. */

static const struct workbench_attribute *workbench_find_attribute(const struct workbench_table *to,
                                                                  const char *name)
{
    for (size_t i = 0; i < to->attribute_count; i++)
        if (strcmp(to->attributes[i].name, name) == 0)
            return &to->attributes[i];
    return NULL;
}

/* Reads the MEMBER of OWNER's KeyAttributes, if there is one, as the partition key or, with SORT,
 * as the sort key of KEYS. False with a note when it can't be a key. */
static bool workbench_read_key(struct workbench_table *to, struct json owner, const char *member,
                               bool sort, struct key_schema *keys)
{
    struct json key = json_member(json_member(owner, "KeyAttributes"), member);
    if (!json_present(key) || json_is(key, JSON_NULL))
        return true;
    const char *name = workbench_needed_text(to->reader, key, "AttributeName");
    const char *type = workbench_needed_text(to->reader, key, "AttributeType");
    if (!name)
        return false;
    const struct workbench_attribute *attribute = workbench_find_attribute(to, name);
    if (!attribute && type) {
        enum value_type found = VALUE_S;
        while (found <= VALUE_B && strcmp(type, value_type_name(found)) != 0)
            found++;
        if (found > VALUE_B)
            import_reader_leave_out(
                to->reader, key, "the type of a key attribute is S, N or B, and not \"%s\"", type);
        else if (to->attribute_count == WORKBENCH_MAX_ATTRIBUTES)
            import_reader_leave_out(to->reader, key, "a table has at most %d key attributes",
                                    WORKBENCH_MAX_ATTRIBUTES);
        else
            to->attributes[to->attribute_count++] = (struct workbench_attribute){name, found};
        attribute = workbench_find_attribute(to, name);
    }
    if (!attribute) {
        import_reader_leave_out(to->reader, key, "the key attribute \"%s\" has no type", name);
        return false;
    }
    if (sort && keys->partition_count > 0 && span_is(keys->partition[0].name, name)) {
        import_reader_leave_out(to->reader, key, "\"%s\" is in one key twice", name);
        return false;
    }
    if (sort) {
        keys->sort[keys->sort_count].name = span_text(name);
        keys->sort[keys->sort_count++].type = attribute->type;
    } else {
        keys->partition[keys->partition_count].name = span_text(name);
        keys->partition[keys->partition_count++].type = attribute->type;
    }
    return true;
}

static bool workbench_read_keys(struct workbench_table *to, struct json owner,
                                struct key_schema *keys)
{
    return workbench_read_key(to, owner, "PartitionKey", false, keys) &&
           workbench_read_key(to, owner, "SortKey", true, keys);
}

static void workbench_read_projection(struct workbench_table *to, struct json at,
                                      struct index_info *index)
{
    static const char *const types[] = {
        [PROJECTS_ALL] = "ALL", [PROJECTS_SOME] = "INCLUDE", [PROJECTS_KEYS] = "KEYS_ONLY"};
    struct json projection = json_member(at, "Projection");
    struct json included = json_member(projection, "NonKeyAttributes");
    const char *type = workbench_needed_text(to->reader, projection, "ProjectionType");
    for (index->projection = PROJECTS_ALL; type && index->projection <= PROJECTS_KEYS;
         index->projection++)
        if (strcmp(type, types[index->projection]) == 0)
            break;
    if (!type || index->projection > PROJECTS_KEYS) {
        index->projection = PROJECTS_SOME;
        if (type)
            import_reader_leave_out(to->reader, at,
                                    "an index projects ALL, INCLUDE or KEYS_ONLY, and not \"%s\"",
                                    type);
    }
    if (index->projection != PROJECTS_SOME || !json_is(included, JSON_ARRAY))
        return;
    struct span *names = arena_array(to->reader->arena, json_count(included), sizeof *names);
    index->included = names;
    for (struct json each = json_first(included); names && json_present(each);
         each = json_next(each)) {
        const char *name = import_reader_text(to->reader, each);
        if (name)
            names[index->included_count++] = span_text(name);
        else
            import_reader_leave_out(to->reader, each, "an attribute's name must be a text");
    }
}

/* Adds INDEX if the service allows it. */
static void workbench_add_index(struct workbench_table *to, struct json at,
                                const struct index_info *index)
{
    const struct key_schema *keys = &index->keys;
    bool known = false;
    for (size_t i = 0; i < to->index_count; i++)
        known = known || span_equal(to->indexes[i].name, index->name);
    if (keys->partition_count == 0)
        import_reader_leave_out(to->reader, at, "this index has no partition key");
    else if (index->local && (to->schema.partition_count == 0 ||
                              !span_equal(keys->partition[0].name, to->schema.partition[0].name)))
        import_reader_leave_out(to->reader, at,
                                "a local index must have the table's partition key");
    else if (index->local && keys->sort_count == 0)
        import_reader_leave_out(to->reader, at, "a local index must have a sort key");
    else if (known)
        import_reader_leave_out(to->reader, at, "there is another index called \"%s\"",
                                index->name.data);
    else if (to->index_count == WORKBENCH_MAX_INDEXES)
        import_reader_leave_out(to->reader, at, "a table has at most %d indexes",
                                WORKBENCH_MAX_INDEXES);
    else
        to->indexes[to->index_count++] = *index;
}

static void workbench_read_indexes(struct workbench_table *to, struct json list, bool local)
{
    for (struct json each = json_first(list); json_present(each); each = json_next(each)) {
        const char *name = workbench_needed_text(to->reader, each, "IndexName");
        struct index_info index = {.name = span_text(name), .local = local};
        if (!name || !workbench_read_keys(to, each, &index.keys))
            continue;
        workbench_read_projection(to, each, &index);
        workbench_add_index(to, each, &index);
    }
}

/* Facets. */

/* Whether an alias, which may be any name, is a format: "USER#{id}", "USER#${id}" or "USER#<id>".
 */
static bool workbench_is_format(struct span alias)
{
    return memchr(alias.data, '{', alias.size) ||
           (memchr(alias.data, '<', alias.size) && memchr(alias.data, '>', alias.size));
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
    to->reader->arena->failed = to->reader->arena->failed || text.failed;
    return text.failed ? "out of memory" : key_template_parse(&parts, buf_span(&text), format);
}

static enum kind_key workbench_read_alias(struct workbench_table *to, const char *member,
                                          const char *attribute, enum value_type type,
                                          struct format *format)
{
    struct json value = json_member(json_member(to->facet, "KeyAttributeAlias"), member);
    const char *alias = import_reader_text(to->reader, value);
    if (!alias)
        return KIND_KEY_ABSENT;
    const char *wrong = NULL;
    struct json samples = json_member(to->facet, "TableData");
    bool constant = json_count(samples) > 0; /* all sample items have the alias in the key */
    for (struct json each = json_first(samples); json_present(each); each = json_next(each))
        constant = constant &&
                   json_string_is(json_member(json_member(each, attribute), "S"), span_text(alias));
    if (type != VALUE_S && workbench_is_format(span_text(alias)))
        wrong = "a key that is not a text has no parts";
    else if (type != VALUE_S)
        wrong = key_template_add_part(&to->names, format, span_text(attribute));
    else if (constant || workbench_is_format(span_text(alias)))
        wrong = workbench_parse_alias(to, span_text(alias), format);
    else
        wrong = "it is not a key format such as \"USER#{id}\"";
    if (wrong)
        import_reader_leave_out(to->reader, value, "the alias \"%s\": %s", alias, wrong);
    return wrong ? KIND_KEY_LEFT_OUT : KIND_KEY_FOUND;
}

/* A facet lists the attributes of its items. It has no formats of the keys of indexes. */
static enum kind_key workbench_find_key(void *context, const char *attribute, struct format *format,
                                        enum value_type *type)
{
    struct workbench_table *to = context;
    const struct workbench_attribute *known = workbench_find_attribute(to, attribute);
    *type = known ? known->type : VALUE_S;
    if (strcmp(attribute, to->keys[0]) == 0)
        return workbench_read_alias(to, "PartitionKeyAlias", attribute, *type, format);
    if (to->keys[1] && strcmp(attribute, to->keys[1]) == 0)
        return workbench_read_alias(to, "SortKeyAlias", attribute, *type, format);
    struct json each = json_first(json_member(to->facet, "NonKeyAttributes"));
    while (json_present(each) && !json_string_is(each, span_text(attribute)))
        each = json_next(each);
    if (!json_present(each))
        return KIND_KEY_ABSENT;
    key_template_add_part(&to->names, format, span_text(attribute));
    if (format->count == 1)
        format->pieces[0].open = *type == VALUE_S;
    return KIND_KEY_FOUND;
}

/* Whether the aliases of some facet are formats. */
static bool workbench_has_formats(struct json facets)
{
    for (struct json each = json_first(facets); json_present(each); each = json_next(each)) {
        struct json aliases = json_member(each, "KeyAttributeAlias");
        for (struct json name = json_first(aliases); json_present(name);
             name = json_next(json_next(name)))
            if (workbench_is_format(json_raw(json_next(name))) &&
                json_is(json_next(name), JSON_STRING))
                return true;
    }
    return false;
}

/* Tables. */

static void workbench_declare_index(struct workbench_table *to, const struct index_info *info)
{
    struct import_reader *reader = to->reader;
    const char *name = arena_text(reader->arena, info->name);
    struct declared_index *index =
        name ? import_reader_add_index(reader, to->at, to->table, name) : NULL;
    if (!index)
        return;
    index->projects = info->projection;
    index->local = info->local;
    index->includes = arena_array(reader->arena, info->included_count, sizeof *index->includes);
    for (size_t i = 0; index->includes && i < info->included_count; i++)
        index->includes[index->include_count++] = info->included[i].data;
    for (size_t i = 0; i < info->keys.partition_count; i++)
        import_reader_add_index_key(reader, to->at, index, false,
                                    info->keys.partition[i].name.data);
    for (size_t i = 0; i < info->keys.sort_count; i++)
        import_reader_add_index_key(reader, to->at, index, true, info->keys.sort[i].name.data);
}

/* Adds the secrets among the attributes that are no keys. */
static void workbench_add_secrets(struct workbench_table *to, struct declared_table *table)
{
    struct json each = json_first(json_member(to->at, "NonKeyAttributes"));
    for (; json_present(each); each = json_next(each)) {
        struct json name = json_member(each, "AttributeName");
        import_reader_add_secret(to->reader, table, name, name, each);
    }
}

/* Declares the table with its facets as kinds of item. False when no facet could be imported: then
 * the table is dropped. */
static bool workbench_declare_kinds(struct workbench_table *to, const char *name)
{
    struct json facets = json_member(to->at, "TableFacets");
    to->table = import_reader_add_table(to->reader, to->at, name, name);
    if (!to->table)
        return true;
    for (size_t i = 0; i < to->index_count; i++)
        workbench_declare_index(to, &to->indexes[i]);
    for (struct json each = json_first(facets); json_present(each); each = json_next(each)) {
        to->facet = each;
        const struct imported_kind kind = {.name =
                                               workbench_needed_text(to->reader, each, "FacetName"),
                                           .at = each,
                                           .keys = {to->keys[0], to->keys[1]},
                                           .key = workbench_find_key,
                                           .context = to};
        if (kind.name)
            imported_kinds_add(to->reader, to->table, &kind);
    }
    if (!to->table->records) {
        import_reader_drop_table(to->reader, to->table);
        return false;
    }
    imported_kinds_finish(to->reader, &to->names, to->at, to->table, to->keys);
    workbench_add_secrets(to, to->table);
    return true;
}

/* Declares the table's generic view. NULL when the table was left out. */
static struct declared_table *workbench_declare_generic(struct workbench_table *to,
                                                        const char *name)
{
    struct import_reader *reader = to->reader;
    const struct table_info info = {.keys = to->schema,
                                    .indexes = to->indexes,
                                    .index_count = to->index_count,
                                    .item_count = -1,
                                    .size_bytes = -1};
    struct declared_table *generic = generic_view_declare_table(reader->arena, name, &info);
    struct declared_table *table =
        generic ? import_reader_add_table(reader, to->at, name, name) : NULL;
    if (!table)
        return NULL;
    generic->path_name = table->path_name;
    generic->base_name = table->base_name;
    generic->at = table->at;
    *table = *generic;
    return table;
}

static bool workbench_add_samples(struct inference *inference, struct json samples)
{
    for (struct json each = json_first(samples); json_present(each); each = json_next(each))
        if (!inference_add(inference, each))
            return false;
    return true;
}

/* Replaces the kinds of TABLE, a generic view, by those of the sample items. */
static void workbench_infer_kinds(struct workbench_table *to, struct declared_table *table)
{
    struct json facets = json_member(to->at, "TableFacets");
    struct inference *inference = inference_new(table);
    bool added = inference && workbench_add_samples(inference, json_member(to->at, "TableData"));
    for (struct json each = json_first(facets); added && json_present(each); each = json_next(each))
        added = workbench_add_samples(inference, json_member(each, "TableData"));
    bool sampled = added && inference_count(inference) > 0;
    struct declared_table *inferred = sampled ? inference_end(inference, to->reader->arena) : NULL;
    if (!added || (sampled && !inferred))
        to->reader->arena->failed = true;
    inference_destroy(inference);
    if (!inferred)
        return;
    inferred->path_name = table->path_name;
    inferred->base_name = table->base_name;
    inferred->at = table->at;
    *table = *inferred;
}

static void workbench_read_table(struct import_reader *reader, struct json table)
{
    struct workbench_table to = {.reader = reader, .at = table};
    struct json facets = json_member(table, "TableFacets");
    const char *name = workbench_needed_text(reader, table, "TableName");
    if (!name)
        return;
    bool has_key = workbench_read_keys(&to, table, &to.schema) && to.schema.partition_count > 0;
    workbench_read_indexes(&to, json_member(table, "GlobalSecondaryIndexes"), false);
    workbench_read_indexes(&to, json_member(table, "LocalSecondaryIndexes"), true);
    bool has_formats = workbench_has_formats(facets);
    bool declared = false;
    if (has_formats && has_key) {
        to.keys[0] = to.schema.partition[0].name.data;
        if (to.schema.sort_count > 0)
            to.keys[1] = to.schema.sort[0].name.data;
        declared =
            !attribute_parts_init(&to.names, reader->arena) || workbench_declare_kinds(&to, name);
        attribute_parts_clean_up(&to.names);
    }
    if (declared)
        return;
    struct declared_table *generic = has_key ? workbench_declare_generic(&to, name) : NULL;
    if (!has_key)
        import_reader_leave_out(reader, table, "the key of this table is unknown");
    if (generic && !has_formats)
        workbench_infer_kinds(&to, generic);
    if (generic)
        workbench_add_secrets(&to, generic);
    struct json each = has_formats && has_key ? (struct json){0} : json_first(facets);
    for (; json_present(each); each = json_next(each))
        import_reader_leave_out(reader, each,
                                "the aliases of this facet are not key formats such as "
                                "\"USER#{id}\" and \"PROFILE\"");
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
