#include "core/sql/sql_functions.h"

#include <math.h>

#include "core/base/ascii.h"
#include "core/item/value.h"

enum sql_answer { SQL_ANSWER_NO, SQL_ANSWER_YES, SQL_ANSWER_OPEN };

/* The result for two types; ATTRIBUTE of both values is known. */
typedef enum sql_answer sql_function_test(const struct sql_value *in,
                                          const struct sql_value *wanted);

#define SQL_TYPE(attribute) (1U << (attribute))

static const unsigned SQL_TYPES_OF_LIST = SQL_TYPE(SQL_OF_L) | SQL_TYPE(SQL_OF_L_OF_BINARY) |
                                          SQL_TYPE(SQL_OF_L_OF_BOTH) | SQL_TYPE(SQL_OF_SS) |
                                          SQL_TYPE(SQL_OF_NS) | SQL_TYPE(SQL_OF_BS);

/* Whether TEXT is how SQLite has a number of more digits than a REAL. */
static bool sql_types_is_number(struct span text)
{
    bool begins = text.size > 0 && (ascii_is_digit(text.data[0]) || text.data[0] == '-');
    return begins && !number_fault(text) && sql_value_of_number(text).type == SQL_TEXT;
}

/* The types that a TEXT may have: all, and the likeliest. */
static unsigned sql_types_of_text(struct span text, unsigned *likely)
{
    unsigned others = 0;
    *likely = SQL_TYPE(SQL_OF_S);
    if (span_starts(text, SPAN_LITERAL("["))) {
        others = SQL_TYPES_OF_LIST;
        *likely |= SQL_TYPE(SQL_OF_L);
    } else if (span_starts(text, SPAN_LITERAL("{"))) {
        others = SQL_TYPE(SQL_OF_M);
        *likely |= others;
    } else if (sql_types_is_number(text)) {
        others = SQL_TYPE(SQL_OF_N);
        *likely |= others;
    }
    return SQL_TYPE(SQL_OF_S) | others;
}

void sql_types_note(struct sql_types *types, const struct sql_value *value)
{
    unsigned likely;
    if (value->attribute == SQL_OF_BOOL ||
        (value->type == SQL_TEXT && sql_types_of_text(value->bytes, &likely) != SQL_TYPE(SQL_OF_S)))
        types->seen |= SQL_TYPE(value->attribute);
}

static bool sql_types_is_json(struct span text)
{
    struct json_doc parsed = {0};
    bool is = json_parse(&parsed, text, JSON_STRICT, NULL);
    json_clean_up(&parsed);
    return is;
}

/* The types that VALUE may have, as bits; 0 of NULL. */
static unsigned sql_types_find(const struct sql_types *types, const struct sql_value *value)
{
    unsigned likely;
    if (value->attribute == SQL_OF_LITERAL)
        return SQL_TYPE(SQL_OF_S) | (sql_types_is_number(value->bytes) ? SQL_TYPE(SQL_OF_N) : 0);
    if (value->type == SQL_NULL || value->attribute != SQL_OF_NONE)
        return value->type == SQL_NULL ? 0 : SQL_TYPE(value->attribute);
    if (value->type == SQL_BLOB)
        return SQL_TYPE(SQL_OF_B);
    if (value->type != SQL_TEXT)
        return SQL_TYPE(SQL_OF_N);
    unsigned seen = sql_types_of_text(value->bytes, &likely) & types->seen;
    if (likely & (SQL_TYPE(SQL_OF_L) | SQL_TYPE(SQL_OF_M)) && !sql_types_is_json(value->bytes))
        return SQL_TYPE(SQL_OF_S);
    return seen & ~SQL_TYPE(SQL_OF_S) ? seen : likely;
}

/* The result if all types that the values may have lead to the same. A text of many digits that is
 * of no column is also the number. */
static bool sql_functions_answer(const struct sql_types *types, struct sql_value in,
                                 struct sql_value wanted, sql_function_test *test, const char *name,
                                 bool *out, struct error *err)
{
    unsigned ins = sql_types_find(types, &in), wants = sql_types_find(types, &wanted);
    unsigned of_number = SQL_TYPE(SQL_OF_S) | SQL_TYPE(SQL_OF_N);
    bool either =
        wants == of_number && (wanted.attribute == SQL_OF_LITERAL ||
                               (wanted.attribute == SQL_OF_NONE && !(types->seen & of_number)));
    unsigned answers = 0;
    for (unsigned i = SQL_OF_S; i < SQL_OF_COUNT; i++) {
        unsigned of_type = 0;
        in.attribute = (enum sql_attribute)i;
        for (unsigned k = SQL_OF_S; k < SQL_OF_COUNT && ins & SQL_TYPE(i); k++) {
            wanted.attribute = (enum sql_attribute)k;
            of_type |= wants & SQL_TYPE(k) ? 1U << test(&in, &wanted) : 0;
        }
        answers |= either && of_type & 1U << SQL_ANSWER_YES ? 1U << SQL_ANSWER_YES : of_type;
    }
    *out = answers == 1U << SQL_ANSWER_YES;
    if (*out || answers == 0 || answers == 1U << SQL_ANSWER_NO)
        return true;
    if (answers & 1U << SQL_ANSWER_OPEN)
        return error_set(err, ERROR_INVALID,
                         "%s() has no result: an element of a list is equal as JSON, but its type "
                         "is not known; test the attribute with ls --where",
                         name);
    return error_set(err, ERROR_INVALID,
                     "%s() has no result: its value came through a subquery, a group or a "
                     "function, and may be a text as well as JSON of a list, a map or a number; "
                     "call it on the column itself: with x as materialized (select %s(…) …)",
                     name, name);
}

