#include "core/import/cloudformation.h"

#include "core/import/blueprint.h"

/* No name at the service is longer; a template can repeat a long value often. */
enum { MAX_NAME = 1024 };

struct stack {
    struct reading *reading;
    struct json parameters;
};

static bool is_type(struct json resource, const char *type)
{
    return json_string_is(json_member(resource, "Type"), span_text(type));
}

static bool recognises(struct json root)
{
    struct json resources = json_member(root, "Resources");
    if (!json_is(resources, JSON_OBJECT))
        return false;
    for (struct json name = json_first(resources); json_present(name);
         name = json_next(json_next(name))) {
        struct span type;
        if (json_plain_string(json_member(json_next(name), "Type"), &type) &&
            span_starts(type, SPAN_LITERAL("AWS::")))
            return true;
    }
    return false;
}

/* Values of a template. Each function appends what VALUE is to OUT, as far as that is known before
 * a stack is created; or returns false with the reason in WHY. */

static bool give_up(struct buf *why, const char *text, struct span name)
{
    buf_truncate(why, 0);
    buf_add_text(why, text);
    buf_add_span(why, span_of(name.data, name.size < 200 ? name.size : 200));
    return false;
}

/* The default of a parameter. One that names an entry of the parameter store is no value. */
static bool add_parameter(struct stack *stack, struct span name, struct buf *out, struct buf *why)
{
    bool many = json_count(stack->parameters) > IMPORT_MAX_MEMBERS;
    struct json parameter = many ? (struct json){0} : json_member_span(stack->parameters, name);
    struct json value = json_member(parameter, "Default");
    struct span type = {0};
    bool elsewhere = json_plain_string(json_member(parameter, "Type"), &type) &&
                     span_starts(type, SPAN_LITERAL("AWS::SSM::"));
    if (!elsewhere && json_is(value, JSON_STRING))
        return json_read_string(value, out);
    if (elsewhere || !json_is(value, JSON_NUMBER))
        return give_up(why, "it is not known before the stack is created: it depends on ", name);
    buf_add_span(out, json_raw(value));
    return true;
}

static bool add_value(struct stack *stack, struct json value, struct buf *out, struct buf *why);

/* ${Name} of a text in Fn::Sub, whose own names come first; ${!Name} stands for itself. */
static bool add_reference(struct stack *stack, struct span name, struct json own, struct buf *out,
                          struct buf *why)
{
    if (span_starts(name, SPAN_LITERAL("!"))) {
        buf_printf(out, "${%.*s}", (int)(name.size - 1), name.data + 1);
        return true;
    }
    bool many = json_count(own) > IMPORT_MAX_MEMBERS;
    struct json value = many ? (struct json){0} : json_member_span(own, name);
    return json_present(value) ? add_value(stack, value, out, why)
                               : add_parameter(stack, name, out, why);
}

static bool add_sub(struct stack *stack, struct json value, struct buf *out, struct buf *why)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    bool pair = json_is(value, JSON_ARRAY);
    struct json template = pair ? json_first(value) : value;
    struct json own = pair ? json_next(template) : (struct json){0};
    if (!json_read_string(template, &text))
        return give_up(why, "Fn::Sub needs a text", (struct span){0});
    struct span rest = buf_span(&text);
    while (rest.size > 0 && out->size <= MAX_NAME) {
        const char *open = memmem(rest.data, rest.size, "${", 2);
        const char *close = open ? memchr(open, '}', rest.size - (size_t)(open - rest.data)) : NULL;
        size_t before = close ? (size_t)(open - rest.data) : rest.size;
        buf_add(out, rest.data, before);
        rest = span_from(rest, before);
        if (!close)
            continue;
        size_t size = (size_t)(close - open);
        if (!add_reference(stack, span_of(open + 2, size - 2), own, out, why))
            return false;
        rest = span_from(rest, size + 1);
    }
    return true;
}

