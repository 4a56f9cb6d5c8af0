/* The JSON of dynamodb-toolbox's entities and tables (EntityDTO, TableDTO): one, a list of them, or
 * an object of them by name. It has no values that functions compute. */
#include "core/draft/imported_kinds.h"

/* Transformers in transformers. */
enum { TOOLBOX_MAX_DEPTH = 8 };

/* An entity, or a table alone. */
struct toolbox_entity {
    struct import_reader *reader;
    struct attribute_parts *names;
    struct declared_table *to;
    struct json at, table, attributes;
    const char *name;       /* NULL of a table alone */
    const char *table_name; /* NULL when it is computed */
    bool read;
};

static bool toolbox_is_key(struct json key)
{
    return json_is(json_member(key, "name"), JSON_STRING) &&
           json_is(json_member(key, "type"), JSON_STRING);
}

static bool toolbox_is_table(struct json value)
{
    return toolbox_is_key(json_member(value, "partitionKey"));
}

static bool toolbox_is_entity(struct json value)
{
    return json_is(json_member(value, "entityName"), JSON_STRING) &&
           toolbox_is_table(json_member(value, "table")) &&
           json_is(json_member(json_member(value, "schema"), "attributes"), JSON_OBJECT);
}

static bool toolbox_is_either(struct json value)
{
    return toolbox_is_entity(value) || toolbox_is_table(value);
}

static bool toolbox_recognizes(struct json root)
{
    struct json first = json_first(root);
    return toolbox_is_either(root) || (json_is(root, JSON_ARRAY) && toolbox_is_either(first)) ||
           (json_is(root, JSON_OBJECT) && toolbox_is_either(json_next(first)));
}

static bool toolbox_leave_out(const struct toolbox_entity *entity, struct json at, const char *why)
{
    import_reader_leave_out(entity->reader, at, "%s", why);
    return false;
}

static bool toolbox_find_type(struct json key, enum value_type *type)
{
    struct json text = json_member(key, "type");
    bool string = json_string_is(text, SPAN_LITERAL("string"));
    bool number = json_string_is(text, SPAN_LITERAL("number"));
    *type = string ? VALUE_S : number ? VALUE_N : VALUE_B;
    return string || number || json_string_is(text, SPAN_LITERAL("binary"));
}

/* Keys of entities. */

/* The texts that transformers add around a value. */
struct toolbox_wrapping {
    struct buf before, after;
};

/* Adds the texts of TRANSFORM, which may be a pipe of several. Returns NULL, or the reason why no
 * format can be made. */
static const char *toolbox_add_wrapping(struct json transform, struct toolbox_wrapping *to,
                                        unsigned depth)
{
    struct json id = json_member(transform, "transformerId");
    bool prefix = json_string_is(id, SPAN_LITERAL("prefix"));
    struct json text = json_member(transform, prefix ? "prefix" : "suffix");
    struct json delimiter = json_member(transform, "delimiter");
    CLEAN_UP(buf_clean_up) struct buf added = {0};
    if (json_string_is(id, SPAN_LITERAL("pipe"))) {
        const char *wrong =
            depth > TOOLBOX_MAX_DEPTH ? "its transformers are too deep in each other" : NULL;
        for (struct json each = json_first(json_member(transform, "transformers"));
             json_present(each) && !wrong; each = json_next(each))
            wrong = toolbox_add_wrapping(each, to, depth + 1);
        return wrong;
    }
    if (!prefix && !json_string_is(id, SPAN_LITERAL("suffix")))
        return "its value is transformed by a function";
    if (!json_is(text, JSON_STRING) || !json_is(delimiter, JSON_STRING))
        return "a prefix or suffix must have a text and a delimiter";
    json_read_string(prefix ? text : delimiter, &added);
    json_read_string(prefix ? delimiter : text, &added);
    if (!prefix) {
        buf_add_span(&to->after, buf_span(&added));
        return NULL;
    }
    buf_add_span(&added, buf_span(&to->before));
    buf_truncate(&to->before, 0);
    buf_add_span(&to->before, buf_span(&added));
    return NULL;
}

