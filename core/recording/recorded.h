/* Recorded responses, on their way from the loop to the file. */
#ifndef DDBFS_CORE_RECORDING_RECORDED_H
#define DDBFS_CORE_RECORDING_RECORDED_H

#include "core/base/arena.h"
#include "core/base/list.h"
#include "core/recording/request_digest.h"

/* One of the keys of a READ_ITEMS. */
struct recorded_key {
    struct request_digest digest;
    struct key key; /* in the arena */
};

/* One page of a response, all keys of a READ_ITEMS, or the source of an environment. Its texts are
 * in the arena. */
struct recorded {
    struct list_node node;
    struct arena arena;
    int64_t at_ms;             /* since 1970 */
    unsigned source;           /* the number of the source in this process */
    struct span settings;      /* of an environment: the source's, in words */
    const char *kind;          /* "query", …; static; NULL: this is an environment */
    struct span name;          /* of the table, or of the environment */
    struct span index;         /* empty: the table itself */
    struct span path;          /* of the user, or the map's pattern */
    uint64_t call;             /* the number of the call in this process, and of its page */
    unsigned page;             /* from 1 on */
    struct recorded_key *keys; /* READ_ITEMS: the requested ones */
    size_t key_count;
    struct request_digest digest;                   /* of other Reads */
    struct span shape;                              /* of READ_ITEMS: see request_shape_write */
    struct span key_names[KEY_MAX_BASE_ATTRIBUTES]; /* of the table's key */
    size_t key_name_count;                          /* 0: not known, or the key has a secret */
    bool is_typed;                                  /* BODY is an array of typed items */
    bool is_whole;    /* and the items have all their attributes, and KEY_NAMES are known */
    bool is_complete; /* READ_ITEMS: a key without an item is proven not to exist */
    struct span body; /* JSON; empty: none */
    bool more, continues, scanned_twice;
    uint64_t counted, scanned;
    struct span request_id;
    unsigned requests;
    double units, doubted; /* UNITS < 0: not stated */
    int64_t took_ms;
    struct span error; /* a JSON object; empty: none */
};

/* NULL when memory ran out. */
struct recorded *recorded_new(void);
void recorded_free(struct recorded *recorded); /* NULL is fine */

#endif
