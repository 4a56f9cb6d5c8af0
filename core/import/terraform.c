#include "core/import/terraform.h"

#include "core/import/blueprint.h"

/* MAX_NAME: no name at the service is longer, but a template can repeat a long value often.
 * MAX_DEPTH: of locals that refer to others, which may go in circles. MAX_REFERENCES: in one text,
 * of variables that are empty. */
enum { MAX_NAME = 1024, MAX_DEPTH = 8, MAX_REFERENCES = 1000 };

struct configuration {
    struct reading *reading;
    struct json root;    /* whose variables and locals templates refer to */
    unsigned references; /* that were followed for one text */
};

#define TABLE_TYPE "aws_dynamodb_table"

/* What is said in blocks: one object, or a list of objects, each of which may be such a list. */
static void each_block(struct json value, void (*visit)(void *arg, struct json block), void *arg)
{
    if (json_is(value, JSON_OBJECT))
        visit(arg, value);
    if (json_is(value, JSON_ARRAY))
        for (struct json each = json_first(value); json_present(each); each = json_next(each))
            each_block(each, visit, arg);
}

static bool is_state_file(struct json root)
{
    return json_present(json_member(root, "terraform_version")) &&
           json_is(json_member(root, "resources"), JSON_ARRAY);
}

static bool is_shown(struct json root)
{
    return json_present(json_member(root, "format_version")) &&
           (json_is(json_member(root, "values"), JSON_OBJECT) ||
            json_is(json_member(root, "planned_values"), JSON_OBJECT));
}

static bool is_configuration(struct json root)
{
    struct json resource = json_member(root, "resource");
    return !is_shown(root) && (json_is(resource, JSON_OBJECT) || json_is(resource, JSON_ARRAY));
}

static bool recognises(struct json root)
{
    return is_state_file(root) || is_shown(root) || is_configuration(root);
}

/* Templates: "${var.stage}-orders". */

/* The member NAME of what the blocks of the root's member KIND say. */
struct search {
    struct span name;
    struct json found;
};

static void find_member(void *arg, struct json block)
{
    struct search *search = arg;
    if (!json_present(search->found) && json_count(block) <= IMPORT_MAX_MEMBERS)
        search->found = json_member_span(block, search->name);
}

static struct json find_in_blocks(struct json root, const char *kind, struct span name)
{
    struct search search = {.name = name};
    each_block(json_member(root, kind), find_member, &search);
    return search.found;
}

static bool give_up(struct buf *why, const char *text, struct span name)
{
    buf_truncate(why, 0);
    buf_add_text(why, text);
    buf_add_span(why, span_of(name.data, name.size < 200 ? name.size : 200));
    return false;
}

static bool add_value(struct configuration *from, struct json value, unsigned depth,
                      struct buf *out, struct buf *why);

/* A variable by its default, or a local value; all else is known when it is applied. */
static bool add_expression(struct configuration *from, struct span expression, unsigned depth,
                           struct buf *out, struct buf *why)
{
    const struct span var = SPAN_LITERAL("var."), local = SPAN_LITERAL("local.");
    while (expression.size > 0 && expression.data[0] == ' ')
        expression = span_from(expression, 1);
    while (span_ends(expression, SPAN_LITERAL(" ")))
        expression.size--;
    struct json value = {0};
    if (span_starts(expression, var))
        value = find_in_blocks(from->root, "variable", span_from(expression, var.size));
    else if (span_starts(expression, local))
        value = find_in_blocks(from->root, "locals", span_from(expression, local.size));
    if (span_starts(expression, var)) {
        struct search search = {.name = SPAN_LITERAL("default")};
        each_block(value, find_member, &search);
        value = search.found;
    }
    if (!json_present(value) || depth == MAX_DEPTH || ++from->references > MAX_REFERENCES)
        return give_up(why, "it is not known before the configuration is applied: it depends on ",
                       expression);
    return add_value(from, value, depth + 1, out, why);
}

/* "$${" and "%%{" stand for "${" and "%{". */
static bool add_template(struct configuration *from, struct span text, unsigned depth,
                         struct buf *out, struct buf *why)
{
    while (text.size > 0 && out->size <= MAX_NAME) {
        bool escaped =
            span_starts(text, SPAN_LITERAL("$${")) || span_starts(text, SPAN_LITERAL("%%{"));
        if (!escaped && span_starts(text, SPAN_LITERAL("%{")))
            return give_up(why, "it is worked out by a directive: ", text);
        if (!span_starts(text, SPAN_LITERAL("${"))) {
            buf_add(out, escaped ? text.data + 1 : text.data, escaped ? 2 : 1);
            text = span_from(text, escaped ? 3 : 1);
            continue;
        }
        const char *close = memchr(text.data, '}', text.size);
        if (!close)
            return give_up(why, "a ${ without its }", (struct span){0});
        size_t size = (size_t)(close - text.data);
        if (!add_expression(from, span_of(text.data + 2, size - 2), depth, out, why))
            return false;
        text = span_from(text, size + 1);
    }
    return out->size <= MAX_NAME || give_up(why, "it is longer than any name", (struct span){0});
}

