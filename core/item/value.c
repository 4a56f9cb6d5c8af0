/* Key values: their order, their typed form, and the base64 of binary ones. */
#include "core/item/value.h"

#include <stdint.h>

#include "core/base/ascii.h"

const char *value_type_name(enum value_type type)
{
    static const char *const names[] = {
        [VALUE_S] = "S",       [VALUE_N] = "N",       [VALUE_B] = "B",
        [VALUE_BOOL] = "BOOL", [VALUE_NULL] = "NULL",
    };
    return names[type];
}

struct value value_of_bool(bool yes)
{
    return (struct value){VALUE_BOOL, yes ? SPAN_LITERAL("true") : SPAN_LITERAL("false")};
}

int value_compare(struct value a, struct value b)
{
    if (a.type != b.type)
        return a.type < b.type ? -1 : 1;
    return a.type == VALUE_N ? number_compare(a.bytes, b.bytes) : span_compare(a.bytes, b.bytes);
}

/* An exponent is bounded, so that no text can overflow a sum with it; beyond it two numbers
 * differ by more than any text can make up for. */
static const int64_t MAX_EXPONENT = INT64_MAX / 4;

/* A decimal text, taken apart. */
struct decimal {
    bool negative;      /* false for zero */
    struct span digits; /* from the first that is not zero on; may hold a point */
    int64_t magnitude;  /* the power of ten of the first digit */
};

/* Takes a sign from the front of TEXT; true if it was a minus. */
static bool value_take_sign(struct span *text)
{
    bool minus = text->size > 0 && text->data[0] == '-';
    if (minus || (text->size > 0 && text->data[0] == '+'))
        *text = span_from(*text, 1);
    return minus;
}

/* Takes digits with at most one point from the front of TEXT. False if there is no digit. POINT
 * is the number of bytes before the point. */
static bool value_take_mantissa(struct span *text, struct span *mantissa, size_t *point)
{
    size_t size = 0, points = 0;
    for (; size < text->size; size++) {
        if (text->data[size] == '.' && points++ == 0)
            *point = size;
        else if (!ascii_is_digit(text->data[size]))
            break;
    }
    if (points == 0)
        *point = size;
    *mantissa = span_of(text->data, size);
    *text = span_from(*text, size);
    return size > (points > 0);
}

/* Reads what follows the mantissa: nothing, or an exponent. */
static bool value_read_exponent(struct span text, int64_t *exponent)
{
    *exponent = 0;
    if (text.size == 0)
        return true;
    if (text.data[0] != 'e' && text.data[0] != 'E')
        return false;
    text = span_from(text, 1);
    bool minus = value_take_sign(&text);
    for (size_t i = 0; i < text.size; i++) {
        if (!ascii_is_digit(text.data[i]))
            return false;
        if (*exponent < MAX_EXPONENT / 10)
            *exponent = *exponent * 10 + (text.data[i] - '0');
        else
            *exponent = MAX_EXPONENT;
    }
    *exponent = minus ? -*exponent : *exponent;
    return text.size > 0;
}

/* Cuts zeros off the front, and finds the power of ten of the first digit then. */
static void value_normalise(struct decimal *decimal, struct span mantissa, size_t point,
                            int64_t exponent)
{
    size_t first = 0;
    while (first < mantissa.size && (mantissa.data[first] == '0' || mantissa.data[first] == '.'))
        first++;
    decimal->digits = span_from(mantissa, first);
    decimal->negative = decimal->negative && decimal->digits.size > 0;
    int64_t place = first < point ? (int64_t)(point - first) - 1 : -(int64_t)(first - point);
    decimal->magnitude = exponent + place;
}

static bool value_read_decimal(struct span text, struct decimal *decimal)
{
    struct span mantissa;
    size_t point = 0;
    int64_t exponent;
    decimal->negative = value_take_sign(&text);
    if (!value_take_mantissa(&text, &mantissa, &point) || !value_read_exponent(text, &exponent))
        return false;
    value_normalise(decimal, mantissa, point, exponent);
    return true;
}

/* The next digit, passing a point; zeros without end follow the last one. */
static char value_take_digit(struct span *digits)
{
    if (digits->size > 0 && digits->data[0] == '.')
        *digits = span_from(*digits, 1);
    if (digits->size == 0)
        return '0';
    char digit = digits->data[0];
    *digits = span_from(*digits, 1);
    return digit;
}

