#include "core/recording/replayed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/instant.h"
#include "core/item/item_fault.h"
#include "core/recording/recorded_key.h"
#include "core/recording/recording_file.h"
#include "core/snapshot/schema.h"
#include "core/source/table_description.h"

enum replay_statement {
    REPLAY_FIND_CALL,
    REPLAY_READ_PAGE,
    REPLAY_FIND_WHOLE,
    REPLAY_COUNT,
    REPLAY_FIND_KEY,
    REPLAY_FIND_TABLES,
    REPLAY_STATEMENTS
};

#define OF_ENVIRONMENT "source IN (SELECT source FROM environments WHERE name = ?2)"

static const char *const replay_sql[REPLAY_STATEMENTS] = {
    [REPLAY_FIND_CALL] = "SELECT run, call FROM responses WHERE request = ?1 AND " OF_ENVIRONMENT
                         " AND page = 1 AND at_ms <= ?3 ORDER BY at_ms DESC, number DESC LIMIT 1",
    [REPLAY_READ_PAGE] =
        "SELECT b.content, r.more, r.continues, r.counted, r.scanned, r.scanned_twice, r.error,"
        " r.at_ms, r.request_id FROM responses r LEFT JOIN bodies b ON b.number = r.body"
        " WHERE r.run = ?1 AND r.call = ?2 AND r.page = ?3",
    /* The newest complete call. */
    [REPLAY_FIND_WHOLE] = "SELECT at_ms FROM responses WHERE request = ?1 AND " OF_ENVIRONMENT
                          " AND more = 0 AND error IS NULL AND at_ms <= ?3"
                          " ORDER BY at_ms DESC LIMIT 1",
    /* Of one call: its items, whether it is complete, and the items that were scanned. */
    [REPLAY_COUNT] = "SELECT sum(found), count(*) = max(page) AND min(more) = 0"
                     " AND count(error) = 0, sum(scanned), max(scanned_twice)"
                     " FROM responses WHERE run = ?1 AND call = ?2",
    [REPLAY_FIND_KEY] =
        "SELECT r.found, r.at_ms, r.error, b.content, r.request_id FROM responses r LEFT JOIN"
        " bodies b ON b.number = r.body WHERE r.request = ?1 AND r." OF_ENVIRONMENT
        " AND r.at_ms <= ?3 AND (r.shape = ?4 OR (r.found = 0 AND r.error IS NULL))"
        " ORDER BY r.at_ms DESC, r.number DESC LIMIT 1",
    [REPLAY_FIND_TABLES] = "SELECT table_number FROM recorded_tables WHERE name = ?1 AND"
                           " keys = ?3 AND " OF_ENVIRONMENT,
};

struct replay_file {
    char *name; /* owned */
    struct database *database;
    struct statement *statements[REPLAY_STATEMENTS];
    dev_t device; /* of the opened file */
    ino_t inode;
};

/* Requests. */

static void replay_request_add_way(struct replay_request *request, const struct read *read,
                                   bool *ok)
{
    *ok = *ok && request_digest_of(read, &request->ways[request->way_count++]);
}

bool replay_request_init(struct replay_request *request, const struct read *read,
                         struct span environment)
{
    CLEAN_UP(buf_clean_up) struct buf shape = {0};
    struct arena *arena = &request->arena;
    bool ok = true;
    request->kind = read->kind;
    request->counts = read->counts;
    request->environment = arena_copy(arena, environment);
    request->table = arena_copy(arena, span_text(read->table));
    struct read wider = *read;
    wider.counts = wider.ties = false;
    wider.limit = 0;
    if (read->kind != READ_ITEMS)
        replay_request_add_way(request, read, &ok);
    if (read->kind == READ_QUERY && (read->counts || read->limit > 0))
        replay_request_add_way(request, &wider, &ok);
    wider.attribute_count = 0;
    if (read->kind == READ_QUERY && read->attribute_count > 0)
        replay_request_add_way(request, &wider, &ok);
    request_shape_write(read, &shape);
    request->shape = arena_copy(arena, buf_span(&shape));
    request->keys = arena_array(arena, read->key_count, sizeof *request->keys);
    for (size_t i = 0; ok && request->keys && i < read->key_count; i++) {
        struct recorded_key *to = &request->keys[request->key_count++];
        to->key = read->keys[i];
        for (size_t k = 0; k < to->key.count; k++) {
            struct key_attribute *attribute = &to->key.attributes[k];
            attribute->name = arena_copy(arena, attribute->name);
            attribute->value.bytes = arena_copy(arena, attribute->value.bytes);
        }
        ok = request_digest_key(request->table, &to->key, &to->digest);
    }
    return ok && !shape.failed && !arena->failed;
}

