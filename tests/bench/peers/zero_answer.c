#include "tests/bench/peers/zero_answer.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/json/json.h"

enum { PAGE_SIZE = 1 << 20, UNIT_SIZE = 4096 };

#define ZERO_TEXT_ATTRIBUTE(name) "{\"AttributeName\":\"" name "\",\"AttributeType\":\"S\"}"
#define ZERO_KEY_SCHEMA(partition, sort)                                                           \
    "\"KeySchema\":[{\"AttributeName\":\"" partition "\",\"KeyType\":\"HASH\"},"                   \
    "{\"AttributeName\":\"" sort "\",\"KeyType\":\"RANGE\"}]"

const char zero_table_definition[] =
    "\"TableName\":\"" ZERO_TABLE
    "\",\"AttributeDefinitions\":[" ZERO_TEXT_ATTRIBUTE("pk") "," ZERO_TEXT_ATTRIBUTE("sk") "," ZERO_TEXT_ATTRIBUTE(
        "shop") "," ZERO_TEXT_ATTRIBUTE("created_at") "]," ZERO_KEY_SCHEMA("pk",
                                                                           "sk") ",\"GlobalSeco"
                                                                                 "ndaryIndexes"
                                                                                 "\":[{"
                                                                                 "\"IndexName\""
                                                                                 ":"
                                                                                 "\"" ZERO_INDEX
                                                                                 "\""
                                                                                 "," ZERO_KEY_SCHEMA(
                                                                                     "shop",
                                                                                     "created_"
                                                                                     "at") ",\""
                                                                                           "Pro"
                                                                                           "jec"
                                                                                           "tio"
                                                                                           "n\""
                                                                                           ":{"
                                                                                           "\"P"
                                                                                           "roj"
                                                                                           "ect"
                                                                                           "ion"
                                                                                           "Typ"
                                                                                           "e\""
                                                                                           ":\""
                                                                                           "KEY"
                                                                                           "S_"
                                                                                           "ONL"
                                                                                           "Y\""
                                                                                           "}}"
                                                                                           "]";

const char *zero_op_name(enum zero_op op)
{
    static const char *const names[] = {"GetItem",       "BatchGetItem", "Query",
                                        "DescribeTable", "ListTables",   "other"};
    return names[op];
}

enum zero_op zero_op_of(struct span target)
{
    struct span prefix = SPAN_LITERAL("DynamoDB_20120810.");
    enum zero_op op = ZERO_GET_ITEM;
    if (!span_starts(target, prefix))
        return ZERO_OTHER;
    target = span_of(target.data + prefix.size, target.size - prefix.size);
    while (op < ZERO_OTHER && !span_is(target, zero_op_name(op)))
        op++;
    return op;
}

static void zero_answer_add(struct zero_answer *answer, struct zero_slice slice)
{
    answer->pieces[answer->piece_count++] =
        (struct iovec){(void *)(uintptr_t)slice.text.data, slice.text.size};
    answer->crc = zero_crc_join(answer->crc, slice.crc, slice.text.size);
    answer->size += slice.text.size;
}

void zero_answer_print(struct zero_answer *answer, const char *format, ...)
{
    va_list list;
    char *at = answer->text + answer->text_size;
    size_t room = ZERO_TEXT_SIZE - answer->text_size;
    va_start(list, format);
    size_t size = (size_t)vsnprintf(at, room, format, list);
    va_end(list);
    if (size >= room) /* cut; no answer needs it */
        size = room - 1;
    answer->text_size += size;
    zero_answer_add(answer, (struct zero_slice){span_of(at, size), zero_crc(span_of(at, size))});
}

static void zero_refuse(struct zero_answer *answer, const char *what)
{
    bool backwards = answer->backwards;
    *answer = (struct zero_answer){.status = 400, .backwards = backwards};
    zero_answer_print(answer,
                      "{\"__type\":\"com.amazon.coral.validate#ValidationException\","
                      "\"message\":\"the benchmark's server does not support %s\"}",
                      what);
}

