#include "core/import/key_description.h"

#include "core/import/input.h"
#include "core/item/item_fault.h"
#include "core/item/value.h"
#include "core/json/writer.h"

/* Names of tables in a message. */
enum { NAMES_SHOWN = 5 };

/* The object with a KeySchema in VALUE; absent without one. */
static struct json key_description_find(struct json value, const char *table, size_t *count)
{
    struct json found = {0};
    *count = 0;
    if (!json_is(value, JSON_ARRAY)) {
        struct json inner = json_member(value, "Table");
        found = json_present(inner) ? inner : value;
        *count = json_present(json_member(found, "KeySchema"));
        return *count ? found : (struct json){0};
    }
    for (struct json each = json_first(value); json_present(each); each = json_next(each)) {
        size_t is_table;
        struct json inner = key_description_find(each, NULL, &is_table);
        bool named = is_table &&
                     (!table || json_string_is(json_member(inner, "TableName"), span_text(table)));
        found = named ? inner : found;
        *count += named;
    }
    return found;
}

/* The names of the tables in VALUE, an array, as far as they are few. */
static void key_description_write_names(struct json value, struct buf *out)
{
    size_t count = 0;
    for (struct json each = json_first(value); json_present(each); each = json_next(each)) {
        size_t is_table;
        struct json found = key_description_find(each, NULL, &is_table);
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        if (!is_table || !json_read_string(json_member(found, "TableName"), &name))
            continue;
        if (++count > NAMES_SHOWN)
            continue;
        buf_add_text(out, count > 1 ? ", " : "");
        buf_add_span(out, buf_span(&name));
    }
    if (count > NAMES_SHOWN)
        buf_printf(out, " and %zu more", count - NAMES_SHOWN);
}

static bool key_description_take(const char *file, const char *table, struct json root,
                                 struct buf *out, struct error *err)
{
    size_t count;
    CLEAN_UP(buf_clean_up) struct buf names = {0};
    struct json found = key_description_find(root, table, &count);
    if (count != 1 && json_is(root, JSON_ARRAY))
        key_description_write_names(root, &names);
    if (count > 1)
        return error_set(err, ERROR_INVALID,
                         "%s describes several tables; name one: --table NAME; it has %s", file,
                         buf_text(&names));
    if (count == 0 && table && names.size > 0)
        return error_set(err, ERROR_INVALID, "%s does not describe the table %s; it has %s", file,
                         table, buf_text(&names));
    if (count == 0)
        return error_set(err, ERROR_INVALID,
                         "%s describes no table: it has no KeySchema; write it with aws dynamodb "
                         "describe-table --table-name NAME > FILE",
                         file);
    item_write_tight(found, out);
    return !out->failed || error_no_memory(err);
}

bool key_description_read(const char *file, struct span text, const char *table, struct buf *out,
                          struct error *err)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    return input_parse(file, text, &doc, err) &&
           key_description_take(file, table, json_root(&doc), out, err);
}

/* One part of --keys. */
struct key_word {
    struct span name;
    enum value_type type;
};

static bool key_description_parse_word(struct span word, struct key_word *out)
{
    out->name = span_of(word.data, word.size < 2 ? 0 : word.size - 2);
    if (out->name.size == 0 || word.data[word.size - 2] != ':')
        return false;
    for (int type = VALUE_S; type <= VALUE_B; type++) {
        out->type = (enum value_type)type;
        if (word.data[word.size - 1] == value_type_name(out->type)[0])
            return true;
    }
    return false;
}

bool key_description_of_keys(const char *keys, const char *table, struct buf *out,
                             struct error *err)
{
    static const char *const kinds[] = {"HASH", "RANGE"};
    struct key_word words[2];
    struct span text = span_text(keys);
    const char *comma = strchr(keys, ',');
    size_t count = comma ? 2 : 1, size = comma ? (size_t)(comma - keys) : text.size;
    bool ok = key_description_parse_word(span_of(text.data, size), &words[0]) &&
              (!comma || key_description_parse_word(span_from(text, size + 1), &words[1]));
    if (!ok || (comma && span_equal(words[0].name, words[1].name)))
        return error_set(err, ERROR_INVALID,
                         "--keys %s names no key; write --keys pk:S for a partition key, or --keys "
                         "pk:S,sk:N with a sort key; the types are S, N and B",
                         keys);
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    json_writer_add_text(&json, "TableName", table ? table : "");
    json_writer_begin_array(&json, "AttributeDefinitions", JSON_TIGHT);
    for (size_t i = 0; i < count; i++) {
        json_writer_begin_object(&json, NULL, JSON_TIGHT);
        json_writer_add_string(&json, "AttributeName", words[i].name);
        json_writer_add_text(&json, "AttributeType", value_type_name(words[i].type));
        json_writer_end(&json);
    }
    json_writer_end(&json);
    json_writer_begin_array(&json, "KeySchema", JSON_TIGHT);
    for (size_t i = 0; i < count; i++) {
        json_writer_begin_object(&json, NULL, JSON_TIGHT);
        json_writer_add_string(&json, "AttributeName", words[i].name);
        json_writer_add_text(&json, "KeyType", kinds[i]);
        json_writer_end(&json);
    }
    json_writer_end(&json);
    json_writer_end(&json);
    return !out->failed || error_no_memory(err);
}

bool key_description_rename(struct json description, struct span table, struct span id,
                            struct buf *out, struct error *err)
{
    buf_add_text(out, "{\"TableName\":");
    json_write_string(out, table);
    if (id.size > 0) {
        buf_add_text(out, ",\"TableId\":");
        json_write_string(out, id);
    }
    for (struct json name = json_first(description); json_present(name);) {
        struct json value = json_next(name);
        bool is_replaced = json_string_is(name, SPAN_LITERAL("TableName")) ||
                           (id.size > 0 && json_string_is(name, SPAN_LITERAL("TableId")));
        if (!is_replaced) {
            buf_add_char(out, ',');
            item_write_tight(name, out);
            buf_add_char(out, ':');
            item_write_tight(value, out);
        }
        name = json_next(value);
    }
    buf_add_char(out, '}');
    return !out->failed || error_no_memory(err);
}
