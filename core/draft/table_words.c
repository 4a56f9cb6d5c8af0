#include "core/draft/table_words.h"

#include <inttypes.h>
#include <stdio.h>

static void table_words_add_attribute(struct buf *out, struct span name, enum value_type type)
{
    static const char *const types[] = {
        [VALUE_S] = "a text", [VALUE_N] = "a number", [VALUE_B] = "binary"};
    buf_add_span(out, name);
    if (type != VALUE_S && type <= VALUE_B)
        buf_printf(out, " (%s)", types[type]);
}

/* "customerId, and is sorted by orderId" */
static void table_words_add_keys(struct buf *out, const struct key_schema *keys)
{
    for (size_t i = 0; i < keys->partition_count; i++) {
        buf_add_text(out, i ? " and " : "");
        table_words_add_attribute(out, keys->partition[i].name, keys->partition[i].type);
    }
    for (size_t i = 0; i < keys->sort_count; i++) {
        buf_add_text(out, i ? ", then " : ", sorted by ");
        table_words_add_attribute(out, keys->sort[i].name, keys->sort[i].type);
    }
}

static void table_words_add_index(struct buf *out, const struct index_info *index)
{
    buf_add_text(out, index->local ? "Local index " : "Index ");
    buf_add_span(out, index->name);
    buf_add_text(out, ": by ");
    table_words_add_keys(out, &index->keys);
    if (index->projection == PROJECTS_ALL)
        buf_add_text(out, "; holds whole records.");
    else if (index->projection == PROJECTS_KEYS || index->included_count == 0)
        buf_add_text(out, "; holds keys alone, so records are read again from the table.");
    for (size_t i = 0; index->projection == PROJECTS_SOME && i < index->included_count; i++) {
        buf_add_text(out, i ? ", " : "; holds keys and ");
        buf_add_span(out, index->included[i]);
    }
    if (index->projection == PROJECTS_SOME && index->included_count > 0)
        buf_add_text(out, ", so records are read again from the table.");
    buf_add_char(out, '\n');
}

/* 1234567 as 1,234,567 */
static void table_words_add_number(struct buf *out, int64_t number)
{
    char digits[32];
    int size = snprintf(digits, sizeof digits, "%" PRId64, number);
    for (int i = 0; i < size; i++) {
        buf_add_text(out, i > 0 && (size - i) % 3 == 0 ? "," : "");
        buf_add_char(out, digits[i]);
    }
}

static void table_words_add_size(struct buf *out, int64_t bytes)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    double size = (double)bytes;
    size_t unit = 0;
    for (; size >= 1000 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        size /= 1000;
    buf_printf(out, "%.*f %s", unit > 0 && size < 10 ? 1 : 0, size, units[unit]);
}

void table_words_write_table(struct buf *out, const struct table_info *info)
{
    buf_add_text(out, "Items by ");
    table_words_add_keys(out, &info->keys);
    buf_add_text(out, ".\n");
    for (size_t i = 0; i < info->index_count; i++)
        table_words_add_index(out, &info->indexes[i]);
    if (info->item_count < 0) {
        buf_add_text(out, "How many items there are was not told.");
        return;
    }
    table_words_add_number(out, info->item_count);
    buf_add_text(out, info->item_count == 1 ? " item" : " items");
    if (info->size_bytes >= 0) {
        buf_add_text(out, ", ");
        table_words_add_size(out, info->size_bytes);
    }
    buf_add_text(out, ": as DescribeTable tells, whose numbers are brought up to date about every "
                      "six hours.");
}
