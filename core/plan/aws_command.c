#include "core/plan/aws_command.h"

#include <stdint.h>

#include "core/base/utf8.h"

void shell_quote(struct buf *out, struct span text)
{
    buf_add_char(out, '\'');
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\'')
            buf_add_text(out, "'\\''");
        else
            buf_add_char(out, text.data[i]);
    }
    buf_add_char(out, '\'');
}

/* A name as it stands where it has nothing for a shell in it, as every table's name. What a user
 * typed for a branch is part of it too, and may hold anything. */
static void add_word(struct buf *out, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    if (text[0] && text[strspn(text, plain)] == '\0')
        buf_add_text(out, text);
    else
        shell_quote(out, span_text(text));
}

static uint32_t code_point(struct span character)
{
    static const uint8_t masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = (uint8_t)character.data[0] & masks[character.size];
    for (size_t i = 1; i < character.size; i++)
        code = code << 6 | ((uint8_t)character.data[i] & 0x3F);
    return code;
}

/* JSON that any terminal and any locale carries: beyond ASCII as \u escapes. */
static void add_ascii(struct buf *out, struct span json)
{
    while (json.size > 0) {
        size_t size = utf8_length(json);
        struct span character = span_of(json.data, size ? size : 1);
        uint32_t code = size > 1 ? code_point(character) : 0;
        if (size <= 1)
            buf_add_span(out, character);
        else if (code < 0x10000)
            buf_printf(out, "\\u%04x", (unsigned)code);
        else
            buf_printf(out, "\\u%04x\\u%04x", (unsigned)(0xD7C0 + (code >> 10)),
                       (unsigned)(0xDC00 + (code & 0x3FF)));
        json = span_from(json, character.size);
    }
}

/* The expressions of one command, with every attribute aliased. */
struct expressions {
    struct buf names;
    struct buf values;
    unsigned name_count;
    unsigned value_count;
};

static void expressions_clean_up(struct expressions *expressions)
{
    buf_clean_up(&expressions->names);
    buf_clean_up(&expressions->values);
}

static unsigned add_name(struct expressions *expressions, struct span attribute)
{
    unsigned n = expressions->name_count++;
    buf_printf(&expressions->names, "%s\"#n%u\": ", n ? ", " : "", n);
    json_write_string(&expressions->names, attribute);
    return n;
}

static unsigned add_value(struct expressions *expressions, struct value value)
{
    unsigned n = expressions->value_count++;
    buf_printf(&expressions->values, "%s\":v%u\": ", n ? ", " : "", n);
    value_write(&expressions->values, value);
    return n;
}

static void write_cond(struct buf *out, struct expressions *expressions, const struct cond *cond)
{
    unsigned name = add_name(expressions, cond->attribute);
    unsigned value = add_value(expressions, cond->value);
    if (cond->op == COND_BEGINS)
        buf_printf(out, "begins_with(#n%u, :v%u)", name, value);
    else if (cond->op == COND_BETWEEN)
        buf_printf(out, "#n%u BETWEEN :v%u AND :v%u", name, value,
                   add_value(expressions, cond->upper));
    else
        buf_printf(out, "#n%u %s :v%u", name, cond_word(cond->op), value);
}

/* An option whose text could not be built is no option: OUT fails with it. */
static void add_option(struct buf *out, const char *option, const struct buf *json)
{
    CLEAN_UP(buf_clean_up) struct buf ascii = {0};
    add_ascii(&ascii, buf_span(json));
    buf_printf(out, " %s ", option);
    shell_quote(out, buf_span(&ascii));
    out->failed = out->failed || ascii.failed || json->failed;
}

static void add_text_option(struct buf *out, const char *option, const char *text)
{
    CLEAN_UP(buf_clean_up) struct buf json = {0};
    buf_add_text(&json, text);
    add_option(out, option, &json);
}

static void add_conds(struct buf *out, const char *option, struct expressions *expressions,
                      const struct cond *conds, size_t count)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    for (size_t i = 0; i < count; i++) {
        buf_add_text(&text, i ? " AND " : "");
        write_cond(&text, expressions, &conds[i]);
    }
    if (count)
        add_option(out, option, &text);
}

static void add_projection(struct buf *out, struct expressions *expressions,
                           const struct read *read)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    for (size_t i = 0; i < read->attribute_count; i++)
        buf_printf(&text, "%s#n%u", i ? ", " : "", add_name(expressions, read->attributes[i]));
    if (read->attribute_count)
        add_option(out, "--projection-expression", &text);
}

static void add_braced(struct buf *out, const char *option, const struct buf *members)
{
    CLEAN_UP(buf_clean_up) struct buf json = {0};
    out->failed = out->failed || members->failed;
    if (members->size == 0)
        return;
    buf_printf(&json, "{%s}", buf_text(members));
    add_option(out, option, &json);
}

static void add_common(struct buf *out, struct expressions *expressions, const struct read *read,
                       const struct aws_command *how)
{
    add_projection(out, expressions, read);
    add_braced(out, "--expression-attribute-names", &expressions->names);
    add_braced(out, "--expression-attribute-values", &expressions->values);
    if (read->consistent)
        buf_add_text(out, " --consistent-read");
    buf_add_text(out, how->options);
    if (how->query)
        add_text_option(out, "--query", how->query);
    if (how->output)
        buf_printf(out, " --output %s", how->output);
}

static void write_key(struct buf *out, const struct key *key)
{
    buf_add_char(out, '{');
    for (size_t i = 0; i < key->count; i++) {
        buf_add_text(out, i ? ", " : "");
        json_write_string(out, key->attributes[i].name);
        buf_add_text(out, ": ");
        value_write(out, key->attributes[i].value);
    }
    buf_add_char(out, '}');
}

static void add_table(struct buf *out, const char *command, const struct read *read)
{
    buf_printf(out, "aws dynamodb %s --table-name ", command);
    add_word(out, read->table);
}

static void write_query(struct buf *out, const struct read *read, const struct aws_command *how)
{
    CLEAN_UP(expressions_clean_up) struct expressions expressions = {0};
    add_table(out, "query", read);
    if (read->index) {
        buf_add_text(out, " --index-name ");
        add_word(out, read->index);
    }
    add_conds(out, "--key-condition-expression", &expressions, read->where, read->where_count);
    add_conds(out, "--filter-expression", &expressions, read->filter, read->filter_count);
    if (read->descending)
        buf_add_text(out, " --no-scan-index-forward");
    if (read->limit)
        buf_printf(out, " --max-items %u", (unsigned)read->limit);
    add_common(out, &expressions, read, how);
}

static void write_get(struct buf *out, const struct read *read, const struct aws_command *how)
{
    CLEAN_UP(expressions_clean_up) struct expressions expressions = {0};
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    add_table(out, "get-item", read);
    write_key(&key, &read->keys[0]);
    add_option(out, "--key", &key);
    add_common(out, &expressions, read, how);
}

void aws_command_write(struct buf *out, const struct read *read, const struct aws_command *how)
{
    if (read->kind == READ_ITEMS)
        write_get(out, read, how);
    else if (read->kind == READ_QUERY)
        write_query(out, read, how);
    else
        buf_printf(out, "aws dynamodb list-tables%s", how->options);
}

void aws_command_write_nested(struct buf *out, const struct read *read, const char *key_command,
                              const struct aws_command *how)
{
    CLEAN_UP(expressions_clean_up) struct expressions expressions = {0};
    add_table(out, "get-item", read);
    buf_printf(out, " --key \"$(%s)\"", key_command);
    add_common(out, &expressions, read, how);
}