/* Why the attribute's value is no format; NULL when it is the stored value. */
static const char *toolbox_find_computation(struct json attribute)
{
    struct json of_key = json_member(attribute, "keyDefault");
    struct json of_put = json_member(attribute, "putDefault");
    if (json_present(json_member(attribute, "keyLink")) ||
        json_present(json_member(attribute, "putLink")))
        return "its value is linked to other attributes by a function";
    if (json_string_is(json_member(of_key, "defaulterId"), SPAN_LITERAL("custom")))
        return "its default is computed by a function";
    /* A key that only computeKey sets looks like this, too. */
    if (json_is(json_member(attribute, "hidden"), JSON_TRUE) && !json_present(of_key) &&
        !json_present(of_put) && !json_present(json_member(attribute, "transform")) &&
        json_count(json_member(attribute, "enum")) != 1)
        return "it is computed by the entity's function computeKey, or hidden";
    return NULL;
}

/* Reads the format of an attribute that is a key. Returns NULL, or the reason why not. */
static const char *toolbox_read_key(const struct toolbox_entity *entity, struct json name,
                                    struct json attribute, struct format *format,
                                    enum value_type *type)
{
    struct json transform = json_member(attribute, "transform");
    struct arena *arena = entity->reader->arena;
    struct toolbox_wrapping wrapping = {0};
    const char *wrong = toolbox_find_computation(attribute);
    if (!wrong && !toolbox_find_type(attribute, type))
        wrong = "a key must be a string, a number or binary";
    if (!wrong && *type == VALUE_B && json_count(json_member(attribute, "enum")) > 0)
        wrong = "the values of a key of bytes can't be written in a map";
    if (!wrong && json_present(transform))
        wrong = toolbox_add_wrapping(transform, &wrapping, 0);
    if (wrapping.before.failed || wrapping.after.failed)
        wrong = "out of memory";
    if (!wrong)
        wrong = key_template_add_literal(arena, format, buf_span(&wrapping.before));
    /* an attribute with one value is a text of the key, another one is a part */
    struct json values = json_member(attribute, "enum");
    bool constant = json_count(values) == 1;
    const char *text = import_reader_text(entity->reader, constant ? json_first(values) : name);
    if (!wrong && !text)
        wrong = "it has no name, or its only value is no text";
    if (!wrong)
        wrong = constant ? key_template_add_literal(arena, format, span_text(text))
                         : key_template_add_part(entity->names, format, span_text(text));
    if (!wrong && json_count(values) > 1)
        import_reader_add_values(entity->reader, entity->to,
                                 format->pieces[format->count - 1].param, values);
    if (!wrong)
        wrong = key_template_add_literal(arena, format, buf_span(&wrapping.after));
    buf_clean_up(&wrapping.before);
    buf_clean_up(&wrapping.after);
    return wrong;
}

static enum kind_key toolbox_find_key(void *context, const char *stored, struct format *format,
                                      enum value_type *type)
{
    const struct toolbox_entity *entity = context;
    for (struct json name = json_first(entity->attributes), each; json_present(name);
         name = json_next(each)) {
        each = json_next(name);
        struct json saved_as = json_member(each, "savedAs");
        if (!json_string_is(json_present(saved_as) ? saved_as : name, span_text(stored)))
            continue;
        const char *wrong = toolbox_read_key(entity, name, each, format, type);
        if (wrong)
            toolbox_leave_out(entity, name, wrong);
        return wrong ? KIND_KEY_LEFT_OUT : KIND_KEY_FOUND;
    }
    /* By default, the library stores the entity's name in an attribute of its own. */
    struct json kept = json_member(entity->at, "entityAttribute");
    struct json named = json_member(entity->table, "entityAttributeSavedAs");
    bool same =
        json_present(named) ? json_string_is(named, span_text(stored)) : strcmp(stored, "_et") == 0;
    if (!same || json_is(kept, JSON_FALSE))
        return KIND_KEY_ABSENT;
    return key_template_add_literal(entity->reader->arena, format, span_text(entity->name))
               ? KIND_KEY_LEFT_OUT
               : KIND_KEY_FOUND;
}

/* Indexes. */

