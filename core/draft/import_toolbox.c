/* What dynamodb-toolbox writes of its entities and tables as JSON (EntityDTO, TableDTO): one, a
 * list of them, or an object of them by name. What a function computes is not in there. */
#include "core/draft/imported_kinds.h"

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

/* What a transformer puts around a value. Transformers are in one another, as the pipe says. */
struct wrapping {
    struct buf before, after;
};

static const char *toolbox_add_wrapping(struct json transform, struct wrapping *to, unsigned depth);

static const char *toolbox_add_pipe(struct json transform, struct wrapping *to, unsigned depth)
{
    struct json transformers = json_member(transform, "transformers");
    const char *wrong = depth > 8 ? "its transformers are too deep in each other" : NULL;
    for (struct json each = json_first(transformers); json_present(each) && !wrong;
         each = json_next(each))
        wrong = toolbox_add_wrapping(each, to, depth + 1);
    return wrong;
}

static const char *toolbox_add_wrapping(struct json transform, struct wrapping *to, unsigned depth)
{
    struct json id = json_member(transform, "transformerId");
    bool prefix = json_string_is(id, SPAN_LITERAL("prefix"));
    struct json text = json_member(transform, prefix ? "prefix" : "suffix");
    struct json delimiter = json_member(transform, "delimiter");
    CLEAN_UP(buf_clean_up) struct buf added = {0};
    if (json_string_is(id, SPAN_LITERAL("pipe")))
        return toolbox_add_pipe(transform, to, depth);
    if (!prefix && !json_string_is(id, SPAN_LITERAL("suffix")))
        return "its value is transformed by a function";
    if (!json_is(text, JSON_STRING) || !json_is(delimiter, JSON_STRING))
        return "a prefix or suffix has a text and a delimiter";
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

static bool toolbox_is_function(struct json value, const char *id)
{
    return json_string_is(json_member(value, id), SPAN_LITERAL("custom"));
}

/* Why no format can say what the attribute holds; NULL when it is what was put. */
static const char *toolbox_computed(struct json attribute)
{
    struct json of_key = json_member(attribute, "keyDefault");
    struct json of_put = json_member(attribute, "putDefault");
    if (json_present(json_member(attribute, "keyLink")) ||
        json_present(json_member(attribute, "putLink")))
        return "its value is linked to other attributes by a function";
    if (toolbox_is_function(of_key, "defaulterId"))
        return "its default is computed by a function";
    /* So is a key written out that only computeKey knows. */
    if (json_is(json_member(attribute, "hidden"), JSON_TRUE) && !json_present(of_key) &&
        !json_present(of_put) && !json_present(json_member(attribute, "transform")) &&
        json_count(json_member(attribute, "enum")) != 1)
        return "it is computed by the entity's function computeKey, or hidden";
    return NULL;
}

/* The one value that the attribute may have, or the part that it is. */
static const char *toolbox_add_value(const struct toolbox_entity *entity, struct json name,
                                     struct json attribute, struct format *format)
{
    struct json values = json_member(attribute, "enum"), only = json_first(values);
    struct import_reader *reader = entity->reader;
    const char *text = import_reader_text(reader, json_count(values) == 1 ? only : name);
    if (!text)
        return "it has no name, or its only value is no text";
    if (json_count(values) == 1)
        return key_template_add_literal(reader->arena, format, span_text(text));
    const char *wrong = key_template_add_part(entity->names, format, span_text(text));
    if (!wrong && json_count(values) > 1)
        import_reader_add_values(reader, entity->to, format->pieces[format->count - 1].param,
                                 values);
    return wrong;
}

static const char *toolbox_add_wrapped(const struct toolbox_entity *entity, struct json name,
                                       struct json attribute, struct format *format)
{
    CLEAN_UP(buf_clean_up) struct buf before = {0};
    CLEAN_UP(buf_clean_up) struct buf after = {0};
    struct json transform = json_member(attribute, "transform");
    struct wrapping wrapping = {0};
    const char *wrong =
        json_present(transform) ? toolbox_add_wrapping(transform, &wrapping, 0) : NULL;
    before = wrapping.before;
    after = wrapping.after;
    if (before.failed || after.failed)
        return "out of memory";
    struct arena *arena = entity->reader->arena;
    if (!wrong)
        wrong = key_template_add_literal(arena, format, buf_span(&before));
    if (!wrong)
        wrong = toolbox_add_value(entity, name, attribute, format);
    return wrong ? wrong : key_template_add_literal(arena, format, buf_span(&after));
}

static bool toolbox_is_saved_as(struct json name, struct json attribute, const char *stored)
{
    struct json saved_as = json_member(attribute, "savedAs");
    return json_string_is(json_present(saved_as) ? saved_as : name, span_text(stored));
}

/* The library keeps the entity's name in each item, in an attribute of its own, unless it is told
 * not to. */
static enum kind_key toolbox_find_name(const struct toolbox_entity *entity, const char *stored,
                                       struct format *format)
{
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

static enum kind_key toolbox_find_key(void *context, const char *stored, struct format *format,
                                      enum value_type *type)
{
    const struct toolbox_entity *entity = context;
    for (struct json name = json_first(entity->attributes), each; json_present(name);
         name = json_next(each)) {
        each = json_next(name);
        if (!toolbox_is_saved_as(name, each, stored))
            continue;
        const char *wrong = toolbox_computed(each);
        if (!wrong && !toolbox_find_type(each, type))
            wrong = "a key is a string, a number or binary";
        if (!wrong && *type == VALUE_B && json_count(json_member(each, "enum")) > 0)
            wrong = "a key of bytes has no values that a map could write";
        if (!wrong)
            wrong = toolbox_add_wrapped(entity, name, each, format);
        if (wrong)
            toolbox_leave_out(entity, name, wrong);
        return wrong ? KIND_KEY_LEFT_OUT : KIND_KEY_FOUND;
    }
    return toolbox_find_name(entity, stored, format);
}

static const char *toolbox_add_key(const struct toolbox_entity *entity,
                                   struct declared_index *index, struct json key, bool sort)
{
    enum value_type type;
    const char *name = import_reader_text(entity->reader, json_member(key, "name"));
    if (!name || !toolbox_find_type(key, &type))
        return "a key has a \"name\", and is a string, a number or binary";
    import_reader_add_index_key(entity->reader, key, index, sort, name);
    if (type != VALUE_S)
        import_reader_add_type(entity->reader, entity->to, name, type);
    return NULL;
}

/* Adds a side of an index: one key, or up to four of SEVERAL. */
static const char *toolbox_add_side(const struct toolbox_entity *entity,
                                    struct declared_index *index, struct json one,
                                    struct json several, bool sort)
{
    const char *wrong = json_present(one) ? toolbox_add_key(entity, index, one, sort) : NULL;
    for (struct json each = json_first(several); !wrong && json_present(each);
         each = json_next(each))
        wrong = toolbox_add_key(entity, index, each, sort);
    return wrong;
}

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
            "an index has a name, a \"partitionKey\" or up to four \"partitionKeys\", and "
            "perhaps a \"sortKey\" or \"sortKeys\"");
        return;
    }
    if (import_reader_find_index(entity->to, text)) /* each entity says all indexes of its table */
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

