/* Snapshot files: the database, its schema, and the texts that sort as numbers. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/item/value.h"
#include "core/snapshot/schema.h"
#include "core/snapshot/sort_text.h"
#include "core/source/table_description.h"
#include "core/stored_map.h"
#include "tests/unit/check.h"

static char folder[] = "/tmp/ddbfs-snapshot-XXXXXX";

static const char *file_named(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
    return path;
}

static void sort_texts_are_those_of_the_document(void)
{
    static const char *const rows[][2] = {
        {"42", "6502.42"},   {"0", "5"},           {"-42", "4497.57~"},
        {"-0.0", "5"},       {"42.0", "6502.42"},  {"4.2E+1", "6502.42"},
        {"0.001", "6498.1"}, {"1E-130", "6371.1"}, {"9.9E+125", "6626.99"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        sort_text_write(span_text(rows[i][0]), &out);
        CHECK_TEXT(buf_text(&out), rows[i][1]);
    }
}

/* Appends a number of up to 38 digits, often close to others. */
static void random_number_write(struct buf *out)
{
    int digits = rand() % 4 ? rand() % 4 + 1 : rand() % 38 + 1;
    buf_add_text(out, rand() % 2 ? "-" : "");
    buf_add_char(out, (char)('0' + rand() % 10));
    if (digits > 1)
        buf_add_char(out, '.');
    for (int i = 1; i < digits; i++)
        buf_add_char(out, (char)('0' + (rand() % 2 ? 0 : rand() % 10)));
    buf_printf(out, "E%d", rand() % 3 ? rand() % 5 - 2 : rand() % 250 - 125);
}

static void sort_texts_have_the_order_of_numbers(void)
{
    srand(1);
    for (int i = 0; i < 20000; i++) {
        CLEAN_UP(buf_clean_up) struct buf a = {0}, b = {0}, x = {0}, y = {0};
        random_number_write(&a);
        random_number_write(&b);
        sort_text_write(buf_span(&a), &x);
        sort_text_write(buf_span(&b), &y);
        int want = number_compare(buf_span(&a), buf_span(&b));
        int got = span_compare(buf_span(&x), buf_span(&y));
        if ((want > 0) - (want < 0) != (got > 0) - (got < 0))
            CHECK_FAIL("%s and %s: %s and %s", buf_text(&a), buf_text(&b), buf_text(&x),
                       buf_text(&y));
    }
}

static const char description[] =
    "{\"TableName\":\"prod-Orders\",\"AttributeDefinitions\":["
    "{\"AttributeName\":\"shop\",\"AttributeType\":\"S\"},"
    "{\"AttributeName\":\"order\",\"AttributeType\":\"N\"},"
    "{\"AttributeName\":\"status\",\"AttributeType\":\"S\"}],\"KeySchema\":["
    "{\"AttributeName\":\"shop\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"order\",\"KeyType\":\"RANGE\"}],\"GlobalSecondaryIndexes\":[{"
    "\"IndexName\":\"ByStatus\",\"KeySchema\":[{\"AttributeName\":\"status\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"order\",\"KeyType\":\"RANGE\"}],"
    "\"Projection\":{\"ProjectionType\":\"ALL\"}}]}";

static void a_schema_is_created_and_checked(void)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    struct error err = {0};
    int64_t number = 0, rows = 0;
    struct stat status;
    const char *file = file_named("new.ddb");
    CHECK(json_parse(&doc, SPAN_LITERAL(description), JSON_STRICT, NULL));
    struct schema_table table = {SPAN_LITERAL("prod-Orders"), SPAN_LITERAL(description),
                                 span_text(""), table_description_read(json_root(&doc), &arena)};
    CHECK(table.info != NULL);
    struct database *database = database_open(file, DATABASE_CREATE, &err);
    CHECK(database && schema_create(database, "snapshot", &err));
    CHECK(schema_add_table(database, &table, &number, &err));
    CHECK_INT(number, 1);
    CHECK(database_run(database,
                       "INSERT INTO items_1 VALUES('a', '6501.1', 'NEW', 5, NULL,"
                       " '{\"shop\":{\"S\":\"a\"},\"order\":{\"N\":\"1\"}}')",
                       &err));
    CHECK(schema_add_indexes(database, number, table.info, &err));
    CHECK(database_read_integer(database,
                                "SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND "
                                "name = 'prod-Orders' AND sql LIKE '%.\"order\".N%'",
                                &rows, &err));
    CHECK_INT(rows, 1);
    CHECK(database_read_integer(database,
                                "SELECT count(*) FROM items_1 INDEXED BY items_1_by_1 WHERE "
                                "k3 = 'NEW' AND k2 IS NOT NULL",
                                &rows, &err));
    CHECK_INT(rows, 1);
    database_close(database);
    CHECK(stat(file, &status) == 0 && (status.st_mode & 0777) == 0600);
    database = database_open(file, DATABASE_READ, &err);
    CHECK(database && schema_check(database, &err));
    CHECK(!database_run(database, "DELETE FROM items_1", &err));
    CHECK_INT(err.kind, ERROR_DENIED);
    database_close(database);
}