/* As the service counts: a started unit of 4 KB costs half, or one if the read is consistent. */
static double zero_units(size_t size, bool consistent)
{
    double halves = (double)((size + UNIT_SIZE - 1) / UNIT_SIZE);
    return consistent ? halves : halves / 2;
}

static bool zero_is_true(struct json request, const char *name)
{
    return json_is(json_member(request, name), JSON_TRUE);
}

/* The text of {"S":"…"} without escapes; false for all other values. */
static bool zero_read_text(struct json typed, struct span *out)
{
    return json_plain_string(json_member(typed, "S"), out);
}

static const struct zero_shop *zero_find_shop(const struct zero_tables *tables, struct span name)
{
    for (size_t i = 0; i < tables->count; i++)
        if (span_equal(tables->shops[i].name, name))
            return &tables->shops[i];
    return NULL;
}

/* The shop of a partition key of the table or of the index; NULL if there is none. */
static const struct zero_shop *zero_find_partition(const struct zero_tables *tables,
                                                   enum zero_width width, struct span key)
{
    struct span prefix = SPAN_LITERAL("SHOP#");
    if (width == ZERO_KEYS)
        return zero_find_shop(tables, key);
    if (!span_starts(key, prefix))
        return NULL;
    return zero_find_shop(tables, span_of(key.data + prefix.size, key.size - prefix.size));
}

/* Adds the item of a key {"pk":{"S":"…"},"sk":{"S":"…"}}, BEFORE in front of it. Returns its size;
 * 0 if it does not exist. */
static size_t zero_add_item_of(struct zero_answer *answer, const struct zero_tables *tables,
                               struct json key, const char *before)
{
    struct span partition, sort;
    if (!zero_read_text(json_member(key, "pk"), &partition) ||
        !zero_read_text(json_member(key, "sk"), &sort))
        return 0;
    const struct zero_shop *shop = zero_find_partition(tables, ZERO_WHOLE, partition);
    size_t at = shop ? zero_shop_find(shop, ZERO_WHOLE, sort, false) : 0;
    if (!shop || at == shop->count || !span_equal(zero_shop_sort_key(shop, at), sort))
        return 0;
    zero_answer_print(answer, "%s", before);
    zero_answer_add(answer, zero_shop_slice(shop, ZERO_WHOLE, ZERO_FORWARDS, at, at + 1));
    return zero_shop_size(shop, ZERO_WHOLE, at, at + 1);
}

static void zero_add_capacity(struct zero_answer *answer, const char *before, double units,
                              const char *after)
{
    zero_answer_print(answer, "%s{\"TableName\":\"" ZERO_TABLE "\",\"CapacityUnits\":%.1f}%s",
                      before, units, after);
}

static void zero_get_item(struct zero_answer *answer, const struct zero_tables *tables,
                          struct json request)
{
    zero_answer_print(answer, "{");
    size_t size = zero_add_item_of(answer, tables, json_member(request, "Key"), "\"Item\":");
    double units = zero_units(size ? size : 1, zero_is_true(request, "ConsistentRead"));
    zero_add_capacity(answer, size ? ",\"ConsumedCapacity\":" : "\"ConsumedCapacity\":", units,
                      "}");
}

static void zero_batch_get_item(struct zero_answer *answer, const struct zero_tables *tables,
                                struct json request)
{
    struct json of_table = json_member(json_member(request, "RequestItems"), ZERO_TABLE);
    struct json keys = json_member(of_table, "Keys");
    double units = 0;
    if (json_count(keys) == 0 || json_count(keys) > ZERO_MOST_KEYS) {
        zero_refuse(answer, "such a number of keys");
        return;
    }
    zero_answer_print(answer, "{\"Responses\":{\"" ZERO_TABLE "\":[");
    bool any = false;
    for (struct json key = json_first(keys); json_present(key); key = json_next(key)) {
        size_t size = zero_add_item_of(answer, tables, key, any ? "," : "");
        any = any || size > 0;
        units += zero_units(size ? size : 1, zero_is_true(of_table, "ConsistentRead"));
    }
    zero_answer_print(answer, "]},\"UnprocessedKeys\":{},\"ConsumedCapacity\":[");
    zero_add_capacity(answer, "", units, "]}");
}

