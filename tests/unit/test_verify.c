/* Answers of a service that can't be trusted: what is not one to the question is no answer. */
#include "core/dynamo/verify.h"

#include "tests/unit/check.h"

enum { MAX_ANSWERS = 12 };

static const char type[] = "application/x-amz-json-1.0";

static struct value text(const char *s)
{
    return (struct value){VALUE_S, span_text(s)};
}

static struct value number(const char *s)
{
    return (struct value){VALUE_N, span_text(s)};
}

static struct read *new_query(const char *index, bool descending)
{
    struct read *read = read_new(READ_QUERY, "t", index);
    struct cond where = {.attribute = SPAN_LITERAL("pk"), .op = COND_EQ, .value = text("p")};
    read_add_where(read, &where);
    read_add_sort(read, SPAN_LITERAL("sk"));
    read->descending = descending;
    return read;
}

static struct read *new_items(size_t count)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    struct read *read = read_new(READ_ITEMS, "t", NULL);
    for (size_t i = 0; i < count; i++) {
        struct key key = {
            .attributes = {{SPAN_LITERAL("pk"), text(names[i])}, {SPAN_LITERAL("sk"), number("1")}},
            .count = 2};
        read_add_key(read, &key);
    }
    return read;
}

/* Gives the answers BODIES, up to a NULL, to READ, which is destroyed. Returns how many of them
 * were taken; ERR is why the next one was not. */
static int take(struct read *read, const char *const *bodies, struct error *err)
{
    struct http_header header = {"Content-Type", type};
    struct sent_request question = {.op = request_op(read),
                                    .read = read,
                                    .region = "eu-west-1",
                                    .endpoint = "https://ddb.test/"};
    struct verify verify = {.sent = &question};
    int taken = 0;
    bool ok = true;
    *err = (struct error){0};
    for (; bodies[taken] && ok; taken += ok) {
        struct http_response response = {
            .status = 200, .headers = &header, .header_count = 1, .body = span_text(bodies[taken])};
        struct answer *answer = answer_new(&question, &response, NULL, err);
        ok = answer && verify_answer(&verify, answer, err);
        answer_destroy(answer);
    }
    verify_clean_up(&verify);
    read_destroy(read);
    return taken;
}

#define TAKE(read, err, ...) take((read), (const char *const[]){__VA_ARGS__, NULL}, (err))

#define CHECK_TAKEN(read, count, ...)                                                              \
    do {                                                                                           \
        struct error why_;                                                                         \
        int taken_ = TAKE((read), &why_, __VA_ARGS__);                                             \
        if (why_.kind != ERROR_NONE)                                                               \
            printf("# %s\n", why_.text);                                                           \
        CHECK_INT(taken_, (count));                                                                \
    } while (0)

#define CHECK_REFUSED(read, count, part, ...)                                                      \
    do {                                                                                           \
        struct error why_;                                                                         \
        CHECK_INT(TAKE((read), &why_, __VA_ARGS__), (count));                                      \
        CHECK_INT(why_.kind, ERROR_BAD_ANSWER);                                                    \
        CHECK_HAS(why_.text, (part));                                                              \
    } while (0)

#define KEY(pk, sk) "{\"pk\":{\"S\":\"" pk "\"},\"sk\":{\"N\":\"" sk "\"}}"
#define GOT(item) "{\"Item\":" item "}"
#define BATCH(items) "{\"Responses\":{\"t\":[" items "]}}"
#define BATCH_AND(items, keys)                                                                     \
    "{\"Responses\":{\"t\":[" items "]},\"UnprocessedKeys\":{\"t\":{\"Keys\":[" keys "]}}}"
#define AT(sk) "{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"" sk "\"}}"
#define PAGE(items) "{\"Items\":[" items "]}"
#define PAGE_TO(items, last) "{\"Items\":[" items "],\"LastEvaluatedKey\":" last "}"
#define NAMES_TO(last) "{\"TableNames\":[],\"LastEvaluatedTableName\":" last "}"

