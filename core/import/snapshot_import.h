/* An import: sources become a snapshot file, or further moments and tables of one. */
#ifndef DDBFS_CORE_IMPORT_SNAPSHOT_IMPORT_H
#define DDBFS_CORE_IMPORT_SNAPSHOT_IMPORT_H

#include "core/import/input.h"

/* Either of both; owned by the caller. */
struct import_source {
    struct input_folder *folder; /* of an export */
    struct input_folder *holder; /* of STREAM, if that is an object of a bucket; the caller closes
                                  * it after the import */
    struct input *stream;        /* of items, compressed or not; the import takes it over, and sets
                                  * it to NULL */
};

/* Changes while the import runs. */
struct import_progress {
    uint64_t items;       /* that were read */
    uint64_t items_total; /* 0: not known */
    uint64_t bytes;       /* of the files as stored */
    uint64_t bytes_total; /* 0: not known */
    bool is_indexing;     /* all items were read */
};

struct import_options {
    const char *file;
    bool onto;     /* FILE exists, and is extended */
    bool replaces; /* without ONTO: FILE may be replaced */
    struct import_source *sources;
    size_t source_count;
    const char *table; /* the name in FILE; NULL: that of the sources, or of the description */
    bool has_moment;
    int64_t at_ms;   /* of streams, with HAS_MOMENT; else the time of the newest file */
    int64_t now_ms;  /* for streams without a time */
    const char *map; /* the text of the map that the file gets; NULL: none */

    /* Appends the object "Table" of DescribeTable for TABLE (NULL: not known) to DESCRIPTION, and,
     * if it is known, TimeToLiveDescription to EXPIRY. False with ERR filled. */
    bool (*describe)(void *arg, const char *table, struct buf *description, struct buf *expiry,
                     struct error *err);
    /* Called often. False: the import ends with an error, and the file is as before. */
    bool (*proceed)(void *arg);
    void *arg;
    struct import_progress *progress; /* borrowed */
};

/* The table, and its newest moment. */
struct import_result {
    struct buf table;
    struct buf indexes; /* names, each ended by a NUL */
    int64_t at_ms;
    int64_t item_count, byte_count; /* of the state at the moment */
    unsigned window_count;          /* of increments */
};

void import_result_clean_up(struct import_result *result);

/* Whether FILE, which exists and is not empty, is a snapshot that may be replaced. False with ERR
 * filled. */
bool snapshot_import_check_target(const char *file, struct error *err);

/* Runs an import to its end. RESULT is to be cleaned up in either case. False with ERR filled; then
 * the file is as it was before. */
bool snapshot_import(const struct import_options *options, struct import_result *result,
                     struct error *err);

#endif
