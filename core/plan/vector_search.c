#include "core/plan/vector_search.h"

#include <string.h>

#include "core/item/item.h"
#include "core/item/typed.h"
#include "core/source/source.h"

struct read *vector_search_new(const struct map_vector *vector, const struct model *table,
                               const char *table_name, uint32_t top)
{
    struct read *read = read_new(READ_SIMILAR, table_name, vector->name);
    if (!read)
        return NULL;
    read->limit = top;
    read->descending = strcmp(vector->distance, DISTANCE_DOT_PRODUCT) == 0;
    read_set_vector(read, span_text(vector->attribute), span_text(""));
    for (size_t i = 0; i < table->key_count; i++) {
        read_add_attribute(read, span_text(table->keys[i].attribute));
        read_add_own_key(read, span_text(table->keys[i].attribute));
    }
    if (vector->partition) {
        struct cond cond = {.attribute = span_text(vector->partition),
                            .op = COND_EQ,
                            .value = {vector->partition_type, SPAN_LITERAL("…")}};
        read_add_where(read, &cond);
    }
    if (!read_failed(read))
        return read;
    read_destroy(read);
    return NULL;
}

/* Fills LIST, the array of numbers that the item has as its vector. */
static bool vector_search_find(const struct map_vector *vector, struct json item, struct json *list,
                               struct error *err)
{
    struct json typed = item_attribute(item, span_text(vector->attribute));
    size_t count = 0;
    if (!json_present(typed))
        return error_set(err, ERROR_INVALID,
                         "the item has no vector: it lacks the attribute %s, so the vector index "
                         "%s does not have it, and nothing is similar to it",
                         vector->attribute, vector->name);
    *list = json_member(typed, "L");
    bool ok = json_is(*list, JSON_ARRAY);
    for (struct json each = json_first(*list); ok && json_present(each); each = json_next(each)) {
        ok = json_is(json_member(each, "N"), JSON_STRING);
        count++;
    }
    if (!ok)
        return error_set(err, ERROR_INVALID,
                         "the item's %s is no vector: the vector index %s takes a list of numbers; "
                         "correct the item",
                         vector->attribute, vector->name);
    return count == vector->dimensions ||
           error_set(err, ERROR_INVALID,
                     "the item's vector %s has %zu numbers, and the vector index %s has %lu "
                     "dimensions; correct the item, or use an index of its dimensions",
                     vector->attribute, count, vector->name, (unsigned long)vector->dimensions);
}

/* Replaces the condition on the partition attribute by that with ITEM's value. */
static bool vector_search_add_partition(struct read *read, const struct map_vector *vector,
                                        struct json item, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct cond cond = {.attribute = span_text(vector->partition), .op = COND_EQ};
    read->where_count = 0;
    if (typed_scalar(item_attribute(item, cond.attribute), &arena, &cond.value) &&
        cond.value.type == vector->partition_type) {
        read_add_where(read, &cond);
        return true;
    }
    return arena.failed ? error_no_memory(err)
                        : error_set(err, ERROR_INVALID,
                                    "the item has no %s of type %s, by which the vector index %s "
                                    "is divided, so it is not in that index",
                                    vector->partition, value_type_name(vector->partition_type),
                                    vector->name);
}

struct read *vector_search_from(const struct read *search, const struct map_vector *vector,
                                struct json item, struct error *err)
{
    struct json list = {0};
    if (!vector_search_find(vector, item, &list, err))
        return NULL;
    struct read *read = read_copy(search, NULL);
    if (!read) {
        error_no_memory(err);
        return NULL;
    }
    read_set_vector(read, search->vector_of, json_raw(list));
    read->secrets = search->secrets;
    read->secret_count = search->secret_count;
    bool ok = !vector->partition || vector_search_add_partition(read, vector, item, err);
    if (ok && !read_failed(read))
        return read;
    if (ok)
        error_no_memory(err);
    read_destroy(read);
    return NULL;
}
