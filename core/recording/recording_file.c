#include "core/recording/recording_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/item/item.h"
#include "core/json/writer.h"
#include "core/recording/recorded_key.h"
#include "core/snapshot/schema.h"

enum { FILE_OWNER_ONLY = 0600 };

/* The tables of a recording, beside those of a snapshot. */
static const char file_tables[] =
    "CREATE TABLE runs(number INTEGER PRIMARY KEY, started_ms INTEGER NOT NULL, ended_ms INTEGER,"
    " program TEXT NOT NULL, masked INTEGER NOT NULL);"
    "CREATE TABLE sources(number INTEGER PRIMARY KEY, settings TEXT NOT NULL UNIQUE);"
    "CREATE TABLE environments(name TEXT NOT NULL, source INTEGER NOT NULL, at_ms INTEGER NOT NULL,"
    " PRIMARY KEY(name, source)) WITHOUT ROWID;"
    "CREATE TABLE recorded_tables(table_number INTEGER PRIMARY KEY, source INTEGER NOT NULL,"
    " name TEXT NOT NULL, keys TEXT NOT NULL);"
    "CREATE TABLE bodies(number INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE,"
    " content TEXT NOT NULL);"
    "CREATE TABLE responses(number INTEGER PRIMARY KEY, run INTEGER NOT NULL,"
    " call INTEGER NOT NULL, page INTEGER NOT NULL, at_ms INTEGER NOT NULL,"
    " source INTEGER NOT NULL, kind TEXT NOT NULL, table_name TEXT NOT NULL, index_name TEXT,"
    " path TEXT NOT NULL, request BLOB NOT NULL, shape TEXT NOT NULL, found INTEGER NOT NULL,"
    " body INTEGER, more INTEGER NOT NULL, continues INTEGER NOT NULL, counted INTEGER NOT NULL,"
    " scanned INTEGER NOT NULL, scanned_twice INTEGER NOT NULL, request_id TEXT NOT NULL,"
    " requests INTEGER NOT NULL, units REAL, doubted REAL NOT NULL, took_ms INTEGER NOT NULL,"
    " error TEXT);"
    "CREATE INDEX responses_by_request ON responses(request, source, at_ms);"
    "CREATE INDEX responses_by_call ON responses(run, call, page);"
    "CREATE INDEX responses_by_time ON responses(at_ms);";

/* A table whose items are stored, and the statements for them. */
struct file_table {
    struct list_node node;
    int64_t source; /* in the file */
    char *name;     /* owned; so are KEYS */
    char *keys;     /* the names and types of its key attributes, as JSON */
    struct statement *find, *close, *insert; /* owned */
};

enum file_statement {
    FILE_ADD_RESPONSE,
    FILE_FIND_BODY,
    FILE_ADD_BODY,
    FILE_FIND_SOURCE,
    FILE_ADD_SOURCE,
    FILE_ADD_ENVIRONMENT,
    FILE_FIND_TABLE,
    FILE_ADD_TABLE,
    FILE_HAS_NAME,
    FILE_DESCRIBE,
    FILE_SET_EXPIRY,
    FILE_STATEMENTS
};

static const char *const file_sql[FILE_STATEMENTS] = {
    [FILE_ADD_RESPONSE] =
        "INSERT INTO responses(run, call, page, at_ms, source, kind, table_name, index_name, path,"
        " request, shape, found, body, more, continues, counted, scanned, scanned_twice,"
        " request_id, requests, units, doubted, took_ms, error) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7,"
        " ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)",
    [FILE_FIND_BODY] = "SELECT number FROM bodies WHERE digest = ?1",
    [FILE_ADD_BODY] = "INSERT INTO bodies(digest, content) VALUES(?1, ?2) RETURNING number",
    [FILE_FIND_SOURCE] = "SELECT number FROM sources WHERE settings = ?1",
    [FILE_ADD_SOURCE] = "INSERT INTO sources(settings) VALUES(?1) RETURNING number",
    [FILE_ADD_ENVIRONMENT] = "INSERT OR IGNORE INTO environments VALUES(?1, ?2, ?3)",
    [FILE_FIND_TABLE] = "SELECT table_number FROM recorded_tables WHERE source = ?1 AND name = ?2"
                        " AND keys = ?3",
    [FILE_ADD_TABLE] = "INSERT INTO recorded_tables VALUES(?1, ?2, ?3, ?4)",
    [FILE_HAS_NAME] = "SELECT 1 FROM tables WHERE name = ?1",
    [FILE_DESCRIBE] = "UPDATE tables SET description = ?3 WHERE number IN (SELECT table_number FROM"
                      " recorded_tables WHERE source = ?1 AND name = ?2)",
    [FILE_SET_EXPIRY] = "UPDATE tables SET expiry = ?3 WHERE number IN (SELECT table_number FROM"
                        " recorded_tables WHERE source = ?1 AND name = ?2)",
};

