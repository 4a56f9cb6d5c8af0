/* What all sources share. */
#include "core/source/source.h"

void source_stats_add(struct source_stats *sum, const char *name, uint64_t count)
{
    size_t i = 0;
    while (i < sum->operation_count && strcmp(sum->operations[i].name, name) != 0)
        i++;
    if (i == SOURCE_MAX_OPERATIONS)
        return;
    if (i == sum->operation_count) {
        sum->operations[i].name = name;
        sum->operations[i].count = 0;
        sum->operation_count++;
    }
    sum->operations[i].count += count;
}

void source_add_page(struct spent *sum, const struct page *page)
{
    sum->units += page->capacity > 0 ? page->capacity : 0;
    sum->doubted += page->doubted;
}
