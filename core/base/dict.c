#include "core/base/dict.h"

#include <endian.h>
#include <stdlib.h>
#include <sys/random.h>

enum { FIRST_CHAINS = 64 };

/* The four words of SipHash's state. */
struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t dict_rotated(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void dict_sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = dict_rotated(s->v1, 13) ^ s->v0;
    s->v3 = dict_rotated(s->v3, 16) ^ s->v2;
    s->v0 = dict_rotated(s->v0, 32) + s->v3;
    s->v2 += s->v1;
    s->v1 = dict_rotated(s->v1, 17) ^ s->v2;
    s->v3 = dict_rotated(s->v3, 21) ^ s->v0;
    s->v2 = dict_rotated(s->v2, 32);
}

static void dict_sip_take(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    dict_sip_round(s);
    dict_sip_round(s);
    s->v0 ^= word;
}

/* Up to eight bytes as a little-endian word. */
static uint64_t dict_word_of(const char *bytes, size_t count)
{
    uint64_t word = 0;
    memcpy(&word, bytes, count);
    return le64toh(word);
}

uint64_t dict_hash(struct dict_seed seed, struct span key)
{
    struct sip s = {
        .v0 = seed.a ^ 0x736f6d6570736575,
        .v1 = seed.b ^ 0x646f72616e646f6d,
        .v2 = seed.a ^ 0x6c7967656e657261,
        .v3 = seed.b ^ 0x7465646279746573,
    };
    size_t whole = key.size / 8 * 8;
    for (size_t i = 0; i < whole; i += 8)
        dict_sip_take(&s, dict_word_of(key.data + i, 8));
    uint64_t tail = whole < key.size ? dict_word_of(key.data + whole, key.size - whole) : 0;
    dict_sip_take(&s, tail | (uint64_t)key.size << 56);
    s.v2 ^= 0xff;
    for (int i = 0; i < 4; i++)
        dict_sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

struct dict_seed dict_seed_new(void)
{
    struct dict_seed seed;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = (struct dict_seed){0};
    return seed;
}

bool dict_init(struct dict *dict)
{
    *dict = (struct dict){.seed = dict_seed_new()};
    dict->chains = calloc(FIRST_CHAINS, sizeof *dict->chains);
    dict->chain_count = dict->chains ? FIRST_CHAINS : 0;
    return dict->chains != NULL;
}

void dict_clean_up(struct dict *dict)
{
    free(dict->chains);
    *dict = (struct dict){0};
}

static struct dict_node **dict_chain_of(const struct dict *dict, uint64_t hash)
{
    return &dict->chains[hash & (dict->chain_count - 1)];
}

struct dict_node *dict_find(const struct dict *dict, struct span key)
{
    uint64_t hash = dict_hash(dict->seed, key);
    struct dict_node *node = *dict_chain_of(dict, hash);
    while (node && (node->hash != hash || !span_equal(node->key, key)))
        node = node->next;
    return node;
}

static void dict_link_node(struct dict *dict, struct dict_node *node)
{
    struct dict_node **chain = dict_chain_of(dict, node->hash);
    node->next = *chain;
    *chain = node;
}

static void dict_grow(struct dict *dict)
{
    struct dict old = *dict;
    struct dict_node **chains = calloc(old.chain_count * 2, sizeof(struct dict_node *));
    if (!chains)
        return;
    dict->chains = chains;
    dict->chain_count = old.chain_count * 2;
    for (size_t i = 0; i < old.chain_count; i++) {
        struct dict_node *next;
        for (struct dict_node *node = old.chains[i]; node; node = next) {
            next = node->next;
            dict_link_node(dict, node);
        }
    }
    free(old.chains);
}

void dict_add(struct dict *dict, struct dict_node *node)
{
    if (dict->count >= dict->chain_count)
        dict_grow(dict);
    node->hash = dict_hash(dict->seed, node->key);
    dict_link_node(dict, node);
    dict->count++;
}

void dict_remove(struct dict *dict, struct dict_node *node)
{
    struct dict_node **link = dict_chain_of(dict, node->hash);
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    node->next = NULL;
    dict->count--;
}

struct dict_node *dict_any(const struct dict *dict, size_t *from)
{
    while (*from < dict->chain_count && !dict->chains[*from])
        ++*from;
    return *from < dict->chain_count ? dict->chains[*from] : NULL;
}

size_t dict_memory(const struct dict *dict)
{
    return dict->chain_count * sizeof *dict->chains;
}
