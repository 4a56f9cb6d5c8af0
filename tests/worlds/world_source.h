/* A source that answers Reads from a world, in pages of random sizes, refuses what the service
 * would refuse, and keeps books. */
#ifndef DDBFS_TESTS_WORLDS_WORLD_SOURCE_H
#define DDBFS_TESTS_WORLDS_WORLD_SOURCE_H

#include "core/base/loop.h"
#include "core/source/source.h"
#include "tests/worlds/world.h"

struct world_books {
    unsigned requests; /* without descriptions */
    unsigned queries;  /* that were begun */
    unsigned pages;    /* of these */
    unsigned keys;     /* of items */
    unsigned scans, descriptions;
    double units;
    char refused[256]; /* what the service would have refused; "" for nothing */
};

struct world_source {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct loop *loop;    /* borrowed */
    const struct world *world;
    struct world_dice dice;
    struct world_books books;
    struct arena arena; /* of descriptions */
    const struct table_info *infos[WORLD_TABLES];
};

/* Both arguments are borrowed. */
void world_source_init(struct world_source *source, struct loop *loop, const struct world *world);
void world_source_clean_up(struct world_source *source);

#endif
