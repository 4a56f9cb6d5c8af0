#include "core/sql/sql_range.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/utf8.h"
#include "core/item/value.h"

static const double SQL_RANGE_EXACT = 1e15; /* smaller whole numbers have at most 15 digits */

struct sql_range sql_range_of_point(enum value_type type, struct span value)
{
    return (struct sql_range){
        .type = type, .has_low = true, .low = value, .high_end = SQL_HIGH_VALUE, .high = value};
}

struct sql_range sql_range_of_prefix(enum value_type type, struct span prefix)
{
    if (prefix.size == 0)
        return (struct sql_range){.type = type};
    return (struct sql_range){
        .type = type, .has_low = true, .low = prefix, .high_end = SQL_HIGH_BEGINS, .high = prefix};
}

static int sql_range_compare(enum value_type type, struct span a, struct span b)
{
    return type == VALUE_N ? number_compare(a, b) : span_compare(a, b);
}

bool sql_range_is_point(const struct sql_range *range)
{
    return !range->is_empty && range->has_low && range->high_end == SQL_HIGH_VALUE &&
           sql_range_compare(range->type, range->low, range->high) == 0;
}

/* The order of the upper ends of A and B, which have one. */
static int sql_range_compare_highs(const struct sql_range *a, const struct sql_range *b)
{
    if (a->high_end == SQL_HIGH_BEGINS && span_starts(b->high, a->high))
        return b->high_end == SQL_HIGH_BEGINS && a->high.size == b->high.size ? 0 : 1;
    if (b->high_end == SQL_HIGH_BEGINS && span_starts(a->high, b->high))
        return -1;
    return sql_range_compare(a->type, a->high, b->high);
}

static bool sql_range_ends_below_low(const struct sql_range *range)
{
    if (!range->has_low || range->high_end == SQL_HIGH_OPEN)
        return false;
    if (range->high_end == SQL_HIGH_BEGINS && span_starts(range->low, range->high))
        return false;
    return sql_range_compare(range->type, range->low, range->high) > 0;
}

struct sql_range sql_range_intersect(const struct sql_range *a, const struct sql_range *b)
{
    struct sql_range both = *a;
    if (b->has_low && (!a->has_low || sql_range_compare(a->type, b->low, a->low) > 0)) {
        both.has_low = true;
        both.low = b->low;
    }
    if (b->high_end != SQL_HIGH_OPEN &&
        (a->high_end == SQL_HIGH_OPEN || sql_range_compare_highs(b, a) < 0)) {
        both.high_end = b->high_end;
        both.high = b->high;
    }
    both.is_empty = a->is_empty || b->is_empty || sql_range_ends_below_low(&both);
    return both;
}

struct sql_range sql_range_join(const struct sql_range *a, const struct sql_range *b)
{
    if (a->is_empty || b->is_empty)
        return a->is_empty ? *b : *a;
    struct sql_range any = *a;
    any.has_low = a->has_low && b->has_low;
    if (any.has_low && sql_range_compare(a->type, b->low, a->low) < 0)
        any.low = b->low;
    if (b->high_end == SQL_HIGH_OPEN)
        any.high_end = SQL_HIGH_OPEN;
    else if (any.high_end != SQL_HIGH_OPEN && sql_range_compare_highs(b, a) > 0) {
        any.high_end = b->high_end;
        any.high = b->high;
    }
    return any;
}

/* Constraints. */

static struct span sql_range_print(struct arena *arena, const char *text)
{
    return arena_copy(arena, span_text(text));
}

bool sql_range_read_text(const struct sql_value *value, struct arena *arena, struct span *out)
{
    char text[64];
    switch (value->type) {
    case SQL_TEXT:
        *out = value->bytes;
        return true;
    case SQL_INTEGER:
        snprintf(text, sizeof text, "%lld", (long long)value->integer);
        *out = sql_range_print(arena, text);
        return true;
    case SQL_REAL: { /* as SQLite: with a point */
        char digits[40];
        snprintf(digits, sizeof digits, "%.15g", value->real);
        size_t mantissa = strcspn(digits, "e");
        bool is_whole = !memchr(digits, '.', mantissa) && isfinite(value->real);
        snprintf(text, sizeof text, "%.*s%s%s", (int)mantissa, digits, is_whole ? ".0" : "",
                 digits + mantissa);
        *out = sql_range_print(arena, text);
        return true;
    }
    case SQL_NULL:
    case SQL_BLOB:
        break;
    }
    return false;
}