static void an_item_has_the_key_that_was_asked_for(void)
{
    CHECK_TAKEN(new_items(1), 1, GOT(KEY("a", "1")));
    CHECK_TAKEN(new_items(1), 1, GOT(KEY("a", "1.0e0")));
    CHECK_REFUSED(new_items(1), 0, "was not requested", GOT(KEY("b", "1")));
    CHECK_REFUSED(new_items(1), 0, "was not requested", GOT(KEY("a", "2")));
    CHECK_REFUSED(new_items(1), 0, "was not requested", GOT("{}"));
    CHECK_REFUSED(new_items(1), 0, "was not requested", GOT("{\"pk\":{\"S\":\"a\"}}"));
    CHECK_REFUSED(new_items(1), 0, "was not requested",
                  GOT("{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"1\"}}"));
}

static void items_of_a_batch_are_those_of_its_keys(void)
{
    CHECK_TAKEN(new_items(3), 1, BATCH(KEY("c", "1") "," KEY("a", "1")));
    CHECK_TAKEN(new_items(3), 1, BATCH(""));
    CHECK_REFUSED(new_items(2), 0, "was not requested", BATCH(KEY("c", "1")));
    CHECK_REFUSED(new_items(2), 0, "come before", BATCH(KEY("a", "1") "," KEY("a", "1")));
    CHECK_REFUSED(new_items(2), 0, "not DynamoDB's", "{\"Responses\":{\"u\":[]}}");
    CHECK_REFUSED(new_items(2), 0, "not DynamoDB's", "{\"Responses\":{\"t\":[],\"u\":[]}}");
}

static void what_is_left_of_a_batch_was_asked_for(void)
{
    CHECK_TAKEN(new_items(3), 2, BATCH_AND(KEY("a", "1"), KEY("b", "1")), BATCH(KEY("b", "1")));
    CHECK_REFUSED(new_items(2), 0, "unprocessed keys that were not requested",
                  BATCH_AND("", KEY("c", "1")));
    CHECK_REFUSED(new_items(2), 0, "unprocessed keys that were not requested",
                  BATCH_AND("", "{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"1\"},\"x\":{\"N\":\"1\"}}"));
    CHECK_REFUSED(new_items(2), 0, "processed before", BATCH_AND(KEY("a", "1"), KEY("a", "1")));
    CHECK_REFUSED(new_items(2), 0, "processed before",
                  BATCH_AND("", KEY("a", "1") "," KEY("a", "1")));
    CHECK_REFUSED(new_items(2), 0, "not DynamoDB's",
                  "{\"Responses\":{\"t\":[]},\"UnprocessedKeys\":{\"t\":[]}}");
}

/* A key that was answered, with an item or without one, is not asked for again. */
static void no_key_of_a_batch_is_answered_twice(void)
{
    CHECK_REFUSED(new_items(3), 1, "come before", BATCH_AND(KEY("a", "1"), KEY("b", "1")),
                  BATCH(KEY("a", "1")));
    CHECK_REFUSED(new_items(3), 1, "come before", BATCH_AND(KEY("a", "1"), KEY("b", "1")),
                  BATCH(KEY("c", "1")));
    CHECK_REFUSED(new_items(3), 1, "processed before", BATCH_AND("", KEY("b", "1")),
                  BATCH_AND(KEY("b", "1"), KEY("c", "1")));
}

static void items_of_a_query_answer_its_conditions(void)
{
    CHECK_TAKEN(new_query(NULL, false), 1, PAGE(AT("1") "," AT("2")));
    CHECK_REFUSED(new_query(NULL, false), 0, "pk does not match the request",
                  PAGE("{\"pk\":{\"S\":\"q\"},\"sk\":{\"S\":\"1\"}}"));
    CHECK_REFUSED(new_query(NULL, false), 0, "without the key attribute pk",
                  PAGE("{\"sk\":{\"S\":\"1\"}}"));
    CHECK_REFUSED(new_query(NULL, false), 0, "without the key attribute sk",
                  PAGE("{\"pk\":{\"S\":\"p\"}}"));
    CHECK_REFUSED(new_query(NULL, false), 0, "without the key attribute pk", PAGE("{}"));
}