void replay_request_clean_up(struct replay_request *request)
{
    arena_clean_up(&request->arena);
}

void replayed_clean_up(struct replayed *page)
{
    json_clean_up(&page->doc);
    buf_clean_up_secret(&page->text);
    arena_clean_up(&page->arena);
}

/* The file. */

struct replay_file *replay_file_open(const char *name, struct error *err)
{
    struct replay_file *file = calloc(1, sizeof *file);
    bool is_recording;
    struct stat status;
    if (file) /* a mount leaves the folder that a relative name is in */
        file->name = realpath(name, NULL);
    if (file && !file->name)
        file->name = strdup(name);
    if (!file || !file->name) {
        free(file);
        error_no_memory(err);
        return NULL;
    }
    file->database = database_open(name, DATABASE_READ, err);
    bool ok = file->database && schema_check(file->database, err) &&
              recording_file_check(file->database, &is_recording, err);
    if (ok && !is_recording)
        ok = error_set(err, ERROR_INVALID, "%s is a snapshot, and no recording", name);
    for (size_t i = 0; ok && i < REPLAY_STATEMENTS; i++) {
        file->statements[i] = database_prepare(file->database, replay_sql[i], err);
        ok = file->statements[i];
    }
    if (ok && stat(name, &status) == 0) {
        file->device = status.st_dev;
        file->inode = status.st_ino;
    }
    if (ok)
        return file;
    replay_file_close(file);
    return NULL;
}

void replay_file_close(struct replay_file *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < REPLAY_STATEMENTS; i++)
        statement_end(file->statements[i]);
    database_close(file->database);
    free(file->name);
    free(file);
}

bool replay_file_read_fact(struct replay_file *file, const char *name, char **out,
                           struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf value = {0};
    bool found;
    if (!schema_read_fact(file->database, name, &found, &value, err))
        return false;
    return !found || (*out = strdup(buf_text(&value))) || error_no_memory(err);
}

bool replay_file_read_moments(struct replay_file *file, int64_t **moments, size_t *count,
                              struct error *err)
{
    struct statement *find = database_prepare(
        file->database,
        "SELECT DISTINCT at_ms / 1000 * 1000 FROM responses ORDER BY 1 DESC LIMIT ?1", err);
    if (!find)
        return false;
    statement_bind_integer(find, 1, REPLAY_MOST_MOMENTS);
    *moments = calloc(REPLAY_MOST_MOMENTS, sizeof **moments);
    bool ok = *moments || error_no_memory(err);
    enum statement_step step = STATEMENT_DONE;
    while (ok && (step = statement_step(find, err)) == STATEMENT_ROW)
        (*moments)[(*count)++] = statement_integer(find, 0);
    statement_end(find);
    return ok && step == STATEMENT_DONE;
}

const char *replay_file_name(const struct replay_file *file)
{
    return file->name;
}

/* Errors. */

static bool replay_refuse_unread(const struct replay_file *file, struct error *err)
{
    return error_set(err, ERROR_NOT_STORED,
                     "is not in the recording %s: it was not read while that was made; read "
                     "it from the table itself",
                     file->name);
}

