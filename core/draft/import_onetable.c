/* Schemas of OneTable ("format": "onetable:1.1.0"): models of one table. The attributes of a model
 * may be templates. */
#include <strings.h>

#include "core/draft/imported_kinds.h"

/* A schema while it is read. */
struct onetable_schema {
    struct import_reader *reader;
    struct attribute_parts names;
    struct declared_table *table;
    const char *keys[2];    /* the table's key attributes */
    const char *type_field; /* the attribute that holds a model's name */
    bool iso_dates;         /* dates are texts unless their attribute says otherwise */
};

/* One of its models. */
struct onetable_model {
    struct onetable_schema *schema;
    struct json attributes;
    const char *name;
};

static bool onetable_recognizes(struct json root)
{
    struct span format;
    struct json stated = json_member(root, "format");
    struct json primary = json_member(json_member(root, "indexes"), "primary");
    bool named = json_present(stated) ? json_plain_string(stated, &format) &&
                                            span_starts(format, SPAN_LITERAL("onetable:"))
                                      : json_is(json_member(primary, "hash"), JSON_STRING);
    return named && json_is(json_member(root, "models"), JSON_OBJECT);
}

static bool onetable_is_type(struct json attribute, const char *wanted)
{
    struct span type;
    return json_plain_string(json_member(attribute, "type"), &type) &&
           type.size == strlen(wanted) && strncasecmp(type.data, wanted, type.size) == 0;
}

static bool onetable_is_true(struct json value)
{
    return json_is(value, JSON_TRUE);
}

/* The attribute's type in the database; false when it can't be a part of a key. Dates are numbers,
 * or texts if the schema or the attribute says so; a "ttl" is always a number. */
static bool onetable_find_type(const struct onetable_schema *schema, struct json attribute,
                               enum value_type *type)
{
    bool text =
        onetable_is_type(attribute, "string") || !json_present(json_member(attribute, "type"));
    if (onetable_is_type(attribute, "date"))
        text = (schema->iso_dates || onetable_is_true(json_member(attribute, "isoDates"))) &&
               !onetable_is_true(json_member(attribute, "ttl"));
    *type = text ? VALUE_S : VALUE_N;
    return text || onetable_is_type(attribute, "number") || onetable_is_type(attribute, "date");
}

static bool onetable_leave_out(struct onetable_schema *schema, struct json at, const char *why)
{
    import_reader_leave_out(schema->reader, at, "%s", why);
    return false;
}

/* Adds a part of a template: ${name}. The model's own name is the same text in all its items. */
static const char *onetable_add_part(void *context, struct span name, unsigned pad,
                                     struct format *format)
{
    struct onetable_model *model = context;
    struct onetable_schema *schema = model->schema;
    if (span_is(name, schema->type_field))
        return key_template_add_literal(schema->reader->arena, format, span_text(model->name));
    struct json attribute = json_member_span(model->attributes, name);
    if (json_present(json_member(attribute, "value")))
        return "a part comes from another template";
    if (onetable_is_true(json_member(attribute, "crypt")))
        return "a part is encrypted";
    const char *wrong =
        key_template_add_spelled(&schema->names, format, name, FORMAT_ANY_CASE, pad);
    struct json values = json_member(attribute, "enum");
    if (!wrong && json_count(values) > 0 && json_is(values, JSON_ARRAY))
        import_reader_add_values(schema->reader, schema->table,
                                 format->pieces[format->count - 1].param, values);
    return wrong;
}

static bool onetable_is_number(void *context, struct span name)
{
    const struct onetable_model *model = context;
    return onetable_is_type(json_member_span(model->attributes, name), "number");
}

/* Reads the format of an attribute that is a key. Returns NULL, or the reason why it can't be read.
 */
static const char *onetable_read_key(struct onetable_model *model, struct json name,
                                     struct json attribute, struct format *format,
                                     enum value_type *type)
{
    struct onetable_schema *schema = model->schema;
    struct json value = json_member(attribute, "value");
    const char *text = import_reader_text(schema->reader, json_present(value) ? value : name);
    const struct key_template_parts parts = {.names = &schema->names,
                                             .notation = KEY_TEMPLATE_DOLLAR,
                                             .part = onetable_add_part,
                                             .is_number = onetable_is_number,
                                             .context = model};
    if (json_present(value)) {
        if (!json_is(value, JSON_STRING))
            return "its value is computed by a function";
        return text ? key_template_parse(&parts, span_text(text), format) : "it is empty";
    }
    if (!onetable_find_type(schema, attribute, type))
        return "a key must be a string, a number or a date";
    if (onetable_is_true(json_member(attribute, "crypt")))
        return "it is encrypted";
    return text ? onetable_add_part(model, span_text(text), 0, format) : "it is empty";
}

static enum kind_key onetable_find_key(void *context, const char *attribute, struct format *format,
                                       enum value_type *type)
{
    struct onetable_model *model = context;
    for (struct json name = json_first(model->attributes), each; json_present(name);
         name = json_next(each)) {
        each = json_next(name);
        struct json map = json_member(each, "map"), value = json_member(each, "value");
        if (!json_string_is(json_present(map) ? map : name, span_text(attribute)))
            continue;
        const char *wrong = onetable_read_key(model, name, each, format, type);
        if (wrong)
            onetable_leave_out(model->schema, json_present(value) ? value : name, wrong);
        return wrong ? KIND_KEY_LEFT_OUT : KIND_KEY_FOUND;
    }
    if (strcmp(attribute, model->schema->type_field) == 0)
        return key_template_add_literal(model->schema->reader->arena, format,
                                        span_text(model->name))
                   ? KIND_KEY_LEFT_OUT
                   : KIND_KEY_FOUND;
    return KIND_KEY_ABSENT;
}