static enum sql_answer sql_functions_test_begin(const struct sql_value *in,
                                                const struct sql_value *wanted)
{
    bool may = in->attribute == SQL_OF_S || in->attribute == SQL_OF_B;
    return may && in->attribute == wanted->attribute && span_starts(in->bytes, wanted->bytes)
               ? SQL_ANSWER_YES
               : SQL_ANSWER_NO;
}

bool sql_functions_begins_with(const struct sql_types *types, const struct sql_value *in,
                               const struct sql_value *wanted, bool *out, struct error *err)
{
    return sql_functions_answer(types, *in, *wanted, sql_functions_test_begin, "begins_with", out,
                                err);
}

/* An element as JSON is compared with this. */
struct sql_element {
    enum json_type type;
    struct buf text; /* of a string, or a number */
};

/* False: no element is equal to WANTED. */
static bool sql_element_init(struct sql_element *element, const struct sql_value *wanted)
{
    switch (wanted->attribute) {
    case SQL_OF_S:
        element->type = JSON_STRING;
        buf_add_span(&element->text, wanted->bytes);
        return true;
    case SQL_OF_B:
        element->type = JSON_STRING;
        base64_write(&element->text, wanted->bytes);
        return true;
    case SQL_OF_N:
        element->type = JSON_NUMBER;
        if (wanted->type != SQL_REAL || isfinite(wanted->real))
            sql_value_write_number(wanted, &element->text);
        return element->text.size > 0;
    case SQL_OF_BOOL:
        element->type = wanted->integer ? JSON_TRUE : JSON_FALSE;
        return true;
    default:
        return false;
    }
}

static bool sql_element_is(const struct sql_element *element, struct json each)
{
    struct span text = buf_span(&element->text);
    if (!json_is(each, element->type))
        return false;
    if (element->type == JSON_NUMBER)
        return number_compare(json_raw(each), text) == 0;
    return element->type != JSON_STRING || json_string_is(each, text);
}

/* Whether a list or set of the type IN may have elements of the type of WANTED. */
static bool sql_functions_may_have(enum sql_attribute in, enum sql_attribute wanted)
{
    switch (in) {
    case SQL_OF_SS:
        return wanted == SQL_OF_S;
    case SQL_OF_NS:
        return wanted == SQL_OF_N;
    case SQL_OF_BS:
        return wanted == SQL_OF_B;
    case SQL_OF_L:
        return wanted != SQL_OF_B;
    case SQL_OF_L_OF_BINARY:
        return wanted != SQL_OF_S;
    case SQL_OF_L_OF_BOTH:
        return true;
    default:
        return false;
    }
}

static enum sql_answer sql_functions_test_elements(struct json list, const struct sql_value *in,
                                                   const struct sql_value *wanted)
{
    struct sql_element element = {.text = {0}};
    bool is_scalar = sql_element_init(&element, wanted);
    bool is_text = wanted->attribute == SQL_OF_S || wanted->attribute == SQL_OF_B;
    enum sql_answer answer = SQL_ANSWER_NO;
    for (struct json each = json_first(list); json_present(each); each = json_next(each)) {
        bool is_group = json_is(each, JSON_ARRAY) || json_is(each, JSON_OBJECT);
        if (!is_scalar && is_group && wanted->attribute >= SQL_OF_M)
            answer = SQL_ANSWER_OPEN;
        else if (is_scalar && sql_element_is(&element, each))
            answer =
                is_text && in->attribute == SQL_OF_L_OF_BOTH ? SQL_ANSWER_OPEN : SQL_ANSWER_YES;
    }
    answer = element.text.failed ? SQL_ANSWER_OPEN : answer;
    buf_clean_up_secret(&element.text);
    return answer;
}

static enum sql_answer sql_functions_test_contains(const struct sql_value *in,
                                                   const struct sql_value *wanted)
{
    struct json_doc parsed = {0};
    if (in->attribute == SQL_OF_S || in->attribute == SQL_OF_B)
        return in->attribute == wanted->attribute &&
                       (wanted->bytes.size == 0 || memmem(in->bytes.data, in->bytes.size,
                                                          wanted->bytes.data, wanted->bytes.size))
                   ? SQL_ANSWER_YES
                   : SQL_ANSWER_NO;
    if (!sql_functions_may_have(in->attribute, wanted->attribute))
        return SQL_ANSWER_NO;
    enum sql_answer answer = SQL_ANSWER_OPEN;
    if (json_parse(&parsed, in->bytes, JSON_STRICT, NULL))
        answer = sql_functions_test_elements(json_root(&parsed), in, wanted);
    json_clean_up(&parsed);
    return answer;
}

bool sql_functions_contains(const struct sql_types *types, const struct sql_value *in,
                            const struct sql_value *wanted, bool *out, struct error *err)
{
    return sql_functions_answer(types, *in, *wanted, sql_functions_test_contains, "contains", out,
                                err);
}