static enum error_kind replay_find_error(struct json word)
{
    for (int kind = ERROR_NOT_FOUND; kind <= ERROR_NO_MEMORY; kind++)
        if (json_string_is(word, span_text(error_word((enum error_kind)kind))))
            return (enum error_kind)kind;
    return ERROR_SERVICE;
}

static void replay_copy_member(struct json object, const char *name, char *out, size_t size)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    json_read_string(json_member(object, name), &text);
    snprintf(out, size, "%s", buf_text(&text));
}

/* Fills ERR with the recorded error TEXT, which came at AT_MS. */
static void replay_report(struct span text, int64_t at_ms, struct span request_id,
                          struct error *err)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf message = {0}, time = {0}, request = {0};
    int64_t status = 0;
    if (!json_parse(&doc, text, JSON_STRICT, NULL)) {
        error_set(err, ERROR_BAD_ANSWER,
                  "the recorded error is no JSON; restore a copy of the file");
        return;
    }
    struct json error = json_root(&doc);
    json_read_string(json_member(error, "text"), &message);
    instant_write(&time, at_ms);
    error_set(err, replay_find_error(json_member(error, "kind")), "%s (recorded at %s)",
              buf_text(&message), buf_text(&time));
    replay_copy_member(error, "code", err->code, sizeof err->code);
    buf_add_span(&request, request_id);
    snprintf(err->request_id, sizeof err->request_id, "%s", buf_text(&request));
    json_read_int(json_member(error, "http_status"), &status);
    err->http_status = (int)status;
    err->authenticated = json_is(json_member(error, "authenticated"), JSON_TRUE);
}

/* Pages. */

static bool replay_refuse_content(const struct replay_file *file, struct error *err)
{
    return error_set(err, ERROR_BAD_ANSWER,
                     "%s is damaged: a recorded response is not valid; restore a copy", file->name);
}

/* Anyone may have changed the file. */
static bool replay_check_item(const struct replay_file *file, struct json item, struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf scratch = {0};
    struct item_fault fault;
    bool tight;
    if (item_is_valid(item, &scratch, &tight, &fault))
        return true;
    return strcmp(fault.what, "out of memory") == 0 ? error_no_memory(err)
                                                    : replay_refuse_content(file, err);
}

static bool replay_fill_items(const struct replay_file *file, struct replayed *page,
                              struct json array, bool is_typed, struct error *err)
{
    page->items = arena_array(&page->arena, json_count(array), sizeof *page->items);
    if (!page->items && json_count(array) > 0)
        return error_no_memory(err);
    for (struct json each = json_first(array); json_present(each); each = json_next(each)) {
        if (is_typed && !replay_check_item(file, each, err))
            return false;
        page->items[page->item_count++] = each;
    }
    return true;
}

static bool replay_fill_names(struct replayed *page, struct json array, struct error *err)
{
    page->names = arena_array(&page->arena, json_count(array), sizeof *page->names);
    if (!page->names && json_count(array) > 0)
        return error_no_memory(err);
    for (struct json each = json_first(array); json_present(each); each = json_next(each)) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        json_read_string(each, &name);
        page->names[page->name_count++] = arena_copy(&page->arena, buf_span(&name));
        page->arena.failed = page->arena.failed || name.failed;
    }
    return !page->arena.failed || error_no_memory(err);
}

