/* Fuzzing of the key encoding: the order of the texts is the order of the numbers. */
#include <stdint.h>
#include <stdlib.h>

#include "core/item/value.h"
#include "core/snapshot/sort_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEAN_UP(buf_clean_up) struct buf one = {0}, other = {0};
    struct span text = span_of((const char *)data, size);
    const char *end = size > 0 ? memchr(data, ' ', size) : NULL;
    if (!end)
        return 0;
    struct span a = span_of(text.data, (size_t)(end - text.data)), b = span_from(text, a.size + 1);
    if (number_fault(a) || number_fault(b))
        return 0;
    sort_text_write(a, &one);
    sort_text_write(b, &other);
    require(sign(span_compare(buf_span(&one), buf_span(&other))) == sign(number_compare(a, b)));
    return 0;
}
