#include "fs/cli/diff/diff_table.h"

/* Of this one table, or of the moment, whatever stands before it: "TableArn", "ItemCount". */
static const char *const own_endings[] = {
    "Arn",    "Id",        "DateTime",
    "Status", "Count",     "SizeBytes",
    "Label",  "TableName", "NumberOfDecreasesToday",
};

static bool diff_table_is_its_own(struct json name)
{
    struct span text;
    for (size_t i = 0; i < sizeof own_endings / sizeof own_endings[0]; i++)
        if (json_plain_string(name, &text) && span_ends(text, span_text(own_endings[i])))
            return true;
    return false;
}

static void diff_table_write_value(struct json value, struct buf *out);

/* Without the member LESS, which is told otherwise; NULL for none. */
static void diff_table_write_members(struct json object, const char *less, struct buf *out)
{
    bool first = true;
    struct json value;
    buf_add_char(out, '{');
    for (struct json name = json_first(object); json_present(name); name = json_next(value)) {
        value = json_next(name);
        if (diff_table_is_its_own(name) || (less && json_string_is(name, span_text(less))))
            continue;
        buf_add_text(out, first ? "" : ",");
        buf_add_span(out, json_raw(name));
        buf_add_char(out, ':');
        diff_table_write_value(value, out);
        first = false;
    }
    buf_add_char(out, '}');
}

/* What tells the elements of a list apart that come in no order; NULL where the order matters. */
static const char *diff_table_key_of(struct json element)
{
    if (json_present(json_member(element, "IndexName")))
        return "IndexName";
    if (json_present(json_member(element, "RegionName")))
        return "RegionName";
    return json_present(json_member(element, "AttributeType")) ? "AttributeName" : NULL;
}

static void diff_table_write_map(struct json list, const char *key, struct buf *out)
{
    const char *comma = "";
    buf_add_text(out, "{\"M\":{");
    for (struct json each = json_first(list); json_present(each); each = json_next(each)) {
        buf_add_text(out, comma);
        buf_add_span(out, json_raw(json_member(each, key)));
        buf_add_text(out, ":{\"M\":");
        diff_table_write_members(each, key, out);
        buf_add_char(out, '}');
        comma = ",";
    }
    buf_add_text(out, "}}");
}

static void diff_table_write_list(struct json list, struct buf *out)
{
    const char *comma = "";
    buf_add_text(out, "{\"L\":[");
    for (struct json each = json_first(list); json_present(each); each = json_next(each)) {
        buf_add_text(out, comma);
        diff_table_write_value(each, out);
        comma = ",";
    }
    buf_add_text(out, "]}");
}

static void diff_table_write_array(struct json list, struct buf *out)
{
    struct json first = json_first(list);
    const char *key = diff_table_key_of(first);
    if (key) {
        diff_table_write_map(list, key, out);
    } else if (json_is(first, JSON_STRING)) { /* attributes that an index holds */
        buf_add_text(out, "{\"SS\":");
        buf_add_span(out, json_raw(list));
        buf_add_char(out, '}');
    } else {
        diff_table_write_list(list, out);
    }
}

static void diff_table_write_value(struct json value, struct buf *out)
{
    switch (json_type(value)) {
    case JSON_OBJECT:
        buf_add_text(out, "{\"M\":");
        diff_table_write_members(value, NULL, out);
        buf_add_char(out, '}');
        break;
    case JSON_ARRAY:
        diff_table_write_array(value, out);
        break;
    case JSON_STRING:
        buf_add_text(out, "{\"S\":");
        buf_add_span(out, json_raw(value));
        buf_add_char(out, '}');
        break;
    case JSON_NUMBER:
        buf_add_text(out, "{\"N\":\"");
        buf_add_span(out, json_raw(value));
        buf_add_text(out, "\"}");
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        buf_printf(out, "{\"BOOL\":%s}", json_is(value, JSON_TRUE) ? "true" : "false");
        break;
    case JSON_NULL:
        buf_add_text(out, "{\"NULL\":true}");
        break;
    }
}

void diff_table_write(struct json table, struct buf *out)
{
    diff_table_write_members(table, NULL, out);
}
