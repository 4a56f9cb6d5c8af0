/* A source that follows streams, over a service that is played: its items, its stale replicas and
 * its stream, under a virtual clock. */
#ifndef DDBFS_TESTS_UNIT_LIVE_SCENE_H
#define DDBFS_TESTS_UNIT_LIVE_SCENE_H

#include "core/live/live.h"
#include "tests/unit/counting_payer.h"
#include "tests/unit/fake_stream.h"
#include "tests/unit/virtual_clock.h"

enum { KEYS = 32, VERSIONS = 4096, SETTLE_MS = 2000, READER_TTL_MS = SOURCE_HOLD_MS };

/* A service: items with their versions, and a stream of them. */
struct live_service {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct loop *loop;
    struct fake_stream stream;
    unsigned versions[KEYS];
    int64_t written_ms[KEYS][VERSIONS];
    int64_t stale_ms; /* a replica may be as late */
    uint64_t seed;
    unsigned reads; /* of items */
    int padding;    /* further bytes of each item */
    bool fails;     /* reads of items fail */
    bool *busy;     /* set while it works on its own account; may be NULL */
};

unsigned live_service_draw(struct live_service *service, unsigned below);
/* A new version of the item KEY. */
void live_service_write(struct live_service *service, unsigned key);
/* The version of KEY that was the latest at AT_MS. */
unsigned live_service_version(const struct live_service *service, unsigned key, int64_t at_ms);

struct live_scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct live_service service;
    struct source *source;
    struct log log;
    char logged[8192];
    struct counting_payer payer;
    /* The last read. */
    struct source_call *call;
    unsigned versions[READ_MAX_KEYS];
    size_t count;
    unsigned requests;
    int64_t age_ms; /* of its last page */
    struct error err;
    bool is_over;
    bool stops; /* after each page */
};

void live_scene_open(struct live_scene *scene, uint64_t seed);
/* With room for MOST_BYTES of results. */
void live_scene_open_within(struct live_scene *scene, uint64_t seed, size_t most_bytes);
void live_scene_close(struct live_scene *scene);
/* Runs the loop for so long. */
void live_scene_pass(struct live_scene *scene, int64_t ms);

/* A Read of COUNT keys from FROM on, for the caller to destroy. */
struct read *live_scene_keys(unsigned from, unsigned count);
/* Reads them; fills in the results of SCENE. */
void live_scene_read(struct live_scene *scene, unsigned from, unsigned count, bool consistent);
/* The page function of such a read. */
void live_scene_take_page(void *arg, const struct page *page, const struct error *err);

/* Describes the table. */
void live_scene_describe(struct live_scene *scene);

/* A query of KEY for one item: its first page. Returns the Read for live_scene_end_query. */
struct read *live_scene_begin_query(struct live_scene *scene, const char *key);
void live_scene_end_query(struct live_scene *scene, struct read *read);

struct source_present live_scene_present(const struct live_scene *scene);
/* Lets the table become live, and its replicas settle. */
void live_scene_settle(struct live_scene *scene);

#endif