static void items_of_a_query_are_within_its_range(void)
{
    struct cond sort = {.attribute = SPAN_LITERAL("sk"), .op = COND_BEGINS, .value = text("J#")};
    for (int i = 0; i < 2; i++) {
        struct read *read = new_query(NULL, false);
        read_add_where(read, &sort);
        if (i == 0)
            CHECK_TAKEN(read, 1, PAGE(AT("J#1")));
        else
            CHECK_REFUSED(read, 0, "sk does not match", PAGE(AT("K#1")));
    }
}

static void items_of_a_query_are_in_order(void)
{
    CHECK_TAKEN(new_query(NULL, true), 1, PAGE(AT("2") "," AT("1")));
    CHECK_TAKEN(new_query("i", false), 1, PAGE(AT("1") "," AT("1")));
    CHECK_REFUSED(new_query(NULL, false), 0, "backwards", PAGE(AT("2") "," AT("1")));
    CHECK_REFUSED(new_query(NULL, true), 0, "backwards", PAGE(AT("1") "," AT("2")));
    CHECK_REFUSED(new_query(NULL, false), 0, "two items of the same key",
                  PAGE(AT("1") "," AT("1")));
    CHECK_REFUSED(new_query(NULL, false), 1, "backwards", PAGE_TO(AT("2"), AT("2")), PAGE(AT("1")));
    CHECK_REFUSED(new_query(NULL, false), 1, "two items of the same key", PAGE_TO(AT("2"), AT("2")),
                  PAGE(AT("2")));
}

static void numbers_are_in_order_by_value(void)
{
    struct read *read = new_query(NULL, false);
    CHECK_TAKEN(read, 1,
                PAGE("{\"pk\":{\"S\":\"p\"},\"sk\":{\"N\":\"9\"}},"
                     "{\"pk\":{\"S\":\"p\"},\"sk\":{\"N\":\"10\"}}"));
}

static void pages_go_forward(void)
{
    CHECK_TAKEN(new_query(NULL, false), 3, PAGE_TO(AT("1"), AT("1")), PAGE_TO("", AT("2")),
                PAGE(AT("3")));
    CHECK_TAKEN(new_query(NULL, true), 2, PAGE_TO(AT("2"), AT("2")), PAGE(AT("1")));
    CHECK_REFUSED(new_query(NULL, false), 1, "that came before", PAGE_TO(AT("1"), AT("1")),
                  PAGE_TO("", AT("1")));
    CHECK_REFUSED(new_query(NULL, false), 1, "backwards", PAGE_TO(AT("2"), AT("2")),
                  PAGE_TO("", AT("1")));
    CHECK_REFUSED(new_query(NULL, true), 1, "backwards", PAGE_TO(AT("2"), AT("2")),
                  PAGE_TO("", AT("3")));
}

#define IN_INDEX(id) "{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"1\"},\"id\":{\"N\":\"" id "\"}}"