static struct span sql_range_trim(struct span text)
{
    static const char blanks[] = " \t\n\v\f\r";
    while (text.size > 0 && memchr(blanks, text.data[0], sizeof blanks - 1))
        text = span_from(text, 1);
    while (text.size > 0 && memchr(blanks, text.data[text.size - 1], sizeof blanks - 1))
        text.size--;
    return text;
}

bool sql_range_is_numeric(struct span text)
{
    return number_is(sql_range_trim(text));
}

/* The number of VALUE, and of a REAL that has lost digits the next ones, below and above. */
struct sql_range_number {
    bool is_number;
    bool lost_digits;
    struct span text, below, above;
};

/* A decimal of up to 15 digits is the only such decimal of its double. A larger number may have
 * been a text with more digits: SQLite converts the texts of an IN list. */
static void sql_range_read_real(double real, struct arena *arena, struct sql_range_number *out)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", real);
    out->text = out->below = out->above = sql_range_print(arena, text);
    out->lost_digits = strtod(text, NULL) != real || fabs(real) >= SQL_RANGE_EXACT;
    if (!out->lost_digits)
        return;
    snprintf(text, sizeof text, "%.17g", nextafter(real, -INFINITY));
    out->below = sql_range_print(arena, text);
    snprintf(text, sizeof text, "%.17g", nextafter(real, INFINITY));
    out->above = sql_range_print(arena, text);
}

static struct sql_range_number sql_range_read_number(const struct sql_value *value,
                                                     struct arena *arena)
{
    struct sql_range_number number = {.is_number = true};
    if (value->type == SQL_REAL) {
        sql_range_read_real(value->real, arena, &number);
    } else if (value->type == SQL_INTEGER) {
        sql_range_read_text(value, arena, &number.text);
    } else if (value->type == SQL_TEXT && sql_range_is_numeric(value->bytes)) {
        number.text = sql_range_trim(value->bytes);
    } else {
        number.is_number = false;
    }
    if (value->type != SQL_REAL)
        number.below = number.above = number.text;
    return number;
}

/* The beginning that all texts have that satisfy the pattern. */
static struct span sql_range_read_prefix(enum sql_op op, struct span pattern)
{
    const char *wild = op == SQL_OP_LIKE ? "%_" : op == SQL_OP_GLOB ? "*?[" : "";
    size_t size = 0;
    bool ends_at_nul = op != SQL_OP_BEGINS;
    while (size < pattern.size && !(ends_at_nul && pattern.data[size] == '\0') &&
           !(pattern.data[size] != '\0' && strchr(wild, pattern.data[size])))
        size++;
    return span_of(pattern.data, size);
}

static struct sql_range sql_range_empty(enum value_type type)
{
    return (struct sql_range){.type = type, .is_empty = true};
}

/* A comparison with a value that sorts behind all of the key (BEHIND), or before it. */
static struct sql_range sql_range_of_other_type(enum value_type type, enum sql_op op, bool behind)
{
    bool all = (op == SQL_OP_LT || op == SQL_OP_LE) ? behind : !behind;
    if (op == SQL_OP_EQ || !all)
        return sql_range_empty(type);
    return (struct sql_range){.type = type};
}

static struct sql_range sql_range_compared(enum value_type type, enum sql_op op, struct span low,
                                           struct span high)
{
    struct sql_range range = {.type = type};
    if (op == SQL_OP_EQ || op == SQL_OP_GT || op == SQL_OP_GE) {
        range.has_low = true;
        range.low = low;
    }
    if (op == SQL_OP_EQ || op == SQL_OP_LT || op == SQL_OP_LE) {
        range.high_end = SQL_HIGH_VALUE;
        range.high = high;
    }
    return range;
}

