#include "core/base/size.h"

/* BETWEEN stands between number and unit, BEHIND behind it. */
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