/* Opens FILE and checks its schema. */
static bool file_opens(const char *file, struct error *err)
{
    struct database *database = database_open(file, DATABASE_READ, err);
    bool ok = database && schema_check(database, err);
    database_close(database);
    return ok;
}

static void write_file(const char *file, const char *bytes)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
    close(fd);
}

static void other_files_are_refused(void)
{
    struct error err = {0};
    const char *file = file_named("other");
    CHECK(!file_opens(file, &err));
    CHECK(strstr(err.text, "No such file"));
    CHECK(!file_opens(folder, &err));
    CHECK(strstr(err.text, "no regular file"));
    write_file(file, "");
    CHECK(!file_opens(file, &err));
    CHECK(strstr(err.text, "it is empty"));
    write_file(file, "{\"Item\": {}}, which is at least as long as the header of a file of SQLite, "
                     "that has a hundred bytes of its own");
    CHECK(!file_opens(file, &err));
    CHECK(strstr(err.text, "is no SQLite database"));
    struct database *database = database_open(file_named("foreign"), DATABASE_CREATE, &err);
    CHECK(database && database_run(database, "CREATE TABLE t(a)", &err));
    CHECK(!schema_check(database, &err));
    CHECK(strstr(err.text, "another application"));
    CHECK(database_run(database, "PRAGMA application_id = 1684300390; PRAGMA user_version = 2",
                       &err));
    CHECK(!schema_check(database, &err));
    CHECK(strstr(err.text, "a newer ddbfs"));
    CHECK(database_run(database, "PRAGMA user_version = 1", &err));
    CHECK(!schema_check(database, &err));
    CHECK(strstr(err.text, "tables of it are missing"));
    database_close(database);
}

/* Whether another process could write to FILE, although this one reads it. The child asks the
 * system, since it inherits what SQLite knows of the locks. */
static bool file_is_free_for_others(const char *file)
{
    pid_t child = fork();
    if (child == 0) { /* the bytes that SQLite locks for reading */
        struct flock lock = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000002, .l_len = 510};
        int fd = open(file, O_RDWR | O_CLOEXEC);
        _exit(fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0 ? 0 : 1);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status == 0;
}

static void another_opening_keeps_the_locks_of_a_reader(void)
{
    struct error err = {0};
    const char *file = file_named("locked.ddb");
    struct database *database = database_open(file, DATABASE_CREATE, &err);
    CHECK(database && schema_create(database, "snapshot", &err));
    database_close(database);
    database = database_open(file, DATABASE_READ, &err);
    struct statement *rows = database_prepare(database, "SELECT name FROM about", &err);
    CHECK(rows && statement_step(rows, &err) == STATEMENT_ROW);
    struct database *other = database_open(file, DATABASE_READ_NOW, &err);
    CHECK(other && schema_check(other, &err));
    database_close(other);
    CHECK(!stored_map_is_in(file));
    CHECK(!file_is_free_for_others(file));
    statement_end(rows);
    database_close(database);
    CHECK(file_is_free_for_others(file));
}

static void names_of_sqlite_and_of_items_have_no_view(void)
{
    static const char *const names[] = {"sqlite_notes", "SQLite_x", "items_2", "ITEMS_1_key"};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    struct error err = {0};
    int64_t number, views = -1;
    CHECK(json_parse(&doc, SPAN_LITERAL(description), JSON_STRICT, NULL));
    struct schema_table table = {.description = SPAN_LITERAL(description),
                                 .info = table_description_read(json_root(&doc), &arena)};
    struct database *database = database_open(file_named("views.ddb"), DATABASE_CREATE, &err);
    CHECK(database && schema_create(database, "snapshot", &err));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        table.name = span_text(names[i]);
        if (!schema_add_table(database, &table, &number, &err) ||
            !schema_add_indexes(database, number, table.info, &err))
            CHECK_FAIL("%s: %s", names[i], err.text);
    }
    CHECK(database_read_integer(database, "SELECT count(*) FROM sqlite_schema WHERE type = 'view'",
                                &views, &err));
    CHECK_INT(views, 0);
    database_close(database);
}