static bool add_value(struct configuration *from, struct json value, unsigned depth,
                      struct buf *out, struct buf *why)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (json_is(value, JSON_NUMBER)) {
        buf_add_span(out, json_raw(value));
        return true;
    }
    if (!json_read_string(value, &text))
        return give_up(why, "a text is expected", (struct span){0});
    if (json_present(from->root))
        return add_template(from, buf_span(&text), depth, out, why);
    buf_add_span(out, buf_span(&text)); /* a state's values are worked out */
    return true;
}

/* The text that the member NAME of BLOCK is; NULL where it is not said, and with a note where it is
 * not known. */
static const char *known_member(struct configuration *from, struct json block, const char *name)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(buf_clean_up) struct buf why = {0};
    struct arena *arena = from->reading->arena;
    struct json value = json_member(block, name);
    if (!json_present(value) || json_is(value, JSON_NULL) ||
        json_string_is(value, (struct span){0}))
        return NULL;
    from->references = 0;
    bool known = add_value(from, value, 0, &text, &why);
    arena->failed = arena->failed || text.failed || why.failed;
    if (known && !memchr(buf_text(&text), '\0', text.size) && text.size > 0)
        return arena_text(arena, buf_span(&text));
    reading_leave_out(from->reading, value, "%s", known ? "this is no name" : buf_text(&why));
    return NULL;
}

static const char *needed_member(struct configuration *from, struct json block, const char *name)
{
    const char *text = known_member(from, block, name);
    struct json value = json_member(block, name);
    if (!text && (!json_is(value, JSON_STRING) || json_string_is(value, (struct span){0})))
        reading_leave_out(from->reading, block, "\"%s\" is missing", name);
    return text;
}

/* One table while its blocks are read. */
struct table_reader {
    struct configuration *from;
    struct blueprint blueprint;
    struct json values;
    struct index_info *index; /* whose key_schema is read */
    bool broken;              /* its key is */
    bool local;
};

static void read_attribute(void *arg, struct json block)
{
    struct table_reader *reader = arg;
    blueprint_add_attribute(&reader->blueprint, block, needed_member(reader->from, block, "name"),
                            needed_member(reader->from, block, "type"));
}

/* "hash_key" or "range_key", which may be left out. */
static bool read_key(struct table_reader *reader, struct json owner, const char *member,
                     const char *key_type, struct key_schema *keys)
{
    size_t notes = reader->from->reading->notes;
    const char *name = known_member(reader->from, owner, member);
    if (!name)
        return notes == reader->from->reading->notes;
    return blueprint_add_key(&reader->blueprint, owner, keys, name, key_type);
}

/* Since version 6.29 of the provider: one block for each attribute of an index's key. */
static void read_key_schema(void *arg, struct json block)
{
    struct table_reader *reader = arg;
    const char *name = needed_member(reader->from, block, "attribute_name");
    const char *type = needed_member(reader->from, block, "key_type");
    if (!blueprint_add_key(&reader->blueprint, block, &reader->index->keys, name, type))
        reader->broken = true;
}

static void read_included(struct table_reader *reader, struct json list)
{
    struct index_info *index = reader->index;
    struct span *names = arena_array(reader->from->reading->arena, json_count(list), sizeof *names);
    size_t count = 0;
    for (struct json each = json_first(list); names && json_present(each); each = json_next(each)) {
        const char *name = reading_text(reader->from->reading, each);
        if (!name || strstr(name, "${")) {
            reading_leave_out(reader->from->reading, each, "which attribute this is");
            return;
        }
        names[count++] = span_text(name);
    }
    index->included = names;
    index->included_count = names ? count : 0;
}

static void read_index(void *arg, struct json block)
{
    struct table_reader *reader = arg;
    const char *name = needed_member(reader->from, block, "name");
    struct index_info index = {.name = span_text(name), .local = reader->local};
    struct key_schema *keys = &index.keys;
    if (!name)
        return;
    reader->index = &index;
    reader->broken = false;
    if (json_count(json_member(block, "key_schema")) > 0)
        each_block(json_member(block, "key_schema"), read_key_schema, reader);
    else
        reader->broken =
            !read_key(reader, reader->local ? reader->values : block, "hash_key", "HASH", keys) ||
            !read_key(reader, block, "range_key", "RANGE", keys);
    if (reader->broken)
        return;
    blueprint_projection(&reader->blueprint, block,
                         needed_member(reader->from, block, "projection_type"), &index.projection);
    struct json included = json_member(block, "non_key_attributes");
    if (index.projection == PROJECTS_SOME && json_is(included, JSON_ARRAY))
        read_included(reader, included);
    blueprint_add_index(&reader->blueprint, block, &index);
}

