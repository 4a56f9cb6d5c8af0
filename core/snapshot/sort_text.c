#include "core/snapshot/sort_text.h"

#include "core/item/value.h"

/* EXPONENT_BIAS plus the exponent of a number of the service (-129 to 126) has three digits. */
enum { EXPONENT_BIAS = 500, EXPONENT_TOP = 999 };

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
