/* Fuzzing of paths on the map of the examples: any path is a place or has an error, and a place
 * has its reads and its explanation. The first byte chooses the suffix of names. */
#include <stdint.h>
#include <stdlib.h>

#include "core/dynamo/dynamo.h"
#include "core/tree/bind.h"
#include "core/tree/explain.h"

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

static void read_clean_up(struct read **read)
{
    read_destroy(*read);
}

/* Read once, and never freed: it is reachable until the end. */
static const struct map *example_map(void)
{
    static const struct map *map;
    struct error err;
    if (!map)
        map = map_load(EXAMPLE_MAP, &err);
    require(map);
    return map;
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

static void use_key(const struct place *place)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key = {0};
    struct error err = {0};
    if (bind_key(place, &arena, &key, &err))
        require(key.count > 0 && key_compare(&key, &key) == 0);
    else
        require_error(&err);
}

static void use_query(const struct place *place)
{
    CLEAN_UP(buf_clean_up) struct buf identity = {0};
    struct error err = {0};
    CLEAN_UP(read_clean_up) struct read *query = bind_query(place, &err);
    if (!query) {
        require_error(&err);
        return;
    }
    require(!read_failed(query) && query->where_count > 0);
    read_identity(query, &identity);
    require(identity.size > 0);
}

static void use_record(const struct place *place)
{
    if (place_is_directory(place) || !place->route || place->shortened.size > 0)
        return;
    if (bind_has_key(place))
        use_key(place);
    else
        use_query(place);
}

static void explain(const struct place *place, struct span path, bool json)
{
    struct tree tree = {.map = place->map, .describe = describe, .names = {.suffix = ""}};
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
    struct place_options options = {.suffix = data[0] & 1 ? ".json" : ""};
    struct span path = span_of((const char *)data + 1, size - 1);
    struct error err = {0};
    CLEAN_UP(place_clean_up)
    struct place *place = place_resolve(example_map(), path, &options, &err);
    if (!place) {
        require_error(&err);
        return 0;
    }
    use_record(place);
    explain(place, path, false);
    explain(place, path, true);
    return 0;
}
