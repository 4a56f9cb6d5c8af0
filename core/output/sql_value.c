#include "core/output/sql_value.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/item/value.h"
#include "core/output/cell.h"

/* A decimal text of up to 15 digits is the shortest one of its double; none needs more than 17. */
enum { SQL_VALUE_SURE_DIGITS = 15, SQL_VALUE_MOST_DIGITS = 17, SQL_VALUE_INTEGER_DIGITS = 19 };

/* False if the number has a fraction, or does not fit. */
static bool sql_value_to_integer(const struct number_parts *parts, int64_t *out)
{
    uint64_t sum = 0, most = parts->is_negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    if (parts->digit_count > 0 && (parts->magnitude >= SQL_VALUE_INTEGER_DIGITS ||
                                   parts->magnitude + 1 < (int)parts->digit_count))
        return false;
    for (int i = 0; parts->digit_count > 0 && i <= parts->magnitude; i++)
        sum = sum * 10 + (i < (int)parts->digit_count ? (uint64_t)(parts->digits[i] - '0') : 0);
    if (sum > most)
        return false;
    *out = parts->is_negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

/* Whether another decimal of the same double has fewer digits, or as many. */
static bool sql_value_has_other_decimal(const char *text, size_t digits, double real)
{
    char other[40];
    for (int count = SQL_VALUE_SURE_DIGITS; count <= (int)digits; count++) {
        snprintf(other, sizeof other, "%.*g", count, real);
        if (strtod(other, NULL) == real)
            return number_compare(span_text(other), span_text(text)) != 0;
    }
    return true;
}

/* False if the shortest decimal of the double is another number. */
static bool sql_value_to_real(const struct number_parts *parts, double *out)
{
    char text[64];
    if (parts->digit_count > SQL_VALUE_MOST_DIGITS)
        return false;
    snprintf(text, sizeof text, "%s%.*se%d", parts->is_negative ? "-" : "", (int)parts->digit_count,
             parts->digits, parts->magnitude + 1 - (int)parts->digit_count);
    *out = strtod(text, NULL);
    return parts->digit_count <= SQL_VALUE_SURE_DIGITS ||
           !sql_value_has_other_decimal(text, parts->digit_count, *out);
}

struct sql_value sql_value_of_number(struct span text)
{
    struct number_parts parts;
    struct sql_value value = {.type = SQL_INTEGER, .attribute = SQL_OF_N};
    bool split = !number_fault(text);
    if (split)
        number_split(text, &parts);
    if (split && sql_value_to_integer(&parts, &value.integer))
        return value;
    value.type = SQL_REAL;
    if (!split || !sql_value_to_real(&parts, &value.real))
        value = (struct sql_value){.type = SQL_TEXT, .attribute = SQL_OF_N, .bytes = text};
    return value;
}

static bool sql_value_read_scalar(struct json typed, struct buf *storage, struct sql_value *out)
{
    struct value value;
    if (!value_read(typed, storage, &value))
        return false;
    if (value.type == VALUE_N)
        *out = sql_value_of_number(value.bytes);
    else
        *out = (struct sql_value){.type = value.type == VALUE_B ? SQL_BLOB : SQL_TEXT,
                                  .attribute = value.type == VALUE_B ? SQL_OF_B : SQL_OF_S,
                                  .bytes = value.bytes};
    return true;
}

static enum sql_attribute sql_value_attribute(struct typed open)
{
    static const enum sql_attribute attributes[] = {[TYPED_M] = SQL_OF_M,
                                                    [TYPED_SS] = SQL_OF_SS,
                                                    [TYPED_NS] = SQL_OF_NS,
                                                    [TYPED_BS] = SQL_OF_BS};
    bool has_text = false, has_binary = false;
    if (open.tag != TYPED_L)
        return attributes[open.tag];
    for (struct json each = json_first(open.content); json_present(each); each = json_next(each)) {
        enum typed_tag tag = typed_open(each).tag;
        has_text = has_text || tag == TYPED_S;
        has_binary = has_binary || tag == TYPED_B;
    }
    return !has_binary ? SQL_OF_L : has_text ? SQL_OF_L_OF_BOTH : SQL_OF_L_OF_BINARY;
}

bool sql_value_read(struct json typed, bool masked, struct buf *storage, struct sql_value *out)
{
    struct typed open = typed_open(typed);
    size_t before = storage->size;
    *out = (struct sql_value){.type = SQL_NULL};
    if (!json_present(typed))
        return true;
    if (!masked && (open.tag == TYPED_N || open.tag == TYPED_S || open.tag == TYPED_B))
        return sql_value_read_scalar(typed, storage, out);
    if (!masked && (open.tag == TYPED_BOOL || open.tag == TYPED_NULL)) {
        *out = (struct sql_value){.type = open.tag == TYPED_NULL ? SQL_NULL : SQL_INTEGER,
                                  .attribute = SQL_OF_BOOL,
                                  .integer = json_is(open.content, JSON_TRUE)};
        return true;
    }
    enum sql_attribute attribute = masked ? SQL_OF_S : sql_value_attribute(open);
    if (!cell_write(typed, masked, storage, &open.tag))
        return false;
    *out = (struct sql_value){
        .type = SQL_TEXT, .attribute = attribute, .bytes = span_from(buf_span(storage), before)};
    return true;
}

void sql_value_write_number(const struct sql_value *value, struct buf *out)
{
    char text[40];
    int digits = SQL_VALUE_SURE_DIGITS;
    if (value->type == SQL_INTEGER)
        buf_printf(out, "%lld", (long long)value->integer);
    if (value->type == SQL_TEXT)
        buf_add_span(out, value->bytes);
    if (value->type != SQL_REAL)
        return;
    do
        snprintf(text, sizeof text, "%.*g", digits, value->real);
    while (strtod(text, NULL) != value->real && ++digits <= SQL_VALUE_MOST_DIGITS);
    buf_add_text(out, text);
}

/* Exact, also where the INTEGER is no double. */
static int sql_value_compare_mixed(int64_t integer, double real)
{
    static const double beyond = 9223372036854775808.0; /* the first that is too large */
    if (real >= beyond || real < -beyond)
        return real > 0 ? -1 : 1;
    int64_t whole = (int64_t)real;
    if (integer != whole)
        return integer < whole ? -1 : 1;
    double fraction = real - (double)whole;
    return fraction > 0 ? -1 : fraction < 0;
}

static int sql_value_compare_numbers(const struct sql_value *a, const struct sql_value *b)
{
    if (a->type != b->type)
        return a->type == SQL_INTEGER ? sql_value_compare_mixed(a->integer, b->real)
                                      : -sql_value_compare_mixed(b->integer, a->real);
    if (a->type == SQL_INTEGER)
        return a->integer < b->integer ? -1 : a->integer > b->integer;
    return a->real < b->real ? -1 : a->real > b->real;
}

int sql_value_compare(const struct sql_value *a, const struct sql_value *b)
{
    static const int ranks[] = {
        [SQL_NULL] = 0, [SQL_INTEGER] = 1, [SQL_REAL] = 1, [SQL_TEXT] = 2, [SQL_BLOB] = 3};
    if (ranks[a->type] != ranks[b->type])
        return ranks[a->type] < ranks[b->type] ? -1 : 1;
    if (ranks[a->type] == 1)
        return sql_value_compare_numbers(a, b);
    return a->type == SQL_NULL ? 0 : span_compare(a->bytes, b->bytes);
}
