/* The items of one partition as typed JSON, prepared once: any page is one slice of memory whose
 * CRC-32 is combined from stored ones. All shops have jobs of the same form. */
#ifndef DDBFS_TESTS_BENCH_PEERS_ZERO_ITEMS_H
#define DDBFS_TESTS_BENCH_PEERS_ZERO_ITEMS_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/span.h"

#define ZERO_TABLE "prod-BenchJobs"
#define ZERO_INDEX "ByShop" /* projects keys only */

enum { ZERO_SORT_KEY_SIZE = 4 + 24 + 1 + 36, ZERO_CREATED_AT = 4, ZERO_CREATED_SIZE = 24 };
enum zero_width { ZERO_WHOLE, ZERO_KEYS, ZERO_WIDTHS };
enum zero_order { ZERO_FORWARDS, ZERO_BACKWARDS, ZERO_ORDERS };

/* Item texts with a comma behind each. STARTS, with one more than the items, and the CRC-32 of all
 * text before each start, and before each comma. */
struct zero_texts {
    struct buf text;
    size_t *starts;    /* owned */
    uint32_t *crcs;    /* owned; of the text before a start */
    uint32_t *to_ends; /* owned; of the text up to an item's end */
};

struct zero_shop {
    struct span name;           /* borrowed */
    size_t count;               /* of items */
    size_t message_size;        /* of an item's attribute "message" */
    char *sort_keys;            /* owned; ZERO_SORT_KEY_SIZE bytes each */
    size_t *sizes[ZERO_WIDTHS]; /* owned; of all items before each, as the service counts sizes */
    struct zero_texts texts[ZERO_WIDTHS][ZERO_ORDERS];
};

struct zero_slice {
    struct span text;
    uint32_t crc;
};

/* False when memory ran out. NAME stays the caller's. */
bool zero_shop_init(struct zero_shop *shop, struct span name, size_t count, size_t message_size);
void zero_shop_clean_up(struct zero_shop *shop);

/* The number of the first item whose sort key (or "created_at" in the index) is at least KEY; with
 * BEHIND, is greater. */
size_t zero_shop_find(const struct zero_shop *shop, enum zero_width width, struct span key,
                      bool behind);

struct span zero_shop_sort_key(const struct zero_shop *shop, size_t number);
struct span zero_shop_created_at(const struct zero_shop *shop, size_t number);

/* The texts of the items FROM up to, without, TO, which is greater, joined by commas. */
struct zero_slice zero_shop_slice(const struct zero_shop *shop, enum zero_width width,
                                  enum zero_order order, size_t from, size_t to);

/* The bytes of these items, as the service counts sizes. */
size_t zero_shop_size(const struct zero_shop *shop, enum zero_width width, size_t from, size_t to);

/* CRC of A followed by B of B_SIZE bytes. */
uint32_t zero_crc_join(uint32_t a, uint32_t b, size_t b_size);
uint32_t zero_crc(struct span text);

#endif