/* What a Query reads: items FROM up to, without, TO of a shop. */
struct zero_range {
    const struct zero_shop *shop;
    enum zero_width width;
    size_t from, to;
};

/* The words of a key condition: names, operators and values, resolved; brackets and commas are left
 * out. */
struct zero_words {
    struct json request;
    struct span rest;
};

static struct span zero_next_word(struct zero_words *words)
{
    struct span *rest = &words->rest;
    static const char skipped[] = " (),";
    while (rest->size && strchr(skipped, rest->data[0]))
        *rest = span_of(rest->data + 1, rest->size - 1);
    size_t size = 0;
    while (size < rest->size && !strchr(skipped, rest->data[size]))
        size++;
    struct span word = span_of(rest->data, size);
    *rest = span_of(rest->data + size, rest->size - size);
    return word;
}

static struct span zero_next_name(struct zero_words *words)
{
    struct span word = zero_next_word(words);
    if (word.size && word.data[0] == '#')
        json_plain_string(
            json_member_span(json_member(words->request, "ExpressionAttributeNames"), word), &word);
    return word;
}

static bool zero_next_value(struct zero_words *words, struct span *out)
{
    struct span word = zero_next_word(words);
    struct json values = json_member(words->request, "ExpressionAttributeValues");
    return zero_read_text(json_member_span(values, word), out);
}

static void zero_limit_to(struct zero_range *range, size_t from, size_t to)
{
    range->from = from > range->from ? from : range->from;
    range->to = to < range->to ? to : range->to;
}

/* All items whose sort key begins with PREFIX; sort keys are ASCII. */
static void zero_limit_to_prefix(struct zero_range *range, struct span prefix)
{
    char behind[256];
    int size = snprintf(behind, sizeof behind, "%.*s\xff", (int)prefix.size, prefix.data);
    struct span last =
        span_of(behind, (size_t)size < sizeof behind ? (size_t)size : sizeof behind - 1);
    zero_limit_to(range, zero_shop_find(range->shop, range->width, prefix, false),
                  zero_shop_find(range->shop, range->width, last, false));
}

/* "begins_with" is in front of the name, all other operators are behind it. False if it is none. */
static bool zero_limit_by_sort_key(struct zero_range *range, struct zero_words *words,
                                   struct span operator)
{
    struct span value, upper;
    if (!zero_next_value(words, &value))
        return false;
    size_t at = zero_shop_find(range->shop, range->width, value, false);
    size_t behind = zero_shop_find(range->shop, range->width, value, true);
    if (span_is(operator, "begins_with")) {
        zero_limit_to_prefix(range, value);
    } else if (span_is(operator, "=")) {
        zero_limit_to(range, at, behind);
    } else if (span_is(operator, ">=")) {
        zero_limit_to(range, at, range->to);
    } else if (span_is(operator, ">")) {
        zero_limit_to(range, behind, range->to);
    } else if (span_is(operator, "<")) {
        zero_limit_to(range, 0, at);
    } else if (span_is(operator, "<=")) {
        zero_limit_to(range, 0, behind);
    } else if (span_is(operator, "BETWEEN") && span_is(zero_next_word(words), "AND") &&
               zero_next_value(words, &upper)) {
        zero_limit_to(range, at, zero_shop_find(range->shop, range->width, upper, true));
    } else {
        return false;
    }
    return true;
}

/* The partition is the first condition, at most one of the sort key follows. False if the condition
 * has another form. A range without a shop is empty. */
static bool zero_read_condition(struct zero_range *range, const struct zero_tables *tables,
                                struct json request)
{
    struct span text, partition;
    const char *partition_name = range->width == ZERO_KEYS ? "shop" : "pk";
    const char *sort_name = range->width == ZERO_KEYS ? "created_at" : "sk";
    if (!json_plain_string(json_member(request, "KeyConditionExpression"), &text))
        return false;
    struct zero_words words = {request, text};
    if (!span_is(zero_next_name(&words), partition_name) || !span_is(zero_next_word(&words), "=") ||
        !zero_next_value(&words, &partition))
        return false;
    range->shop = zero_find_partition(tables, range->width, partition);
    range->to = range->shop ? range->shop->count : 0;
    if (!range->shop || !span_is(zero_next_word(&words), "AND"))
        return true;
    struct span operator= zero_next_word(&words);
    struct zero_words from_name = {request, operator};
    bool begins = span_is(operator, "begins_with");
    struct span name = zero_next_name(begins ? &words : &from_name);
    if (!begins)
        operator= zero_next_word(&words);
    return span_is(name, sort_name) && zero_limit_by_sort_key(range, &words, operator);
}

