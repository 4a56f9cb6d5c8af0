#include "tests/sim/sim_dict.h"

#include "tests/sim/sim_world.h"

enum { SIM_DICT_FIRST_ROOM = 16 };

void sim_ring_add(struct sim_ring *head, struct sim_ring *link)
{
    if (!head->after)
        *head = (struct sim_ring){head, head};
    *link = (struct sim_ring){head->before, head};
    head->before->after = link;
    head->before = link;
}

void sim_ring_remove(struct sim_ring *link)
{
    if (!link->after)
        return;
    link->before->after = link->after;
    link->after->before = link->before;
    *link = (struct sim_ring){0};
}

bool sim_ring_is_empty(const struct sim_ring *head)
{
    return !head->after || head->after == head;
}

struct sim_ring *sim_ring_next(const struct sim_ring *head, const struct sim_ring *at)
{
    return !at->after || at->after == head ? NULL : at->after;
}

uint64_t sim_dict_hash(uint64_t salt, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = (salt + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

static struct sim_dict_link **sim_dict_bucket(const struct sim_dict *dict, uint64_t hash)
{
    uint64_t mixed = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return &dict->buckets[(mixed >> 20) & (dict->room - 1)];
}

static void sim_dict_insert(struct sim_dict *dict, struct sim_dict_link *link)
{
    struct sim_dict_link **bucket = sim_dict_bucket(dict, link->hash);
    link->next = *bucket;
    *bucket = link;
}

static void sim_dict_widen(struct sim_dict *dict)
{
    struct sim_dict_link **before = dict->buckets;
    size_t room = dict->room;
    dict->room = room ? room * 2 : SIM_DICT_FIRST_ROOM;
    dict->buckets = sim_alloc(dict->room * sizeof(struct sim_dict_link *));
    for (size_t i = 0; i < room; i++)
        for (struct sim_dict_link *link = before[i], *next; link; link = next) {
            next = link->next;
            sim_dict_insert(dict, link);
        }
    sim_free(before);
}

void sim_dict_add(struct sim_dict *dict, struct sim_dict_link *link, uint64_t hash)
{
    if (dict->count == dict->room)
        sim_dict_widen(dict);
    link->hash = hash;
    sim_dict_insert(dict, link);
    dict->count++;
}

void sim_dict_remove(struct sim_dict *dict, struct sim_dict_link *link)
{
    struct sim_dict_link **at = sim_dict_bucket(dict, link->hash);
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    dict->count--;
}

static struct sim_dict_link *sim_dict_match(struct sim_dict_link *link, uint64_t hash)
{
    while (link && link->hash != hash)
        link = link->next;
    return link;
}

struct sim_dict_link *sim_dict_first(const struct sim_dict *dict, uint64_t hash)
{
    return dict->room ? sim_dict_match(*sim_dict_bucket(dict, hash), hash) : NULL;
}

struct sim_dict_link *sim_dict_next(const struct sim_dict_link *link)
{
    return sim_dict_match(link->next, link->hash);
}

void sim_dict_free(struct sim_dict *dict)
{
    sim_free(dict->buckets);
    *dict = (struct sim_dict){0};
}
