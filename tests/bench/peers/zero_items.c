#include "tests/bench/peers/zero_items.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum { SECONDS_A_DAY = 86400, STAGES = 6, CREATED_EVERY_S = 2 };

uint32_t zero_crc(struct span text)
{
    return (uint32_t)crc32_z(0, (const Bytef *)text.data, text.size);
}

uint32_t zero_crc_join(uint32_t a, uint32_t b, size_t b_size)
{
    return (uint32_t)crc32_combine(a, b, (z_off_t)b_size);
}

static void zero_write_sort_key(size_t number, char *out)
{
    char text[ZERO_SORT_KEY_SIZE + 64];
    unsigned second = (unsigned)(number * CREATED_EVERY_S % SECONDS_A_DAY);
    unsigned day = 1 + (unsigned)(number * CREATED_EVERY_S / SECONDS_A_DAY);
    snprintf(text, sizeof text, "JOB#2026-04-%02uT%02u:%02u:%02u.000Z#%08zx-0000-4000-8000-%012zx",
             day, second / 3600, second / 60 % 60, second % 60, number, number);
    memcpy(out, text, ZERO_SORT_KEY_SIZE);
}

/* Returns the attribute's size, as the service counts it. */
static size_t zero_add_text(struct buf *out, const char *name, struct span value)
{
    const char *comma = out->size && out->data[out->size - 1] == '{' ? "" : ",";
    buf_printf(out, "%s\"%s\":{\"S\":\"%.*s\"}", comma, name, (int)value.size, value.data);
    return strlen(name) + value.size;
}

static size_t zero_add_counts(struct buf *out, size_t number)
{
    char digits[32];
    size_t size = strlen("counts") + 3;
    static const char *const names[] = {"read", "written", "skipped"};
    snprintf(digits, sizeof digits, "%zu", number * 7);
    buf_add_text(out, ",\"counts\":{\"M\":{");
    for (size_t i = 0; i < 3; i++) {
        buf_printf(out, "%s\"%s\":{\"N\":\"%s\"}", i ? "," : "", names[i], digits);
        size += 1 + strlen(names[i]) + 1 + (strlen(digits) + 1) / 2;
    }
    buf_add_text(out, "}}");
    return size;
}

/* The attributes of the table's key and of the index's key. */
static size_t zero_add_keys(struct buf *out, const struct zero_shop *shop, size_t number)
{
    char partition[80];
    struct span sort_key = zero_shop_sort_key(shop, number);
    snprintf(partition, sizeof partition, "SHOP#%.*s", (int)shop->name.size, shop->name.data);
    return zero_add_text(out, "pk", span_text(partition)) + zero_add_text(out, "sk", sort_key) +
           zero_add_text(out, "shop", shop->name) +
           zero_add_text(out, "created_at", zero_shop_created_at(shop, number));
}

static size_t zero_add_item(struct buf *out, const struct zero_shop *shop, enum zero_width width,
                            size_t number, const char *message)
{
    struct span sort_key = zero_shop_sort_key(shop, number);
    buf_add_char(out, '{');
    size_t size = zero_add_keys(out, shop, number);
    if (width == ZERO_WHOLE) {
        size += zero_add_text(out, "job_id", span_of(sort_key.data + ZERO_SORT_KEY_SIZE - 36, 36));
        size += zero_add_text(out, "status", SPAN_LITERAL("COMPLETED"));
        size += zero_add_text(out, "job_type", SPAN_LITERAL("INCREMENTAL"));
        size += zero_add_text(out, "message", span_of(message, shop->message_size));
        for (size_t stage = 0; stage < STAGES; stage++) {
            char name[16], text[64];
            snprintf(name, sizeof name, "stage_%zu", stage);
            snprintf(text, sizeof text, "finished after %zu s without any error",
                     number % 97 + stage);
            size += zero_add_text(out, name, span_text(text));
        }
        size += zero_add_counts(out, number);
    }
    buf_add_char(out, '}');
    return size;
}

static bool zero_texts_reserve(struct zero_texts *texts, size_t count)
{
    texts->starts = calloc(count + 1, sizeof *texts->starts);
    texts->crcs = calloc(count + 1, sizeof *texts->crcs);
    texts->to_ends = calloc(count + 1, sizeof *texts->to_ends);
    return texts->starts && texts->crcs && texts->to_ends;
}

