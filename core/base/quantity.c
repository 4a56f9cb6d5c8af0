#include "core/base/quantity.h"

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

/* BETWEEN is between number and unit, BEHIND behind the unit. */
static void size_write_units(uint64_t bytes, const char *between, const char *behind,
                             struct buf *out)
{
    int bits = bytes < 1 << 20 ? 10 : 20;
    unsigned long long units = (unsigned long long)(bytes + ((uint64_t)1 << bits) - 1) >> bits;
    buf_printf(out, "%llu%s%c%s", units, between, bits == 10 ? 'K' : 'M', behind);
}

void size_write(uint64_t bytes, struct buf *out)
{
    size_write_units(bytes, " ", "B", out);
}

void size_write_option(uint64_t bytes, struct buf *out)
{
    size_write_units(bytes, "", "", out);
}

/* BYTES in units of 2 to the power of SHIFT, rounded up. */
static uint64_t size_units(uint64_t bytes, unsigned shift)
{
    return (bytes >> shift) + ((bytes & ((1ULL << shift) - 1)) != 0);
}

void size_write_short(uint64_t bytes, struct buf *out)
{
    unsigned shift = 0;
    while (shift < 60 && size_units(bytes, shift) >= 1024)
        shift += 10;
    uint64_t tenths = bytes < 1ULL << 60 ? size_units(bytes * 10, shift) : 100;
    if (shift > 0 && tenths < 100)
        buf_printf(out, "%u.%u", (unsigned)tenths / 10, (unsigned)tenths % 10);
    else
        buf_printf(out, "%llu", (unsigned long long)size_units(bytes, shift));
    if (shift > 0)
        buf_add_char(out, "KMGTPE"[shift / 10 - 1]);
}
