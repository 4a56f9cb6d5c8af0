/* Fuzzing of the map: any text is a map or has an error that names its line; in a map, any path
 * is a place, and how it is read is a plan, or has an error. What follows the first NUL byte is
 * that path. */
#include <stdint.h>
#include <stdlib.h>

#include "core/plan/plan.h"
#include "core/read/fetch.h"
#include "core/read/place.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char file[] = "fuzz.json";

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void map_clean_up(const struct map **map)
{
    map_unref(*map);
}

static void resolve(const struct map *map, struct span path)
{
    static const struct place_options options = {.suffix = ""};
    struct error err = {0};
    struct place *place = place_resolve(map, path, &options, &err);
    require(place || (err.kind != ERROR_NONE && err.text[0]));
    if (place && fetch_is_needed(place)) {
        const struct plan *plan = place_plan(place, &err);
        require(plan || (err.kind != ERROR_NONE && err.text[0]));
    }
    place_destroy(place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = span_of((const char *)data, size);
    struct span path = SPAN_LITERAL("/prod/jobs/by-id/1");
    const char *end = size ? memchr(data, '\0', size) : NULL;
    if (end) {
        text.size = (size_t)(end - text.data);
        path = span_of(end + 1, size - text.size - 1);
    }
    struct error err = {0};
    CLEAN_UP(map_clean_up) const struct map *map = map_parse(file, text, NULL, &err);
    if (map)
        resolve(map, path);
    else
        require(err.kind == ERROR_INVALID && strncmp(err.text, file, strlen(file)) == 0);
    return 0;
}