/* Parses the text of PAGE. */
static bool replay_fill(const struct replay_file *file, enum read_kind kind, struct replayed *page,
                        struct error *err)
{
    struct json_fault fault = {0};
    bool is_list =
        kind != READ_TABLE && kind != READ_EXPIRY && kind != READ_RECOVERY && kind != READ_STREAM;
    if (page->text.failed)
        return error_no_memory(err);
    if (!json_parse(&page->doc, buf_span(&page->text), JSON_STRICT, &fault))
        return strcmp(fault.what, "out of memory") == 0 ? error_no_memory(err)
                                                        : replay_refuse_content(file, err);
    struct json root = json_root(&page->doc);
    if (!json_is(root, is_list ? JSON_ARRAY : JSON_OBJECT))
        return replay_refuse_content(file, err);
    if (kind == READ_TABLES)
        return replay_fill_names(page, root, err);
    if (is_list)
        return replay_fill_items(
            file, page, root, kind != READ_BACKUPS && kind != READ_EXPORTS && kind != READ_SIMILAR,
            err);
    page->description = json_raw(root);
    if (kind == READ_TABLE)
        page->table = table_description_read(root, &page->arena);
    if (page->arena.failed)
        return error_no_memory(err);
    return kind != READ_TABLE || page->table || replay_refuse_content(file, err);
}

/* The newest call of one of REQUEST's ways. False with ERR filled. */
static bool replay_find_call(struct replay_file *file, const struct replay_request *request,
                             struct replayed_call *call, size_t *way, struct error *err)
{
    struct statement *find = file->statements[REPLAY_FIND_CALL];
    for (*way = 0; *way < request->way_count; ++*way) {
        const struct request_digest *digest = &request->ways[*way];
        statement_bind_bytes(find, 1, span_of((const char *)digest->bytes, sizeof digest->bytes));
        statement_bind_text(find, 2, request->environment);
        statement_bind_integer(find, 3, request->at_ms);
        enum statement_step step = statement_step(find, err);
        if (step == STATEMENT_ROW)
            *call = (struct replayed_call){statement_integer(find, 0), statement_integer(find, 1)};
        statement_reset(find);
        if (step != STATEMENT_DONE)
            return step == STATEMENT_ROW;
    }
    return replay_refuse_unread(file, err);
}

/* The reader stopped behind the pages before. */
static bool replay_refuse_rest(struct replay_file *file, const struct replay_request *request,
                               struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf whole = {0};
    struct statement *find = file->statements[REPLAY_FIND_WHOLE];
    statement_bind_bytes(
        find, 1, span_of((const char *)request->ways[0].bytes, sizeof request->ways[0].bytes));
    statement_bind_text(find, 2, request->environment);
    statement_bind_integer(find, 3, request->at_ms);
    enum statement_step step = statement_step(find, err);
    if (step == STATEMENT_ROW)
        instant_write(&whole, statement_integer(find, 0));
    statement_reset(find);
    if (step == STATEMENT_FAILED)
        return false;
    error_set(err, ERROR_NOT_STORED,
              "the rest of it is not in the recording %s: it was read only in part at that time",
              file->name);
    if (whole.size > 0)
        error_add(err, "; it was read to its end at %s", buf_text(&whole));
    return false;
}

static bool replay_read_page(struct replay_file *file, const struct replay_request *request,
                             struct replayed *page, struct error *err)
{
    struct statement *read = file->statements[REPLAY_READ_PAGE];
    statement_bind_integer(read, 1, page->call.run);
    statement_bind_integer(read, 2, page->call.call);
    statement_bind_integer(read, 3, request->page);
    enum statement_step step = statement_step(read, err);
    bool has_error = step == STATEMENT_ROW && !statement_is_null(read, 6);
    if (has_error) {
        replay_report(statement_text(read, 6), statement_integer(read, 7), statement_text(read, 8),
                      err);
    } else if (step == STATEMENT_ROW) {
        buf_add_span(&page->text, statement_text(read, 0));
        page->more = statement_integer(read, 1);
        page->continues = statement_integer(read, 2);
        page->counted = (uint64_t)statement_integer(read, 3);
        page->scanned = (size_t)statement_integer(read, 4);
        page->scanned_twice = statement_integer(read, 5);
    }
    statement_reset(read);
    if (step == STATEMENT_DONE)
        return replay_refuse_rest(file, request, err);
    return step == STATEMENT_ROW && !has_error && replay_fill(file, request->kind, page, err);
}

