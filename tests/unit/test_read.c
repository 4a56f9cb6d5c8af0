/* Reads: what they copy, and what tells them apart. */
#include "core/source/read.h"

#include "tests/unit/check.h"

static struct value text(const char *s)
{
    return (struct value){VALUE_S, span_text(s)};
}

static struct value number(const char *n)
{
    return (struct value){VALUE_N, span_text(n)};
}

static struct cond cond(const char *attribute, enum cond_op op, struct value value)
{
    return (struct cond){.attribute = span_text(attribute), .op = op, .value = value};
}

static struct key key_of(const char *pk, const char *sk)
{
    return (struct key){
        .attributes = {{SPAN_LITERAL("pk"), text(pk)}, {SPAN_LITERAL("sk"), text(sk)}}, .count = 2};
}

/* Whether two Reads, which are destroyed, share an identity. */
static bool same(struct read *a, struct read *b)
{
    struct buf first = {0}, second = {0};
    read_identity(a, &first);
    read_identity(b, &second);
    bool equal = span_equal(buf_span(&first), buf_span(&second));
    bool failed = first.failed || second.failed || read_failed(a) || read_failed(b);
    buf_clean_up(&first);
    buf_clean_up(&second);
    read_destroy(a);
    read_destroy(b);
    CHECK(!failed);
    return equal;
}

static void copies_what_it_is_given(void)
{
    char table[] = "jobs", index[] = "by-id", attribute[] = "pk", value[] = "A#1";
    struct read *read = read_new(READ_QUERY, table, index);
    struct cond where = cond(attribute, COND_EQ, text(value));
    read_add_where(read, &where);
    read_add_attribute(read, span_text(attribute));
    memset(table, 'x', 4);
    memset(index, 'x', 4);
    memset(attribute, 'x', 2);
    memset(value, 'x', 3);
    CHECK_TEXT(read->table, "jobs");
    CHECK_TEXT(read->index, "by-id");
    CHECK_SPAN(read->where[0].attribute, SPAN_LITERAL("pk"));
    CHECK_SPAN(read->where[0].value.bytes, SPAN_LITERAL("A#1"));
    CHECK_SPAN(read->attributes[0], SPAN_LITERAL("pk"));
    read_destroy(read);
}

static void keeps_keys_in_order_while_it_grows(void)
{
    struct read *read = read_new(READ_ITEMS, "t", NULL);
    for (int i = 0; i < READ_MAX_KEYS; i++) {
        char sk[16];
        snprintf(sk, sizeof sk, "%d", i);
        struct key key = key_of("p", sk);
        read_add_key(read, &key);
    }
    CHECK(!read_failed(read));
    CHECK_INT(read->key_count, READ_MAX_KEYS);
    CHECK_SPAN(read->keys[0].attributes[1].value.bytes, SPAN_LITERAL("0"));
    CHECK_SPAN(read->keys[99].attributes[1].value.bytes, SPAN_LITERAL("99"));
    read_destroy(read);
}

static void refuses_a_key_too_many(void)
{
    struct read *read = read_new(READ_ITEMS, "t", NULL);
    struct key key = key_of("p", "s");
    for (int i = 0; i <= READ_MAX_KEYS; i++)
        read_add_key(read, &key);
    CHECK(read_failed(read));
    CHECK_INT(read->key_count, READ_MAX_KEYS);
    read_destroy(read);
}

static void refuses_a_condition_too_many(void)
{
    struct read *read = read_new(READ_QUERY, "t", NULL);
    struct cond each = cond("a", COND_EQ, text("1"));
    for (int i = 0; i <= READ_MAX_FILTERS; i++)
        read_add_filter(read, &each);
    CHECK(read_failed(read));
    read_destroy(read);
}

static void has_no_table_to_list_tables(void)
{
    struct read *read = read_new(READ_TABLES, NULL, NULL);
    CHECK_TEXT(read->table, "");
    CHECK(!read->index);
    read_destroy(read);
}

static struct read *query(const char *table, const char *index, const struct cond *where,
                          const struct cond *filter)
{
    struct read *read = read_new(READ_QUERY, table, index);
    if (where)
        read_add_where(read, where);
    if (filter)
        read_add_filter(read, filter);
    return read;
}

static struct read *together(const char *second)
{
    static const char *const tables[] = {"t", "u"};
    struct read *read = read_new(READ_TOGETHER, "t", NULL);
    for (int i = 0; i < 2; i++) {
        struct read *part = read_new(READ_ITEMS, tables[i], NULL);
        struct key key = {.attributes = {{SPAN_LITERAL("pk"), text(i ? second : "a")}}, .count = 1};
        read_add_key(part, &key);
        read_set_path(part, i ? "/b" : "/a");
        read_add_part(read, part);
    }
    return read;
}

static void parts_are_of_the_identity_and_of_copies(void)
{
    CLEAN_UP(buf_clean_up) struct buf tables = {0};
    CHECK(same(together("b"), together("b")));
    CHECK(!same(together("b"), together("c")));
    struct read *read = together("b"), *copy = read_copy(read, NULL);
    CHECK(copy && copy->part_count == 2);
    CHECK_TEXT(copy->parts[1]->path, "/b");
    read_write_tables(copy, ", ", &tables);
    CHECK_TEXT(buf_text(&tables), "t, u");
    CHECK(!read_is_divisible(copy));
    CHECK(same(read, copy)); /* destroys both */
}

static void a_read_has_a_hundred_parts_at_most(void)
{
    struct read *read = read_new(READ_TOGETHER, "t", NULL);
    for (int i = 0; i <= READ_MAX_KEYS; i++) {
        CHECK(!read_failed(read));
        read_add_part(read, read_new(READ_ITEMS, "t", NULL));
    }
    CHECK(read_failed(read) && read->part_count == READ_MAX_KEYS);
    read_destroy(read);
}