static bool sql_range_of_number(enum sql_op op, const struct sql_value *value, struct arena *arena,
                                struct sql_range *out, struct error *err)
{
    struct sql_range_number number = sql_range_read_number(value, arena);
    if (!number.is_number)
        *out = sql_range_of_other_type(VALUE_N, op, true);
    else if (value->type == SQL_REAL && !isfinite(value->real))
        *out = sql_range_of_other_type(VALUE_N, op, value->real > 0);
    else
        *out = sql_range_compared(VALUE_N, op, number.below, number.above);
    if (number.is_number && number.lost_digits && op == SQL_OP_EQ && isfinite(value->real))
        return error_set(err, ERROR_INVALID,
                         "a number may have lost digits: SQL reads it as %.17g, and a key must be "
                         "exact; write the number as a text, in single quotes, behind =, since a "
                         "list loses digits, too",
                         value->real);
    return true;
}

bool sql_range_of_constraint(enum value_type type, enum sql_op op, const struct sql_value *value,
                             struct arena *arena, struct sql_range *out, struct error *err)
{
    struct span text;
    bool is_compared = op <= SQL_OP_GE;
    bool is_pattern = op == SQL_OP_LIKE || op == SQL_OP_GLOB || op == SQL_OP_BEGINS;
    *out = (struct sql_range){.type = type};
    if (!is_compared && !is_pattern)
        return true;
    if (value->type == SQL_NULL) {
        *out = sql_range_empty(type);
    } else if (is_pattern) {
        if (type == VALUE_S && sql_range_read_text(value, arena, &text))
            *out = sql_range_of_prefix(type, sql_range_read_prefix(op, text));
    } else if (type == VALUE_N) {
        if (!sql_range_of_number(op, value, arena, out, err))
            return false;
    } else if (type == VALUE_B) {
        *out = value->type == SQL_BLOB ? sql_range_compared(type, op, value->bytes, value->bytes)
                                       : sql_range_of_other_type(type, op, false);
    } else {
        *out = sql_range_read_text(value, arena, &text) ? sql_range_compared(type, op, text, text)
                                                        : sql_range_of_other_type(type, op, true);
    }
    return !arena->failed || error_no_memory(err);
}

/* Keys. */

/* The bytes of TEXT, at most MOST, up to the first that is not UTF-8. */
static struct span sql_range_cut(enum value_type type, struct span text, size_t most)
{
    if (type == VALUE_B)
        return span_of(text.data, text.size < most ? text.size : most);
    size_t size = 0, length;
    while ((length = utf8_length(span_from(text, size))) > 0 && size + length <= most)
        size += length;
    return span_of(text.data, size);
}

/* An end that is no number of the service: beyond all, or between zero and the least of them. */
static void sql_range_fit_number(struct span *text, bool is_low, bool *is_open, bool *is_empty)
{
    const char *fault = number_fault(*text);
    if (!fault)
        return;
    struct span zero = SPAN_LITERAL("0");
    bool negative = number_compare(*text, zero) < 0;
    bool is_large = number_compare(*text, SPAN_LITERAL("1E126")) >= 0 ||
                    number_compare(*text, SPAN_LITERAL("-1E126")) <= 0;
    bool is_small = number_compare(*text, SPAN_LITERAL("1E-130")) < 0 &&
                    number_compare(*text, SPAN_LITERAL("-1E-130")) > 0;
    *is_open = !is_small;
    if (is_large && negative != is_low)
        *is_empty = true;
    if (is_small && is_low)
        *text = negative ? SPAN_LITERAL("-1E-130") : zero;
    else if (is_small)
        *text = negative ? zero : SPAN_LITERAL("1E-130");
}

static void sql_range_fit_numbers(struct sql_range *range, struct arena *arena)
{
    bool is_point = sql_range_is_point(range), low_open = false, high_open = false;
    if (is_point && number_fault(range->low))
        range->is_empty = true;
    if (range->has_low)
        sql_range_fit_number(&range->low, true, &low_open, &range->is_empty);
    if (range->high_end != SQL_HIGH_OPEN)
        sql_range_fit_number(&range->high, false, &high_open, &range->is_empty);
    range->has_low = range->has_low && !low_open;
    range->high_end = high_open ? SQL_HIGH_OPEN : range->high_end;
    struct span *ends[] = {range->has_low ? &range->low : NULL,
                           range->high_end != SQL_HIGH_OPEN ? &range->high : NULL};
    for (size_t i = 0; i < 2 && !range->is_empty; i++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        if (!ends[i])
            continue;
        number_write(*ends[i], &text);
        arena->failed = arena->failed || text.failed;
        *ends[i] = arena_copy(arena, buf_span(&text));
    }
}

