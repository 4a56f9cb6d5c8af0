#include "core/snapshot/snapshot_reader.h"

#include <stdlib.h>
#include <string.h>

#include "core/json/writer.h"

enum {
    MOST_CONNECTIONS = 16,
    MOST_STATEMENTS = 16,   /* of a connection */
    MOST_TRIES = 3,         /* to read a page of a file that is written to */
    PAGE_BYTES = 1 << 20,   /* of JSON; a page ends with the item that passes it */
    BATCH_BYTES = 16 << 20, /* of a READ_ITEMS */
    MOST_ROOM = 4 << 20,
    MOST_COUNTED = 100000, /* rows of a page that only counts */
};

struct reader_statement {
    struct buf sql;
    struct statement *statement; /* owned; NULL: unused */
    unsigned long used;          /* the time of its last use, as a count */
};

/* One open file. Those that were not used for longest are closed for others. */
struct reader_connection {
    struct database *database;   /* owned; NULL: unused */
    struct snapshot_stamp stamp; /* of the file when it was opened */
    unsigned long used;
    struct reader_statement statements[MOST_STATEMENTS];
    unsigned long statement_uses;
};

struct snapshot_reader {
    struct reader_connection connections[MOST_CONNECTIONS];
    unsigned long uses;
    struct buf text; /* room for the items of a page while they are read */
};

struct snapshot_reader *snapshot_reader_new(void)
{
    return calloc(1, sizeof(struct snapshot_reader));
}

static void snapshot_reader_end_statement(struct reader_statement *statement)
{
    statement_end(statement->statement);
    buf_clean_up(&statement->sql);
    *statement = (struct reader_statement){0};
}

static void snapshot_reader_disconnect(struct reader_connection *connection)
{
    for (size_t i = 0; i < MOST_STATEMENTS; i++)
        snapshot_reader_end_statement(&connection->statements[i]);
    database_close(connection->database);
    *connection = (struct reader_connection){0};
}

void snapshot_reader_destroy(struct snapshot_reader *reader)
{
    for (size_t i = 0; reader && i < MOST_CONNECTIONS; i++)
        snapshot_reader_disconnect(&reader->connections[i]);
    if (reader)
        buf_clean_up_secret(&reader->text);
    free(reader);
}

static bool snapshot_reader_is_of(const struct reader_connection *connection,
                                  const struct snapshot_file *file)
{
    return connection->database && connection->stamp.device == file->stamp.device &&
           connection->stamp.inode == file->stamp.inode;
}

void snapshot_reader_close(struct snapshot_reader *reader, const struct snapshot_file *file)
{
    for (size_t i = 0; i < MOST_CONNECTIONS; i++)
        if (snapshot_reader_is_of(&reader->connections[i], file))
            snapshot_reader_disconnect(&reader->connections[i]);
}

/* The watch of a connection: whether its statement may go on. */
static bool snapshot_reading_is_wanted(void *arg)
{
    struct snapshot_reading *reading = arg;
    return !atomic_load(&reading->is_ended);
}

/* The connection to FILE, or the one to be used for it. */
static struct reader_connection *snapshot_reader_find(struct snapshot_reader *reader,
                                                      const struct snapshot_file *file)
{
    struct reader_connection *found = &reader->connections[0];
    for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
        struct reader_connection *each = &reader->connections[i];
        if (snapshot_reader_is_of(each, file))
            return each;
        if (each->used < found->used)
            found = each;
    }
    return found;
}

/* Opens the file, which has the stamp NOW. */
static bool snapshot_reader_open(struct reader_connection *connection,
                                 struct snapshot_reading *reading, struct snapshot_stamp now,
                                 struct error *err)
{
    const struct snapshot_file *file = reading->file;
    snapshot_reader_disconnect(connection);
    connection->database =
        database_open_watched(file->path, DATABASE_READ, snapshot_reading_is_wanted, reading, err);
    connection->stamp = now;
    return connection->database &&
           snapshot_file_check(file, err); /* it may have been replaced in between */
}

/* The connection to READING's file, which must not have been replaced. SQLite does not notice
 * another file that was copied over this one, so a file with another stamp is opened anew, without
 * the pages that are in memory, and must have the table and its moment. NULL with ERR filled. */