static const char *toolbox_add_index_key(const struct toolbox_entity *entity,
                                         struct declared_index *index, struct json key, bool sort)
{
    enum value_type type;
    const char *name = import_reader_text(entity->reader, json_member(key, "name"));
    if (!name || !toolbox_find_type(key, &type))
        return "a key must have a \"name\", and be a string, a number or binary";
    import_reader_add_index_key(entity->reader, key, index, sort, name);
    if (type != VALUE_S)
        import_reader_add_type(entity->reader, entity->to, name, type);
    return NULL;
}

/* Adds a side of an index: ONE key, or up to four of SEVERAL. */
static const char *toolbox_add_side(const struct toolbox_entity *entity,
                                    struct declared_index *index, struct json one,
                                    struct json several, bool sort)
{
    const char *wrong = json_present(one) ? toolbox_add_index_key(entity, index, one, sort) : NULL;
    for (struct json each = json_first(several); !wrong && json_present(each);
         each = json_next(each))
        wrong = toolbox_add_index_key(entity, index, each, sort);
    return wrong;
}

/* Each entity has all indexes of its table: only the first one is read. */
static void toolbox_read_index(const struct toolbox_entity *entity, struct json name,
                               struct json value)
{
    bool local = json_string_is(json_member(value, "type"), SPAN_LITERAL("local"));
    struct json of = local ? entity->table : value;
    struct json partition = json_member(of, "partitionKey");
    struct json partitions = json_member(of, "partitionKeys");
    const char *text = import_reader_text(entity->reader, name);
    size_t sorts = json_count(json_member(value, "sortKeys"));
    if (!text || (!toolbox_is_key(partition) && json_count(partitions) == 0) ||
        json_count(partitions) > KEY_MAX_ATTRIBUTES || sorts > KEY_MAX_ATTRIBUTES) {
        toolbox_leave_out(
            entity, name,
            "an index must have a name, a \"partitionKey\" or up to four \"partitionKeys\", and "
            "perhaps a \"sortKey\" or \"sortKeys\"");
        return;
    }
    if (import_reader_find_index(entity->to, text))
        return;
    struct declared_index *index = import_reader_add_index(entity->reader, name, entity->to, text);
    if (!index)
        return;
    index->local = local;
    const char *wrong = toolbox_add_side(entity, index, partition, partitions, false);
    if (!wrong)
        wrong = toolbox_add_side(entity, index, json_member(value, "sortKey"),
                                 json_member(value, "sortKeys"), true);
    if (wrong) {
        toolbox_leave_out(entity, name, wrong);
        import_reader_drop_index(entity->to, index);
    }
}

/* Tables. */

static bool toolbox_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Adds the table of the first entity. The other entities must have the same key: else false, with a
 * note. */
static bool toolbox_add_table(struct toolbox_entity *entity, struct declared_table **table,
                              const char *keys[2])
{
    struct json partition = json_member(entity->table, "partitionKey");
    struct json sort = json_member(entity->table, "sortKey");
    const char *pk = import_reader_text(entity->reader, json_member(partition, "name"));
    const char *sk = import_reader_text(entity->reader, json_member(sort, "name"));
    enum value_type type;
    if (!pk || !toolbox_find_type(partition, &type) ||
        (json_present(sort) && (!sk || !toolbox_find_type(sort, &type))))
        return toolbox_leave_out(
            entity, entity->at,
            "a table's key must have a \"name\", and be a string, a number or binary");
    if (*table && (!toolbox_same_text(keys[0], pk) || !toolbox_same_text(keys[1], sk)))
        return toolbox_leave_out(entity, entity->at,
                                 "its table has another key than the first entity's");
    if (!*table)
        *table = import_reader_add_table(
            entity->reader, entity->at, entity->table_name ? entity->table_name : "table",
            entity->table_name ? entity->table_name : IMPORT_NO_TABLE_NAME);
    keys[0] = pk;
    keys[1] = sk;
    entity->to = *table;
    return *table;
}