struct recording_file {
    struct database *database; /* owned */
    int64_t run;
    struct statement *statements[FILE_STATEMENTS]; /* owned */
    int64_t *sources; /* owned: the numbers in the file, by those of this process; 0: not known */
    size_t source_count;
    struct list tables;   /* of struct file_table, owned */
    struct error failure; /* with a kind: nothing more is added */
};

bool recording_file_check(struct database *database, bool *is_recording, struct error *err)
{
    int64_t tables;
    if (!schema_find_kind(database, is_recording, err) ||
        !database_read_integer(database,
                               "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN"
                               " ('runs', 'sources', 'environments', 'recorded_tables', 'bodies',"
                               " 'responses')",
                               &tables, err))
        return false;
    if (*is_recording && tables != 6)
        return error_set(err, ERROR_BAD_ANSWER,
                         "%s is no complete recording: tables of it are missing; restore a copy",
                         database_file(database));
    return true;
}

/* The owner of a file can read all later additions, whatever its mode is. */
static bool file_check_owner(const char *file, struct error *err)
{
    struct stat status;
    return (stat(file, &status) == 0 && status.st_uid == geteuid()) ||
           error_set(err, ERROR_DENIED,
                     "%s is a file of another user, who could read the recording; name a new file",
                     file);
}

/* Creates the tables in an empty database; another one must be a recording. */
static bool file_prepare(struct database *database, struct error *err)
{
    int64_t objects, application;
    bool is_recording;
    const char *file = database_file(database);
    if (!database_read_integer(database, "SELECT count(*) FROM sqlite_schema", &objects, err) ||
        !database_read_integer(database, "PRAGMA application_id", &application, err))
        return false;
    if (objects > 0 && application != SCHEMA_APPLICATION)
        return error_set(err, ERROR_INVALID,
                         "%s is a database of another application; --record needs a new file, or "
                         "a recording",
                         file);
    if (!file_check_owner(file, err))
        return false;
    if (objects == 0) {
        chmod(file, FILE_OWNER_ONLY); /* of an empty file that existed */
        return schema_create(database, "recording", err) &&
               database_run(database, file_tables, err);
    }
    if (!schema_check(database, err) || !recording_file_check(database, &is_recording, err)) {
        error_add(err, "; --record needs a new file, or a recording");
        return false;
    }
    if (!is_recording)
        return error_set(err, ERROR_INVALID,
                         "%s is a snapshot, and --record would add to it; name a new file, or a "
                         "recording",
                         file);
    return true;
}

/* A run without a map leaves the map of the run before. */
static bool file_add_run(struct recording_file *recording, const struct recording_about *about,
                         int64_t now_ms, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    struct database *database = recording->database;
    buf_printf(&sql,
               "INSERT INTO runs(started_ms, program, masked) VALUES(%" PRId64
               ", 'ddbfs " DDBFS_VERSION "', %d) RETURNING number",
               now_ms, !about->show_secrets);
    if (sql.failed)
        return error_no_memory(err);
    return database_read_integer(database, buf_text(&sql), &recording->run, err) &&
           (!about->map ||
            (schema_set_fact(database, "map", span_text(about->map), err) &&
             schema_set_fact(database, "map_name", span_text(about->map_name), err))) &&
           schema_set_fact(database, "suffix", span_text(about->suffix), err);
}

static bool file_prepare_statements(struct recording_file *recording, struct error *err)
{
    for (size_t i = 0; i < FILE_STATEMENTS; i++) {
        recording->statements[i] = database_prepare(recording->database, file_sql[i], err);
        if (!recording->statements[i])
            return false;
    }
    return true;
}

