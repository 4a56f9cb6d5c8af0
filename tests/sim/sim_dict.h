/* Rings and dictionaries whose links are members of what they hold. */
#ifndef DDBFS_TESTS_SIM_SIM_DICT_H
#define DDBFS_TESTS_SIM_SIM_DICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What contains the link LINK as its member MEMBER. */
#define SIM_OF(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* A ring with a head, in the order of addition. A zeroed head is an empty ring. */
struct sim_ring {
    struct sim_ring *before, *after;
};

void sim_ring_add(struct sim_ring *head, struct sim_ring *link);
/* Nothing happens if LINK is in no ring. */
void sim_ring_remove(struct sim_ring *link);
bool sim_ring_is_empty(const struct sim_ring *head);
/* The link behind AT, which may be the head; NULL at the end. */
struct sim_ring *sim_ring_next(const struct sim_ring *head, const struct sim_ring *at);

struct sim_dict_link {
    struct sim_dict_link *next;
    uint64_t hash;
};

/* A zeroed dictionary is empty. */
struct sim_dict {
    struct sim_dict_link **buckets; /* owned */
    size_t room, count;
};

uint64_t sim_dict_hash(uint64_t salt, const void *bytes, size_t size);
void sim_dict_add(struct sim_dict *dict, struct sim_dict_link *link, uint64_t hash);
void sim_dict_remove(struct sim_dict *dict, struct sim_dict_link *link);
/* The latest link with HASH, and the one behind another; NULL: none. */
struct sim_dict_link *sim_dict_first(const struct sim_dict *dict, uint64_t hash);
struct sim_dict_link *sim_dict_next(const struct sim_dict_link *link);
/* Frees the buckets alone. */
void sim_dict_free(struct sim_dict *dict);

#endif
