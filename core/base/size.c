#include "core/base/size.h"

/* BETWEEN stands between number and unit, BEHIND behind it. */
static void write_units(uint64_t bytes, const char *between, const char *behind, struct buf *out)
{
    int bits = bytes < 1 << 20 ? 10 : 20;
    unsigned long long units = (unsigned long long)(bytes + ((uint64_t)1 << bits) - 1) >> bits;
    buf_printf(out, "%llu%s%c%s", units, between, bits == 10 ? 'K' : 'M', behind);
}

void size_write(uint64_t bytes, struct buf *out)
{
    write_units(bytes, " ", "B", out);
}

void size_write_option(uint64_t bytes, struct buf *out)
{
    write_units(bytes, "", "", out);
}