struct recording_file *recording_file_open(const char *file, const struct recording_about *about,
                                           int64_t now_ms, struct error *err)
{
    struct recording_file *recording = calloc(1, sizeof *recording);
    if (!recording) {
        error_no_memory(err);
        return NULL;
    }
    struct stat status;
    bool is_new = stat(file, &status) != 0;
    recording->database = database_open(file, DATABASE_CREATE, err);
    if (!recording->database && err && err->kind == ERROR_INVALID && access(file, F_OK) == 0)
        error_set(err, ERROR_INVALID,
                  "%s is no recording, and no SQLite database; --record needs a new file, or a "
                  "recording",
                  file);
    /* Changed pages stay in memory until the end of the transaction, so that other programs can
     * read the file meanwhile. */
    bool ok =
        recording->database &&
        database_run(recording->database,
                     "PRAGMA cache_spill = 0;"
                     " PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE",
                     err) &&
        file_prepare(recording->database, err) && file_add_run(recording, about, now_ms, err) &&
        file_prepare_statements(recording, err) && database_run(recording->database, "COMMIT", err);
    if (ok)
        return recording;
    if (is_new && stat(file, &status) == 0 && status.st_size == 0)
        unlink(file); /* before the lock ends: another program may wait to begin, too */
    recording_file_close(recording);
    return NULL;
}

static void file_free_table(struct file_table *table)
{
    statement_end(table->find);
    statement_end(table->close);
    statement_end(table->insert);
    free(table->name);
    free(table->keys);
    free(table);
}

void recording_file_close(struct recording_file *recording)
{
    if (!recording)
        return;
    LIST_EACH_SAFE (struct file_table, each, &recording->tables, node)
        file_free_table(each);
    for (size_t i = 0; i < FILE_STATEMENTS; i++)
        statement_end(recording->statements[i]);
    database_close(recording->database);
    free(recording->sources);
    free(recording);
}

/* The first column of the row that STATEMENT, whose parameters are bound, returns; 0 without a row.
 * It is reset. */
static bool file_read_number(struct statement *statement, int64_t *out, struct error *err)
{
    enum statement_step step = statement_step(statement, err);
    *out = step == STATEMENT_ROW ? statement_integer(statement, 0) : 0;
    statement_reset(statement);
    return step != STATEMENT_FAILED;
}

/* Finds the row of TEXT by the statement FIND, or adds it by ADD. */
static bool file_find_or_add(struct recording_file *recording, enum file_statement find,
                             enum file_statement add, struct span text, int64_t *number,
                             struct error *err)
{
    statement_bind_text(recording->statements[find], 1, text);
    if (!file_read_number(recording->statements[find], number, err))
        return false;
    if (*number > 0)
        return true;
    statement_bind_text(recording->statements[add], 1, text);
    return file_read_number(recording->statements[add], number, err);
}

static bool file_add_environment(struct recording_file *recording, const struct recorded *recorded,
                                 struct error *err)
{
    struct statement *add = recording->statements[FILE_ADD_ENVIRONMENT];
    int64_t source;
    if (recorded->source >= recording->source_count) {
        size_t count = (size_t)recorded->source + 16;
        int64_t *grown = reallocarray(recording->sources, count, sizeof *grown);
        if (!grown)
            return error_no_memory(err);
        memset(grown + recording->source_count, 0,
               (count - recording->source_count) * sizeof *grown);
        recording->sources = grown;
        recording->source_count = count;
    }
    if (!file_find_or_add(recording, FILE_FIND_SOURCE, FILE_ADD_SOURCE, recorded->settings, &source,
                          err))
        return false;
    recording->sources[recorded->source] = source;
    statement_bind_text(add, 1, recorded->name);
    statement_bind_integer(add, 2, source);
    statement_bind_integer(add, 3, recorded->at_ms);
    return statement_run(add, err);
}

/* CONTENT is stored once. */
static bool file_add_body(struct recording_file *recording, struct span content, int64_t *number,
                          struct error *err)
{
    uint8_t digest[DIGEST_SIZE];
    struct statement *find = recording->statements[FILE_FIND_BODY];
    struct statement *add = recording->statements[FILE_ADD_BODY];
    if (!digest_sha256(content, digest))
        return error_no_memory(err);
    statement_bind_bytes(find, 1, span_of((const char *)digest, sizeof digest));
    if (!file_read_number(find, number, err) || *number > 0)
        return *number > 0;
    statement_bind_bytes(add, 1, span_of((const char *)digest, sizeof digest));
    statement_bind_text(add, 2, content);
    return file_read_number(add, number, err);
}

