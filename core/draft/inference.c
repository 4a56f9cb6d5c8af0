#include "core/draft/inference.h"

const char *inference_text(struct inferring *inferring, const struct buf *buf)
{
    inferring->arena->failed = inferring->arena->failed || buf->failed;
    return arena_text(inferring->arena, buf_span(buf));
}

void inference_add_sample(const struct inferring *inferring, struct buf *out)
{
    buf_printf(out, "%zu sampled record%s", inferring->count, inferring->count == 1 ? "" : "s");
}

void inference_drop_kind(struct inferring *inferring, const struct inferred_kind *kind)
{
    struct inferred_kind **link = &inferring->kinds;
    while (*link != kind)
        link = &(*link)->next;
    *link = kind->next;
    inferring->kind_count--;
}
