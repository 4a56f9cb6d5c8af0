/* The schema.json of AWS's dynamodb-mcp-server: tables, entities with the templates of their keys,
 * indexes, and access patterns. Patterns that read by a key become paths. */
#include "core/draft/access_pattern.h"
#include "core/draft/imported_kinds.h"

/* One table while it is read. */
struct data_model_table {
    struct import_reader *reader;
    struct attribute_parts names;
    struct declared_table *table;
    const char *keys[2]; /* the table's own key attributes; the second may be NULL */
    struct json entity;  /* whose templates are read */
};

static bool data_model_recognizes(struct json root)
{
    struct json tables = json_member(root, "tables");
    if (!json_is(tables, JSON_ARRAY))
        return false;
    for (struct json each = json_first(tables); json_present(each); each = json_next(each))
        if (json_is(json_member(each, "table_config"), JSON_OBJECT))
            return true;
    return false;
}

/* A required text, or NULL with a note. */
static const char *data_model_needed_text(struct import_reader *reader, struct json owner,
                                          const char *name)
{
    struct json value = json_member(owner, name);
    const char *text = import_reader_text(reader, value);
    if (!text)
        import_reader_leave_out(reader, json_present(value) ? value : owner,
                                "\"%s\" must be a text", name);
    return text;
}

/* The type of a key with TEMPLATE: that of the field, if the template is one field; else a text. */
static enum value_type data_model_find_type(struct json entity, struct span template)
{
    static const char *const numbers[] = {"integer", "decimal", "float", "number"};
    if (template.size <= 2 || template.data[0] != '{' ||
        memchr(template.data, '}', template.size) != template.data + template.size - 1)
        return VALUE_S;
    struct span name = span_of(template.data + 1, template.size - 2);
    struct json field = json_first(json_member(entity, "fields"));
    while (json_present(field) && !json_string_is(json_member(field, "name"), name))
        field = json_next(field);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (json_string_is(json_member(field, "type"), span_text(numbers[i])))
            return VALUE_N;
    return VALUE_S;
}

/* One attribute's name, or a list of names. */
static void data_model_read_index_side(struct data_model_table *to, struct json owner,
                                       const char *name, bool sort, struct declared_index *index)
{
    struct json value = json_member(owner, name);
    bool list = json_is(value, JSON_ARRAY);
    for (struct json each = list ? json_first(value) : value; json_present(each);
         each = list ? json_next(each) : (struct json){0}) {
        const char *attribute = import_reader_text(to->reader, each);
        if (attribute)
            import_reader_add_index_key(to->reader, each, index, sort, attribute);
        else
            import_reader_leave_out(to->reader, each, "\"%s\" must be the name of an attribute",
                                    name);
    }
}

static void data_model_read_indexes(struct data_model_table *to, struct json list)
{
    for (struct json each = json_first(list); json_present(each); each = json_next(each)) {
        const char *name = data_model_needed_text(to->reader, each, "name");
        struct declared_index *index =
            name ? import_reader_add_index(to->reader, each, to->table, name) : NULL;
        if (!index)
            continue;
        data_model_read_index_side(to, each, "partition_key", false, index);
        data_model_read_index_side(to, each, "sort_key", true, index);
        struct json projection = json_member(each, "projection");
        if (json_string_is(projection, SPAN_LITERAL("ALL")))
            index->projects = PROJECTS_ALL;
        if (json_string_is(projection, SPAN_LITERAL("KEYS_ONLY")))
            index->projects = PROJECTS_KEYS;
        if (json_string_is(projection, SPAN_LITERAL("INCLUDE")))
            import_reader_add_includes(to->reader, index, json_member(each, "included_attributes"));
    }
}

/* The template of key attribute I of one side of an index. */
static struct json data_model_template_at(struct json mapping, const char *name, size_t i)
{
    struct json value = json_member(mapping, name);
    if (!json_is(value, JSON_ARRAY))
        return i == 0 ? value : (struct json){0};
    struct json each = json_first(value);
    while (i-- > 0)
        each = json_next(each);
    return each;
}

