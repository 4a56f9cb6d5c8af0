#include "core/author/inferring.h"

const char *inferring_text(struct inferring *inferring, const struct buf *buf)
{
    inferring->arena->failed = inferring->arena->failed || buf->failed;
    return arena_text(inferring->arena, buf_span(buf));
}

void inferring_add_sample(const struct inferring *inferring, struct buf *out)
{
    buf_printf(out, "%zu sampled record%s", inferring->count, inferring->count == 1 ? "" : "s");
}

void inferring_drop_kind(struct inferring *inferring, const struct inferred_kind *kind)
{
    struct inferred_kind **link = &inferring->kinds;
    while (*link != kind)
        link = &(*link)->next;
    *link = kind->next;
    inferring->kind_count--;
}
