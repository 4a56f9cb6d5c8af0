/* An intrusive hash table: chained, growing, and seeded, so that a peer that chooses the keys can't
 * choose the chains. */
#ifndef DDBFS_CORE_BASE_DICT_H
#define DDBFS_CORE_BASE_DICT_H

#include <stdint.h>

#include "core/base/span.h"

/* Embedded in each member. */
struct dict_node {
    struct dict_node *next; /* in the same chain */
    uint64_t hash;
    struct span key; /* borrowed; constant while the node is in the table */
};

struct dict_seed {
    uint64_t a, b;
};

struct dict {
    struct dict_node **chains; /* owned; the nodes are not */
    size_t chain_count;        /* a power of two */
    size_t count;
    struct dict_seed seed;
};

/* Seeds the table from the kernel's randomness. False when memory ran out. */
bool dict_init(struct dict *dict);
void dict_clean_up(struct dict *dict);

/* The node of that key, or NULL. */
struct dict_node *dict_find(const struct dict *dict, struct span key);

/* Adds a node whose KEY is set and not in the table. It can't fail: without memory for a larger
 * table the chains grow longer. */
void dict_add(struct dict *dict, struct dict_node *node);
/* For a node that is in the table. */
void dict_remove(struct dict *dict, struct dict_node *node);

/* Any node of the table, or NULL if it is empty: for removing all, one by one. FROM is the place of
 * the search; zero at first. */
struct dict_node *dict_any(const struct dict *dict, size_t *from);

/* The bytes of heap of the table, without its nodes. */
size_t dict_memory(const struct dict *dict);

/* From the kernel's randomness. Without it, which every supported kernel has, all seeds are equal.
 */
struct dict_seed dict_seed_new(void);

/* SipHash-2-4. */
uint64_t dict_hash(struct dict_seed seed, struct span key);

#endif
