#include "core/plan/capacity_bounds.h"

/* In https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/: "Constraints in DynamoDB",
 * and "DynamoDB read and write operations" for the rounding. */
enum {
    STEP_BYTES = 4096,
    ITEM_BYTES = 400 * 1024,
    PAGE_BYTES = 1 << 20,
    PARTITION_BYTES = 2048,
    SORT_BYTES = 1024,
    OVERHEAD_BYTES = 100, /* of an item of an index */
};

static double bounds_of_bytes(uint64_t bytes, bool consistent)
{
    uint64_t steps = bytes ? (bytes + STEP_BYTES - 1) / STEP_BYTES : 1;
    return (double)steps * (consistent ? 1 : 0.5);
}

double capacity_bounds_of_item(uint64_t bytes, bool consistent)
{
    return bounds_of_bytes(bytes, consistent);
}

uint64_t capacity_bounds_item_bytes(const struct model *table, const struct map_index *index)
{
    if (!index || index->projects != PROJECTS_KEYS)
        return ITEM_BYTES;
    uint64_t bytes = OVERHEAD_BYTES;
    for (size_t i = 0; i < table->key_count; i++)
        bytes += strlen(table->keys[i].attribute) + (i ? SORT_BYTES : PARTITION_BYTES);
    for (size_t i = 0; i < index->partition_count; i++)
        bytes += strlen(index->partition[i].attribute) + PARTITION_BYTES;
    for (size_t i = 0; i < index->sort_count; i++)
        bytes += strlen(index->sort[i].attribute) + SORT_BYTES;
    return bytes;
}

/* A page of as many as there are ends with the item that takes it beyond 1 MB, or before it: the
 * service documents the former nowhere, and answers so (128.5 units where items are small). */
double capacity_bounds_of_page(uint64_t count, uint64_t item_bytes, bool consistent)
{
    uint64_t most = PAGE_BYTES + item_bytes;
    bool few = count && count <= most / item_bytes;
    return bounds_of_bytes(few ? count * item_bytes : most, consistent);
}

/* Each page is rounded up, and each segment has one under way when the limit is met. */
double capacity_bounds_of_scan(uint64_t limit_bytes, unsigned segments)
{
    double whole = bounds_of_bytes(limit_bytes, false);
    uint64_t pages = limit_bytes / PAGE_BYTES;
    return whole + (double)pages / 2 +
           segments * (capacity_bounds_of_page(0, ITEM_BYTES, false) + 0.5);
}

void capacity_bounds_write_dollars(double rcu, double price, struct buf *out)
{
    double dollars = rcu * price / 1e6, rest = dollars;
    int decimals = 2;
    while (rest > 0 && rest < 0.1 && decimals < 15) {
        rest *= 10;
        decimals++;
    }
    buf_printf(out, "$%.*f", decimals, dollars);
}