static struct reader_connection *snapshot_reader_connect(struct snapshot_reader *reader,
                                                         struct snapshot_reading *reading,
                                                         struct error *err)
{
    const struct snapshot_file *file = reading->file;
    struct reader_connection *found = snapshot_reader_find(reader, file);
    struct snapshot_stamp now;
    bool ok = snapshot_file_look(file, &now, err) &&
              ((snapshot_reader_is_of(found, file) && snapshot_stamp_equal(&found->stamp, &now)) ||
               snapshot_reader_open(found, reading, now, err)) &&
              (snapshot_stamp_equal(&now, &file->stamp) ||
               snapshot_file_prove(file, reading->table, reading->at_ms, found->database, err));
    found->used = ++reader->uses;
    if (ok)
        return found;
    snapshot_reader_disconnect(found);
    return NULL;
}

/* Whether the file is as it was when CONNECTION was opened, and no other one was copied over it. */
static bool snapshot_reader_is_current(const struct reader_connection *connection,
                                       const struct snapshot_file *file, struct error *err)
{
    struct snapshot_stamp now;
    return snapshot_file_look(file, &now, err) &&
           (snapshot_stamp_equal(&now, &connection->stamp) ||
            error_set(err, ERROR_REPLACED, "%s was written to while it was read; read it again",
                      file->path));
}

/* The statement SQL, made before or now. NULL with ERR filled. */
static struct statement *snapshot_reader_prepare(struct reader_connection *connection,
                                                 const struct buf *sql, struct error *err)
{
    struct reader_statement *found = &connection->statements[0];
    for (size_t i = 0; i < MOST_STATEMENTS; i++) {
        struct reader_statement *each = &connection->statements[i];
        if (each->statement && span_equal(buf_span(&each->sql), buf_span(sql))) {
            each->used = ++connection->statement_uses;
            return each->statement;
        }
        if (each->used < found->used)
            found = each;
    }
    snapshot_reader_end_statement(found);
    buf_add_span(&found->sql, buf_span(sql));
    found->statement = found->sql.failed
                           ? NULL
                           : database_prepare(connection->database, buf_text(&found->sql), err);
    if (found->sql.failed)
        error_no_memory(err);
    if (!found->statement)
        snapshot_reader_end_statement(found);
    else
        found->used = ++connection->statement_uses;
    return found->statement;
}

/* Sets the values of QUERY. */
static void snapshot_reader_bind(struct statement *statement, const struct snapshot_query *query)
{
    for (size_t i = 0; i < query->bind_count; i++) {
        const struct column_value *value = &query->binds[i];
        if (value->is_bytes)
            statement_bind_bytes(statement, (int)i + 1, value->bytes);
        else
            statement_bind_text(statement, (int)i + 1, value->bytes);
    }
}

void snapshot_reading_clean_up(struct snapshot_reading *reading)
{
    arena_clean_up(&reading->arena);
    arena_clean_up(&reading->next_arena);
}

/* Remembers the place of the last row: the values of the order's columns. */
static bool snapshot_reading_set_place(struct snapshot_reading *reading,
                                       const struct snapshot_query *query,
                                       const struct column_value *values)
{
    struct arena arena = {0};
    struct query_place place = {.count = query->order_count};
    for (size_t i = 0; i < query->order_count; i++) {
        const struct column_value *value = &values[query->order[i]];
        place.values[i] = (struct column_value){value->is_bytes, arena_copy(&arena, value->bytes)};
    }
    arena_clean_up(&reading->next_arena);
    reading->next_arena = arena;
    reading->next_place = place;
    return !arena.failed;
}

/* The next page begins behind the page that was read. */
static void snapshot_reading_proceed(struct snapshot_reading *reading)
{
    if (reading->next_place.count == 0)
        return;
    arena_clean_up(&reading->arena);
    reading->arena = reading->next_arena;
    reading->place = reading->next_place;
    reading->next_arena = (struct arena){0};
    reading->next_place = (struct query_place){0};
}

/* The most rows of the next page; a query with a limit reads as many with its first page. */
static size_t snapshot_reading_row_limit(const struct snapshot_reading *reading)
{
    const struct read *read = reading->read;
    bool is_scan = read->kind == READ_SCAN;
    if (read->limit == 0 || read->limit >= INT32_MAX || (!is_scan && read->filter_count > 0) ||
        (!is_scan && reading->pages > 0))
        return SIZE_MAX;
    return (size_t)read->limit + read->ties;
}