/* The row of one response: of KEY, unless that is NULL. */
static bool file_add_response(struct recording_file *recording, const struct recorded *recorded,
                              const struct recorded_key *key, size_t found, int64_t body,
                              struct error *err)
{
    struct statement *add = recording->statements[FILE_ADD_RESPONSE];
    const struct request_digest *digest = key ? &key->digest : &recorded->digest;
    const int64_t numbers[] = {recording->run, (int64_t)recorded->call, recorded->page,
                               recorded->at_ms, recording->sources[recorded->source]};
    for (int i = 0; i < 5; i++)
        statement_bind_integer(add, 1 + i, numbers[i]);
    statement_bind_text(add, 6, span_text(recorded->kind));
    statement_bind_text(add, 7, recorded->name);
    if (recorded->index.size > 0)
        statement_bind_text(add, 8, recorded->index);
    statement_bind_text(add, 9, recorded->path);
    statement_bind_bytes(add, 10, span_of((const char *)digest->bytes, sizeof digest->bytes));
    statement_bind_text(add, 11, recorded->shape);
    statement_bind_integer(add, 12, (int64_t)found);
    if (body > 0)
        statement_bind_integer(add, 13, body);
    statement_bind_integer(add, 14, recorded->more);
    statement_bind_integer(add, 15, recorded->continues);
    statement_bind_integer(add, 16, (int64_t)recorded->counted);
    statement_bind_integer(add, 17, (int64_t)recorded->scanned);
    statement_bind_integer(add, 18, recorded->scanned_twice);
    statement_bind_text(add, 19, recorded->request_id);
    statement_bind_integer(add, 20, recorded->requests);
    if (recorded->units >= 0)
        statement_bind_real(add, 21, recorded->units);
    statement_bind_real(add, 22, recorded->doubted);
    statement_bind_integer(add, 23, recorded->took_ms);
    if (recorded->error.size > 0)
        statement_bind_text(add, 24, recorded->error);
    return statement_run(add, err);
}

/* Tables of items. */

/* Another table of the same name, of another source or with another key, gets a number behind it.
 */
static bool file_name_table(struct recording_file *recording, struct span name, struct buf *out,
                            struct error *err)
{
    struct statement *has = recording->statements[FILE_HAS_NAME];
    int64_t found = 1;
    for (unsigned i = 1; found; i++) {
        buf_truncate(out, 0);
        buf_add_span(out, name);
        if (i > 1)
            buf_printf(out, " (%u)", i);
        if (out->failed)
            return error_no_memory(err);
        statement_bind_text(has, 1, buf_span(out));
        if (!file_read_number(has, &found, err))
            return false;
    }
    return true;
}

static void file_write_description(const struct recorded *recorded, const struct key *key,
                                   struct buf *out)
{
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    json_writer_begin_array(&json, "AttributeDefinitions", JSON_TIGHT);
    for (size_t i = 0; i < key->count; i++) {
        json_writer_begin_object(&json, NULL, JSON_TIGHT);
        json_writer_add_string(&json, "AttributeName", key->attributes[i].name);
        json_writer_add_text(&json, "AttributeType",
                             value_type_name(key->attributes[i].value.type));
        json_writer_end(&json);
    }
    json_writer_end(&json);
    json_writer_add_string(&json, "TableName", recorded->name);
    json_writer_begin_array(&json, "KeySchema", JSON_TIGHT);
    for (size_t i = 0; i < key->count; i++) {
        json_writer_begin_object(&json, NULL, JSON_TIGHT);
        json_writer_add_string(&json, "AttributeName", key->attributes[i].name);
        json_writer_add_text(&json, "KeyType", i == 0 ? "HASH" : "RANGE");
        json_writer_end(&json);
    }
    json_writer_end(&json);
    json_writer_end(&json);
}

