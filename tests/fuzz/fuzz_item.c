/* Fuzzing of typed items: whatever is one is printed as JSON, has a version, and makes a record
 * that prints the same. */
#include <stdint.h>
#include <stdlib.h>

#include "core/item/record.h"
#include "core/item/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void record_clean_up(struct record **record)
{
    record_unref(*record);
}

static void require_json(struct span text)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    require(json_parse(&doc, text, JSON_STRICT, NULL));
}

/* A record of ITEM has its version and prints as TEXT. */
static void use_record(struct json item, const struct record_view *view, struct span text)
{
    static const struct record_origin origin;
    struct version version, same;
    CLEAN_UP(record_clean_up) struct record *record = record_new(item, &origin, NULL);
    CLEAN_UP(buf_clean_up) struct buf again = {0};
    require(record && item_version(item, &version) && item_version(record_item(record), &same));
    require(memcmp(&version, &same, sizeof version) == 0);
    require(item_write(record_item(record), view, &again) && span_equal(buf_span(&again), text));
}

static void use_item(struct json item, const struct record_view *view)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct version version;
    if (!item_write(item, view, &out)) {
        require(out.size == 0 && !out.failed && !item_version(item, &version));
        return;
    }
    require_json(buf_span(&out));
    use_record(item, view, buf_span(&out));
}

static void use_masked(struct json item)
{
    static const char *const names[] = {"a", "pk"};
    struct record_view view = {names, 2, names, 2, true};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    if (item_write(item, &view, &out))
        require_json(buf_span(&out));
}

/* A key value that can be read is written so that it reads the same. */
static void use_value(struct json typed)
{
    CLEAN_UP(buf_clean_up) struct buf storage = {0};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    CLEAN_UP(buf_clean_up) struct buf again = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    struct value value, same;
    if (!value_read(typed, &storage, &value))
        return;
    value_write(&out, value);
    require(json_parse(&doc, buf_span(&out), JSON_STRICT, NULL));
    require(value_read(json_root(&doc), &again, &same) && value_compare(value, same) == 0);
}

static void use_attributes(struct json item)
{
    struct json value, name = json_first(item);
    if (!json_is(item, JSON_OBJECT))
        return;
    for (; json_present(name); name = json_next(value)) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        value = json_next(name);
        (void)item_write_value(value, false, &out);
        use_value(value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct record_view pretty;
    static const struct record_view compact = {.compact = true};
    CLEAN_UP(json_clean_up) struct json_doc doc;
    if (!json_parse(&doc, span_of((const char *)data, size), JSON_STRICT, NULL))
        return 0;
    use_item(json_root(&doc), &pretty);
    use_item(json_root(&doc), &compact);
    use_masked(json_root(&doc));
    use_attributes(json_root(&doc));
    return 0;
}