/* NAME is the table's in Terraform. */
static void read_table(struct configuration *from, const char *name, struct json values)
{
    struct table_reader reader = {
        .from = from, .blueprint = {.reading = from->reading, .at = values}, .values = values};
    if (json_present(from->root) && json_present(json_member(values, "for_each"))) {
        reading_leave_out(from->reading, values,
                          "\"for_each\" makes several tables: terraform show -json has them all");
        return;
    }
    each_block(json_member(values, "attribute"), read_attribute, &reader);
    struct key_schema *keys = &reader.blueprint.keys;
    reader.blueprint.broken = !read_key(&reader, values, "hash_key", "HASH", keys) ||
                              !read_key(&reader, values, "range_key", "RANGE", keys);
    each_block(json_member(values, "global_secondary_index"), read_index, &reader);
    reader.local = true;
    each_block(json_member(values, "local_secondary_index"), read_index, &reader);
    if (json_present(json_member(values, "dynamic")))
        reading_leave_out(from->reading, json_member(values, "dynamic"),
                          "what \"dynamic\" makes is not known before the configuration is "
                          "applied: terraform show -json has it");
    size_t notes = from->reading->notes;
    const char *base_name = known_member(from, values, "name");
    if (!base_name && notes == from->reading->notes)
        reading_leave_out(from->reading, values, "the name of the table is not said");
    blueprint_declare(&reader.blueprint, name, base_name);
}

/* A configuration: resource, type, name, and then the table, each of them in blocks. */

static void read_named(void *arg, struct json block)
{
    struct configuration *from = arg;
    for (struct json name = json_first(block); json_present(name);
         name = json_next(json_next(name))) {
        const char *text = reading_text(from->reading, name);
        struct json value = json_next(name);
        if (json_is(value, JSON_ARRAY))
            value = json_first(value);
        if (text && json_is(value, JSON_OBJECT))
            read_table(from, text, value);
    }
}

static void read_resources(void *arg, struct json block)
{
    each_block(json_member(block, TABLE_TYPE), read_named, arg);
}

/* A state or a plan, as it is shown: a module has resources and modules. */

static bool is_table(struct reading *reading, struct json resource, struct json at)
{
    if (!json_string_is(json_member(resource, "type"), SPAN_LITERAL(TABLE_TYPE)))
        return false;
    if (!json_string_is(json_member(resource, "mode"), SPAN_LITERAL("data")))
        return true;
    reading_leave_out(reading, at, "a data source: the table is another configuration's");
    return false;
}

static void read_shown_module(struct configuration *from, struct json module)
{
    struct json resources = json_member(module, "resources");
    for (struct json each = json_first(resources); json_present(each); each = json_next(each)) {
        const char *name = reading_text(from->reading, json_member(each, "name"));
        struct json values = json_member(each, "values");
        if (is_table(from->reading, each, each) && json_is(values, JSON_OBJECT))
            read_table(from, name ? name : "table", values);
    }
    struct json modules = json_member(module, "child_modules");
    for (struct json each = json_first(modules); json_present(each); each = json_next(each))
        read_shown_module(from, each);
}

static void read_state_file(struct configuration *from, struct json root)
{
    struct json resources = json_member(root, "resources");
    for (struct json each = json_first(resources); json_present(each); each = json_next(each)) {
        const char *name = reading_text(from->reading, json_member(each, "name"));
        struct json instances = json_member(each, "instances");
        if (!is_table(from->reading, each, each))
            continue;
        for (struct json one = json_first(instances); json_present(one); one = json_next(one))
            read_table(from, name ? name : "table", json_member(one, "attributes"));
    }
}

static void read(struct reading *reading, struct json root)
{
    struct configuration from = {.reading = reading};
    if (is_configuration(root)) {
        from.root = root;
        each_block(json_member(root, "resource"), read_resources, &from);
    } else if (is_shown(root)) {
        struct json planned = json_member(root, "planned_values");
        struct json values = json_present(planned) ? planned : json_member(root, "values");
        read_shown_module(&from, json_member(values, "root_module"));
    } else {
        read_state_file(&from, root);
    }
}

const struct import_format terraform_format = {
    .name = "Terraform configuration or state",
    .looks_for = "\"resource\", or what terraform show -json prints",
    .recognises = recognises,
    .read = read,
};
