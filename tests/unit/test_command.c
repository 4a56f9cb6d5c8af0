/* Reads as commands for a shell: what they say, and that nothing in them is taken for more. */
#include "core/dynamo/request_print.h"

#include "core/base/shell.h"
#include "tests/unit/check.h"

static const struct source_command plain = {.options = ""};

static void check_quoted(const char *text, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    shell_quote(&out, span_text(text));
    CHECK_TEXT(buf_text(&out), want);
}

static struct read *new_read(enum read_kind kind, const char *table, const char *index)
{
    struct read *read = read_new(kind, table, index);
    CHECK(read != NULL);
    return read;
}

static void add_where(struct read *read, const char *attribute, enum cond_op op, const char *value)
{
    struct cond cond = {
        .attribute = span_text(attribute), .op = op, .value = {VALUE_S, span_text(value)}};
    read_add_where(read, &cond);
}

/* READ is gone afterwards. */
static void check_command(struct read *read, const struct source_command *how, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    dynamo_write_command(read, how, &out);
    read_destroy(read);
    CHECK_TEXT(buf_text(&out), want);
}

static void test_a_word_is_quoted(void)
{
    check_quoted("abc", "'abc'");
    check_quoted("", "''");
    check_quoted("a b$c`d\"e\\f", "'a b$c`d\"e\\f'");
    check_quoted("it's", "'it'\\''s'");
    check_quoted("'", "''\\'''");
}