/* The items of a call that read them are counted, if it is complete. */
static bool replay_count(struct replay_file *file, const struct replay_request *request,
                         struct replayed *page, struct error *err)
{
    struct statement *count = file->statements[REPLAY_COUNT];
    statement_bind_integer(count, 1, page->call.run);
    statement_bind_integer(count, 2, page->call.call);
    enum statement_step step = statement_step(count, err);
    bool is_whole = step == STATEMENT_ROW && statement_integer(count, 1);
    if (is_whole) {
        page->counted = (uint64_t)statement_integer(count, 0);
        page->scanned = (size_t)statement_integer(count, 2);
        page->scanned_twice = statement_integer(count, 3);
    }
    statement_reset(count);
    if (step == STATEMENT_ROW && !is_whole)
        return replay_refuse_rest(file, request, err);
    return is_whole;
}

static bool replay_read_query(struct replay_file *file, const struct replay_request *request,
                              struct replayed *page, struct error *err)
{
    size_t way = 0;
    page->call = request->call;
    if (page->call.run == 0 && !replay_find_call(file, request, &page->call, &way, err))
        return false;
    return request->counts && way > 0 ? replay_count(file, request, page, err)
                                      : replay_read_page(file, request, page, err);
}

/* Items by their keys. */

struct replay_state {
    bool is_known, is_found;
    int64_t since_ms;
};

/* The text of a version is one item with KEY. */
static bool replay_check_version(const struct replay_file *file, const struct key *key,
                                 struct span text, struct error *err)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct span names[KEY_MAX_BASE_ATTRIBUTES];
    struct json_fault fault = {0};
    struct key found;
    for (size_t i = 0; i < key->count; i++)
        names[i] = key->attributes[i].name;
    if (!json_parse(&doc, text, JSON_STRICT, &fault))
        return strcmp(fault.what, "out of memory") == 0 ? error_no_memory(err)
                                                        : replay_refuse_content(file, err);
    bool has_key = recorded_key_read(names, key->count, json_root(&doc), &arena, &found) &&
                   key_compare(&found, key) == 0;
    if (arena.failed)
        return error_no_memory(err);
    return has_key || replay_refuse_content(file, err);
}

/* Looks for the item of KEY in table NUMBER; a newer state than STATE's replaces TEXT. */
static bool replay_read_version(struct replay_file *file, const struct replay_request *request,
                                const struct key *key, int64_t number, struct replay_state *state,
                                struct buf *text, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    buf_printf(&sql,
               "SELECT item, from_ms FROM items_%" PRId64 " WHERE k1 = ?1%s AND from_ms <= ?3"
               " AND (until_ms IS NULL OR until_ms > ?3) ORDER BY from_ms DESC LIMIT 1",
               number, key->count > 1 ? " AND k2 = ?2" : "");
    if (sql.failed)
        return error_no_memory(err);
    struct statement *find = database_prepare(file->database, buf_text(&sql), err);
    if (!find)
        return false;
    enum statement_step step = STATEMENT_FAILED;
    if (recorded_key_bind(find, 1, key, &arena)) {
        statement_bind_integer(find, 3, request->at_ms);
        step = statement_step(find, err);
    } else {
        error_no_memory(err);
    }
    bool ok = step != STATEMENT_FAILED;
    if (step == STATEMENT_ROW)
        ok = replay_check_version(file, key, statement_text(find, 0), err);
    if (ok && step == STATEMENT_ROW &&
        (!state->is_known || statement_integer(find, 1) > state->since_ms)) {
        *state = (struct replay_state){true, true, statement_integer(find, 1)};
        buf_truncate(text, 0);
        buf_add_span(text, statement_text(find, 0));
    }
    statement_end(find);
    return ok;
}