static bool zero_is_key(struct span name)
{
    return span_is(name, "pk") || span_is(name, "sk") || span_is(name, "shop") ||
           span_is(name, "created_at");
}

/* The texts that have at least the projected attributes: more of them harm no client. */
static enum zero_width zero_projected_width(const struct zero_range *range, struct json request)
{
    struct span text;
    if (!json_plain_string(json_member(request, "ProjectionExpression"), &text))
        return range->width;
    struct zero_words words = {request, text};
    for (struct span name; (name = zero_next_name(&words)).size > 0;)
        if (!zero_is_key(name))
            return range->width;
    return ZERO_KEYS;
}

/* The one filter that is supported: pk = the table's key of the partition, which leaves out no
 * item. */
static bool zero_admits_filter(const struct zero_range *range, struct json request)
{
    struct span text, value;
    struct span prefix = SPAN_LITERAL("SHOP#");
    if (!json_plain_string(json_member(request, "FilterExpression"), &text))
        return true;
    struct zero_words words = {request, text};
    if (!span_is(zero_next_name(&words), "pk") || !span_is(zero_next_word(&words), "=") ||
        !zero_next_value(&words, &value) || zero_next_word(&words).size > 0 ||
        !span_starts(value, prefix))
        return false;
    value = span_of(value.data + prefix.size, value.size - prefix.size);
    return range->shop && span_equal(range->shop->name, value);
}

/* The items behind ExclusiveStartKey, in the order of the Query. */
static bool zero_limit_by_start(struct zero_range *range, struct json request, bool backwards)
{
    struct span key;
    struct json start = json_member(request, "ExclusiveStartKey");
    if (!json_present(start))
        return true;
    if (!zero_read_text(json_member(start, range->width == ZERO_KEYS ? "created_at" : "sk"), &key))
        return false;
    if (!range->shop)
        return true;
    size_t at = zero_shop_find(range->shop, range->width, key, !backwards);
    zero_limit_to(range, backwards ? 0 : at, backwards ? at : range->to);
    return true;
}

/* Shortens the range to one page. Whether items of it remain. */
static bool zero_limit_to_page(struct zero_range *range, size_t limit, bool backwards)
{
    size_t count = range->to - range->from;
    size_t low = count > 0, high = limit && limit < count ? limit : count;
    if (high == 0)
        return false;
    while (low < high) { /* the most items that have no more than a page */
        size_t middle = low + (high - low + 1) / 2;
        size_t from = backwards ? range->to - middle : range->from;
        if (zero_shop_size(range->shop, range->width, from, from + middle) <= PAGE_SIZE)
            low = middle;
        else
            high = middle - 1;
    }
    if (backwards)
        range->from = range->to - low;
    else
        range->to = range->from + low;
    return low < count || low == limit;
}

static void zero_add_last_key(struct zero_answer *answer, const struct zero_range *range,
                              size_t number)
{
    struct span sort = zero_shop_sort_key(range->shop, number), name = range->shop->name;
    struct span created = zero_shop_created_at(range->shop, number);
    zero_answer_print(answer,
                      ",\"LastEvaluatedKey\":{\"pk\":{\"S\":\"SHOP#%.*s\"},\"sk\":{\"S\":\"%.*s\"}",
                      (int)name.size, name.data, (int)sort.size, sort.data);
    if (range->width == ZERO_KEYS)
        zero_answer_print(answer, ",\"shop\":{\"S\":\"%.*s\"},\"created_at\":{\"S\":\"%.*s\"}",
                          (int)name.size, name.data, (int)created.size, created.data);
    zero_answer_print(answer, "}");
}

