#include "core/live/live_page.h"

#include <stdlib.h>

#include "core/live/live_schema.h"

/* To be parsed in a few milliseconds. */
enum { PAGE_BYTES = 256 * 1024 };

static void live_page_release(struct page_owner *owner)
{
    struct live_page *page = (struct live_page *)owner;
    json_clean_up(&page->doc);
    buf_clean_up_secret(&page->text);
    free(page->items);
    free(page);
}

/* Appends the item of ROW. */
static void live_page_write_row(const struct read *read, const struct live_row *row,
                                struct buf *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (read->kind != READ_ITEMS || read->attribute_count == 0)
        buf_add_span(out, live_row_text(row));
    else if (json_parse(&doc, live_row_text(row), JSON_STRICT, NULL))
        live_schema_project_item(read, json_root(&doc), out);
    else
        out->failed = true;
}

/* False when memory ran out. */
static bool live_page_parse(struct live_page *page)
{
    page->items = calloc(page->count + 1, sizeof *page->items);
    if (!page->items || page->text.failed ||
        !json_parse(&page->doc, buf_span(&page->text), JSON_STRICT, NULL))
        return false;
    struct json item = json_first(json_root(&page->doc));
    for (size_t i = 0; i < page->count; i++, item = json_next(item))
        page->items[i] = item;
    return true;
}

struct live_page *live_page_new(const struct read *read, struct live_row *const *rows, size_t count,
                                size_t *taken)
{
    struct live_page *page = calloc(1, sizeof *page);
    if (!page)
        return NULL;
    page->owner.release = live_page_release;
    buf_add_char(&page->text, '[');
    while (page->count < count && page->text.size < PAGE_BYTES) {
        buf_add_text(&page->text, page->count ? "," : "");
        live_page_write_row(read, rows[page->count++], &page->text);
    }
    buf_add_char(&page->text, ']');
    *taken = page->count;
    if (live_page_parse(page)) {
        page->owner.bytes = sizeof *page + page->text.capacity + json_memory(&page->doc);
        return page;
    }
    live_page_release(&page->owner);
    return NULL;
}

struct live_page *live_page_of_items(const struct read *read, const struct json *items,
                                     size_t count)
{
    struct live_page *page = calloc(1, sizeof *page);
    if (!page)
        return NULL;
    page->owner.release = live_page_release;
    buf_add_char(&page->text, '[');
    for (; page->count < count; page->count++) {
        buf_add_text(&page->text, page->count ? "," : "");
        live_schema_project_item(read, items[page->count], &page->text);
    }
    buf_add_char(&page->text, ']');
    if (live_page_parse(page))
        return page;
    live_page_release(&page->owner);
    return NULL;
}
