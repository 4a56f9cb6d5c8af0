/* The search for an item's vector: which items have one, and what is requested. */
#include "core/plan/vector_search.h"

#include "core/source/source.h"
#include "tests/unit/check.h"

static const struct map_vector plain = {
    .name = "near", .attribute = "v", .dimensions = 2, .distance = DISTANCE_COSINE};
static const struct map_vector divided = {.name = "far",
                                          .attribute = "v",
                                          .dimensions = 2,
                                          .distance = DISTANCE_DOT_PRODUCT,
                                          .partition = "lang",
                                          .partition_type = VALUE_S};

/* The search for the vector of ITEM, a typed item. The caller destroys it. */
static struct read *from(const struct map_vector *vector, const char *item, struct error *err)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    struct model model = {.keys = {{.attribute = "pk"}}, .key_count = 1};
    struct read *search = vector_search_new(vector, &model, "t", 5);
    CHECK(search && search->vector.size == 0);
    CHECK(json_parse(&doc, span_text(item), JSON_STRICT, NULL));
    struct read *read = vector_search_from(search, vector, json_root(&doc), err);
    read_destroy(search);
    return read;
}

static void the_vector_and_the_partition_come_from_the_item(void)
{
    struct error err;
    struct read *read = from(&divided,
                             "{\"pk\":{\"S\":\"a\"},\"lang\":{\"S\":\"en\"},\"v\":{\"L\":[{\"N\":"
                             "\"1.50\"},{\"N\":\"2e-3\"}]}}",
                             &err);
    CHECK(read);
    CHECK(span_is(read->vector, "[{\"N\":\"1.50\"},{\"N\":\"2e-3\"}]"));
    CHECK_INT(read->where_count, 1);
    CHECK(span_is(read->where[0].value.bytes, "en"));
    CHECK(read->descending);
    CHECK_INT(read->limit, 5);
    CHECK_INT(read->own_key_count, 1);
    read_destroy(read);
    read = from(&plain, "{\"v\":{\"L\":[{\"N\":\"1\"},{\"N\":\"2\"}]}}", &err);
    CHECK(read && read->where_count == 0 && !read->descending);
    read_destroy(read);
}

static void an_item_without_a_vector_of_the_index_is_refused(void)
{
    static const struct {
        const struct map_vector *vector;
        const char *item;
        enum error_kind kind;
        const char *part;
    } rows[] = {
        {&plain, "{\"pk\":{\"S\":\"a\"}}", ERROR_INVALID, "lacks the attribute v"},
        {&plain, "{\"v\":{\"S\":\"a\"}}", ERROR_INVALID, "is no vector"},
        {&plain, "{\"v\":{\"NS\":[\"1\",\"2\"]}}", ERROR_INVALID, "is no vector"},
        {&plain, "{\"v\":{\"L\":[{\"N\":\"1\"},{\"S\":\"2\"}]}}", ERROR_INVALID, "is no vector"},
        {&plain, "{\"v\":{\"L\":[]}}", ERROR_INVALID, "has 0 numbers"},
        {&plain, "{\"v\":{\"L\":[{\"N\":\"1\"}]}}", ERROR_INVALID,
         "has 1 numbers, and the vector index near has 2 dimensions"},
        {&divided, "{\"v\":{\"L\":[{\"N\":\"1\"},{\"N\":\"2\"}]}}", ERROR_INVALID,
         "no lang of type S"},
        {&divided, "{\"lang\":{\"N\":\"1\"},\"v\":{\"L\":[{\"N\":\"1\"},{\"N\":\"2\"}]}}",
         ERROR_INVALID, "no lang of type S"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct error err = {0};
        CHECK(!from(rows[i].vector, rows[i].item, &err));
        CHECK_INT(err.kind, rows[i].kind);
        CHECK_HAS(err.text, rows[i].part);
    }
}

static const struct check_test tests[] = {
    {"the vector and the partition come from the item",
     the_vector_and_the_partition_come_from_the_item},
    {"an item without a vector of the index is refused",
     an_item_without_a_vector_of_the_index_is_refused},
};
CHECK_MAIN(tests)