static bool add_join(struct stack *stack, struct json value, struct buf *out, struct buf *why)
{
    struct json between = json_first(value);
    struct json parts = json_present(between) ? json_next(between) : between;
    if (!json_is(value, JSON_ARRAY) || !json_is(between, JSON_STRING) ||
        !json_is(parts, JSON_ARRAY))
        return give_up(why, "Fn::Join needs a text and a list", (struct span){0});
    struct json first = json_first(parts);
    size_t begin = out->size;
    for (struct json each = first; json_present(each); each = json_next(each)) {
        if (each.at != first.at)
            json_read_string(between, out);
        if (!add_value(stack, each, out, why))
            return false;
        if (out->size - begin > MAX_NAME)
            break;
    }
    return true;
}

static bool add_function(struct stack *stack, struct json name, struct buf *out, struct buf *why)
{
    struct json argument = json_next(name);
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (json_string_is(name, SPAN_LITERAL("Fn::Sub")))
        return add_sub(stack, argument, out, why);
    if (json_string_is(name, SPAN_LITERAL("Fn::Join")))
        return add_join(stack, argument, out, why);
    if (json_string_is(name, SPAN_LITERAL("Ref")) && json_read_string(argument, &text))
        return add_parameter(stack, buf_span(&text), out, why);
    json_read_string(name, &text);
    return give_up(why, "it is not known before the stack is created: it comes from ",
                   buf_span(&text));
}

static bool add_value(struct stack *stack, struct json value, struct buf *out, struct buf *why)
{
    bool fits = true;
    if (json_is(value, JSON_STRING))
        fits = json_read_string(value, out);
    else if (json_is(value, JSON_NUMBER))
        buf_add_span(out, json_raw(value));
    else if (json_is(value, JSON_OBJECT) && json_count(value) == 1)
        fits = add_function(stack, json_first(value), out, why);
    else
        fits = give_up(why, "a text is expected", (struct span){0});
    if (fits && out->size > MAX_NAME)
        fits = give_up(why, "it is longer than any name", (struct span){0});
    return fits;
}

/* The text that VALUE is; NULL with a note, in which WHAT calls it, when it is not known. */
static const char *known_text(struct stack *stack, struct json at, struct json value,
                              const char *what)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(buf_clean_up) struct buf why = {0};
    struct arena *arena = stack->reading->arena;
    bool known = json_present(value) && add_value(stack, value, &text, &why);
    arena->failed = arena->failed || text.failed || why.failed;
    if (known && text.size > 0 && !memchr(text.data, '\0', text.size))
        return arena_text(arena, buf_span(&text));
    if (known || !json_present(value))
        reading_leave_out(stack->reading, at, "%s is missing", what);
    else
        reading_leave_out(stack->reading, value, "%s", buf_text(&why));
    return NULL;
}

/* A list of the template, or a note: it may be written as a function. NULL is for none. */
static struct json known_list(struct stack *stack, struct json owner, const char *name)
{
    struct json list = json_member(owner, name);
    if (json_present(list) && !json_is(list, JSON_ARRAY))
        reading_leave_out(stack->reading, list, "%s is no list before the stack is created", name);
    return json_is(list, JSON_ARRAY) ? list : (struct json){0};
}

static void read_attributes(struct stack *stack, struct json properties,
                            struct blueprint *blueprint)
{
    struct json list = known_list(stack, properties, "AttributeDefinitions");
    for (struct json each = json_first(list); json_present(each); each = json_next(each))
        blueprint_add_attribute(
            blueprint, each,
            known_text(stack, each, json_member(each, "AttributeName"), "AttributeName"),
            known_text(stack, each, json_member(each, "AttributeType"), "AttributeType"));
}

static bool read_keys(struct stack *stack, struct json owner, struct blueprint *blueprint,
                      struct key_schema *keys)
{
    bool whole = true;
    struct json list = known_list(stack, owner, "KeySchema");
    for (struct json each = json_first(list); json_present(each); each = json_next(each)) {
        struct json name = json_member(each, "AttributeName");
        struct json type = json_member(each, "KeyType");
        whole =
            blueprint_add_key(blueprint, each, keys, known_text(stack, each, name, "AttributeName"),
                              known_text(stack, each, type, "KeyType")) &&
            whole;
    }
    return whole && json_present(list);
}

