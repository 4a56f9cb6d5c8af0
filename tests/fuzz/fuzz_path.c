/* Fuzzing of paths on the map of the examples: any path is a place or has an error, and a place
 * has its reads and its explanation. The first byte chooses the suffix of names. */
#include <stdint.h>
#include <stdlib.h>

#include "core/describe/explain.h"
#include "core/dynamo/dynamo.h"
#include "core/read/fetch.h"
#include "core/read/moments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void place_clean_up(struct place **place)
{
    place_destroy(*place);
}

/* Read once, and never freed: it is reachable until the end. */
static const struct map *example_map(void)
{
    static const struct map *map;
    struct error err;
    if (!map)
        map = map_load(EXAMPLE_MAP, NULL, NULL, &err);
    require(map);
    return map;
}

/* Each environment has a past, of two moments, and no snapshot as its present. */

static bool is_no(void *arg, const struct map_environment *environment)
{
    (void)arg;
    (void)environment;
    return false;
}

static bool list_moments(void *arg, const struct map_environment *environment,
                         const int64_t **times, size_t *count, struct error *err)
{
    static const int64_t all[] = {1793685600000, 1793599200500};
    (void)arg;
    (void)environment;
    (void)err;
    *times = all;
    *count = 2;
    return true;
}

static void write_origin(void *arg, const struct place *place, struct buf *out)
{
    (void)arg;
    (void)place;
    buf_add_text(out, "a file");
}

static const struct moments moments = {.is_snapshot = is_no,
                                       .is_recording = is_no,
                                       .list = list_moments,
                                       .write_origin = write_origin};

/* The past has a time within it, and a version one of the moments. */
static void check_time(const struct place *place)
{
    require(!place->is_past || place->is_snapshot);
    require(place->kind != PLACE_VERSION || place->at_ms == 1793685600000 ||
            place->at_ms == 1793599200500);
    require(!place->is_past || place->at_ms >= 1793599200500);
}

static const struct source_ops *describe(void *arg, const struct place *place, struct buf *options)
{
    (void)arg;
    (void)place;
    (void)options;
    return &dynamo_ops;
}

static void require_error(const struct error *err)
{
    require(err->kind != ERROR_NONE && err->text[0]);
}

/* What would be asked for the place, and what it would be known by. */
static void use_plan(const struct place *place)
{
    CLEAN_UP(buf_clean_up) struct buf identity = {0};
    struct error err = {0};
    if (!fetch_is_needed(place))
        return;
    const struct plan *plan = place_plan(place, &err);
    if (!plan) {
        require_error(&err);
        return;
    }
    plan_identity(plan, &identity);
    if (plan->kind == PLAN_KEY)
        require(plan->key.count > 0 && key_compare(&plan->key, &plan->key) == 0);
    else
        require(!read_failed(plan->query) && plan->query->where_count > 0 && identity.size > 0);
}

static void explain(const struct place *place, struct span path, bool json)
{
    struct tree tree = {
        .map = place->map, .describe = describe, .names = {.suffix = "", .moments = &moments}};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    struct error err = {0};
    if (!explain_write(&tree, place, path, json, &out, &err))
        require_error(&err);
    else if (json)
        require(json_parse(&doc, buf_span(&out), JSON_STRICT, NULL));
    else
        require(out.size > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct place_options options = {.suffix = data[0] & 1 ? ".json" : "", .moments = &moments};
    struct span path = span_of((const char *)data + 1, size - 1);
    struct error err = {0};
    CLEAN_UP(place_clean_up)
    struct place *place = place_resolve(example_map(), path, &options, &err);
    if (!place) {
        require_error(&err);
        return 0;
    }
    check_time(place);
    use_plan(place);
    explain(place, path, false);
    explain(place, path, true);
    return 0;
}
