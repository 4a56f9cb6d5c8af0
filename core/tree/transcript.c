/* What is kept may be secret, so it is wiped before it is freed. */
#include "core/tree/transcript.h"

#include <stdlib.h>
#include <string.h>

struct transcript *transcript_new(int64_t since_ms, int64_t since_wall_ms)
{
    struct transcript *transcript = calloc(1, sizeof *transcript);
    if (transcript)
        *transcript = (struct transcript){.references = 1,
                                          .since_ms = since_ms,
                                          .since_wall_ms = since_wall_ms,
                                          .memory = sizeof *transcript};
    return transcript;
}

struct transcript *transcript_ref(struct transcript *transcript)
{
    transcript->references++;
    return transcript;
}

static void unref_page(struct transcript_page *page)
{
    if (--page->references > 0)
        return;
    explicit_bzero(page->text, page->size);
    free(page);
}

void transcript_unref(struct transcript *transcript)
{
    if (!transcript || --transcript->references > 0)
        return;
    for (size_t i = 0; i < transcript->page_count; i++)
        unref_page(transcript->pages[i]);
    free(transcript->pages);
    free(transcript->records);
    arena_clean_up(&transcript->arena);
    free(transcript);
}

/* THINGS, with room for one more than COUNT of SIZE bytes each; NULL when memory ran out. */
static void *make_room(void *things, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return things;
    size_t more = *capacity ? *capacity * 2 : 16;
    void *grown = reallocarray(things, more, size);
    if (grown)
        *capacity = more;
    return grown;
}

bool transcript_share(struct transcript *transcript, struct transcript_page *page)
{
    struct transcript_page **pages =
        make_room(transcript->pages, transcript->page_count, &transcript->page_capacity,
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
static void write_items(const struct page *page, char *out)
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

bool transcript_add(struct transcript *transcript, const struct page *page)
{
    size_t size = 2;
    for (size_t i = 0; i < page->item_count; i++)
        size += (i > 0) + json_raw(page->items[i]).size;
    struct transcript_page *copy = malloc(sizeof *copy + size);
    if (!copy)
        return false;
    *copy = (struct transcript_page){.references = 1,
                                     .item_count = page->item_count,
                                     .requests = page->requests,
                                     .capacity = page->capacity,
                                     .doubted = page->doubted,
                                     .size = size};
    strncpy(copy->request_id, page->request_id, sizeof copy->request_id - 1);
    write_items(page, copy->text);
    bool ok = transcript_share(transcript, copy);
    unref_page(copy);
    return ok;
}

bool transcript_add_record(struct transcript *transcript, const struct key *key, struct json item)
{
    struct transcript_record *records = make_room(transcript->records, transcript->record_count,
                                                  &transcript->record_capacity, sizeof *records);
    if (!records)
        return false;
    transcript->records = records;
    struct transcript_record *record = &transcript->records[transcript->record_count];
    *record = (struct transcript_record){.key = *key,
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

static int order(const void *a, const void *b)
{
    const struct transcript_record *x = a, *y = b;
    return key_compare(&x->key, &y->key);
}

void transcript_close(struct transcript *transcript)
{
    if (transcript->record_count > 0)
        qsort(transcript->records, transcript->record_count, sizeof *transcript->records, order);
}

struct span transcript_find(const struct transcript *transcript, const struct key *key)
{
    const struct transcript_record wanted = {.key = *key};
    const struct transcript_record *found =
        transcript->record_count > 0
            ? bsearch(&wanted, transcript->records, transcript->record_count, sizeof wanted, order)
            : NULL;
    return found ? found->text : span_text("");
}