/* Adds a table for the items of RECORDED, whose keys are as KEY. */
static bool file_create_table(struct recording_file *recording, const struct recorded *recorded,
                              const struct key *key, struct span keys, int64_t *number,
                              struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, description = {0};
    struct table_info info = {.item_count = -1, .size_bytes = -1};
    info.keys.partition_count = 1;
    info.keys.partition[0].name = key->attributes[0].name;
    info.keys.partition[0].type = key->attributes[0].value.type;
    info.keys.sort_count = key->count - 1;
    if (key->count > 1) {
        info.keys.sort[0].name = key->attributes[1].name;
        info.keys.sort[0].type = key->attributes[1].value.type;
    }
    file_write_description(recorded, key, &description);
    if (description.failed)
        return error_no_memory(err);
    if (!file_name_table(recording, recorded->name, &name, err))
        return false;
    const struct schema_table table = {
        .name = buf_span(&name), .description = buf_span(&description), .info = &info};
    if (!schema_add_table(recording->database, &table, number, err) ||
        !schema_add_indexes(recording->database, *number, &info, err))
        return false;
    struct statement *add = recording->statements[FILE_ADD_TABLE];
    statement_bind_integer(add, 1, *number);
    statement_bind_integer(add, 2, recording->sources[recorded->source]);
    statement_bind_text(add, 3, recorded->name);
    statement_bind_text(add, 4, keys);
    return statement_run(add, err);
}

/* SQL, with the name of items table NUMBER for "#". */
static struct statement *file_prepare_items(const struct recording_file *recording, const char *sql,
                                            int64_t number, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    for (; *sql; sql++)
        if (*sql == '#')
            buf_printf(&text, "items_%" PRId64, number);
        else
            buf_add_char(&text, *sql);
    if (!text.failed)
        return database_prepare(recording->database, buf_text(&text), err);
    error_no_memory(err);
    return NULL;
}

static bool file_fill_table(const struct recording_file *recording, struct file_table *table,
                            const struct recorded *recorded, struct span keys, int64_t number,
                            bool has_sort, struct error *err)
{
    table->source = recording->sources[recorded->source];
    table->name = strndup(recorded->name.data, recorded->name.size);
    table->keys = strndup(keys.data, keys.size);
    if (!table->name || !table->keys)
        return error_no_memory(err);
    table->find = file_prepare_items(
        recording,
        has_sort ? "SELECT rowid, from_ms, item, until_ms FROM # WHERE k1 = ?1 AND k2 = ?2"
                   " ORDER BY from_ms DESC LIMIT 1"
                 : "SELECT rowid, from_ms, item, until_ms FROM # WHERE k1 = ?1"
                   " ORDER BY from_ms DESC LIMIT 1",
        number, err);
    table->close =
        table->find ? file_prepare_items(recording, "UPDATE # SET until_ms = ?2 WHERE rowid = ?1",
                                         number, err)
                    : NULL;
    table->insert =
        table->close
            ? file_prepare_items(
                  recording,
                  has_sort
                      ? "INSERT OR REPLACE INTO #(k1, k2, from_ms, item) VALUES(?1, ?2, ?3, ?4)"
                      : "INSERT OR REPLACE INTO #(k1, from_ms, item) VALUES(?1, ?3, ?4)",
                  number, err)
            : NULL;
    return table->insert;
}

/* The table of RECORDED's items, whose keys are as KEY; it is added to the file if it is new. NULL
 * with ERR filled. */
static struct file_table *file_get_table(struct recording_file *recording,
                                         const struct recorded *recorded, const struct key *key,
                                         struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf keys = {0};
    int64_t source = recording->sources[recorded->source], number;
    struct statement *find = recording->statements[FILE_FIND_TABLE];
    recorded_key_types(key, &keys);
    if (keys.failed) {
        error_no_memory(err);
        return NULL;
    }
    LIST_EACH (struct file_table, each, &recording->tables, node)
        if (each->source == source && span_is(recorded->name, each->name) &&
            strcmp(each->keys, buf_text(&keys)) == 0)
            return each;
    statement_bind_integer(find, 1, source);
    statement_bind_text(find, 2, recorded->name);
    statement_bind_text(find, 3, buf_span(&keys));
    if (!file_read_number(find, &number, err) ||
        (number == 0 &&
         !file_create_table(recording, recorded, key, buf_span(&keys), &number, err)))
        return NULL;
    struct file_table *table = calloc(1, sizeof *table);
    if (!table) {
        error_no_memory(err);
        return NULL;
    }
    list_append(&recording->tables, &table->node);
    if (file_fill_table(recording, table, recorded, buf_span(&keys), number, key->count > 1, err))
        return table;
    list_remove(&table->node);
    file_free_table(table);
    return NULL;
}

/* The items of a key are a chain of versions; none overlaps the next one, even if the clock was set
 * back. A TEXT of size 0: the key has no item any more. */