static void equal_reads_share_an_identity(void)
{
    struct cond where = cond("pk", COND_EQ, text("a"));
    CHECK(same(query("t", "i", &where, NULL), query("t", "i", &where, NULL)));
}

static void a_count_and_a_size_are_two_numbers(void)
{
    CLEAN_UP(buf_clean_up) struct buf identity = {0};
    struct cond where = cond("pk", COND_EQ, text("a"));
    struct read *read = query("t", NULL, &where, NULL);
    read_identity(read, &identity);
    read_destroy(read);
    CHECK_HAS(buf_text(&identity), "(1 ");
}

static void one_number_has_one_identity(void)
{
    struct cond plain = cond("pk", COND_EQ, number("100")), exponent = plain, other = plain;
    exponent.value = number("1.0E+2");
    other.value = number("1E3");
    CHECK(same(query("t", NULL, &plain, NULL), query("t", NULL, &exponent, NULL)));
    CHECK(!same(query("t", NULL, &plain, NULL), query("t", NULL, &other, NULL)));
}

static void an_index_tells_apart(void)
{
    CHECK(!same(query("t", NULL, NULL, NULL), query("t", "", NULL, NULL)));
    CHECK(!same(query("t", "i", NULL, NULL), query("t", "j", NULL, NULL)));
}

static void a_type_tells_apart(void)
{
    struct cond s = cond("pk", COND_EQ, text("1")), n = cond("pk", COND_EQ, number("1"));
    CHECK(!same(query("t", NULL, &s, NULL), query("t", NULL, &n, NULL)));
}

static void an_operator_tells_apart(void)
{
    struct cond lt = cond("pk", COND_LT, text("1")), le = cond("pk", COND_LE, text("1"));
    CHECK(!same(query("t", NULL, &lt, NULL), query("t", NULL, &le, NULL)));
}

static void an_upper_end_tells_apart(void)
{
    struct cond a = cond("pk", COND_BETWEEN, text("1")), b = a;
    a.upper = text("2");
    b.upper = text("3");
    CHECK(!same(query("t", NULL, &a, NULL), query("t", NULL, &b, NULL)));
}

static void a_filter_is_no_key_condition(void)
{
    struct cond each = cond("pk", COND_EQ, text("1"));
    CHECK(!same(query("t", NULL, &each, NULL), query("t", NULL, NULL, &each)));
}

static void lengths_keep_texts_from_running_together(void)
{
    struct cond a = cond("pk1:", COND_EQ, text("x")), b = cond("pk", COND_EQ, text("1:x"));
    CHECK(!same(query("t", NULL, &a, NULL), query("t", NULL, &b, NULL)));
}

static void order_limit_and_consistency_tell_apart(void)
{
    struct read *descending = query("t", NULL, NULL, NULL);
    descending->descending = true;
    CHECK(!same(descending, query("t", NULL, NULL, NULL)));
    struct read *limited = query("t", NULL, NULL, NULL);
    limited->limit = 1;
    CHECK(!same(limited, query("t", NULL, NULL, NULL)));
    struct read *consistent = query("t", NULL, NULL, NULL);
    consistent->consistent = true;
    CHECK(!same(consistent, query("t", NULL, NULL, NULL)));
}

static void a_projection_tells_apart(void)
{
    struct read *some = query("t", NULL, NULL, NULL);
    read_add_attribute(some, SPAN_LITERAL("a"));
    CHECK(!same(some, query("t", NULL, NULL, NULL)));
}

static void the_order_of_keys_does_not_matter(void)
{
    struct read *a = read_new(READ_ITEMS, "t", NULL), *b = read_new(READ_ITEMS, "t", NULL);
    struct key first = key_of("p", "1"), second = key_of("p", "2");
    read_add_key(a, &first);
    read_add_key(a, &second);
    read_add_key(b, &second);
    read_add_key(b, &first);
    CHECK(same(a, b));
}

static void kinds_tell_apart(void)
{
    CHECK(!same(read_new(READ_TABLE, "t", NULL), read_new(READ_QUERY, "t", NULL)));
}

static const struct check_test tests[] = {
    {"copies what it is given", copies_what_it_is_given},
    {"keeps keys in order while it grows", keeps_keys_in_order_while_it_grows},
    {"refuses a key too many", refuses_a_key_too_many},
    {"refuses a condition too many", refuses_a_condition_too_many},
    {"has no table to list tables", has_no_table_to_list_tables},
    {"parts are of the identity and of copies", parts_are_of_the_identity_and_of_copies},
    {"a read has a hundred parts at most", a_read_has_a_hundred_parts_at_most},
    {"equal Reads share an identity", equal_reads_share_an_identity},
    {"a count and a size are two numbers", a_count_and_a_size_are_two_numbers},
    {"one number has one identity", one_number_has_one_identity},
    {"an index tells apart", an_index_tells_apart},
    {"a type tells apart", a_type_tells_apart},
    {"an operator tells apart", an_operator_tells_apart},
    {"an upper end tells apart", an_upper_end_tells_apart},
    {"a filter is no key condition", a_filter_is_no_key_condition},
    {"lengths keep texts from running together", lengths_keep_texts_from_running_together},
    {"order, limit and consistency tell apart", order_limit_and_consistency_tell_apart},
    {"a projection tells apart", a_projection_tells_apart},
    {"the order of keys does not matter", the_order_of_keys_does_not_matter},
    {"kinds tell apart", kinds_tell_apart},
};
CHECK_MAIN(tests)