/* A position behind the last item passes over items, where no filter left any out. */
static void a_position_is_that_of_the_last_item(void)
{
    struct cond any = {.attribute = SPAN_LITERAL("open"), .op = COND_MISSING};
    struct read *filtered = new_query(NULL, false);
    read_add_filter(filtered, &any);
    CHECK_TAKEN(filtered, 1, PAGE_TO(AT("1"), AT("2")));
    CHECK_TAKEN(new_query(NULL, false), 1, PAGE_TO(AT("1") "," AT("2"), AT("2")));
    CHECK_REFUSED(new_query(NULL, false), 0, "not the key of the last item",
                  PAGE_TO(AT("1"), AT("2")));
    CHECK_REFUSED(new_query(NULL, true), 0, "not the key of the last item",
                  PAGE_TO(AT("3") "," AT("2"), AT("1")));
    CHECK_REFUSED(new_query(NULL, false), 1, "not the key of the last item",
                  PAGE_TO(AT("1"), AT("1")), PAGE_TO(AT("2"), AT("3")));
    CHECK_TAKEN(new_query("i", false), 1, PAGE_TO(IN_INDEX("5"), IN_INDEX("5.0")));
    CHECK_REFUSED(new_query("i", false), 0, "not the key of the last item",
                  PAGE_TO(IN_INDEX("5") "," IN_INDEX("3"), IN_INDEX("5")));
}

/* In an index many items may have one sort key, and nobody knows the order among them. */
static void a_circle_among_equal_sort_keys_ends(void)
{
    CHECK_TAKEN(new_query("i", false), 4, PAGE_TO("", IN_INDEX("5")), PAGE_TO("", IN_INDEX("3")),
                PAGE_TO("", IN_INDEX("4")), PAGE(""));
    CHECK_REFUSED(new_query("i", false), 1, "that came before", PAGE_TO("", IN_INDEX("5")),
                  PAGE_TO("", IN_INDEX("5.0")));
    CHECK_REFUSED(new_query("i", false), 6, "that came before", PAGE_TO("", IN_INDEX("1")),
                  PAGE_TO("", IN_INDEX("2")), PAGE_TO("", IN_INDEX("3")),
                  PAGE_TO("", IN_INDEX("4")), PAGE_TO("", IN_INDEX("2")),
                  PAGE_TO("", IN_INDEX("3")), PAGE_TO("", IN_INDEX("4")),
                  PAGE_TO("", IN_INDEX("2")), PAGE_TO("", IN_INDEX("3")));
}

static struct read *new_index_query(bool with_sort)
{
    struct read *read = read_new(READ_QUERY, "t", "i");
    struct cond where = {.attribute = SPAN_LITERAL("pk"), .op = COND_EQ, .value = text("p")};
    read_add_where(read, &where);
    if (with_sort)
        read_add_sort(read, SPAN_LITERAL("sk"));
    read_add_own_key(read, SPAN_LITERAL("id"));
    return read;
}

#define IN_INDEX_AT(sk, id)                                                                        \
    "{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"" sk "\"},\"id\":{\"N\":\"" id "\"}}"

/* An item that comes again would be listed twice, be it far from the first time, or on another
 * page. */
static void no_item_of_an_index_comes_twice(void)
{
    for (int sorted = 0; sorted < 2; sorted++) {
        CHECK_TAKEN(new_index_query(sorted), 2,
                    PAGE_TO(IN_INDEX("5") "," IN_INDEX("3"), IN_INDEX("3")),
                    PAGE(IN_INDEX("4") "," IN_INDEX("1")));
        CHECK_REFUSED(new_index_query(sorted), 0, "had come before",
                      PAGE(IN_INDEX("5") "," IN_INDEX("5")));
        CHECK_REFUSED(new_index_query(sorted), 0, "had come before",
                      PAGE(IN_INDEX("5") "," IN_INDEX("3") "," IN_INDEX("4") "," IN_INDEX("5.0")));
        CHECK_REFUSED(new_index_query(sorted), 1, "had come before",
                      PAGE_TO(IN_INDEX("3") "," IN_INDEX("5"), IN_INDEX("5")), PAGE(IN_INDEX("5")));
        CHECK_REFUSED(new_index_query(sorted), 1, "had come before",
                      PAGE_TO(IN_INDEX("5") "," IN_INDEX("3"), IN_INDEX("3")),
                      PAGE(IN_INDEX("4") "," IN_INDEX("5")));
        CHECK_REFUSED(new_index_query(sorted), 2, "had come before",
                      PAGE_TO(IN_INDEX("5"), IN_INDEX("5")), PAGE_TO("", IN_INDEX("6")),
                      PAGE(IN_INDEX("5")));
    }
    CHECK_TAKEN(
        new_index_query(true), 1,
        PAGE(IN_INDEX_AT("1", "5") "," IN_INDEX_AT("1", "6") "," IN_INDEX_AT("2", "7") "," //
             IN_INDEX_AT("3", "8") "," IN_INDEX_AT("3", "9")));
    CHECK_REFUSED(
        new_index_query(true), 0, "had come before",
        PAGE(IN_INDEX_AT("1", "5") "," IN_INDEX_AT("1", "6") "," IN_INDEX_AT("2", "7") "," //
             IN_INDEX_AT("2", "7")));
}