static bool file_add_version(const struct file_table *table, const struct key *key, int64_t at_ms,
                             struct span text, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct statement *statements[] = {table->find, table->insert};
    int64_t row = 0;
    for (size_t i = 0; i < 2; i++)
        if (!recorded_key_bind(statements[i], 1, key, &arena))
            return error_no_memory(err);
    enum statement_step step = statement_step(table->find, err);
    bool is_same = false;
    if (step == STATEMENT_ROW) {
        bool is_current = statement_is_null(table->find, 3);
        int64_t least_ms = statement_integer(table->find, is_current ? 1 : 3);
        if (is_current && text.size == 0)
            least_ms++; /* each version has a duration, unless another one replaces it */
        at_ms = at_ms > least_ms ? at_ms : least_ms;
        row = is_current ? statement_integer(table->find, 0) : 0;
        is_same = is_current && text.size > 0 && span_equal(statement_text(table->find, 2), text);
    }
    statement_reset(table->find);
    if (step == STATEMENT_FAILED || is_same || (text.size == 0 && row == 0)) {
        statement_reset(table->insert);
        return step != STATEMENT_FAILED;
    }
    bool ok = true;
    if (row > 0) {
        statement_bind_integer(table->close, 1, row);
        statement_bind_integer(table->close, 2, at_ms);
        ok = statement_run(table->close, err);
    }
    if (!ok || text.size == 0) {
        statement_reset(table->insert);
        return ok;
    }
    statement_bind_integer(table->insert, 3, at_ms);
    statement_bind_text(table->insert, 4, text);
    return statement_run(table->insert, err);
}

/* Appends ITEM as it is stored: equal items have equal texts, whatever the order of the service. */
static void file_write_item(struct json item, struct buf *out)
{
    static const struct record_view all = {0};
    if (item_write_typed(item, &all, out))
        buf_truncate(out, out->size - 1);
    else if (!out->failed)
        buf_add_span(out, json_raw(item));
}

/* An item without a usable key is in its body alone. */
static bool file_add_whole_item(struct recording_file *recording, const struct recorded *recorded,
                                struct json item, struct span text, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key;
    if (!recorded_key_read(recorded->key_names, recorded->key_name_count, item, &arena, &key))
        return !arena.failed || error_no_memory(err);
    const struct file_table *table = file_get_table(recording, recorded, &key, err);
    return table && file_add_version(table, &key, recorded->at_ms, text, err);
}

/* Kinds of responses. */

/* The items of BODY, as they are stored, in one array. Whole items are stored as such, too. */
static bool file_add_items(struct recording_file *recording, const struct recorded *recorded,
                           size_t *count, struct buf *out, struct error *err)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!json_parse(&doc, recorded->body, JSON_STRICT, NULL))
        return error_no_memory(err);
    buf_add_char(out, '[');
    for (struct json item = json_first(json_root(&doc)); json_present(item);
         item = json_next(item)) {
        if ((*count)++ > 0)
            buf_add_char(out, ',');
        size_t from = out->size;
        file_write_item(item, out);
        if (out->failed)
            return error_no_memory(err);
        if (recorded->is_whole &&
            !file_add_whole_item(recording, recorded, item, span_from(buf_span(out), from), err))
            return false;
    }
    buf_add_char(out, ']');
    return !out->failed || error_no_memory(err);
}

static bool file_add_page(struct recording_file *recording, const struct recorded *recorded,
                          struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf items = {0};
    size_t count = 0;
    int64_t body = 0;
    struct span content = recorded->body;
    if (recorded->is_typed && content.size > 0) {
        if (!file_add_items(recording, recorded, &count, &items, err))
            return false;
        content = buf_span(&items);
    }
    if (content.size > 0 && !file_add_body(recording, content, &body, err))
        return false;
    return file_add_response(recording, recorded, NULL, count, body, err);
}

/* The item of KEY among those of ARRAY, if several were requested; absent if it has no item, or
 * memory ran out (ARENA is failed then). */
static struct json file_find_item(struct json array, const struct key *key, struct arena *arena)
{
    struct span names[KEY_MAX_BASE_ATTRIBUTES];
    for (size_t i = 0; i < key->count; i++)
        names[i] = key->attributes[i].name;
    for (struct json item = json_first(array); json_present(item); item = json_next(item)) {
        struct key found;
        if (recorded_key_read(names, key->count, item, arena, &found) &&
            key_compare(&found, key) == 0)
            return item;
    }
    return (struct json){0};
}