static void zero_write_page(struct zero_answer *answer, const struct zero_range *range,
                            struct json request, bool more)
{
    size_t count = range->to - range->from;
    bool counts = json_string_is(json_member(request, "Select"), SPAN_LITERAL("COUNT"));
    enum zero_order order = answer->backwards ? ZERO_BACKWARDS : ZERO_FORWARDS;
    enum zero_width width = zero_projected_width(range, request);
    zero_answer_print(answer, "{\"Count\":%zu,\"ScannedCount\":%zu", count, count);
    if (!counts) {
        zero_answer_print(answer, ",\"Items\":[");
        if (count > 0)
            zero_answer_add(answer,
                            zero_shop_slice(range->shop, width, order, range->from, range->to));
        zero_answer_print(answer, "]");
    }
    if (more)
        zero_add_last_key(answer, range, answer->backwards ? range->from : range->to - 1);
    size_t size = count ? zero_shop_size(range->shop, range->width, range->from, range->to) : 1;
    double units = zero_units(size, zero_is_true(request, "ConsistentRead"));
    if (json_present(json_member(request, "ReturnConsumedCapacity")))
        zero_add_capacity(answer, ",\"ConsumedCapacity\":", units, "");
    zero_answer_print(answer, "}");
}

static void zero_query(struct zero_answer *answer, const struct zero_tables *tables,
                       struct json request)
{
    int64_t limit = 0;
    struct json index = json_member(request, "IndexName");
    struct zero_range range = {.width = json_present(index) ? ZERO_KEYS : ZERO_WHOLE};
    answer->backwards = json_is(json_member(request, "ScanIndexForward"), JSON_FALSE);
    json_read_int(json_member(request, "Limit"), &limit);
    if (json_present(index) && !json_string_is(index, SPAN_LITERAL(ZERO_INDEX))) {
        zero_refuse(answer, "this index");
    } else if (!zero_read_condition(&range, tables, request) ||
               !zero_limit_by_start(&range, request, answer->backwards)) {
        zero_refuse(answer, "this key condition");
    } else if (!zero_admits_filter(&range, request)) {
        zero_refuse(answer, "this filter");
    } else {
        if (range.from > range.to)
            range.to = range.from;
        bool more = range.shop && zero_limit_to_page(&range, (size_t)limit, answer->backwards);
        zero_write_page(answer, &range, request, more);
    }
}

static void zero_describe_table(struct zero_answer *answer)
{
    zero_answer_print(answer,
                      "{\"Table\":{%s,\"TableStatus\":\"ACTIVE\",\"CreationDateTime\":1767225600.0,"
                      "\"TableArn\":\"arn:aws:dynamodb:us-east-1:000000000000:table/" ZERO_TABLE
                      "\"}}",
                      zero_table_definition);
}

static bool zero_is_of_table(enum zero_op op, struct json request)
{
    if (op == ZERO_LIST_TABLES || op == ZERO_BATCH_GET_ITEM)
        return true;
    return json_string_is(json_member(request, "TableName"), SPAN_LITERAL(ZERO_TABLE));
}

void zero_answer_make(struct zero_answer *answer, const struct zero_tables *tables, enum zero_op op,
                      struct span request)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    answer->status = 200;
    answer->piece_count = answer->size = answer->text_size = 0;
    answer->crc = 0;
    answer->backwards = false;
    bool read = json_parse(&doc, request, JSON_STRICT, NULL);
    struct json root = json_root(&doc);
    if (!read || op == ZERO_OTHER)
        zero_refuse(answer, "this operation");
    else if (!zero_is_of_table(op, root))
        zero_refuse(answer, "this table");
    else if (op == ZERO_GET_ITEM)
        zero_get_item(answer, tables, root);
    else if (op == ZERO_BATCH_GET_ITEM)
        zero_batch_get_item(answer, tables, root);
    else if (op == ZERO_QUERY)
        zero_query(answer, tables, root);
    else if (op == ZERO_DESCRIBE_TABLE)
        zero_describe_table(answer);
    else
        zero_answer_print(answer, "{\"TableNames\":[\"" ZERO_TABLE "\"]}");
}