/* What an index includes, where all of it is known. */
static void read_included(struct stack *stack, struct json projection, struct index_info *index)
{
    struct json list = known_list(stack, projection, "NonKeyAttributes");
    struct span *names = arena_array(stack->reading->arena, json_count(list), sizeof *names);
    size_t count = 0;
    for (struct json each = json_first(list); names && json_present(each); each = json_next(each)) {
        const char *name = known_text(stack, each, each, "an attribute");
        if (!name)
            return;
        names[count++] = span_text(name);
    }
    index->included = names;
    index->included_count = names ? count : 0;
}

static void read_indexes(struct stack *stack, struct json properties, bool local,
                         struct blueprint *blueprint)
{
    struct json list =
        known_list(stack, properties, local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes");
    for (struct json each = json_first(list); json_present(each); each = json_next(each)) {
        const char *name = known_text(stack, each, json_member(each, "IndexName"), "IndexName");
        struct json projection = json_member(each, "Projection");
        struct json type = json_member(projection, "ProjectionType");
        struct index_info index = {.name = span_text(name), .local = local};
        if (!name || !read_keys(stack, each, blueprint, &index.keys))
            continue;
        blueprint_projection(blueprint, each, known_text(stack, each, type, "ProjectionType"),
                             &index.projection);
        if (index.projection == PROJECTS_SOME)
            read_included(stack, projection, &index);
        blueprint_add_index(blueprint, each, &index);
    }
}

/* The name that the table gets at the service; NULL with a note when the template leaves that to
 * CloudFormation. */
static const char *table_name(struct stack *stack, struct json resource)
{
    struct json value = json_member(json_member(resource, "Properties"), "TableName");
    if (json_present(value))
        return known_text(stack, resource, value, "TableName");
    reading_leave_out(stack->reading, resource,
                      "the template does not say TableName: the name is made when the stack is "
                      "created");
    return NULL;
}

static void read_table(struct stack *stack, const char *id, struct json resource)
{
    struct json properties = json_member(resource, "Properties");
    struct blueprint blueprint = {.reading = stack->reading, .at = resource};
    read_attributes(stack, properties, &blueprint);
    blueprint.broken = !read_keys(stack, properties, &blueprint, &blueprint.keys);
    read_indexes(stack, properties, false, &blueprint);
    read_indexes(stack, properties, true, &blueprint);
    blueprint_declare(&blueprint, id, table_name(stack, resource));
}

/* SAM's table of one key, which is the string "id" where nothing is said. */
static void read_simple_table(struct stack *stack, const char *id, struct json resource)
{
    struct json properties = json_member(resource, "Properties");
    struct json key = json_member(properties, "PrimaryKey");
    struct blueprint blueprint = {.reading = stack->reading, .at = resource};
    const char *name = "id", *type = "String";
    if (json_present(key)) {
        name = known_text(stack, key, json_member(key, "Name"), "Name");
        type = known_text(stack, key, json_member(key, "Type"), "Type");
    }
    static const char *const types[][2] = {{"String", "S"}, {"Number", "N"}, {"Binary", "B"}};
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i][0]) == 0)
            type = types[i][1];
    blueprint_add_attribute(&blueprint, resource, name, type);
    blueprint.broken = !blueprint_add_key(&blueprint, resource, &blueprint.keys, name, "HASH");
    blueprint_declare(&blueprint, id, table_name(stack, resource));
}

static void read(struct reading *reading, struct json root)
{
    struct stack stack = {.reading = reading, .parameters = json_member(root, "Parameters")};
    struct json resources = json_member(root, "Resources");
    for (struct json name = json_first(resources); json_present(name);
         name = json_next(json_next(name))) {
        struct json resource = json_next(name);
        const char *id = reading_text(reading, name);
        if (id && (is_type(resource, "AWS::DynamoDB::Table") ||
                   is_type(resource, "AWS::DynamoDB::GlobalTable")))
            read_table(&stack, id, resource);
        else if (id && is_type(resource, "AWS::Serverless::SimpleTable"))
            read_simple_table(&stack, id, resource);
        else if (id && span_starts(span_text(id), SPAN_LITERAL("Fn::ForEach")))
            reading_leave_out(reading, resource,
                              "what a loop makes is not known before the stack is created");
    }
}

const struct import_format cloudformation_format = {
    .name = "CloudFormation template",
    .looks_for = "\"Resources\" with types such as \"AWS::DynamoDB::Table\"",
    .recognises = recognises,
    .read = read,
};