/* Whose key can't be read is complained of by whoever takes it apart. */
static void items_without_a_key_are_not_compared(void)
{
    CHECK_TAKEN(new_index_query(true), 1, PAGE(AT("1") "," AT("1")));
}

static void a_table_without_a_sort_key_gives_one_item(void)
{
    struct read *read = read_new(READ_QUERY, "t", NULL);
    struct cond where = {.attribute = SPAN_LITERAL("pk"), .op = COND_EQ, .value = text("p")};
    read_add_where(read, &where);
    CHECK_REFUSED(read, 0, "two items of the same key", PAGE(AT("1") "," AT("2")));
}

static struct read *new_filtered(const char *index, struct cond filter)
{
    struct read *read = new_query(index, false);
    read_add_filter(read, &filter);
    return read;
}

#define OPEN(sk, value) "{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"" sk "\"},\"open\":" value "}"

/* Somebody between who does not know filters must not show what they hide. */
static void items_of_a_query_pass_its_filter(void)
{
    struct cond open = {.attribute = SPAN_LITERAL("open"), .op = COND_EQ, .value = text("yes")};
    struct cond missing = {.attribute = SPAN_LITERAL("open"), .op = COND_MISSING};
    struct cond children[] = {missing, open};
    struct cond either = {.op = COND_OR, .children = children, .child_count = 2};
    CHECK_TAKEN(new_filtered(NULL, open), 1, PAGE(OPEN("1", "{\"S\":\"yes\"}")));
    CHECK_REFUSED(new_filtered(NULL, open), 0, "filter leaves out",
                  PAGE(OPEN("1", "{\"S\":\"yes\"}") "," OPEN("2", "{\"S\":\"no\"}")));
    CHECK_REFUSED(new_filtered(NULL, open), 0, "filter leaves out", PAGE(AT("1")));
    CHECK_TAKEN(new_filtered(NULL, either), 1, PAGE(OPEN("1", "{\"S\":\"yes\"}") "," AT("2")));
    CHECK_REFUSED(new_filtered(NULL, either), 0, "filter leaves out",
                  PAGE(OPEN("1", "{\"BOOL\":true}")));
}

/* What an index does not hold may have been tested all the same. */
static void what_an_index_does_not_hold_is_not_judged(void)
{
    struct cond open = {.attribute = SPAN_LITERAL("open"), .op = COND_EQ, .value = text("yes")};
    CHECK_TAKEN(new_filtered("i", open), 1, PAGE(AT("1")));
    CHECK_REFUSED(new_filtered("i", open), 0, "filter leaves out",
                  PAGE(OPEN("1", "{\"S\":\"no\"}")));
}

