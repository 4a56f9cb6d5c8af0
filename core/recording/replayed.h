/* Responses of a recording, found and read in the thread of a replay. */
#ifndef DDBFS_CORE_RECORDING_REPLAYED_H
#define DDBFS_CORE_RECORDING_REPLAYED_H

#include "core/base/arena.h"
#include "core/recording/recorded.h"
#include "core/source/source.h"

/* The call that was recorded; RUN is 0 before it is found. */
struct replayed_call {
    int64_t run, call;
};

enum { REPLAY_WAYS = 3, REPLAY_MOST_MOMENTS = 10000 };

/* A Read, as far as its response is looked for. */
struct replay_request {
    struct arena arena;
    enum read_kind kind;
    struct span environment, table; /* in the arena */
    bool counts;
    struct request_digest ways[REPLAY_WAYS]; /* of the Read itself, then of wider ones */
    size_t way_count;
    struct recorded_key *keys; /* READ_ITEMS; in the arena */
    size_t key_count;
    struct span shape; /* likewise: see request_shape_write */
    /* Filled by the caller: */
    struct replayed_call call; /* of the pages before */
    unsigned page;             /* from 1 on */
    int64_t at_ms;
};

/* Copies what it needs of READ. False when memory ran out. To be cleaned up in either case. */
bool replay_request_init(struct replay_request *request, const struct read *read,
                         struct span environment);
void replay_request_clean_up(struct replay_request *request);

/* One page. All is owned by TEXT, DOC and ARENA. */
struct replayed {
    struct replayed_call call;
    struct buf text;
    struct json_doc doc;
    struct arena arena;
    struct json *items;
    size_t item_count;
    struct span *names;
    size_t name_count;
    struct table_info *table;
    struct span description;
    uint64_t counted;
    size_t scanned;
    bool scanned_twice, continues, more;
};
void replayed_clean_up(struct replayed *page);

/* The file of a recording, opened for reading. Used by one thread at a time. */
struct replay_file;

/* NULL with ERR filled. */
struct replay_file *replay_file_open(const char *name, struct error *err);
void replay_file_close(struct replay_file *file); /* NULL is fine */
/* Its absolute name; borrowed. */
const char *replay_file_name(const struct replay_file *file);
/* Reads the fact NAME, which the caller frees; NULL without it. False with ERR filled. */
bool replay_file_read_fact(struct replay_file *file, const char *name, char **out,
                           struct error *err);
/* Reads the seconds with responses, the newest first, which the caller frees. False with ERR
 * filled. */
bool replay_file_read_moments(struct replay_file *file, int64_t **moments, size_t *count,
                              struct error *err);
/* Fills PAGE, or ERR: the recorded error, or ERROR_NOT_STORED. PAGE is to be cleaned up in either
 * case. */
void replay_file_read(struct replay_file *file, const struct replay_request *request,
                      struct replayed *page, struct error *err);

#endif