static void onetable_read_models(struct onetable_schema *schema, struct json models)
{
    for (struct json name = json_first(models), each; json_present(name); name = json_next(each)) {
        each = json_next(name);
        struct onetable_model model = {schema, each, import_reader_text(schema->reader, name)};
        struct imported_kind kind = {
            model.name, name, {schema->keys[0], schema->keys[1]}, onetable_find_key, &model};
        if (!model.name || !json_is(each, JSON_OBJECT)) {
            onetable_leave_out(schema, name,
                               "a model must be an object of attributes, and have a name");
            continue;
        }
        imported_kinds_add(schema->reader, schema->table, &kind);
        for (struct json own = json_first(each); json_present(own); own = json_next(json_next(own)))
            if (onetable_is_true(json_member(json_next(own), "unique")))
                onetable_leave_out(
                    schema, own,
                    json_present(json_member(json_next(own), "scope"))
                        ? "the items that make it unique in its scope are no kind of the map"
                        : "the items that make it unique are no kind of the map");
        import_reader_add_secrets(schema->reader, schema->table, each, "map");
    }
}

static void onetable_read_index(struct onetable_schema *schema, struct json name, struct json value)
{
    struct import_reader *reader = schema->reader;
    bool local = json_string_is(json_member(value, "type"), SPAN_LITERAL("local"));
    const char *text = import_reader_text(reader, name);
    const char *hash =
        local ? schema->keys[0] : import_reader_text(reader, json_member(value, "hash"));
    const char *sort = import_reader_text(reader, json_member(value, "sort"));
    if (!text || !hash || (json_present(json_member(value, "sort")) && !sort) || (local && !sort)) {
        onetable_leave_out(
            schema, name, "an index must have a name, a \"hash\" and perhaps a \"sort\" attribute");
        return;
    }
    struct declared_index *index = import_reader_add_index(reader, name, schema->table, text);
    if (!index)
        return;
    index->local = local;
    import_reader_add_index_key(reader, name, index, false, hash);
    if (sort)
        import_reader_add_index_key(reader, name, index, true, sort);
    struct json project = json_member(value, "project");
    if (json_string_is(project, SPAN_LITERAL("all")))
        index->projects = PROJECTS_ALL;
    else if (json_string_is(project, SPAN_LITERAL("keys")))
        index->projects = PROJECTS_KEYS;
    else if (json_is(project, JSON_ARRAY))
        import_reader_add_includes(reader, index, project);
    else if (json_present(project))
        onetable_leave_out(schema, project,
                           "an index projects \"all\", \"keys\", or a list of attributes");
}

/* Items have a date if "timestamps" says so. */
static void onetable_read_params(struct onetable_schema *schema, struct json params)
{
    struct json timestamps = json_member(params, "timestamps");
    bool updated =
        onetable_is_true(timestamps) || json_string_is(timestamps, SPAN_LITERAL("update"));
    struct json name = json_member(params, updated ? "updatedField" : "createdField");
    if (updated || json_string_is(timestamps, SPAN_LITERAL("create")))
        schema->table->mtime = json_present(name) ? import_reader_text(schema->reader, name)
                               : updated          ? "updated"
                                                  : "created";
    struct json type_field = json_member(params, "typeField");
    schema->iso_dates = onetable_is_true(json_member(params, "isoDates"));
    schema->type_field =
        json_present(type_field) ? import_reader_text(schema->reader, type_field) : "_type";
    if (!schema->type_field)
        schema->type_field = "_type";
}

static void onetable_read_schema(struct onetable_schema *schema, struct json root)
{
    struct json primary = json_member(json_member(root, "indexes"), "primary");
    struct json sort = json_member(primary, "sort"), queries = json_member(root, "queries");
    schema->keys[0] = import_reader_text(schema->reader, json_member(primary, "hash"));
    schema->keys[1] = import_reader_text(schema->reader, sort);
    if (!schema->keys[0] || (json_present(sort) && !schema->keys[1])) {
        onetable_leave_out(
            schema, json_present(primary) ? primary : root,
            "\"indexes\" has a \"primary\" with the table's \"hash\" and \"sort\" attribute");
        return;
    }
    schema->table = import_reader_add_table(schema->reader, root, "table", IMPORT_NO_TABLE_NAME);
    if (!schema->table)
        return;
    onetable_read_params(schema, json_member(root, "params"));
    for (struct json name = json_first(json_member(root, "indexes")); json_present(name);
         name = json_next(json_next(name)))
        if (!json_string_is(name, SPAN_LITERAL("primary")))
            onetable_read_index(schema, name, json_next(name));
    onetable_read_models(schema, json_member(root, "models"));
    if (json_count(queries) > 0)
        onetable_leave_out(schema, queries,
                           "saved queries are not imported: paths are made from the keys");
    imported_kinds_finish(schema->reader, &schema->names, root, schema->table, schema->keys);
}

static void onetable_read(struct import_reader *reader, struct json root)
{
    struct onetable_schema schema = {.reader = reader};
    struct span format;
    struct json stated = json_member(root, "format");
    if (json_present(stated) &&
        (!json_plain_string(stated, &format) || !span_starts(format, SPAN_LITERAL("onetable:1."))))
        onetable_leave_out(&schema, stated, "only versions 1.x of schemas are supported");
    else if (attribute_parts_init(&schema.names, reader->arena))
        onetable_read_schema(&schema, root);
    attribute_parts_clean_up(&schema.names);
}

const struct import_format onetable_format = {
    .name = "OneTable schema",
    .looks_for = "\"format\": \"onetable:…\" or \"indexes\" with \"primary\", beside \"models\"",
    .recognizes = onetable_recognizes,
    .read = onetable_read,
};