static bool snapshot_reading_is_ended(struct snapshot_reading *reading, struct error *err)
{
    return atomic_load(&reading->is_ended) &&
           !error_set(err, ERROR_TIMED_OUT, "the read was ended by its caller");
}

/* Counts rows up to the end, or to the page's. */
static bool snapshot_reader_count(struct snapshot_reading *reading,
                                  const struct snapshot_query *query, struct statement *statement,
                                  struct snapshot_page *page, struct error *err)
{
    size_t limit = snapshot_reading_row_limit(reading);
    enum statement_step step;
    limit = limit < MOST_COUNTED ? limit : MOST_COUNTED;
    while ((step = statement_step(statement, err)) == STATEMENT_ROW) {
        struct column_value values[QUERY_MOST_COLUMNS];
        if (page->counted == limit) {
            page->more = true;
            break;
        }
        if (page->counted % 1000 == 0 && snapshot_reading_is_ended(reading, err))
            return false;
        if (++page->counted < limit)
            continue;
        for (size_t i = 0; i < query->column_count; i++) {
            values[i].is_bytes = statement_is_bytes(statement, (int)i);
            values[i].bytes = values[i].is_bytes ? statement_bytes(statement, (int)i)
                                                 : statement_text(statement, (int)i);
        }
        if (!snapshot_reading_set_place(reading, query, values))
            return error_no_memory(err);
    }
    page->scanned = page->counted;
    return step != STATEMENT_FAILED;
}

/* Adds rows up to the end, or to the page's. */
static bool snapshot_reader_add_rows(struct snapshot_reading *reading,
                                     const struct snapshot_query *query,
                                     struct statement *statement, struct snapshot_page *page,
                                     size_t most_bytes, struct error *err)
{
    size_t limit = snapshot_reading_row_limit(reading);
    enum statement_step step;
    while ((step = statement_step(statement, err)) == STATEMENT_ROW) {
        if (page->row_count == limit || page->room->size >= most_bytes) {
            page->more = true;
            return true;
        }
        if (snapshot_reading_is_ended(reading, err))
            return false;
        if (!snapshot_page_add_row(page, query, statement))
            return error_no_memory(err);
    }
    return step == STATEMENT_DONE;
}

static bool snapshot_reader_read_list(struct reader_connection *connection,
                                      struct snapshot_reading *reading, struct snapshot_page *page,
                                      struct error *err)
{
    CLEAN_UP(snapshot_query_clean_up) struct snapshot_query query = {0};
    const struct read *read = reading->read;
    struct page_attributes attributes;
    bool rows_only = read->counts && read->filter_count == 0;
    if (!snapshot_query_init(&query, reading->table, read, reading->at_ms, &reading->place,
                             rows_only, err) ||
        !page_attributes_find(&attributes, reading->table, query.index, read, &page->arena, err))
        return false;
    struct statement *statement = snapshot_reader_prepare(connection, &query.sql, err);
    if (!statement)
        return false;
    snapshot_reader_bind(statement, &query);
    bool ok = rows_only
                  ? snapshot_reader_count(reading, &query, statement, page, err)
                  : snapshot_reader_add_rows(reading, &query, statement, page, PAGE_BYTES, err);
    statement_reset(statement);
    if (!ok || rows_only)
        return ok;
    if (page->more &&
        !snapshot_reading_set_place(reading, &query, page->rows[page->row_count - 1].values))
        return error_no_memory(err);
    if (!snapshot_page_finish(page, reading->file, reading->table, &query, &attributes, read, err))
        return false;
    if (read->counts) {
        page->counted = page->item_count;
        page->item_count = 0;
    }
    return true;
}

/* The items of the next keys, up to the end, or to the page's. */
static bool snapshot_reader_add_items(struct snapshot_reading *reading,
                                      struct snapshot_query *query, struct statement *statement,
                                      struct snapshot_page *page, struct error *err)
{
    const struct read *read = reading->read;
    bool ok = true;
    while (ok && reading->next_key < read->key_count && page->room->size < BATCH_BYTES) {
        const struct key *key = &read->keys[reading->next_key++];
        if (!snapshot_query_set_key(query, reading->table, key, err))
            return false;
        snapshot_reader_bind(statement, query);
        ok = snapshot_reader_add_rows(reading, query, statement, page, SIZE_MAX, err);
        statement_reset(statement);
    }
    return ok;
}

