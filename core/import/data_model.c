#include "core/import/data_model.h"

#include "core/import/access_pattern.h"
#include "core/import/template.h"

/* One table while it is read. */
struct table_reader {
    struct reading *reading;
    struct part_names names;
    struct declared_table *table;
    const char *keys[2]; /* the table's own key attributes */
    size_t key_count;
    struct json entity; /* whose templates are read */
};

static bool recognises(struct json root)
{
    struct json tables = json_member(root, "tables");
    if (!json_is(tables, JSON_ARRAY))
        return false;
    for (struct json each = json_first(tables); json_present(each); each = json_next(each))
        if (json_is(json_member(each, "table_config"), JSON_OBJECT))
            return true;
    return false;
}

/* A text that has to be there, or NULL with a note. */
static const char *needed_text(struct reading *reading, struct json owner, const char *name)
{
    struct json value = json_member(owner, name);
    const char *text = reading_text(reading, value);
    if (!text)
        reading_leave_out(reading, json_present(value) ? value : owner, "\"%s\" needs a text",
                          name);
    return text;
}

/* The type of an entity's field as a key attribute has it. */
static enum value_type field_type(struct json entity, struct span name)
{
    static const char *const numbers[] = {"integer", "decimal", "float", "number"};
    struct json field = json_first(json_member(entity, "fields"));
    while (json_present(field) && !json_string_is(json_member(field, "name"), name))
        field = json_next(field);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (json_string_is(json_member(field, "type"), span_text(numbers[i])))
            return VALUE_N;
    return VALUE_S;
}

/* The type of the key that TEMPLATE makes: a field that stands alone keeps its own, and all else is
 * put together to a text. */
static enum value_type template_type(struct json entity, struct span template)
{
    bool alone = template.size > 2 && template.data[0] == '{' &&
                 memchr(template.data, '}', template.size) == template.data + template.size - 1;
    return alone ? field_type(entity, span_of(template.data + 1, template.size - 2)) : VALUE_S;
}

/* Whether the attribute can be of TYPE: it is said the first time, text included. */
static bool agree_on_type(struct table_reader *reader, struct json at, const char *attribute,
                          enum value_type type)
{
    reading_add_type(reader->reading, reader->table, attribute, type);
    struct declared_type *said = reader->table->types;
    while (said && strcmp(said->attribute, attribute) != 0)
        said = said->next;
    if (said && said->type != type)
        reading_leave_out(reader->reading, at,
                          "the key attribute %s would be a number here and a text elsewhere",
                          attribute);
    return !said || said->type == type;
}

/* Reads the template VALUE of a key attribute. */
static bool read_template(struct table_reader *reader, struct json value, const char *attribute,
                          struct format *out)
{
    struct reading *reading = reader->reading;
    const char *text = reading_text(reading, value);
    if (!text) {
        reading_leave_out(reading, json_present(value) ? value : reader->entity,
                          "no template says what %s is", attribute);
        return false;
    }
    const struct template_parts parts = {.names = &reader->names, .notation = TEMPLATE_BRACES};
    const char *wrong = template_parse(&parts, span_text(text), out);
    if (wrong) {
        reading_leave_out(reading, value, "the template \"%s\": %s", text, wrong);
        return false;
    }
    return agree_on_type(reader, value, attribute, template_type(reader->entity, span_text(text)));
}

static void read_entity(struct table_reader *reader, struct json name, struct json entity)
{
    static const char *const templates[] = {"pk_template", "sk_template"};
    struct format formats[2];
    const char *kind = reading_text(reader->reading, name);
    reader->entity = entity;
    for (size_t i = 0; i < reader->key_count; i++)
        if (!read_template(reader, json_member(entity, templates[i]), reader->keys[i], &formats[i]))
            return;
    struct declared_record *record =
        kind ? reading_add_record(reader->reading, name, reader->table, kind) : NULL;
    for (size_t i = 0; record && i < reader->key_count; i++) {
        struct declared_key *key =
            reading_add_record_key(reader->reading, name, record, reader->keys[i]);
        if (key)
            key->format = formats[i];
    }
}

static const struct declared_record *find_record(const struct declared_table *table,
                                                 const char *name)
{
    const struct declared_record *record = table->records;
    while (record && strcmp(record->name, name) != 0)
        record = record->next;
    return record;
}

static const struct declared_key *own_key(const struct declared_record *record,
                                          const char *attribute)
{
    for (size_t i = 0; i < record->key_count; i++)
        if (strcmp(record->keys[i].attribute, attribute) == 0)
            return &record->keys[i];
    return NULL;
}