static void a_position_is_a_key_of_the_partition(void)
{
    static const char *const bad[] = {
        PAGE_TO("", "[]"),
        PAGE_TO("", "\"x\""),
        PAGE_TO("", "1"),
        PAGE_TO("", "{\"pk\":1}"),
        PAGE_TO("", "{\"pk\":{\"S\":\"p\"}}"),
        PAGE_TO("", "{\"sk\":{\"S\":\"p\"}}"),
        PAGE_TO("", "{\"pk\":{\"S\":\"q\"},\"sk\":{\"S\":\"1\"}}"),
        PAGE_TO("", "{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"1\"},\"x\":{\"BOOL\":true}}"),
        PAGE_TO("", "{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"1\"},\"x\":{\"N\":\"a\"}}"),
        PAGE_TO("", "{\"pk\":{\"S\":\"p\"},\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"1\"}}"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_REFUSED(new_query(NULL, false), 0, "", bad[i]);
    CHECK_TAKEN(new_query(NULL, false), 1, PAGE_TO("", "{}"));
    CHECK_TAKEN(new_query(NULL, false), 1, PAGE_TO("", "null"));
}

static void tables_go_forward(void)
{
    CHECK_TAKEN(read_new(READ_TABLES, NULL, NULL), 3, NAMES_TO("\"a\""), NAMES_TO("\"b\""),
                "{\"TableNames\":[]}");
    CHECK_TAKEN(read_new(READ_TABLES, NULL, NULL), 2, NAMES_TO("\"a\""), NAMES_TO("\"B\""));
    CHECK_TAKEN(read_new(READ_TABLES, NULL, NULL), 2, NAMES_TO("\"B\""), NAMES_TO("\"a\""));
    CHECK_REFUSED(read_new(READ_TABLES, NULL, NULL), 1, "that came before", NAMES_TO("\"a\""),
                  NAMES_TO("\"a\""));
    CHECK_REFUSED(read_new(READ_TABLES, NULL, NULL), 1, "goes backwards", NAMES_TO("\"b\""),
                  NAMES_TO("\"a\""));
    CHECK_REFUSED(read_new(READ_TABLES, NULL, NULL), 0, "not DynamoDB's", NAMES_TO("[]"));
}

/* Names that go forward for ever are no account's. */
static void a_list_of_tables_ends(void)
{
    enum { PAGES = 1001 };
    static char bodies[PAGES][80];
    static const char *list[PAGES + 1];
    struct error err;
    for (int i = 0; i < PAGES; i++) {
        snprintf(bodies[i], sizeof bodies[i],
                 "{\"TableNames\":[\"t%05d\"],\"LastEvaluatedTableName\":\"t%05d\"}", i, i);
        list[i] = bodies[i];
    }
    CHECK_INT(take(read_new(READ_TABLES, "", NULL), list, &err), PAGES - 1);
    CHECK_HAS(err.text, "more than 1000 pages of names");
}

static const struct check_test tests[] = {
    {"an item has the key that was asked for", an_item_has_the_key_that_was_asked_for},
    {"items of a batch are those of its keys", items_of_a_batch_are_those_of_its_keys},
    {"what is left of a batch was asked for", what_is_left_of_a_batch_was_asked_for},
    {"no key of a batch is answered twice", no_key_of_a_batch_is_answered_twice},
    {"items of a query answer its conditions", items_of_a_query_answer_its_conditions},
    {"items of a query are within its range", items_of_a_query_are_within_its_range},
    {"items of a query are in order", items_of_a_query_are_in_order},
    {"numbers are in order by value", numbers_are_in_order_by_value},
    {"pages go forward", pages_go_forward},
    {"a circle among equal sort keys ends", a_circle_among_equal_sort_keys_ends},
    {"no item of an index comes twice", no_item_of_an_index_comes_twice},
    {"items without a key are not compared", items_without_a_key_are_not_compared},
    {"a table without a sort key gives one item", a_table_without_a_sort_key_gives_one_item},
    {"items of a query pass its filter", items_of_a_query_pass_its_filter},
    {"what an index does not hold is not judged", what_an_index_does_not_hold_is_not_judged},
    {"a position is that of the last item", a_position_is_that_of_the_last_item},
    {"a list of tables ends", a_list_of_tables_ends},
    {"a position is a key of the partition", a_position_is_a_key_of_the_partition},
    {"tables go forward", tables_go_forward},
};
CHECK_MAIN(tests)