/* ITEM is number AT in the order of TEXTS. */
static void zero_texts_add(struct zero_texts *texts, size_t at, struct span item)
{
    uint32_t comma = zero_crc(SPAN_LITERAL(","));
    texts->to_ends[at] = zero_crc_join(texts->crcs[at], zero_crc(item), item.size);
    texts->crcs[at + 1] = zero_crc_join(texts->to_ends[at], comma, 1);
    buf_add_span(&texts->text, item);
    buf_add_char(&texts->text, ',');
    texts->starts[at + 1] = texts->text.size;
}

static bool zero_shop_write(struct zero_shop *shop, enum zero_width width, const char *message)
{
    struct zero_texts *forwards = &shop->texts[width][ZERO_FORWARDS];
    struct zero_texts *backwards = &shop->texts[width][ZERO_BACKWARDS];
    CLEAN_UP(buf_clean_up) struct buf item = {0};
    shop->sizes[width] = calloc(shop->count + 1, sizeof *shop->sizes[width]);
    if (!shop->sizes[width] || !zero_texts_reserve(forwards, shop->count) ||
        !zero_texts_reserve(backwards, shop->count))
        return false;
    for (size_t i = 0; i < shop->count; i++) {
        buf_truncate(&item, 0);
        size_t size = zero_add_item(&item, shop, width, i, message);
        shop->sizes[width][i + 1] = shop->sizes[width][i] + size;
        zero_texts_add(forwards, i, buf_span(&item));
    }
    for (size_t i = 0; i < shop->count; i++) {
        size_t at = shop->count - 1 - i;
        const char *text = forwards->text.data + forwards->starts[at];
        zero_texts_add(backwards, i,
                       span_of(text, forwards->starts[at + 1] - forwards->starts[at] - 1));
    }
    return !item.failed && !forwards->text.failed && !backwards->text.failed;
}

bool zero_shop_init(struct zero_shop *shop, struct span name, size_t count, size_t message_size)
{
    *shop = (struct zero_shop){.name = name, .count = count, .message_size = message_size};
    CLEAN_UP(buf_clean_up) struct buf message = {0};
    buf_add_repeated(&message, 'x', message_size);
    shop->sort_keys = calloc(count + 1, ZERO_SORT_KEY_SIZE);
    if (!shop->sort_keys || message.failed)
        return false;
    for (size_t i = 0; i < count; i++)
        zero_write_sort_key(i, shop->sort_keys + i * ZERO_SORT_KEY_SIZE);
    return zero_shop_write(shop, ZERO_WHOLE, buf_text(&message)) &&
           zero_shop_write(shop, ZERO_KEYS, "");
}

void zero_shop_clean_up(struct zero_shop *shop)
{
    for (size_t width = 0; width < ZERO_WIDTHS; width++) {
        for (size_t order = 0; order < ZERO_ORDERS; order++) {
            buf_clean_up(&shop->texts[width][order].text);
            free(shop->texts[width][order].starts);
            free(shop->texts[width][order].crcs);
            free(shop->texts[width][order].to_ends);
        }
        free(shop->sizes[width]);
    }
    free(shop->sort_keys);
}

struct span zero_shop_sort_key(const struct zero_shop *shop, size_t number)
{
    return span_of(shop->sort_keys + number * ZERO_SORT_KEY_SIZE, ZERO_SORT_KEY_SIZE);
}

struct span zero_shop_created_at(const struct zero_shop *shop, size_t number)
{
    return span_of(zero_shop_sort_key(shop, number).data + ZERO_CREATED_AT, ZERO_CREATED_SIZE);
}

size_t zero_shop_find(const struct zero_shop *shop, enum zero_width width, struct span key,
                      bool behind)
{
    size_t low = 0, high = shop->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct span own = width == ZERO_KEYS ? zero_shop_created_at(shop, middle)
                                             : zero_shop_sort_key(shop, middle);
        int order = span_compare(own, key);
        if (order < 0 || (behind && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct zero_slice zero_shop_slice(const struct zero_shop *shop, enum zero_width width,
                                  enum zero_order order, size_t from, size_t to)
{
    const struct zero_texts *texts = &shop->texts[width][order];
    size_t first = order == ZERO_FORWARDS ? from : shop->count - to;
    size_t end = first + (to - from);
    size_t size = texts->starts[end] - 1 - texts->starts[first];
    /* The CRC of the text up to the end is that of the text before, moved by SIZE bytes, and that
     * of the slice. */
    uint32_t before = zero_crc_join(texts->crcs[first], 0, size);
    return (struct zero_slice){span_of(texts->text.data + texts->starts[first], size),
                               texts->to_ends[end - 1] ^ before};
}

size_t zero_shop_size(const struct zero_shop *shop, enum zero_width width, size_t from, size_t to)
{
    return shop->sizes[width][to] - shop->sizes[width][from];
}