/* One attribute's name, or a list of them where a key has several. */
static void read_index_side(struct table_reader *reader, struct json owner, const char *name,
                            bool sort, struct declared_index *index)
{
    struct json value = json_member(owner, name);
    bool list = json_is(value, JSON_ARRAY);
    for (struct json each = list ? json_first(value) : value; json_present(each);
         each = list ? json_next(each) : (struct json){0}) {
        const char *attribute = reading_text(reader->reading, each);
        if (attribute)
            reading_add_index_key(reader->reading, each, index, sort, attribute);
        else
            reading_leave_out(reader->reading, each, "\"%s\" needs the name of an attribute", name);
    }
}

static void read_projection(struct table_reader *reader, struct json owner,
                            struct declared_index *index)
{
    struct json projection = json_member(owner, "projection");
    if (json_string_is(projection, SPAN_LITERAL("ALL")))
        index->projects = PROJECTS_ALL;
    if (json_string_is(projection, SPAN_LITERAL("KEYS_ONLY")))
        index->projects = PROJECTS_KEYS;
    if (!json_string_is(projection, SPAN_LITERAL("INCLUDE")))
        return;
    reading_add_includes(reader->reading, index, json_member(owner, "included_attributes"));
}

static void read_indexes(struct table_reader *reader, struct json list)
{
    for (struct json each = json_first(list); json_present(each); each = json_next(each)) {
        const char *name = needed_text(reader->reading, each, "name");
        struct declared_index *index =
            name ? reading_add_index(reader->reading, each, reader->table, name) : NULL;
        if (!index)
            continue;
        read_index_side(reader, each, "partition_key", false, index);
        read_index_side(reader, each, "sort_key", true, index);
        read_projection(reader, each, index);
    }
}

/* How one kind writes one key attribute of an index. One that is the table's own too has the
 * record's format, so the mapping has to say the same. */
static bool map_key(struct table_reader *reader, const struct declared_record *record,
                    struct declared_key *key, struct json template, struct format *out)
{
    const struct declared_key *own = own_key(record, key->attribute);
    if (own && !json_present(template)) {
        *out = own->format;
        return true;
    }
    if (!read_template(reader, template, key->attribute, out))
        return false;
    if (own && !format_equal(&own->format, out))
        reading_leave_out(reader->reading, template,
                          "%s is a key of the table too, with another template", key->attribute);
    return !own || format_equal(&own->format, out);
}

/* The template of the key attribute number I of a side that has COUNT of them. */
static struct json template_at(struct json mapping, const char *name, size_t i)
{
    struct json value = json_member(mapping, name);
    if (!json_is(value, JSON_ARRAY))
        return i == 0 ? value : (struct json){0};
    struct json each = json_first(value);
    while (i-- > 0)
        each = json_next(each);
    return each;
}

static bool is_mapped_by(const struct declared_index *index, const char *kind)
{
    const struct declared_kind_format *each =
        index->partition_count ? index->partition[0].by_kind : NULL;
    while (each && strcmp(each->kind, kind) != 0)
        each = each->next;
    return each;
}

static void read_mapping(struct table_reader *reader, const struct declared_record *record,
                         struct json mapping)
{
    const char *name = needed_text(reader->reading, mapping, "name");
    struct declared_index *index = name ? reading_find_index(reader->table, name) : NULL;
    struct format formats[2][KEY_MAX_ATTRIBUTES];
    if (index && is_mapped_by(index, record->name)) {
        reading_leave_out(reader->reading, mapping, "the entity has a mapping for \"%s\" above",
                          name);
        return;
    }
    if (name && !index)
        reading_leave_out(reader->reading, mapping, "\"gsi_list\" has no index \"%s\"", name);
    if (!index)
        return;
    for (size_t i = 0; i < index->partition_count; i++)
        if (!map_key(reader, record, &index->partition[i], template_at(mapping, "pk_template", i),
                     &formats[0][i]))
            return;
    for (size_t i = 0; i < index->sort_count; i++)
        if (!map_key(reader, record, &index->sort[i], template_at(mapping, "sk_template", i),
                     &formats[1][i]))
            return;
    for (size_t i = 0; i < index->partition_count; i++)
        reading_add_kind_format(reader->reading, &index->partition[i], record->name,
                                &formats[0][i]);
    for (size_t i = 0; i < index->sort_count; i++)
        reading_add_kind_format(reader->reading, &index->sort[i], record->name, &formats[1][i]);
}

/* Where all kinds write an attribute in one way, that is its format; so is it of an attribute that
 * is the table's own, as the records say it anyway. */
static void join_formats(const struct declared_table *table, struct declared_key *key)
{
    bool own = own_key(table->records, key->attribute) != NULL, alike = true;
    size_t kinds = 0, records = 0;
    const struct declared_kind_format *each;
    for (each = key->by_kind; each; each = each->next, kinds++)
        alike = alike && format_equal(&each->format, &key->by_kind->format);
    for (const struct declared_record *record = table->records; record; record = record->next)
        records++;
    if (!key->by_kind || !(own || (alike && kinds == records)))
        return;
    key->format = key->by_kind->format;
    key->by_kind = NULL;
}