/* What Python's shlex.split makes of each. */
static void test_words_are_split_as_a_shell_does(void)
{
    static const struct {
        const char *text, *words; /* each behind a | */
    } cases[] = {
        {"", ""},
        {" a\t b\r\n", "|a|b"},
        {"a\\ b c\\\\", "|a b|c\\"},
        {"'a b'\"c d\"e", "|a bc de"},
        {"'' \"\"", "||"},
        {"'a\\' x", "|a\\|x"},
        {"\"a\\\"b\\\\c\\d\"", "|a\"b\\c\\d"},
        {"a#b #c $D *", "|a#b|#c|$D|*"},
        {"a\vb", "|a\vb"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf words = {0}, told = {0};
        size_t count, at = 0;
        CHECK(shell_split(&words, span_text(cases[i].text), &count));
        for (size_t word = 0; word < count; word++) {
            buf_printf(&told, "|%s", words.data + at);
            at += strlen(words.data + at) + 1;
        }
        CHECK_INT(at, words.size);
        CHECK_TEXT(buf_text(&told), cases[i].words);
    }
    static const char *const bad[] = {"'a", "\"a", "a\\", "\"a\\", "\"a\\\"", "b 'c"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf words = {0};
        size_t count;
        CHECK(!shell_split(&words, span_text(bad[i]), &count));
    }
}

static void test_a_line_that_is_being_typed_has_a_last_word(void)
{
    static const struct {
        const char *text, *words;
        size_t kept;
    } cases[] = {
        {"", "|", 0},
        {"a b", "|a|b", 0},
        {"a ", "|a|", 0},
        {"a 'b c", "|a|b c", 0},
        {"a \"b\\\"c\\d", "|a|b\"c\\d", 0},
        {"a b\\", "|a|b", 0},
        {"a b:c", "|a|b:c", 2},
        {"a b\\:c", "|a|b:c", 0},
        {"a:b c", "|a:b|c", 0},
        {"a b@c", "|a|b@c", 1},
        {"a b:'c:d", "|a|b:c:d", 2},
        {"a b:'c:d':e", "|a|b:c:d:e", 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf words = {0}, told = {0};
        size_t count, kept, at = 0;
        shell_split_typed(&words, span_text(cases[i].text), ":=@", &count, &kept);
        for (size_t word = 0; word < count; word++) {
            buf_printf(&told, "|%s", words.data + at);
            at += strlen(words.data + at) + 1;
        }
        CHECK_INT(at, words.size);
        CHECK_TEXT(buf_text(&told), cases[i].words);
        CHECK_INT(kept, cases[i].kept);
    }
}

static void test_a_quoted_word_passes_a_shell_unchanged(void)
{
    static const char text[] = "a'b\"c $(echo x) `y` \\ ; | & * ? ~ # !\t\xc3\xbc";
    CLEAN_UP(buf_clean_up) struct buf command = {0};
    char got[sizeof text + 8] = "";
    buf_add_text(&command, "printf %s ");
    shell_quote(&command, span_text(text));
    FILE *pipe = popen(buf_text(&command), "r");
    CHECK(pipe != NULL);
    size_t size = fread(got, 1, sizeof got - 1, pipe);
    CHECK_INT(pclose(pipe), 0);
    CHECK_SPAN(span_of(got, size), span_text(text));
}

static void test_a_query(void)
{
    struct read *read = new_read(READ_QUERY, "prod-T", NULL);
    add_where(read, "pk", COND_EQ, "a");
    add_where(read, "sk", COND_BEGINS, "JOB#");
    read->descending = true;
    read->limit = 100;
    check_command(
        read, &plain,
        "aws dynamodb query --table-name prod-T --key-condition-expression '#n0 = :v0 AND "
        "begins_with(#n1, :v1)' --expression-attribute-names '{\"#n0\":\"pk\",\"#n1\":\"sk\"}' "
        "--expression-attribute-values '{\":v0\":{\"S\":\"a\"},\":v1\":{\"S\":\"JOB#\"}}' "
        "--no-scan-index-forward --page-size 100 --max-items 100");
}

static void test_a_query_of_an_index_with_a_filter(void)
{
    struct read *read = new_read(READ_QUERY, "prod-T", "GSI_1");
    struct cond filter = {
        .attribute = span_text("n"), .op = COND_LE, .value = {VALUE_N, span_text("5")}};
    add_where(read, "x", COND_EQ, "1");
    read_add_filter(read, &filter);
    check_command(read, &plain,
                  "aws dynamodb query --table-name prod-T --index-name GSI_1 "
                  "--key-condition-expression '#n0 = :v0' --filter-expression '#n1 <= :v1' "
                  "--expression-attribute-names '{\"#n0\":\"x\",\"#n1\":\"n\"}' "
                  "--expression-attribute-values '{\":v0\":{\"S\":\"1\"},\":v1\":"
                  "{\"N\":\"5\"}}'");
}

static void test_between(void)
{
    struct read *read = new_read(READ_QUERY, "T", NULL);
    struct cond cond = {
        .attribute = span_text("sk"),
        .op = COND_BETWEEN,
        .value = {VALUE_S, span_text("a")},
        .upper = {VALUE_S, span_text("b")},
    };
    read_add_where(read, &cond);
    check_command(read, &plain,
                  "aws dynamodb query --table-name T --key-condition-expression '#n0 BETWEEN :v0 "
                  "AND :v1' --expression-attribute-names '{\"#n0\":\"sk\"}' "
                  "--expression-attribute-values '{\":v0\":{\"S\":\"a\"},\":v1\":"
                  "{\"S\":\"b\"}}'");
}

static void add_key(struct read *read, const char *pk)
{
    struct key key = {.attributes = {{span_text("pk"), {VALUE_S, span_text(pk)}},
                                     {span_text("sk"), {VALUE_N, span_text("7")}}},
                      .count = 2};
    read_add_key(read, &key);
}

static void test_a_get(void)
{
    struct read *read = new_read(READ_ITEMS, "T", NULL);
    add_key(read, "a");
    read_add_attribute(read, span_text("x.y"));
    read->consistent = true;
    check_command(
        read, &plain,
        "aws dynamodb get-item --table-name T --key '{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"7\"}}' "
        "--projection-expression '#n0, #n1, #n2' --expression-attribute-names "
        "'{\"#n0\":\"x.y\",\"#n1\":\"pk\",\"#n2\":\"sk\"}' --consistent-read");
}

static void test_quotes_in_a_key(void)
{
    struct read *read = new_read(READ_ITEMS, "T", NULL);
    add_key(read, "it's \"x\"");
    check_command(read, &plain,
                  "aws dynamodb get-item --table-name T --key '{\"pk\":{\"S\":\"it'\\''s "
                  "\\\"x\\\"\"},\"sk\":{\"N\":\"7\"}}'");
}

static void test_beyond_ascii_is_escaped(void)
{
    struct read *read = new_read(READ_ITEMS, "T", NULL);
    add_key(read, "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf");
    check_command(read, &plain,
                  "aws dynamodb get-item --table-name T --key '{\"pk\":{\"S\":\"\\u00fc\\u20ac"
                  "\\ud83d\\ude00\\udbff\\udfff\"},\"sk\":{\"N\":\"7\"}}'");
}

static void test_what_becomes_of_an_item(void)
{
    struct source_command how = {.options = " --region r", .choose = ".[0].\"a\"", .flags = "-r"};
    struct read *read = new_read(READ_ITEMS, "T", NULL);
    add_key(read, "a");
    check_command(read, &how,
                  "aws dynamodb get-item --table-name T --key '{\"pk\":{\"S\":\"a\"},\"sk\":"
                  "{\"N\":\"7\"}}' --region r | jq -r '[.Item // empty] | .[0].\"a\"'");
}

/* The command for a Read of 3 items. */
static void check_sifted(bool first_suffice, const char *sift, bool ties, const char *want)
{
    struct source_command how = {.options = "",
                                 .sift = sift,
                                 .choose = ".[]",
                                 .flags = "-c",
                                 .first_suffice = first_suffice};
    struct read *read = new_read(READ_QUERY, "T", NULL);
    add_where(read, "pk", COND_EQ, "a");
    read->limit = 3;
    read->ties = ties;
    if (ties)
        read_add_sort(read, SPAN_LITERAL("d"));
    check_command(read, &how, want);
}

#define A_QUERY                                                                                    \
    "aws dynamodb query --table-name T --key-condition-expression '#n0 = :v0' "                    \
    "--expression-attribute-names '{\"#n0\":\"pk\"}' --expression-attribute-values "               \
    "'{\":v0\":{\"S\":\"a\"}}'"

static void test_a_page_has_the_limit_and_the_whole_query_follows(void)
{
    check_sifted(false, NULL, false, A_QUERY " --page-size 3 --max-items 3 | jq -c '.Items | .[]'");
    check_sifted(true, "map(select(x))", false,
                 A_QUERY " --page-size 3 --max-items 3 | jq -c '.NextToken as $more | .Items | "
                         "map(select(x)) | if $more and (length < 3) then error(\"other items are "
                         "in between; leave out --page-size and --max-items\") else . end | .[]'");
    check_sifted(false, "map(select(x))", false,
                 "{ " A_QUERY " --page-size 3 --max-items 3 | jq -c '.NextToken as $more | .Items "
                 "| map(select(x)) | if $more and (length < 3) then error(\"the first page is not "
                 "enough\") else . end | .[]' || " A_QUERY
                 " | jq -c '.Items | map(select(x)) | .[]'; }");
    check_sifted(false, NULL, true,
                 "{ " A_QUERY " --page-size 4 --max-items 4 | jq -c '.NextToken as $more | .Items "
                 "| if $more and (length < 4 or [.[2][\"d\"]] == [.[3][\"d\"]]) then error(\"the "
                 "first page is not enough\") else . end | .[]' || " A_QUERY
                 " | jq -c '.Items | .[]'; }");
}

static void test_a_strange_table_is_quoted(void)
{
    struct read *read = new_read(READ_QUERY, "dev-$(rm x)-T", "I;J");
    add_where(read, "pk", COND_EQ, "a");
    check_command(read, &plain,
                  "aws dynamodb query --table-name 'dev-$(rm x)-T' --index-name 'I;J' "
                  "--key-condition-expression '#n0 = :v0' --expression-attribute-names "
                  "'{\"#n0\":\"pk\"}' --expression-attribute-values '{\":v0\":{\"S\":\"a\"}}'");
}

static void test_tables(void)
{
    struct source_command how = {.options = " --region r"};
    check_command(new_read(READ_TABLES, "", NULL), &how, "aws dynamodb list-tables --region r");
    check_command(new_read(READ_TABLE, "T", NULL), &how,
                  "aws dynamodb describe-table --table-name T --region r");
    check_command(new_read(READ_EXPIRY, "T", NULL), &how,
                  "aws dynamodb describe-time-to-live --table-name T --region r");
    check_command(new_read(READ_BACKUPS, "T", NULL), &how,
                  "aws dynamodb list-backups --table-name T --backup-type ALL --region r");
    check_command(new_read(READ_RECOVERY, "T", NULL), &how,
                  "aws dynamodb describe-continuous-backups --table-name T --region r");
    struct read *exports = new_read(READ_EXPORTS, "T", NULL);
    read_set_table_arn(exports, "arn:aws:dynamodb:r:1:table/T");
    check_command(exports, &how,
                  "aws dynamodb list-exports --table-arn arn:aws:dynamodb:r:1:table/T --region r");
}

static void test_streams(void)
{
    struct source_command how = {.options = " --region r"};
    const struct read_stream stream = {.arn = SPAN_LITERAL("arn:s"),
                                       .shard = SPAN_LITERAL("shard-1"),
                                       .at = STREAM_AFTER,
                                       .sequence = SPAN_LITERAL("7")};
    const struct read_stream place = {.iterator = SPAN_LITERAL("arn:s|1")};
    struct read *all = new_read(READ_STREAM, "T", NULL),
                *iterator = new_read(READ_ITERATOR, "T", NULL),
                *changes = new_read(READ_CHANGES, "T", NULL);
    read_set_stream(all, &stream);
    read_set_stream(iterator, &stream);
    read_set_stream(changes, &place);
    check_command(all, &how, "aws dynamodbstreams describe-stream --stream-arn 'arn:s' --region r");
    check_command(iterator, &how,
                  "aws dynamodbstreams get-shard-iterator --stream-arn 'arn:s' --shard-id "
                  "'shard-1' --shard-iterator-type AFTER_SEQUENCE_NUMBER --sequence-number '7' "
                  "--region r");
    check_command(changes, &how,
                  "aws dynamodbstreams get-records --shard-iterator 'arn:s|1' --region r");
}

static void test_keys_of_a_transaction_may_be_the_shells(void)
{
    static const char *const keys[] = {NULL, "\"$key2\""};
    struct source_command how = {
        .options = " --region r", .keys = keys, .choose = ".[0].Item", .flags = "-c"};
    struct read *read = new_read(READ_TOGETHER, "T", NULL);
    for (int i = 0; i < 2; i++) {
        struct read *part = new_read(READ_ITEMS, i ? "U" : "T", NULL);
        add_key(part, i ? "unknown" : "it's");
        read_add_part(read, part);
    }
    check_command(read, &how,
                  "aws dynamodb transact-get-items --transact-items "
                  "'[{\"Get\":{\"TableName\":\"T\",\"Key\":{\"pk\":{\"S\":\"it'\\''s\"},"
                  "\"sk\":{\"N\":\"7\"}}}},"
                  "{\"Get\":{\"TableName\":\"U\",\"Key\":'\"$key2\"'}}]' --region r | jq -c "
                  "'.Responses | .[0].Item'");
}

static void test_a_nested_command_gives_the_key(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct read *read = new_read(READ_ITEMS, "T", NULL);
    add_key(read, "unknown");
    struct source_command how = {.options = " --region r", .key = "\"$(aws inner --query 'x')\""};
    dynamo_write_command(read, &how, &out);
    read_destroy(read);
    CHECK_TEXT(
        buf_text(&out),
        "aws dynamodb get-item --table-name T --key \"$(aws inner --query 'x')\" --region r");
}

static const struct check_test tests[] = {
    {"a_word_is_quoted", test_a_word_is_quoted},
    {"words_are_split_as_a_shell_does", test_words_are_split_as_a_shell_does},
    {"a_line_that_is_being_typed_has_a_last_word", test_a_line_that_is_being_typed_has_a_last_word},
    {"a_quoted_word_passes_a_shell_unchanged", test_a_quoted_word_passes_a_shell_unchanged},
    {"a_query", test_a_query},
    {"a_query_of_an_index_with_a_filter", test_a_query_of_an_index_with_a_filter},
    {"between", test_between},
    {"a_get", test_a_get},
    {"quotes_in_a_key", test_quotes_in_a_key},
    {"beyond_ascii_is_escaped", test_beyond_ascii_is_escaped},
    {"what_becomes_of_an_item", test_what_becomes_of_an_item},
    {"a_page_has_the_limit_and_the_whole_query_follows",
     test_a_page_has_the_limit_and_the_whole_query_follows},
    {"a_strange_table_is_quoted", test_a_strange_table_is_quoted},
    {"tables", test_tables},
    {"streams", test_streams},
    {"keys_of_a_transaction_may_be_the_shells", test_keys_of_a_transaction_may_be_the_shells},
    {"a_nested_command_gives_the_key", test_a_nested_command_gives_the_key},
};

CHECK_MAIN(tests)
