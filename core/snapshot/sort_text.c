#include "core/snapshot/sort_text.h"

#include <stdlib.h>

#include "core/base/ascii.h"
#include "core/item/value.h"

/* EXPONENT_BIAS plus the exponent of a number of the service (-129 to 126) has three digits. */
enum { EXPONENT_BIAS = 500, EXPONENT_TOP = 999, EXPONENT_DIGITS = 3, MAX_DIGITS = 38 };

static char sort_text_flip(char digit)
{
    return (char)('9' - (digit - '0'));
}

void sort_text_write(struct span number, struct buf *out)
{
    struct number_parts parts;
    number_split(number, &parts);
    if (parts.digit_count == 0) {
        buf_add_char(out, '5');
        return;
    }
    int exponent = EXPONENT_BIAS + parts.magnitude + 1;
    buf_printf(out, "%c%03d.", parts.is_negative ? '4' : '6',
               parts.is_negative ? EXPONENT_TOP - exponent : exponent);
    for (size_t i = 0; i < parts.digit_count; i++)
        buf_add_char(out, parts.is_negative ? sort_text_flip(parts.digits[i]) : parts.digits[i]);
    if (parts.is_negative)
        buf_add_char(out, '~'); /* behind all digits: -42 is greater than -42.1 */
}

bool sort_text_read(struct span text, struct buf *out)
{
    bool is_negative = text.size > 0 && text.data[0] == '4';
    int exponent = 0;
    if (span_is(text, "5")) {
        buf_add_char(out, '0');
        return true;
    }
    if (text.size < EXPONENT_DIGITS + 3 || (!is_negative && text.data[0] != '6') ||
        text.data[EXPONENT_DIGITS + 1] != '.')
        return false;
    for (size_t i = 1; i <= EXPONENT_DIGITS; i++) {
        if (!ascii_is_digit(text.data[i]))
            return false;
        exponent = exponent * 10 + (text.data[i] - '0');
    }
    exponent = (is_negative ? EXPONENT_TOP - exponent : exponent) - EXPONENT_BIAS - 1;
    struct span digits = span_from(text, EXPONENT_DIGITS + 2);
    if (is_negative && digits.data[--digits.size] != '~')
        return false;
    char last = is_negative ? '9' : '0';
    if (digits.size == 0 || digits.size > MAX_DIGITS || digits.data[0] == last ||
        digits.data[digits.size - 1] == last)
        return false;
    for (size_t i = 0; i < digits.size; i++)
        if (!ascii_is_digit(digits.data[i]))
            return false;
    buf_add_text(out, is_negative ? "-" : "");
    for (size_t i = 0; i < digits.size; i++) {
        buf_add_char(out, is_negative ? sort_text_flip(digits.data[i]) : digits.data[i]);
        if (i == 0 && digits.size > 1)
            buf_add_char(out, '.');
    }
    buf_printf(out, "E%+d", exponent);
    return true;
}
