/* A whole tree for tests: the example map (or another), a virtual clock, a cache, and the fake
 * source behind it. */
#ifndef DDBFS_TESTS_UNIT_SCENE_H
#define DDBFS_TESTS_UNIT_SCENE_H

#include "core/read/tree.h"
#include "tests/unit/fake_source.h"
#include "tests/unit/virtual_clock.h"

struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct cache *cache;
    const struct map *map;
    struct fake_source fake;
    struct tree tree;
    struct error refusal; /* with a kind: no source is to be had, and why */
};

/* Opens a scene on MAP, which it owns from then on. False when memory ran out or MAP is NULL; it is
 * to be closed in either case. */
bool scene_open(struct scene *scene, const struct map *map, const struct fake_item *items);
void scene_close(struct scene *scene);

/* What came of a question. */
struct told {
    unsigned calls;
    struct buf bytes; /* a file's content, or a listing's names, each followed by a newline */
    struct error err;
    bool secret;
    struct instant mtime;
    int64_t ttl_left_ms;
    struct error stale; /* with a kind: the file is too old, and why */
    unsigned pages;     /* of a listing, empty ones included */
    bool more;
    bool full; /* sizes and dates are wanted: "name size mtime" */
    struct tree_listing *listing;
};

void told_clean_up(struct told *told);

/* Asks for the file at PATH and runs the loop to its end. False when the path is no place or memory
 * ran out (TOLD's error says which). */
bool scene_read(struct scene *scene, const char *path, struct told *told);

/* Lists the directory at PATH, all pages of it. */
bool scene_list(struct scene *scene, const char *path, struct told *told);

/* The same of a place. */
bool scene_read_place(struct scene *scene, const struct place *place, struct told *told);
bool scene_list_place(struct scene *scene, const struct place *place, struct told *told);

/* Runs the loop for ROUNDS rounds of timers at most. */
void scene_run_rounds(struct scene *scene, int rounds);

/* Callbacks that write to a struct told, for tests that run the loop themselves. TAKE_PAGE asks for
 * no more. */
void scene_take_file(void *arg, const struct tree_file *file, const struct error *err);
void scene_take_page(void *arg, const struct tree_entry *entries, size_t count, bool more,
                     const struct error *err);

/* The data that most tests share: a few items of each of the example's tables. */
extern const struct fake_item scene_items[];

#endif