/* Adds the entity's kind, its secrets, and the date of changes, which its items have by default. */
static void toolbox_add_kind(struct toolbox_entity *entity, const char *const keys[2])
{
    struct imported_kind kind = {
        entity->name, entity->at, {keys[0], keys[1]}, toolbox_find_key, entity};
    struct json timestamps = json_member(entity->at, "timestamps");
    struct json modified =
        json_is(timestamps, JSON_OBJECT) ? json_member(timestamps, "modified") : timestamps;
    struct json saved_as = json_member(modified, "savedAs");
    if (!entity->name)
        return;
    imported_kinds_add(entity->reader, entity->to, &kind);
    import_reader_add_secrets(entity->reader, entity->to, entity->attributes, "savedAs");
    if (!entity->to->mtime && json_present(modified) && !json_is(modified, JSON_FALSE))
        entity->to->mtime =
            json_present(saved_as) ? import_reader_text(entity->reader, saved_as) : "_md";
}

/* Reads all entities of the first one's table. Its indexes are added before the first kind. */
static void toolbox_read_table(struct import_reader *reader, struct toolbox_entity *entities,
                               size_t count)
{
    static const char *const members[] = {"partitionKey", "sortKey"};
    struct attribute_parts names;
    struct declared_table *table = NULL;
    const char *keys[2] = {0}, *name = entities[0].table_name;
    bool ready = attribute_parts_init(&names, reader->arena);
    for (size_t i = 0; i < count && ready; i++) {
        struct toolbox_entity *entity = &entities[i];
        if (entity->read || !toolbox_same_text(entity->table_name, name))
            continue;
        entity->read = true;
        entity->names = &names;
        if (!toolbox_add_table(entity, &table, keys))
            continue;
        struct json index = json_first(json_member(entity->table, "indexes"));
        for (; json_present(index); index = json_next(json_next(index)))
            toolbox_read_index(entity, index, json_next(index));
    }
    for (size_t i = 0; table && i < 2 && keys[i]; i++) {
        enum value_type type;
        if (toolbox_find_type(json_member(entities[0].table, members[i]), &type) && type != VALUE_S)
            import_reader_add_type(reader, table, keys[i], type);
    }
    for (size_t i = 0; i < count && table; i++)
        if (entities[i].to == table)
            toolbox_add_kind(&entities[i], keys);
    if (table)
        imported_kinds_finish(reader, &names, entities[0].at, table, keys);
    attribute_parts_clean_up(&names);
}

static struct toolbox_entity toolbox_make_entity(struct import_reader *reader, struct json value)
{
    bool entity = toolbox_is_entity(value);
    struct json table = entity ? json_member(value, "table") : value;
    return (struct toolbox_entity){
        .reader = reader,
        .at = value,
        .table = table,
        .attributes = json_member(json_member(value, "schema"), "attributes"),
        .name = entity ? import_reader_text(reader, json_member(value, "entityName")) : NULL,
        .table_name = import_reader_text(reader, json_member(table, "tableName")),
    };
}

static void toolbox_read(struct import_reader *reader, struct json root)
{
    struct toolbox_entity *entities =
        arena_array(reader->arena, IMPORT_MAX_KINDS, sizeof *entities);
    bool one = toolbox_is_either(root), object = json_is(root, JSON_OBJECT);
    size_t count = 0;
    if (!entities)
        return;
    if (one)
        entities[count++] = toolbox_make_entity(reader, root);
    for (struct json each = one ? (struct json){0} : json_first(root), value; json_present(each);
         each = json_next(value)) {
        value = object ? json_next(each) : each;
        if (!toolbox_is_either(value))
            import_reader_leave_out(reader, value, "this is neither an entity nor a table");
        else if (count == IMPORT_MAX_KINDS)
            import_reader_leave_out(reader, value, "at most %d entities are read",
                                    IMPORT_MAX_KINDS);
        else
            entities[count++] = toolbox_make_entity(reader, value);
    }
    for (size_t i = 0; i < count; i++)
        if (!entities[i].read)
            toolbox_read_table(reader, &entities[i], count - i);
}

const struct import_format toolbox_format = {
    .name = "dynamodb-toolbox entity or table, or several",
    .looks_for =
        "\"entityName\", \"schema\" and \"table\", or a table's \"partitionKey\" with \"name\" "
        "and \"type\"",
    .recognizes = toolbox_recognizes,
    .read = toolbox_read,
};