/* A table has at most two key attributes; a file may be made by anyone. */
static void a_table_with_many_keys_is_refused(void)
{
    static const char *const rows[] = {
        "{\"AttributeName\":\"b\",\"KeyType\":\"HASH\"}",
        "{\"AttributeName\":\"b\",\"KeyType\":\"RANGE\"},"
        "{\"AttributeName\":\"c\",\"KeyType\":\"RANGE\"}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(arena_clean_up) struct arena arena = {0};
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        buf_printf(&text,
                   "{\"AttributeDefinitions\":[{\"AttributeName\":\"a\",\"AttributeType\":\"S\"},"
                   "{\"AttributeName\":\"b\",\"AttributeType\":\"S\"},"
                   "{\"AttributeName\":\"c\",\"AttributeType\":\"S\"}],\"KeySchema\":["
                   "{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"},%s]}",
                   rows[i]);
        CHECK(json_parse(&doc, buf_span(&text), JSON_STRICT, NULL));
        CHECK(!table_description_read(json_root(&doc), &arena));
    }
}

static void names_are_quoted_where_sql_needs_it(void)
{
    static const char *const rows[][2] = {
        {"jobs", "jobs"},
        {"shop_id", "shop_id"},
        {"_1", "_1"},
        {"1a", "\"1a\""},
        {"order", "\"order\""},
        {"Select", "\"Select\""},
        {"a-b", "\"a-b\""},
        {"say \"x\"", "\"say \"\"x\"\"\""},
        {"gr\u00fc\u00df", "\"gr\u00fc\u00df\""},
        {"", "\"\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        database_write_name(span_text(rows[i][0]), &out);
        CHECK_TEXT(buf_text(&out), rows[i][1]);
    }
}

/* 100 rows of a kilobyte. */
static bool fill_in_memory(struct database *database, struct error *err)
{
    return database_run(database,
                        "BEGIN; CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                        "SELECT i + 1 FROM n WHERE i < 100) INSERT INTO t SELECT zeroblob(1000) "
                        "FROM n; COMMIT",
                        err);
}

static void a_database_in_memory_has_its_file(void)
{
    struct error err = {0};
    struct database *one = database_open_in_memory("one", 0, &err);
    struct database *other = database_open_in_memory("other", 200000, &err);
    struct database *full = database_open_in_memory("full", 50000, &err);
    CHECK(one && other && full);
    CHECK_INT(database_image(one).size, 0);
    CHECK(fill_in_memory(one, &err) && fill_in_memory(other, &err));
    CHECK(span_starts(database_image(one), SPAN_LITERAL("SQLite format 3")));
    CHECK(database_image(one).size > 100000 && database_image(one).size % 4096 == 0);
    CHECK(span_equal(database_image(one), database_image(other)));
    CHECK(!fill_in_memory(full, &err));
    CHECK_INT(err.kind, ERROR_NO_SPACE);
    CHECK(database_image(full).size <= 50000);
    database_close(one);
    database_close(other);
    database_close(full);
}

int main(int argc, char **argv)
{
    static const struct check_test tests[] = {
        {"sort texts are those of the document", sort_texts_are_those_of_the_document},
        {"sort texts have the order of numbers", sort_texts_have_the_order_of_numbers},
        {"a schema is created and checked", a_schema_is_created_and_checked},
        {"other files are refused", other_files_are_refused},
        {"another opening keeps the locks of a reader",
         another_opening_keeps_the_locks_of_a_reader},
        {"names of SQLite and of items have no view", names_of_sqlite_and_of_items_have_no_view},
        {"a table with many keys is refused", a_table_with_many_keys_is_refused},
        {"names are quoted where SQL needs it", names_are_quoted_where_sql_needs_it},
        {"a database in memory has its file", a_database_in_memory_has_its_file},
    };
    if (!mkdtemp(folder))
        return EXIT_FAILURE;
    int status = check_main(tests, sizeof tests / sizeof tests[0], argc, argv);
    CLEAN_UP(buf_clean_up) struct buf command = {0};
    buf_printf(&command, "rm -r %s", folder);
    return system(buf_text(&command)) == 0 ? status : EXIT_FAILURE;
}