/* The mapping's template of ATTRIBUTE, if it has one. */
static struct json data_model_find_template(struct data_model_table *to, struct json mapping,
                                            const char *attribute)
{
    const char *name = import_reader_text(to->reader, json_member(mapping, "name"));
    const struct declared_index *index = name ? import_reader_find_index(to->table, name) : NULL;
    for (size_t i = 0; index && i < index->partition_count; i++)
        if (strcmp(index->partition[i].attribute, attribute) == 0)
            return data_model_template_at(mapping, "pk_template", i);
    for (size_t i = 0; index && i < index->sort_count; i++)
        if (strcmp(index->sort[i].attribute, attribute) == 0)
            return data_model_template_at(mapping, "sk_template", i);
    return (struct json){0};
}

/* The entity's template of a key attribute: of the table, or of an index for which it has a
 * mapping. */
static enum kind_key data_model_find_key(void *context, const char *attribute,
                                         struct format *format, enum value_type *type)
{
    struct data_model_table *to = context;
    struct json template = {0};
    if (strcmp(attribute, to->keys[0]) == 0)
        template = json_member(to->entity, "pk_template");
    else if (to->keys[1] && strcmp(attribute, to->keys[1]) == 0)
        template = json_member(to->entity, "sk_template");
    struct json each = json_first(json_member(to->entity, "gsi_mappings"));
    for (; json_present(each) && !json_present(template); each = json_next(each))
        template = data_model_find_template(to, each, attribute);
    if (!json_present(template) || json_is(template, JSON_NULL))
        return KIND_KEY_ABSENT;
    const struct key_template_parts parts = {.names = &to->names, .notation = KEY_TEMPLATE_BRACES};
    const char *text = import_reader_text(to->reader, template);
    const char *wrong =
        text ? key_template_parse(&parts, span_text(text), format) : "it is not a text";
    if (wrong) {
        import_reader_leave_out(to->reader, template, "this template: %s", wrong);
        return KIND_KEY_LEFT_OUT;
    }
    *type = data_model_find_type(to->entity, span_text(text));
    return KIND_KEY_FOUND;
}

/* Notes mappings without an index, and those whose template of a key of the table is not the
 * entity's, which is used. */
static void data_model_check_mappings(struct data_model_table *to)
{
    struct json mappings = json_member(to->entity, "gsi_mappings");
    for (struct json each = json_first(mappings); json_present(each); each = json_next(each)) {
        const char *name = data_model_needed_text(to->reader, each, "name");
        if (name && !import_reader_find_index(to->table, name))
            import_reader_leave_out(to->reader, each, "\"gsi_list\" has no index \"%s\"", name);
        for (size_t i = 0; i < 2 && to->keys[i]; i++) {
            struct json own = json_member(to->entity, i ? "sk_template" : "pk_template");
            struct json other = data_model_find_template(to, each, to->keys[i]);
            if (json_present(other) && !span_equal(json_raw(own), json_raw(other)))
                import_reader_leave_out(to->reader, other,
                                        "%s is a key of the table, which has another template",
                                        to->keys[i]);
        }
    }
}

static void data_model_read_entity(struct data_model_table *to, struct json name,
                                   struct json entity)
{
    to->entity = entity;
    const struct imported_kind kind = {.name = import_reader_text(to->reader, name),
                                       .at = entity,
                                       .keys = {to->keys[0], to->keys[1]},
                                       .key = data_model_find_key,
                                       .context = to};
    if (!kind.name)
        return;
    data_model_check_mappings(to);
    imported_kinds_add(to->reader, to->table, &kind);
    struct json field = json_first(json_member(entity, "fields"));
    for (; json_present(field); field = json_next(field))
        import_reader_add_secret(to->reader, to->table, json_member(field, "name"),
                                 json_member(field, "name"), field);
}

