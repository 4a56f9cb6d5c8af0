/* What is kept may be secret, so it is wiped before it is freed. */
#include "core/read/kept_pages.h"

#include <stdlib.h>
#include <string.h>

struct kept_pages *kept_pages_new(int64_t since_ms, int64_t since_wall_ms)
{
    struct kept_pages *transcript = calloc(1, sizeof *transcript);
    if (transcript)
        *transcript = (struct kept_pages){.references = 1,
                                          .since_ms = since_ms,
                                          .since_wall_ms = since_wall_ms,
                                          .memory = sizeof *transcript};
    return transcript;
}

struct kept_pages *kept_pages_ref(struct kept_pages *transcript)
{
    transcript->references++;
    return transcript;
}

static void kept_pages_unref_page(struct kept_pages_page *page)
{
    if (--page->references > 0)
        return;
    explicit_bzero(page->text, page->size);
    free(page);
}

void kept_pages_unref(struct kept_pages *transcript)
{
    if (!transcript || --transcript->references > 0)
        return;
    for (size_t i = 0; i < transcript->page_count; i++)
        kept_pages_unref_page(transcript->pages[i]);
    free(transcript->pages);
    free(transcript->records);
    arena_clean_up(&transcript->arena);
    free(transcript);
}

/* THINGS, with room for one more than COUNT of SIZE bytes each; NULL when memory ran out. */
static void *kept_pages_make_room(void *things, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return things;
    size_t more = *capacity ? *capacity * 2 : 16;
    void *grown = reallocarray(things, more, size);
    if (grown)
        *capacity = more;
    return grown;
}

bool kept_pages_share(struct kept_pages *transcript, struct kept_pages_page *page)
{
    struct kept_pages_page **pages =
        kept_pages_make_room(transcript->pages, transcript->page_count, &transcript->page_capacity,
                             sizeof(*transcript->pages));
    if (!pages)
        return false;
    page->references++;
    transcript->pages = pages;
    transcript->pages[transcript->page_count++] = page;
    transcript->memory += sizeof *page + page->size + sizeof(*transcript->pages);
    return true;
}

/* The items of PAGE between brackets. */
static void kept_pages_write_items(const struct page *page, char *out)
{
    *out++ = '[';
    for (size_t i = 0; i < page->item_count; i++) {
        struct span text = json_raw(page->items[i]);
        if (i > 0)
            *out++ = ',';
        memcpy(out, text.data, text.size);
        out += text.size;
    }
    *out = ']';
}

bool kept_pages_add(struct kept_pages *transcript, const struct page *page)
{
    size_t size = 2;
    for (size_t i = 0; i < page->item_count; i++)
        size += (i > 0) + json_raw(page->items[i]).size;
    struct kept_pages_page *copy = malloc(sizeof *copy + size);
    if (!copy)
        return false;
    *copy = (struct kept_pages_page){.references = 1,
                                     .item_count = page->item_count,
                                     .requests = page->requests,
                                     .capacity = page->capacity,
                                     .doubted = page->doubted,
                                     .size = size};
    strncpy(copy->request_id, page->request_id, sizeof copy->request_id - 1);
    kept_pages_write_items(page, copy->text);
    bool ok = kept_pages_share(transcript, copy);
    kept_pages_unref_page(copy);
    return ok;
}

bool kept_pages_add_record(struct kept_pages *transcript, const struct key *key, struct json item)
{
    struct kept_pages_record *records =
        kept_pages_make_room(transcript->records, transcript->record_count,
                             &transcript->record_capacity, sizeof *records);
    if (!records)
        return false;
    transcript->records = records;
    struct kept_pages_record *record = &transcript->records[transcript->record_count];
    *record = (struct kept_pages_record){.key = *key,
                                         .text = arena_copy(&transcript->arena, json_raw(item))};
    size_t bytes = sizeof *record + record->text.size;
    for (size_t i = 0; i < key->count; i++) {
        const struct key_attribute *from = &key->attributes[i];
        struct key_attribute *to = &record->key.attributes[i];
        to->name = arena_copy(&transcript->arena, from->name);
        to->value.bytes = arena_copy(&transcript->arena, from->value.bytes);
        bytes += from->name.size + from->value.bytes.size;
    }
    transcript->record_count++;
    transcript->memory += bytes;
    return !transcript->arena.failed;
}

static int kept_pages_order(const void *a, const void *b)
{
    const struct kept_pages_record *x = a, *y = b;
    return key_compare(&x->key, &y->key);
}

void kept_pages_close(struct kept_pages *transcript)
{
    if (transcript->record_count > 0)
        qsort(transcript->records, transcript->record_count, sizeof *transcript->records,
              kept_pages_order);
}

struct span kept_pages_find(const struct kept_pages *transcript, const struct key *key)
{
    const struct kept_pages_record wanted = {.key = *key};
    const struct kept_pages_record *found =
        transcript->record_count > 0
            ? bsearch(&wanted, transcript->records, transcript->record_count, sizeof wanted,
                      kept_pages_order)
            : NULL;
    return found ? found->text : span_text("");
}