/* Appends the keys that are left, as a JSON array. */
static bool snapshot_reader_write_left(const struct snapshot_reading *reading,
                                       struct snapshot_page *page)
{
    struct json_writer json = json_writer_to(&page->key_text);
    json_writer_begin_array(&json, NULL, JSON_TIGHT);
    for (size_t i = reading->next_key; i < reading->read->key_count; i++) {
        const struct key *key = &reading->read->keys[i];
        json_writer_begin_object(&json, NULL, JSON_TIGHT);
        for (size_t k = 0; k < key->count; k++) {
            json_writer_add_name(&json, key->attributes[k].name);
            value_write(json_writer_add_value(&json, NULL), key->attributes[k].value);
        }
        json_writer_end(&json);
    }
    json_writer_end(&json);
    return !page->key_text.failed &&
           json_parse(&page->key_doc, buf_span(&page->key_text), JSON_STRICT, NULL);
}

static bool snapshot_reader_read_items(struct reader_connection *connection,
                                       struct snapshot_reading *reading, struct snapshot_page *page,
                                       struct error *err)
{
    CLEAN_UP(snapshot_query_clean_up) struct snapshot_query query = {0};
    const struct read *read = reading->read;
    struct page_attributes attributes;
    if (!snapshot_query_init_items(&query, reading->table, reading->at_ms, err) ||
        !page_attributes_find(&attributes, reading->table, NULL, read, &page->arena, err))
        return false;
    struct statement *statement = snapshot_reader_prepare(connection, &query.sql, err);
    if (!statement)
        return false;
    /* One transaction locks the file once for all keys. */
    bool locks = read->key_count > 1;
    bool ok = (!locks || database_run(connection->database, "BEGIN", err)) &&
              snapshot_reader_add_items(reading, &query, statement, page, err);
    if (locks)
        database_run(connection->database, "COMMIT", NULL);
    if (!ok ||
        !snapshot_page_finish(page, reading->file, reading->table, &query, &attributes, read, err))
        return false;
    page->more = reading->next_key < read->key_count;
    return !page->more || snapshot_reader_write_left(reading, page) || error_no_memory(err);
}

/* The next page by CONNECTION. NULL with ERR filled. */
static struct snapshot_page *snapshot_reader_read_by(struct snapshot_reader *reader,
                                                     struct reader_connection *connection,
                                                     struct snapshot_reading *reading,
                                                     struct error *err)
{
    struct snapshot_page *page = snapshot_page_new();
    if (!page) {
        error_no_memory(err);
        return NULL;
    }
    if (reader->text.failed || reader->text.capacity > MOST_ROOM) {
        buf_clean_up_secret(&reader->text);
        reader->text = (struct buf){0};
    }
    buf_truncate(&reader->text, 0);
    page->room = &reader->text;
    database_watch(connection->database, snapshot_reading_is_wanted, reading);
    bool ok = reading->read->kind == READ_ITEMS
                  ? snapshot_reader_read_items(connection, reading, page, err)
                  : snapshot_reader_read_list(connection, reading, page, err);
    database_watch(connection->database, NULL, NULL);
    if (ok)
        return page;
    snapshot_page_destroy(page);
    return NULL;
}

struct snapshot_page *snapshot_reader_read(struct snapshot_reader *reader,
                                           struct snapshot_reading *reading, struct error *err)
{
    size_t next_key = reading->next_key;
    struct snapshot_page *page = NULL;
    for (int tries = 0; !page && tries < MOST_TRIES; tries++) {
        struct error change;
        struct reader_connection *connection = snapshot_reader_connect(reader, reading, err);
        if (!connection)
            return NULL;
        page = snapshot_reader_read_by(reader, connection, reading, err);
        bool is_current = snapshot_reader_is_current(connection, reading->file, &change);
        if (page ? is_current
                 : err->kind == ERROR_TIMED_OUT || (is_current && err->kind == ERROR_INVALID))
            break;
        /* After a killed writer, the file is restored when it is opened anew; until then each read
         * is denied, before it has a row. */
        snapshot_reader_disconnect(connection);
        reading->next_key = next_key;
        if (is_current && err->kind != ERROR_DENIED)
            break;
        snapshot_page_destroy(page);
        page = NULL;
        if (!is_current)
            *err = change;
    }
    if (page)
        snapshot_reading_proceed(reading);
    reading->pages++;
    if (page)
        page->owner.bytes = sizeof *page + page->text.capacity + json_memory(&page->doc) +
                            arena_memory(&page->arena);
    return page;
}