/* The current state of KEY, whose item has TEXT; empty: it has no item. */
static bool file_add_state(struct recording_file *recording, const struct recorded *recorded,
                           const struct key *key, struct span text, struct error *err)
{
    const struct file_table *table = file_get_table(recording, recorded, key, err);
    return table && file_add_version(table, key, recorded->at_ms, text, err);
}

/* One key of a READ_ITEMS. A whole item is in its table alone. */
static bool file_add_key(struct recording_file *recording, const struct recorded *recorded,
                         const struct recorded_key *key, struct json items, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    int64_t body = 0;
    struct json item =
        recorded->key_count == 1 ? json_first(items) : file_find_item(items, &key->key, &arena);
    if (arena.failed)
        return error_no_memory(err);
    if (recorded->error.size > 0)
        return file_add_response(recording, recorded, key, 0, 0, err);
    bool found = json_present(item);
    if (!found && !recorded->is_complete)
        return true;
    if (found)
        file_write_item(item, &text);
    if (text.failed)
        return error_no_memory(err);
    if (recorded->key_name_count > 0 && (recorded->shape.size == 0 || !found) &&
        !file_add_state(recording, recorded, &key->key, buf_span(&text), err))
        return false;
    if (found && (recorded->shape.size > 0 || recorded->key_name_count == 0)) {
        CLEAN_UP(buf_clean_up) struct buf array = {0};
        buf_add_char(&array, '[');
        buf_add_span(&array, buf_span(&text));
        buf_add_char(&array, ']');
        if (array.failed)
            return error_no_memory(err);
        if (!file_add_body(recording, buf_span(&array), &body, err))
            return false;
    }
    return file_add_response(recording, recorded, key, found, body, err);
}

static bool file_add_keys(struct recording_file *recording, const struct recorded *recorded,
                          struct error *err)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    struct json items = {0};
    if (recorded->body.size > 0) {
        if (!json_parse(&doc, recorded->body, JSON_STRICT, NULL))
            return error_no_memory(err);
        items = json_root(&doc);
    }
    for (size_t i = 0; i < recorded->key_count; i++)
        if (!file_add_key(recording, recorded, &recorded->keys[i], items, err))
            return false;
    return true;
}

/* A description is also stored with the table of items. */
static bool file_describe(struct recording_file *recording, const struct recorded *recorded,
                          struct error *err)
{
    bool is_table = strcmp(recorded->kind, "table") == 0;
    if (recorded->error.size > 0 || (!is_table && strcmp(recorded->kind, "expiry") != 0))
        return true;
    struct statement *set = recording->statements[is_table ? FILE_DESCRIBE : FILE_SET_EXPIRY];
    statement_bind_integer(set, 1, recording->sources[recorded->source]);
    statement_bind_text(set, 2, recorded->name);
    statement_bind_text(set, 3, recorded->body);
    return statement_run(set, err);
}

static bool file_add_one(struct recording_file *recording, const struct recorded *recorded,
                         struct error *err)
{
    if (!recorded->kind)
        return file_add_environment(recording, recorded, err);
    if (recorded->source >= recording->source_count || recording->sources[recorded->source] == 0)
        return error_set(err, ERROR_INVALID,
                         "a response came from an unknown source; this is a bug of ddbfs; please "
                         "report it");
    if (recorded->key_count > 0)
        return file_add_keys(recording, recorded, err);
    return file_add_page(recording, recorded, err) && file_describe(recording, recorded, err);
}

/* After a failure nothing is added, so that no response is missing between others. */
bool recording_file_add(struct recording_file *recording, const struct list *list,
                        struct error *err)
{
    struct error *failure = &recording->failure;
    bool ok = failure->kind == ERROR_NONE;
    bool begun = ok && database_run(recording->database, "BEGIN IMMEDIATE", failure);
    ok = begun;
    LIST_EACH (struct recorded, each, list, node)
        ok = ok && file_add_one(recording, each, failure);
    ok = ok && database_run(recording->database, "COMMIT", failure);
    if (ok)
        return true;
    if (begun)
        database_run(recording->database, "ROLLBACK", NULL);
    *err = *failure;
    return false;
}

bool recording_file_end(struct recording_file *recording, int64_t now_ms, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    buf_printf(&sql, "UPDATE runs SET ended_ms = %" PRId64 " WHERE number = %" PRId64, now_ms,
               recording->run);
    return sql.failed ? error_no_memory(err)
                      : database_run(recording->database, buf_text(&sql), err);
}