static bool is_mapped(const struct declared_index *index)
{
    bool mapped = index->partition_count > 0;
    for (size_t i = 0; i < index->partition_count; i++)
        mapped = mapped && (index->partition[i].by_kind || index->partition[i].format.count > 0);
    for (size_t i = 0; i < index->sort_count; i++)
        mapped = mapped && (index->sort[i].by_kind || index->sort[i].format.count > 0);
    return mapped;
}

static void finish_indexes(struct table_reader *reader, struct json list)
{
    struct declared_index **last = &reader->table->indexes;
    while (*last) {
        struct declared_index *index = *last;
        for (size_t i = 0; i < index->partition_count; i++)
            join_formats(reader->table, &index->partition[i]);
        for (size_t i = 0; i < index->sort_count; i++)
            join_formats(reader->table, &index->sort[i]);
        if (is_mapped(index)) {
            last = &index->next;
            continue;
        }
        reading_leave_out(reader->reading, list,
                          "no entity says how the keys of the index \"%s\" are written",
                          index->name);
        *last = index->next;
    }
}

/* The types that are said are those that are no text. */
static void drop_texts(struct declared_table *table)
{
    struct declared_type **last = &table->types;
    while (*last)
        if ((*last)->type == VALUE_S)
            *last = (*last)->next;
        else
            last = &(*last)->next;
}

/* Calls READ for each entity that became a record. */
static void each_entity(struct table_reader *reader, struct json entities, const char *list,
                        void (*read)(struct table_reader *reader,
                                     const struct declared_record *record, struct json element))
{
    for (struct json name = json_first(entities); json_present(name);
         name = json_next(json_next(name))) {
        struct json elements = json_member(json_next(name), list);
        const char *kind = reading_text(reader->reading, name);
        const struct declared_record *record = kind ? find_record(reader->table, kind) : NULL;
        reader->entity = json_next(name);
        for (struct json each = json_first(elements); record && json_present(each);
             each = json_next(each))
            read(reader, record, each);
    }
}

static void read_pattern(struct table_reader *reader, const struct declared_record *record,
                         struct json pattern)
{
    access_pattern_read(reader->reading, reader->table, record, &reader->names, pattern);
}

/* A map has no table without records. */
static void drop_table(struct table_reader *reader)
{
    struct declared_table **last = &reader->reading->out->tables;
    while (*last != reader->table)
        last = &(*last)->next;
    *last = NULL;
    reader->reading->next_table = last;
}

static void read_content(struct table_reader *reader, struct json table)
{
    struct json entities = json_member(table, "entities");
    struct json list = json_member(table, "gsi_list");
    if (!json_present(list)) /* where older versions have it */
        list = json_member(json_member(table, "table_config"), "gsi_list");
    for (struct json name = json_first(entities); json_present(name);
         name = json_next(json_next(name)))
        read_entity(reader, name, json_next(name));
    if (!reader->table->records) {
        reading_leave_out(reader->reading, table, "this table has no entity that can be imported");
        drop_table(reader);
        return;
    }
    read_indexes(reader, list);
    each_entity(reader, entities, "gsi_mappings", read_mapping);
    finish_indexes(reader, list);
    drop_texts(reader->table);
    each_entity(reader, entities, "access_patterns", read_pattern);
    if (!access_patterns_try(reader->reading, reader->table, table))
        drop_table(reader);
}

static void read_table(struct reading *reading, struct json table)
{
    struct table_reader reader = {.reading = reading};
    struct json config = json_member(table, "table_config");
    const char *name = needed_text(reading, config, "table_name");
    const char *partition = needed_text(reading, config, "partition_key");
    const char *sort = reading_text(reading, json_member(config, "sort_key"));
    if (!name || !partition)
        return;
    if (sort && strcmp(partition, sort) == 0) {
        reading_leave_out(reading, config, "one attribute can't be both keys of a table");
        return;
    }
    reader.keys[reader.key_count++] = partition;
    if (sort)
        reader.keys[reader.key_count++] = sort;
    reader.table = reading_add_table(reading, table, name, name);
    if (reader.table && part_names_init(&reader.names, reading->arena))
        read_content(&reader, table);
    part_names_clean_up(&reader.names);
}

static void read(struct reading *reading, struct json root)
{
    struct json tables = json_member(root, "tables");
    for (struct json each = json_first(tables); json_present(each); each = json_next(each))
        read_table(reading, each);
    struct json across = json_member(root, "cross_table_access_patterns");
    for (struct json each = json_first(across); json_present(each); each = json_next(each))
        reading_leave_out(reading, each, "it reads or writes several tables, and a path reads one");
}

const struct import_format data_model_format = {
    .name = "schema.json of AWS's dynamodb-mcp-server",
    .looks_for = "\"tables\" with \"table_config\" and \"entities\"",
    .recognises = recognises,
    .read = read,
};
