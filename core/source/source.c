#include "core/source/source.h"

#include <stdlib.h>

/* The items that the service has read for PAGE, or the names or objects that it brings. */
static uint64_t source_count_page(const struct page *page)
{
    uint64_t brought = page->item_count + page->counted + page->name_count;
    return page->scanned > brought ? page->scanned : brought;
}

static void source_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct source_call *call = arg;
    struct error why;
    if (page && !source_bounds_admit(call->source->bounds, &call->progress, call->read,
                                     source_count_page(page), page->more, page->took_ms, &why))
        call->reader(call->reader_arg, NULL, &why);
    else
        call->reader(call->reader_arg, page, err);
}

struct source_call *source_start(struct source *source, const struct read *read,
                                 struct payer *payer, source_page_fn *fn, void *arg)
{
    struct source_call *call = calloc(1, source->ops->call_size);
    if (!call)
        return NULL;
    *call = (struct source_call){
        .source = source_ref(source),
        .read = read,
        .payer = payer_ref(payer),
        .fn = source->bounds ? source_take_page : fn,
        .arg = source->bounds ? call : arg,
        .reader = fn,
        .reader_arg = arg,
    };
    if (source->ops->start(call))
        return call;
    source_end(call);
    return NULL;
}

void source_more(struct source_call *call)
{
    call->source->ops->more(call);
}

void source_read_all(struct source_call *call)
{
    if (call->source->ops->read_all)
        call->source->ops->read_all(call, true);
}

void source_read_some(struct source_call *call)
{
    if (call->source->ops->read_all)
        call->source->ops->read_all(call, false);
}

void source_end(struct source_call *call)
{
    if (!call)
        return;
    struct source *source = call->source;
    source->ops->end(call);
    payer_unref(call->payer);
    free(call);
    source_unref(source);
}

void source_destroy(struct source *source)
{
    while (source) {
        struct source *inner = source->inner;
        source->ops->destroy(source);
        source = inner;
    }
}

void source_add_stats(const struct source *source, struct source_stats *sum)
{
    for (; source; source = source->inner)
        if (source->ops->add_stats)
            source->ops->add_stats(source, sum);
}

int64_t source_ttl_ms(struct source *source, const char *table, int64_t ttl_ms)
{
    for (; source; source = source->inner)
        if (source->ops->ttl_ms)
            ttl_ms = source->ops->ttl_ms(source, table, ttl_ms);
    return ttl_ms;
}

int64_t source_hold_ms(struct source *source, const char *table, int64_t left_ms)
{
    for (; source; source = source->inner)
        if (source->ops->hold_ms)
            left_ms = source->ops->hold_ms(source, table, left_ms);
    return left_ms;
}

bool source_follows(const struct source *source)
{
    while (source && !source->ops->present)
        source = source->inner;
    return source;
}

bool source_read_present(struct source *source, const char *table, struct source_present *out)
{
    while (source && !source->ops->present)
        source = source->inner;
    if (source)
        source->ops->present(source, table, out);
    return source;
}

bool source_is_stacked(const struct source *source)
{
    for (; source->inner; source = source->inner)
        if (source->ops->layer <= source->inner->ops->layer)
            return false;
    return true;
}

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
    if (page->search_bytes >= 0)
        sum->search_bytes += page->search_bytes;
    else
        sum->unstated_searches++;
}
