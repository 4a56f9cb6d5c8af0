#include "core/source/scan_limits.h"

#include "core/base/quantity.h"

static void scan_limits_write_extent(uint64_t items, uint64_t bytes, struct buf *out)
{
    buf_printf(out, "%llu item%s", (unsigned long long)items, items == 1 ? "" : "s");
    if (bytes == 0) /* some servers do not count them */
        return;
    buf_add_text(out, " of ");
    size_write(bytes, out);
}

bool scan_limits_passed(const struct scan_limits *limits, uint64_t items, uint64_t bytes)
{
    return items > limits->items || bytes > limits->bytes;
}

bool scan_limits_refuse(const struct scan_limits *limits, const char *table, uint64_t items,
                        uint64_t bytes, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf has = {0}, may = {0}, option = {0};
    scan_limits_write_extent(items, bytes, &has);
    scan_limits_write_extent(limits->items, limits->bytes, &may);
    size_write_option(bytes > limits->bytes ? bytes : limits->bytes, &option);
    return error_set(
        err, ERROR_TOO_LARGE,
        "did not start the Scan of %s: the table has %s (limit %s, --scan-limit); type a "
        "partition key, or raise the limit: --scan-limit %llu,%s",
        table, buf_text(&has), buf_text(&may),
        (unsigned long long)(items > limits->items ? items : limits->items), buf_text(&option));
}

bool scan_limits_stop(const struct scan_limits *limits, const char *table, uint64_t items,
                      uint64_t bytes, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf read = {0}, limit = {0}, option = {0};
    bool many = items > limits->items;
    scan_limits_write_extent(items, bytes, &read);
    if (many)
        scan_limits_write_extent(limits->items, 0, &limit);
    else
        size_write(limits->bytes, &limit);
    size_write_option(many ? limits->bytes : 2 * bytes, &option);
    return error_set(
        err, ERROR_TOO_LARGE,
        "stopped the Scan of %s after %s (limit %s, --scan-limit): the table is larger; type a "
        "partition key, or raise the limit: --scan-limit %llu,%s",
        table, buf_text(&read), buf_text(&limit),
        (unsigned long long)(many ? 2 * items : limits->items), buf_text(&option));
}