static void toolbox_read_indexes(const struct toolbox_entity *entity)
{
    struct json indexes = json_member(entity->table, "indexes");
    for (struct json name = json_first(indexes), each; json_present(name); name = json_next(each)) {
        each = json_next(name);
        toolbox_read_index(entity, name, each);
    }
}

/* Records tell when they changed, unless the entity says otherwise. */
static void toolbox_read_times(struct toolbox_entity *entity)
{
    struct json timestamps = json_member(entity->at, "timestamps");
    struct json modified =
        json_is(timestamps, JSON_OBJECT) ? json_member(timestamps, "modified") : timestamps;
    struct json saved_as = json_member(modified, "savedAs");
    if (entity->to->mtime || !json_present(modified) || json_is(modified, JSON_FALSE))
        return;
    entity->to->mtime =
        json_present(saved_as) ? import_reader_text(entity->reader, saved_as) : "_md";
}

static bool toolbox_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The first entity says the table. */
static bool toolbox_resolve_table(struct toolbox_entity *entity, struct declared_table **table,
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
            "a table's key has a \"name\", and is a string, a number or binary");
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

static void toolbox_add_types(const struct toolbox_entity *entity, const char *const keys[2])
{
    static const char *const members[] = {"partitionKey", "sortKey"};
    for (size_t i = 0; i < 2 && keys[i]; i++) {
        enum value_type type;
        if (toolbox_find_type(json_member(entity->table, members[i]), &type) && type != VALUE_S)
            import_reader_add_type(entity->reader, entity->to, keys[i], type);
    }
}

static void toolbox_add_kind(struct toolbox_entity *entity, const char *const keys[2])
{
    struct imported_kind kind = {
        entity->name, entity->at, {keys[0], keys[1]}, toolbox_find_key, entity};
    if (!entity->name)
        return;
    imported_kinds_add(entity->reader, entity->to, &kind);
    import_reader_add_secrets(entity->reader, entity->to, entity->attributes, "savedAs");
    toolbox_read_times(entity);
}

/* All that is said of the first one's table. */
static void toolbox_read_table(struct import_reader *reader, struct toolbox_entity *entities,
                               size_t count)
{
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
        if (toolbox_resolve_table(entity, &table, keys))
            toolbox_read_indexes(entity);
    }
    if (table)
        toolbox_add_types(&entities[0], keys);
    for (size_t i = 0; i < count && table; i++)
        if (entities[i].to == table)
            toolbox_add_kind(&entities[i], keys);
    if (table)
        imported_kinds_finish(reader, &names, entities[0].at, table, keys);
    attribute_parts_clean_up(&names);
}

static struct toolbox_entity toolbox_entity_of(struct import_reader *reader, struct json value)
{
    struct json table = toolbox_is_entity(value) ? json_member(value, "table") : value;
    return (struct toolbox_entity){
        .reader = reader,
        .at = value,
        .table = table,
        .attributes = json_member(json_member(value, "schema"), "attributes"),
        .name = toolbox_is_entity(value)
                    ? import_reader_text(reader, json_member(value, "entityName"))
                    : NULL,
        .table_name = import_reader_text(reader, json_member(table, "tableName")),
    };
}

static size_t toolbox_collect(struct import_reader *reader, struct json root,
                              struct toolbox_entity *entities)
{
    bool object = json_is(root, JSON_OBJECT);
    size_t count = 0;
    for (struct json each = json_first(root), value; json_present(each); each = json_next(value)) {
        value = object ? json_next(each) : each;
        if (!toolbox_is_either(value))
            import_reader_leave_out(reader, value, "this is neither an entity nor a table");
        else if (count == IMPORT_MAX_KINDS)
            import_reader_leave_out(reader, value, "at most %d entities are read",
                                    IMPORT_MAX_KINDS);
        else
            entities[count++] = toolbox_entity_of(reader, value);
    }
    return count;
}

static void toolbox_read(struct import_reader *reader, struct json root)
{
    struct toolbox_entity *entities =
        arena_array(reader->arena, IMPORT_MAX_KINDS, sizeof *entities);
    size_t count = 1;
    if (!entities)
        return;
    if (toolbox_is_either(root))
        entities[0] = toolbox_entity_of(reader, root);
    else
        count = toolbox_collect(reader, root, entities);
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