void sql_range_fit_key(struct sql_range *range, size_t most, struct arena *arena)
{
    if (range->is_empty)
        return;
    if (range->type == VALUE_N) {
        sql_range_fit_numbers(range, arena);
        return;
    }
    struct span low = sql_range_cut(range->type, range->low, most);
    struct span high = sql_range_cut(range->type, range->high, most);
    bool is_point = sql_range_is_point(range);
    if (is_point && low.size < range->low.size)
        range->is_empty = true;
    if (range->high_end == SQL_HIGH_VALUE && range->high.size == 0)
        range->is_empty = true; /* no key is empty */
    if (range->high_end == SQL_HIGH_VALUE && high.size < range->high.size)
        range->high_end = SQL_HIGH_BEGINS;
    range->low = low;
    range->high = high;
    range->has_low = range->has_low && low.size > 0;
    if (range->high_end == SQL_HIGH_BEGINS && high.size == 0)
        range->high_end = SQL_HIGH_OPEN;
}

/* The character behind CODE; 0 for the last. */
static uint32_t sql_range_next_character(uint32_t code)
{
    if (code == 0x10FFFF)
        return 0;
    return code + 1 == 0xD800 ? 0xE000 : code + 1;
}

static size_t sql_range_write_character(uint32_t code, unsigned char out[4])
{
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = size; i-- > 1; code >>= 6)
        out[i] = (unsigned char)(0x80 | (code & 0x3F));
    out[0] = (unsigned char)(first[size] | code);
    return size;
}

/* Where the last character of TEXT begins, which is UTF-8; CODE gets the character. */
static size_t sql_range_last_character(struct span text, uint32_t *code)
{
    size_t at = text.size - 1;
    while (at > 0 && ((unsigned char)text.data[at] & 0xC0) == 0x80)
        at--;
    unsigned char byte = (unsigned char)text.data[at];
    *code = byte < 0x80 ? byte : byte & (0x7FU >> (text.size - at));
    for (size_t i = at + 1; i < text.size; i++)
        *code = *code << 6 | ((unsigned char)text.data[i] & 0x3F);
    return at;
}

bool sql_range_find_successor(enum value_type type, struct span prefix, struct arena *arena,
                              struct span *out)
{
    char *text = arena_alloc(arena, prefix.size + 4);
    if (!text)
        return false;
    memcpy(text, prefix.data, prefix.size);
    while (prefix.size > 0) {
        uint32_t code = 0;
        size_t at = prefix.size - 1;
        if (type == VALUE_B)
            code = (unsigned char)prefix.data[at];
        else
            at = sql_range_last_character(prefix, &code);
        uint32_t next = type != VALUE_B ? sql_range_next_character(code)
                        : code < 0xFF   ? code + 1
                                        : 0;
        prefix.size = at;
        if (next == 0)
            continue;
        size_t size = 1;
        if (type == VALUE_B)
            text[at] = (char)next;
        else
            size = sql_range_write_character(next, (unsigned char *)text + at);
        *out = span_of(text, at + size);
        return true;
    }
    return false;
}

bool sql_range_write_cond(const struct sql_range *range, struct span attribute, struct arena *arena,
                          struct cond *out)
{
    struct span high = range->high;
    bool begins = range->high_end == SQL_HIGH_BEGINS, has_high = range->high_end != SQL_HIGH_OPEN;
    *out = (struct cond){.attribute = attribute,
                         .value = {range->type, range->low},
                         .upper = {range->type, range->high}};
    if (begins && range->has_low && span_equal(range->low, range->high)) {
        out->op = COND_BEGINS;
        return true;
    }
    if (begins)
        has_high = sql_range_find_successor(range->type, range->high, arena, &high);
    out->upper.bytes = high;
    if (sql_range_is_point(range))
        out->op = COND_EQ;
    else if (range->has_low && has_high)
        out->op = COND_BETWEEN;
    else if (range->has_low)
        out->op = COND_GE;
    else {
        out->op = begins ? COND_LT : COND_LE;
        out->value.bytes = high;
    }
    return range->has_low || has_high;
}