/* The state of the whole item of KEY, from all sources of the environment. */
static bool replay_read_versions(struct replay_file *file, const struct replay_request *request,
                                 const struct key *key, struct replay_state *state,
                                 struct buf *text, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf keys = {0};
    struct statement *tables = file->statements[REPLAY_FIND_TABLES];
    recorded_key_types(key, &keys);
    if (keys.failed)
        return error_no_memory(err);
    statement_bind_text(tables, 1, request->table);
    statement_bind_text(tables, 2, request->environment);
    statement_bind_text(tables, 3, buf_span(&keys));
    enum statement_step step;
    bool ok = true;
    while (ok && (step = statement_step(tables, err)) == STATEMENT_ROW)
        ok =
            replay_read_version(file, request, key, statement_integer(tables, 0), state, text, err);
    statement_reset(tables);
    return ok && step == STATEMENT_DONE;
}

/* Appends the item of KEY to the array TEXT, unless its absence is proven. False with ERR
 * filled. */
static bool replay_read_key(struct replay_file *file, const struct replay_request *request,
                            const struct recorded_key *key, struct buf *text, struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf item = {0};
    struct statement *find = file->statements[REPLAY_FIND_KEY];
    struct replay_state state = {0};
    if (!replay_read_versions(file, request, &key->key, &state, &item, err))
        return false;
    statement_bind_bytes(find, 1,
                         span_of((const char *)key->digest.bytes, sizeof key->digest.bytes));
    statement_bind_text(find, 2, request->environment);
    statement_bind_integer(find, 3, request->at_ms);
    statement_bind_text(find, 4, request->shape);
    enum statement_step step = statement_step(find, err);
    bool is_newer =
        step == STATEMENT_ROW && (!state.is_found || statement_integer(find, 1) >= state.since_ms);
    bool failed = is_newer && !statement_is_null(find, 2);
    if (failed) {
        replay_report(statement_text(find, 2), statement_integer(find, 1), statement_text(find, 4),
                      err);
    } else if (step == STATEMENT_ROW && !statement_is_null(find, 3) &&
               (is_newer || request->shape.size > 0)) {
        struct span array = statement_text(find, 3); /* of one item */
        buf_truncate(&item, 0);
        if (array.size >= 2)
            buf_add_span(&item, span_of(array.data + 1, array.size - 2));
        state = (struct replay_state){true, true, 0};
    } else if (is_newer && statement_integer(find, 0) == 0) {
        state = (struct replay_state){.is_known = true};
    }
    statement_reset(find);
    if (failed || step == STATEMENT_FAILED)
        return false;
    if (!state.is_known)
        return replay_refuse_unread(file, err);
    if (state.is_found && text->size > 1)
        buf_add_char(text, ',');
    if (state.is_found)
        buf_add_span(text, buf_span(&item));
    return !item.failed || error_no_memory(err);
}

static bool replay_read_keys(struct replay_file *file, const struct replay_request *request,
                             struct replayed *page, struct error *err)
{
    buf_add_char(&page->text, '[');
    for (size_t i = 0; i < request->key_count; i++)
        if (!replay_read_key(file, request, &request->keys[i], &page->text, err))
            return false;
    buf_add_char(&page->text, ']');
    return replay_fill(file, READ_ITEMS, page, err);
}

/* An open file is not read further after another one took its name. */
static bool replay_check_file(const struct replay_file *file, struct error *err)
{
    struct stat status;
    if (stat(file->name, &status) == 0 && status.st_dev == file->device &&
        status.st_ino == file->inode)
        return true;
    return error_set(err, ERROR_REPLACED,
                     "the recording %s was replaced or removed while it was open; send SIGHUP to "
                     "the mount to read the new one, or wait a minute",
                     file->name);
}

void replay_file_read(struct replay_file *file, const struct replay_request *request,
                      struct replayed *page, struct error *err)
{
    if (!replay_check_file(file, err))
        return;
    if (request->kind == READ_ITEMS)
        replay_read_keys(file, request, page, err);
    else
        replay_read_query(file, request, page, err);
}
