#include "core/base/decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 15 digits are exact for every decimal text of that length, 17 for every double. */
enum { LEAST_DIGITS = 15, MOST_DIGITS = 17 };

void decimal_write(double value, struct buf *out)
{
    char text[40];
    int digits = LEAST_DIGITS;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (strtod(text, NULL) != value && ++digits <= MOST_DIGITS);
    const char *exponent = strchr(text, 'e');
    if (!exponent) {
        buf_add_text(out, text);
        return;
    }
    int decimals = (int)strcspn(text + (text[0] == '-'), "e"); /* the digits, and a point */
    decimals -= decimals > 1 ? 2 : 1;                          /* those behind the point */
    decimals -= (int)strtol(exponent + 1, NULL, 10);
    buf_printf(out, "%.*f", decimals > 0 ? decimals : 0, value);
}

void decimal_write_known(double value, const char *unknown, struct buf *out)
{
    if (value < 0)
        buf_add_text(out, unknown);
    else
        decimal_write(value, out);
}