static int value_compare_digits(struct span a, struct span b)
{
    while (a.size > 0 || b.size > 0) {
        char x = value_take_digit(&a), y = value_take_digit(&b);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

/* The order of two numbers without their signs. */
static int value_compare_sizes(const struct decimal *a, const struct decimal *b)
{
    if (a->digits.size == 0 || b->digits.size == 0)
        return (a->digits.size > 0) - (b->digits.size > 0);
    if (a->magnitude != b->magnitude)
        return a->magnitude < b->magnitude ? -1 : 1;
    return value_compare_digits(a->digits, b->digits);
}

int number_compare(struct span a, struct span b)
{
    struct decimal x, y;
    bool is_x = value_read_decimal(a, &x), is_y = value_read_decimal(b, &y);
    if (!is_x || !is_y)
        return is_x || is_y ? (is_x ? 1 : -1) : span_compare(a, b);
    if (x.negative != y.negative)
        return x.negative ? -1 : 1;
    int order = value_compare_sizes(&x, &y);
    return x.negative ? -order : order;
}

/* How many digits a number has, without zeros before the first and behind the last that count. */
static size_t value_count_digits(struct span digits)
{
    size_t count = 0, counted = 0;
    while (digits.size > 0) {
        count++;
        if (value_take_digit(&digits) != '0')
            counted = count;
    }
    return counted;
}

bool number_is(struct span text)
{
    struct decimal decimal;
    return value_read_decimal(text, &decimal);
}

const char *number_fault(struct span text)
{
    enum { MAX_DIGITS = 38, MIN_MAGNITUDE = -130, MAX_MAGNITUDE = 125 };
    struct decimal decimal;
    if (!value_read_decimal(text, &decimal))
        return "is no number";
    if (decimal.digits.size == 0) /* zero */
        return NULL;
    if (decimal.magnitude > MAX_MAGNITUDE)
        return "is larger than the numbers of DynamoDB, which end below 1E+126";
    if (decimal.magnitude < MIN_MAGNITUDE)
        return "is closer to zero than the numbers of DynamoDB, which begin at 1E-130";
    return value_count_digits(decimal.digits) > MAX_DIGITS ? "has more than 38 digits" : NULL;
}

void number_split(struct span text, struct number_parts *out)
{
    struct decimal decimal = {0};
    *out = (struct number_parts){0};
    value_read_decimal(text, &decimal);
    size_t count = value_count_digits(decimal.digits);
    if (count == 0 || count > sizeof out->digits)
        return;
    out->is_negative = decimal.negative;
    out->magnitude = (int)decimal.magnitude;
    for (; out->digit_count < count; out->digit_count++)
        out->digits[out->digit_count] = value_take_digit(&decimal.digits);
}

void number_write(struct span text, struct buf *out)
{
    struct span mantissa;
    size_t point = 0, zeros = 0;
    buf_add_text(out, value_take_sign(&text) ? "-" : "");
    value_take_mantissa(&text, &mantissa, &point);
    while (zeros + 1 < point && mantissa.data[zeros] == '0')
        zeros++;
    buf_add_text(out, point ? "" : "0");
    if (point + 1 == mantissa.size)
        mantissa.size--; /* no digit is behind the point */
    buf_add_span(out, span_from(mantissa, zeros));
    buf_add_span(out, text);
}

/* The digits that count and the power of ten of the first: 100, 1E2 and 1.0e+2 are all "+1e2". */
static void value_write_number_identity(struct span text, struct buf *out)
{
    struct decimal decimal;
    if (!value_read_decimal(text, &decimal)) {
        buf_printf(out, "?%zu:", text.size);
        buf_add_span(out, text);
        return;
    }
    long long magnitude = decimal.digits.size ? (long long)decimal.magnitude : 0;
    buf_add_char(out, decimal.negative ? '-' : '+');
    for (size_t left = value_count_digits(decimal.digits); left > 0; left--)
        buf_add_char(out, value_take_digit(&decimal.digits));
    buf_printf(out, "e%lld;", magnitude);
}

void value_write_identity(struct value value, struct buf *out)
{
    buf_add_text(out, value_type_name(value.type));
    if (value.type == VALUE_N) {
        value_write_number_identity(value.bytes, out);
        return;
    }
    buf_add_number(out, value.bytes.size);
    buf_add_char(out, ':');
    buf_add_span(out, value.bytes);
}

void value_write(struct buf *out, struct value value)
{
    if (value.type == VALUE_NULL) {
        buf_add_text(out, "{\"NULL\":true}");
        return;
    }
    buf_add_text(out, "{\"");
    buf_add_text(out, value_type_name(value.type));
    buf_add_text(out, "\":");
    if (value.type == VALUE_BOOL) {
        buf_add_span(out, value.bytes);
    } else if (value.type == VALUE_B) {
        buf_add_char(out, '"');
        base64_write(out, value.bytes);
        buf_add_char(out, '"');
    } else {
        json_write_string(out, value.bytes);
    }
    buf_add_char(out, '}');
}

static bool value_read_tag(struct json name, enum value_type *type)
{
    for (*type = VALUE_S; *type <= VALUE_B; (*type)++)
        if (json_string_is(name, span_text(value_type_name(*type))))
            return true;
    return false;
}

/* Appends the bytes of the base64 that the string TEXT holds. */
static bool value_read_binary(struct json text, struct buf *storage)
{
    struct span plain;
    CLEAN_UP(buf_clean_up) struct buf unescaped = {0};
    if (json_plain_string(text, &plain))
        return base64_read(plain, storage);
    bool read = json_read_string(text, &unescaped);
    storage->failed = storage->failed || unescaped.failed;
    return read && !unescaped.failed && base64_read(buf_span(&unescaped), storage);
}

bool value_read(struct json typed, struct buf *storage, struct value *value)
{
    struct json name = json_first(typed), text = json_next(name);
    size_t before = storage->size;
    if (!json_is(typed, JSON_OBJECT) || json_count(typed) != 1 ||
        !value_read_tag(name, &value->type))
        return false;
    bool ok =
        value->type == VALUE_B ? value_read_binary(text, storage) : json_read_string(text, storage);
    if (!ok || storage->failed)
        return false;
    value->bytes = span_from(buf_span(storage), before);
    return value->type != VALUE_N || json_is_number(value->bytes);
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Writes COUNT (1 to 3) bytes as four characters. */
static void value_write_group(struct buf *out, const unsigned char *bytes, size_t count)
{
    unsigned bits = (unsigned)bytes[0] << 16;
    bits |= count > 1 ? (unsigned)bytes[1] << 8 : 0;
    bits |= count > 2 ? bytes[2] : 0;
    char text[4] = {alphabet[bits >> 18], alphabet[bits >> 12 & 63],
                    count > 1 ? alphabet[bits >> 6 & 63] : '=',
                    count > 2 ? alphabet[bits & 63] : '='};
    buf_add(out, text, sizeof text);
}

void base64_write(struct buf *out, struct span bytes)
{
    const unsigned char *data = (const unsigned char *)bytes.data;
    if (!buf_reserve(out, (bytes.size + 2) / 3 * 4))
        return;
    for (size_t i = 0; i < bytes.size; i += 3)
        value_write_group(out, data + i, bytes.size - i < 3 ? bytes.size - i : 3);
}

/* The six bits of a character; 64 or more if it is not in the alphabet. */
static unsigned value_sextet(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (unsigned)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (unsigned)(c - 'a') + 26;
    if (ascii_is_digit(c))
        return (unsigned)(c - '0') + 52;
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

/* Reads four characters, COUNT of them before the padding. Bits that no byte uses must be
 * zero, so that no two texts have the same bytes. */
static bool value_read_group(const char *text, size_t count, struct buf *out)
{
    unsigned bits = 0;
    for (size_t i = 0; i < 4; i++) {
        unsigned six = i < count ? value_sextet(text[i]) : 0;
        if (six > 63)
            return false;
        bits = bits << 6 | six;
    }
    unsigned unused = count == 2 ? 0xffff : count == 3 ? 0xff : 0;
    char bytes[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
    buf_add(out, bytes, count - 1);
    return (bits & unused) == 0;
}

static size_t value_padding(struct span text)
{
    if (!span_ends(text, SPAN_LITERAL("=")))
        return 0;
    return span_ends(text, SPAN_LITERAL("==")) ? 2 : 1;
}

bool base64_read(struct span text, struct buf *out)
{
    size_t before = out->size, unpadded = text.size - value_padding(text);
    if (text.size % 4 != 0 || !buf_reserve(out, text.size / 4 * 3))
        return false;
    for (size_t i = 0; i < text.size; i += 4) {
        size_t left = unpadded - i;
        if (!value_read_group(text.data + i, left < 4 ? left : 4, out)) {
            buf_truncate(out, before);
            return false;
        }
    }
    return true;
}

const char *base64_read_typed(struct span text, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf padded = {0};
    size_t pad = value_padding(text), digits = text.size - pad;
    if (pad > 0 && text.size % 4 != 0)
        return "the = at its end do not fill it up to four characters";
    if (digits % 4 == 1)
        return "a character is missing or too many";
    for (size_t i = 0; i < digits; i++) {
        char c = text.data[i] == '-' ? '+' : text.data[i] == '_' ? '/' : text.data[i];
        if (value_sextet(c) > 63)
            return "a character is not in A-Z, a-z, 0-9, + and / (or - and _)";
        buf_add_char(&padded, c);
    }
    while (padded.size % 4 != 0)
        buf_add_char(&padded, '=');
    out->failed = out->failed || padded.failed;
    return padded.failed || base64_read(buf_span(&padded), out)
               ? NULL
               : "its last character has bits that no byte uses";
}
