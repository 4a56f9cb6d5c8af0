/* Files are written by the schema alone, so that tests need no import. */
#include "tests/unit/snapshot_scene.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/item/item.h"
#include "core/item/typed.h"
#include "core/snapshot/snapshot_query.h"
#include "core/source/table_description.h"
#include "tests/unit/check.h"

void snapshot_draft_begin(struct snapshot_draft *draft, const char *path, const char *description)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct error err = {0};
    *draft = (struct snapshot_draft){0};
    unlink(path);
    CHECK(json_parse(&doc, span_text(description), JSON_STRICT, NULL));
    CHECK(json_read_string(json_member(json_root(&doc), "TableName"), &name));
    draft->table =
        (struct schema_table){.name = arena_copy(&draft->arena, buf_span(&name)),
                              .description = span_text(description),
                              .info = table_description_read(json_root(&doc), &draft->arena)};
    CHECK(draft->table.info != NULL);
    CHECK(schema_find_columns(draft->table.info, &draft->arena, &draft->columns));
    draft->database = database_open(path, DATABASE_CREATE, &err);
    if (!draft->database || !schema_create(draft->database, "snapshot", &err) ||
        !database_run(draft->database, "PRAGMA synchronous = OFF; BEGIN", &err) ||
        !schema_add_table(draft->database, &draft->table, &draft->number, &err))
        CHECK_FAIL("%s", err.text);
}

void snapshot_draft_run(struct snapshot_draft *draft, const char *sql)
{
    struct error err;
    if (!database_run(draft->database, sql, &err))
        CHECK_FAIL("%s: %s", sql, err.text);
}

void snapshot_draft_add(struct snapshot_draft *draft, const char *item, int64_t from_ms,
                        int64_t until_ms)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    struct error err = {0};
    size_t count = draft->columns.count;
    CHECK(json_parse(&doc, span_text(item), JSON_STRICT, NULL));
    buf_printf(&sql, "INSERT INTO items_%lld VALUES(", (long long)draft->number);
    for (size_t i = 0; i < count + 3; i++)
        buf_printf(&sql, "%s?%zu", i ? ", " : "", i + 1);
    buf_add_char(&sql, ')');
    struct statement *insert = database_prepare(draft->database, buf_text(&sql), &err);
    CHECK(insert != NULL);
    for (size_t i = 0; i < count; i++) {
        struct value value;
        struct column_value own;
        if (!typed_scalar(item_attribute(json_root(&doc), draft->columns.list[i].attribute), &arena,
                          &value) ||
            !column_value_of(value, draft->columns.list[i].type, &arena, &own))
            continue;
        if (own.is_bytes)
            statement_bind_bytes(insert, (int)i + 1, own.bytes);
        else
            statement_bind_text(insert, (int)i + 1, own.bytes);
    }
    statement_bind_integer(insert, (int)count + 1, from_ms);
    if (until_ms > 0)
        statement_bind_integer(insert, (int)count + 2, until_ms);
    statement_bind_text(insert, (int)count + 3, span_text(item));
    if (!statement_run(insert, &err))
        CHECK_FAIL("%s: %s", item, err.text);
    statement_end(insert);
}

void snapshot_draft_add_moment(struct snapshot_draft *draft, int64_t at_ms)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    buf_printf(&sql,
               "INSERT INTO moments SELECT %lld, %lld, NULL, 'arn:of-an-export', count(*), "
               "ifnull(sum(length(item)), 0) FROM items_%lld "
               "WHERE from_ms <= %lld AND ifnull(until_ms, 9e18) > %lld",
               (long long)draft->number, (long long)at_ms, (long long)draft->number,
               (long long)at_ms, (long long)at_ms);
    snapshot_draft_run(draft, buf_text(&sql));
}

void snapshot_draft_end(struct snapshot_draft *draft)
{
    struct error err = {0};
    if (!schema_add_indexes(draft->database, draft->number, draft->table.info, &err))
        CHECK_FAIL("%s", err.text);
    snapshot_draft_run(draft, "COMMIT");
    database_close(draft->database);
    arena_clean_up(&draft->arena);
}

void snapshot_result_clean_up(struct snapshot_result *result)
{
    buf_clean_up(&result->text);
    buf_clean_up(&result->pages);
    buf_clean_up(&result->position);
}

struct snapshot_reader_of_test {
    struct snapshot_result *result;
    struct source_call *call;
};

static void snapshot_result_take(void *arg, const struct page *page, const struct error *err)
{
    struct snapshot_reader_of_test *of = arg;
    struct snapshot_result *result = of->result;
    if (err) {
        result->err = *err;
        return;
    }
    result->page_count++;
    CHECK(page->capacity == 0 && page->requests == 0 && page->doubted == 0);
    for (size_t i = 0; i < page->item_count; i++) {
        buf_add_span(&result->text, json_raw(page->items[i]));
        buf_add_char(&result->text, '\n');
    }
    if (page->counted > 0)
        buf_printf(&result->text, "%llu\n", (unsigned long long)page->counted);
    for (size_t i = 0; i < page->name_count; i++)
        buf_printf(&result->text, "%.*s\n", (int)page->names[i].size, page->names[i].data);
    if (page->table)
        result->info = *page->table;
    buf_add_span(&result->text, page->description);
    buf_printf(&result->pages, "%zu%s", page->item_count, page->more ? "+" : ".");
    if (json_present(page->position)) {
        buf_truncate(&result->position, 0);
        buf_add_span(&result->position, json_raw(page->position));
    }
    if (page->more)
        source_more(of->call);
}

void snapshot_result_read(struct snapshot_result *result, struct loop *loop, struct source *source,
                          struct read *read)
{
    struct snapshot_reader_of_test of = {.result = result};
    *result = (struct snapshot_result){0};
    CHECK(read && !read_failed(read));
    of.call = source_start(source, read, NULL, snapshot_result_take, &of);
    CHECK(of.call != NULL);
    CHECK(loop_run(loop));
    source_end(of.call);
    read_destroy(read);
}
