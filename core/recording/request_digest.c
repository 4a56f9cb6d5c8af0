#include "core/recording/request_digest.h"

#include <stdlib.h>

bool request_digest_of(const struct read *read, struct request_digest *out)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    read_identity(read, &text);
    return !text.failed && digest_sha256(buf_span(&text), out->bytes);
}

static void request_digest_add(struct span text, struct buf *out)
{
    buf_add_number(out, text.size);
    buf_add_char(out, ':');
    buf_add_span(out, text);
}

bool request_digest_key(struct span table, const struct key *key, struct request_digest *out)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    request_digest_add(table, &text);
    for (size_t i = 0; i < key->count; i++) {
        request_digest_add(key->attributes[i].name, &text);
        value_write_identity(key->attributes[i].value, &text);
    }
    return !text.failed && digest_sha256(buf_span(&text), out->bytes);
}

static int request_shape_compare(const void *a, const void *b)
{
    return span_compare(*(const struct span *)a, *(const struct span *)b);
}

void request_shape_write(const struct read *read, struct buf *out)
{
    if (read->attribute_count == 0)
        return;
    struct span *sorted = calloc(read->attribute_count, sizeof *sorted);
    if (!sorted) {
        out->failed = true;
        return;
    }
    memcpy(sorted, read->attributes, read->attribute_count * sizeof *sorted);
    qsort(sorted, read->attribute_count, sizeof *sorted, request_shape_compare);
    for (size_t i = 0; i < read->attribute_count; i++)
        if (i == 0 || !span_equal(sorted[i], sorted[i - 1]))
            request_digest_add(sorted[i], out);
    free(sorted);
}