static void data_model_open_whole(const struct declared_table *table, struct format *format,
                                  const char *attribute)
{
    const struct declared_type *type = table->types;
    while (type && strcmp(type->attribute, attribute) != 0)
        type = type->next;
    if (format->count == 1 && format->pieces[0].param && !type)
        format->pieces[0].open = true;
}

/* The values of fields are unknown. If there is only one kind, a field that is a whole key may hold
 * separators: no other kind has to be distinguished. */
static void data_model_open_only_kind(struct declared_table *table)
{
    struct declared_record *record = table->records;
    for (size_t i = 0; i < record->key_count && !record->next; i++)
        data_model_open_whole(table, &record->keys[i].format, record->keys[i].attribute);
    for (struct declared_index *index = table->indexes; index && !record->next; index = index->next)
        for (size_t i = 0; i < KEY_MAX_ATTRIBUTES; i++) {
            if (index->partition[i].by_kind)
                data_model_open_whole(table, &index->partition[i].by_kind->format,
                                      index->partition[i].attribute);
            if (index->sort[i].by_kind)
                data_model_open_whole(table, &index->sort[i].by_kind->format,
                                      index->sort[i].attribute);
        }
}

static void data_model_read_content(struct data_model_table *to, struct json table)
{
    struct json entities = json_member(table, "entities");
    struct json list = json_member(table, "gsi_list");
    if (!json_present(list)) /* its place in older versions */
        list = json_member(json_member(table, "table_config"), "gsi_list");
    data_model_read_indexes(to, list);
    for (struct json name = json_first(entities); json_present(name);
         name = json_next(json_next(name)))
        data_model_read_entity(to, name, json_next(name));
    if (!to->table->records)
        import_reader_leave_out(to->reader, table, "this table has no entity that can be imported");
    imported_kinds_finish(to->reader, &to->names, table, to->table, to->keys);
    data_model_open_only_kind(to->table);
    for (struct json name = json_first(entities); json_present(name);
         name = json_next(json_next(name))) {
        struct json patterns = json_member(json_next(name), "access_patterns");
        const char *kind = import_reader_text(to->reader, name);
        const struct declared_record *record = kind ? to->table->records : NULL;
        while (record && strcmp(record->name, kind) != 0)
            record = record->next;
        for (struct json each = json_first(patterns); record && json_present(each);
             each = json_next(each)) /* of an entity that became a kind */
            access_pattern_read(to->reader, to->table, record, &to->names, each);
    }
    if (!access_pattern_check_paths(to->reader, to->table, table))
        import_reader_drop_table(to->reader, to->table);
}

static void data_model_read_table(struct import_reader *reader, struct json table)
{
    struct data_model_table to = {.reader = reader};
    struct json config = json_member(table, "table_config");
    const char *name = data_model_needed_text(reader, config, "table_name");
    const char *partition = data_model_needed_text(reader, config, "partition_key");
    const char *sort = import_reader_text(reader, json_member(config, "sort_key"));
    if (!name || !partition)
        return;
    if (sort && strcmp(partition, sort) == 0) {
        import_reader_leave_out(reader, config, "one attribute can't be both keys of a table");
        return;
    }
    to.keys[0] = partition;
    to.keys[1] = sort;
    to.table = import_reader_add_table(reader, table, name, name);
    if (to.table && attribute_parts_init(&to.names, reader->arena))
        data_model_read_content(&to, table);
    attribute_parts_clean_up(&to.names);
}

static void data_model_read(struct import_reader *reader, struct json root)
{
    struct json tables = json_member(root, "tables");
    for (struct json each = json_first(tables); json_present(each); each = json_next(each))
        data_model_read_table(reader, each);
    struct json across = json_member(root, "cross_table_access_patterns");
    for (struct json each = json_first(across); json_present(each); each = json_next(each))
        import_reader_leave_out(reader, each,
                                "it reads or writes several tables, but a path reads one");
}

const struct import_format data_model_format = {
    .name = "schema.json of AWS's dynamodb-mcp-server",
    .looks_for = "\"tables\" with \"table_config\" and \"entities\"",
    .recognizes = data_model_recognizes,
    .read = data_model_read,
};
