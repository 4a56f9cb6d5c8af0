/* The map of the test that runs, for tests of paths in it. */
#ifndef DDBFS_TESTS_UNIT_LOADED_H
#define DDBFS_TESTS_UNIT_LOADED_H

#include "core/read/place.h"
#include "tests/unit/check.h"
#include "tests/unit/sample.h"

static const struct place_options plain = {.suffix = ""};

static const struct map *map; /* close_map() lets go of it */

static void load_example(void)
{
    struct error err = {0};
    map = sample_example(&err);
    CHECK(map != NULL);
}

/* TABLE as sample_table has it. */
static void load_table(const char *table)
{
    struct error err = {0};
    map = sample_table(table, &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
}

static void close_map(void)
{
    map_unref(map);
    map = NULL;
}

static struct place *resolve(const char *path, const struct place_options *options)
{
    struct error err = {0};
    struct place *place = place_resolve(map, span_text(path), options, &err);
    if (!place)
        CHECK_FAIL("%s: %s", path, err.text);
    return place;
}

#endif
