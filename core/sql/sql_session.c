#include "core/sql/sql_session.h"

#include <stdlib.h>

#include "core/base/ascii.h"
#include "core/base/database.h"
#include "core/base/nearest.h"
#include "core/name/names.h"
#include "core/read/resolve.h"
#include "core/sql/sql_connection.h"

/* Lookups that end a pass: at first few, so that a LIMIT stops it soon. */
enum { SQL_FIRST_WANTED = 100, SQL_MOST_WANTED = 6400, SQL_MOST_NAMES = 500 };

struct sql_session {
    struct sql_options options;
};

struct sql_statement {
    struct sql_session *session; /* borrowed */
    struct tree tree;            /* the session's */
    struct sql_reads reads;
    struct sql_connection *connection; /* owned */
    struct sql_table *tables;          /* owned */
    char *text;                        /* owned */
    size_t size;
    bool names_rows;   /* the text has the word "rowid", "oid" or "_rowid_" */
    uint64_t returned; /* rows so far; */
    uint64_t digest;   /* of them */
};

struct sql_session *sql_session_new(const struct sql_options *options, struct error *err)
{
    struct sql_session *session = calloc(1, sizeof *session);
    if (session)
        session->options = *options;
    else
        error_no_memory(err);
    return session;
}

void sql_session_destroy(struct sql_session *session)
{
    free(session);
}

/* Words of a statement. */

static bool sql_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool sql_is_of_word(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Skips a comment at the beginning of TEXT. */
static bool sql_skip_comment(struct span *text)
{
    if (span_starts(*text, SPAN_LITERAL("--"))) {
        const char *end = memchr(text->data, '\n', text->size);
        *text = span_from(*text, end ? (size_t)(end - text->data) : text->size);
        return true;
    }
    if (!span_starts(*text, SPAN_LITERAL("/*")))
        return false;
    const char *end = memmem(text->data + 2, text->size - 2, "*/", 2);
    *text = span_from(*text, end ? (size_t)(end - text->data) + 2 : text->size);
    return true;
}

/* Skips blanks, comments and semicolons. */
static struct span sql_skip_blanks(struct span text)
{
    for (;;) {
        while (text.size > 0 && (sql_is_blank(text.data[0]) || text.data[0] == ';'))
            text = span_from(text, 1);
        if (!sql_skip_comment(&text))
            return text;
    }
}

static bool sql_word_is(struct span word, const char *name)
{
    if (word.size != strlen(name))
        return false;
    for (size_t i = 0; i < word.size; i++)
        if ((ascii_is_upper(word.data[i]) ? word.data[i] | 0x20 : word.data[i]) != name[i])
            return false;
    return true;
}

static struct span sql_first_word(struct span text)
{
    size_t size = 0;
    while (size < text.size && sql_is_of_word(text.data[size]))
        size++;
    return span_of(text.data, size);
}

/* Whether TEXT has one of COUNT words, perhaps in a string or a comment. */
static bool sql_has_word(struct span text, const char *const *names, size_t count)
{
    while (text.size > 0) {
        struct span word = sql_first_word(text);
        for (size_t i = 0; i < count; i++)
            if (sql_word_is(word, names[i]))
                return true;
        text = span_from(text, word.size ? word.size : 1);
    }
    return false;
}

/* Whether the first statement of TEXT has a [ outside of texts, names and comments. SQLite takes
 * PartiQL's a[0] for the column a under the name "0". */
static bool sql_has_bracket(struct span text)
{
    while (text.size > 0 && text.data[0] != '[' && text.data[0] != ';') {
        char c = text.data[0];
        bool is_quote = c == '\'' || c == '"' || c == '`';
        const char *end = is_quote ? memchr(text.data + 1, c, text.size - 1) : text.data;
        if (!sql_skip_comment(&text))
            text = span_from(text, end ? (size_t)(end + 1 - text.data) : text.size);
    }
    return text.size > 0 && text.data[0] == '[';
}

/* Tables. */

struct sql_resolved {
    struct loop *loop;
    struct place *place;
    struct error *err;
    bool done;
};

static void sql_take_place(void *arg, struct place *place, const struct error *err)
{
    struct sql_resolved *resolved = arg;
    resolved->done = true;
    resolved->place = place;
    if (err)
        *resolved->err = *err;
    loop_stop(resolved->loop);
}

static bool sql_is_resolved(void *arg)
{
    return ((struct sql_resolved *)arg)->done;
}

/* The directory of the table at PATH; NULL with ERR filled. */
static struct place *sql_resolve(struct sql_statement *statement, const char *path,
                                 struct error *err)
{
    const struct tree *tree = &statement->tree;
    struct sql_resolved resolved = {.loop = tree->loop, .err = err};
    struct tree_resolution *resolution =
        tree_resolve(tree, NULL, span_text(path), sql_take_place, &resolved);
    if (!resolution) {
        error_no_memory(err);
    } else if (!sql_reads_wait(&statement->reads, sql_is_resolved, &resolved)) {
        tree_resolve_cancel(resolution);
        *err = statement->reads.failed;
    }
    struct place *place = resolved.place;
    if (!place || (place->kind == PLACE_DIRECTORY && place->table && !place->route->parent))
        return place;
    place_destroy(place);
    error_set(err, ERROR_NOT_FOUND, "%s is no table", path);
    return NULL;
}

/* The table NAME of the environment SCHEMA, which may be a path: "prod@at/2026-04-16". */
static struct place *sql_resolve_in(struct sql_statement *statement, struct span schema,
                                    struct span name, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "/%.*s/", (int)schema.size, schema.data);
    if (!span_is(schema, MAP_TABLES_NAME) && map_find_model(statement->tree.map, name))
        buf_add_span(&path, name); /* a directory's name, which no table of the account may have */
    else if (!names_write_table(name, &path, err)) {
        if (err->kind == ERROR_BAD_ANSWER) /* of a name that the service would not have sent */
            error_set(err, ERROR_NOT_FOUND,
                      "names have 3 to 255 letters, digits, dots, hyphens and underscores");
        return NULL;
    }
    if (!path.failed)
        return sql_resolve(statement, buf_text(&path), err);
    error_no_memory(err);
    return NULL;
}

/* The table of the account. */
static struct place *sql_resolve_named(struct sql_statement *statement, struct span name,
                                       struct error *err)
{
    return sql_resolve_in(statement, span_text(MAP_TABLES_NAME), name, err);
}

/* A table by the name that is a schema in "table"."index": of the account, or "prod.jobs". */
static struct place *sql_resolve_schema(struct sql_statement *statement, struct span name,
                                        struct error *err)
{
    for (size_t i = name.size; i-- > 1;) {
        struct place *place = name.data[i] == '.' ? sql_resolve_in(statement, span_of(name.data, i),
                                                                   span_from(name, i + 1), err)
                                                  : NULL;
        if (place)
            return place;
    }
    return sql_resolve_named(statement, name, err);
}

static bool sql_statement_has(const struct sql_statement *statement, struct span schema,
                              struct span name)
{
    for (const struct sql_table *each = statement->tables; each; each = each->next)
        if (span_is(schema, each->schema) && span_is(name, each->name))
            return true;
    return false;
}

/* Adds the table at PLACE, which is destroyed. */
static bool sql_statement_add(struct sql_statement *statement, struct place *place,
                              struct span schema, struct span name, const struct map_index *index,
                              struct error *err)
{
    static const char *const of_rows[] = {"rowid", "oid", "_rowid_"};
    bool show_secrets = statement->tree.show_secrets;
    struct sql_table *table = sql_table_new(place, schema, name, index, show_secrets, err);
    place_destroy(place);
    if (!table)
        return false;
    for (size_t i = 0; statement->names_rows && i < 3; i++) {
        if (!sql_columns_add(table->columns, span_text(of_rows[i]))) {
            sql_table_destroy(table);
            return error_no_memory(err);
        }
    }
    if (!sql_connection_add_table(statement->connection, table, err)) {
        sql_table_destroy(table);
        return false;
    }
    statement->tables = table;
    return true;
}

/* Whether ERR proves that there is no such table, so that another meaning is tried. */
static bool sql_is_missing(const struct error *err)
{
    return err->kind == ERROR_NOT_FOUND || err->kind == ERROR_NO_TABLE ||
           err->kind == ERROR_INVALID || err->kind == ERROR_NOT_DIRECTORY;
}

/* Whether SCHEMA leads to an environment, so that it is no table. Sends nothing. */
static bool sql_is_environment(const struct tree *tree, struct span schema)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct place *place = NULL;
    struct error ignored;
    buf_printf(&path, "/%.*s", (int)schema.size, schema.data);
    bool is = !path.failed && tree_resolve_now(tree, NULL, buf_span(&path), &place, &ignored) &&
              place && (place->kind == PLACE_ENVIRONMENT || place->kind == PLACE_TABLES);
    place_destroy(place);
    return is;
}

/* SCHEMA.NAME as a table of an environment, else as a table's index. *ADDED: it is one of these and
 * was added. False with ERR filled. */
static bool sql_statement_add_pair(struct sql_statement *statement, struct span schema,
                                   struct span name, bool *added, struct error *err)
{
    struct error why;
    struct place *place = sql_resolve_in(statement, schema, name, err);
    *added = place;
    if (place)
        return sql_statement_add(statement, place, schema, name, NULL, err);
    if (!sql_is_missing(err))
        return false;
    if (sql_is_environment(&statement->tree, schema))
        return true;
    place = sql_resolve_schema(statement, schema, &why);
    if (!place) {
        if (!sql_is_missing(&why))
            *err = why;
        return sql_is_missing(&why);
    }
    char *index_name = strndup(name.data, name.size);
    const struct map_index *index = index_name ? model_find_index(place->table, index_name) : NULL;
    free(index_name);
    *added = index;
    if (index)
        return sql_statement_add(statement, place, schema, name, index, err);
    error_set(err, ERROR_NOT_FOUND, "%.*s has no index %.*s", (int)schema.size, schema.data,
              (int)name.size, name.data);
    const char *before = "; it has ";
    for (index = place->table->indexes; index; index = index->next) {
        error_add(err, "%s%s", before, index->name);
        before = ", ";
    }
    place_destroy(place);
    return true;
}

/* Appends the tables of the map with the model NAME; or near names. */
struct sql_near {
    struct span wanted; /* "jobs" */
    struct buf same;    /* the tables of that name: prod.jobs, dev.jobs */
    struct nearest nearest;
    struct arena arena;
};

static void sql_near_offer(void *arg, const char *name)
{
    struct sql_near *near = arg;
    struct span text = arena_copy(&near->arena, span_text(name));
    const char *dot = memchr(text.data, '.', text.size);
    nearest_offer(&near->nearest, text);
    if (dot && span_equal(span_from(text, (size_t)(dot + 1 - text.data)), near->wanted))
        buf_printf(&near->same, "%s%s", near->same.size ? " or " : "", name);
}

/* Fills ERR for a name that is no table, or whose table could not be described; WHY is the last
 * reason. */
static bool sql_statement_refuse_table(const struct sql_statement *statement, struct span name,
                                       const struct error *why, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf hint = {0};
    struct sql_near near = {.wanted = name, .nearest = nearest_to(name)};
    sql_session_each_table(statement->session, sql_near_offer, &near);
    nearest_write(&near.nearest, &hint);
    *err = *why;
    err->text[0] = '\0';
    /* A wrong setting, such as no region, is ERROR_INVALID, too. */
    bool is_missing =
        sql_is_missing(why) && (why->kind != ERROR_INVALID || near.same.size + hint.size > 0);
    error_add(err, "%s%.*s", is_missing ? "there is no table " : "", (int)name.size, name.data);
    if (!is_missing)
        error_add(err, ": %s", why->text);
    if (near.same.size > 0)
        error_add(err, "; the map's is written %s", buf_text(&near.same));
    else if (is_missing && hint.size > 0)
        error_add(err, "%s", buf_text(&hint));
    else if (is_missing)
        error_add(err, ": %s", why->text);
    buf_clean_up(&near.same);
    arena_clean_up(&near.arena);
    return false;
}

/* Whether a beginning of NAME, up to a dot, is an environment. */
static bool sql_begins_with_environment(const struct sql_statement *statement, struct span name)
{
    for (size_t i = 1; i < name.size; i++)
        if (name.data[i] == '.' && sql_is_environment(&statement->tree, span_of(name.data, i)))
            return true;
    return false;
}

/* Whether the statement may have written NAME as one name: a dot in it needs quotes. */
static bool sql_statement_may_name(const struct sql_statement *statement, struct span name)
{
    return !memchr(name.data, '.', name.size) ||
           sql_table_is_quoted(name, span_of(statement->text, statement->size));
}

/* Adds the table that SQLite calls NAME: SCHEMA.TABLE, TABLE.INDEX or a table of the account, which
 * may have dots in its name. Another meaning than the written one would cost requests. */
static bool sql_statement_add_table(struct sql_statement *statement, struct span name,
                                    struct error *err)
{
    struct error why = {0};
    struct span main = SPAN_LITERAL("main");
    bool is_one = sql_statement_may_name(statement, name);
    for (size_t i = name.size; i-- > 1;) {
        struct span schema = span_of(name.data, i), table = span_from(name, i + (i < name.size));
        bool added;
        if (name.data[i] != '.' || table.size == 0 || is_one ||
            !sql_statement_may_name(statement, schema) ||
            !sql_statement_may_name(statement, table) ||
            sql_statement_has(statement, schema, table))
            continue;
        if (!sql_statement_add_pair(statement, schema, table, &added, &why)) {
            *err = why;
            return false;
        }
        if (added)
            return true;
    }
    if (is_one && !sql_statement_has(statement, main, name) &&
        !sql_begins_with_environment(statement, name)) {
        struct error other;
        struct place *place = sql_resolve_named(statement, name, &other);
        if (place)
            return sql_statement_add(statement, place, main, name, NULL, err);
        if (!sql_is_missing(&other))
            return sql_statement_refuse_table(statement, name, &other, err);
        why = why.kind == ERROR_NONE ? other : why;
    }
    return sql_statement_refuse_table(statement, name, &why, err);
}

/* Columns. */

/* Adds the attribute NAME to all tables. *ADDED: some table has a new column. */
static bool sql_statement_add_attribute(struct sql_statement *statement, struct span name,
                                        bool *added, struct error *err)
{
    for (struct sql_table *each = statement->tables; each; each = each->next) {
        size_t before = each->columns->count;
        if (!sql_columns_add(each->columns, name))
            return error_no_memory(err);
        if (each->columns->count == before)
            continue;
        *added = true;
        if (!sql_connection_declare_again(statement->connection, each, err))
            return false;
    }
    return true;
}

/* NAME is an attribute, "alias.attribute" or "schema.table.attribute"; an attribute may have dots.
 */
static bool sql_statement_add_column(struct sql_statement *statement, struct span name,
                                     struct error *err)
{
    bool added = false;
    if (!sql_statement_add_attribute(statement, name, &added, err))
        return false;
    for (size_t i = 1; i + 1 < name.size; i++)
        if (name.data[i] == '.' &&
            !sql_statement_add_attribute(statement, span_from(name, i + 1), &added, err))
            return false;
    if (added)
        return true;
    error_set(err, ERROR_INVALID,
              "there is no column %.*s: no table of the statement has that name or alias",
              (int)name.size, name.data);
    const char *dot = memchr(name.data, '.', name.size);
    struct span member = dot ? span_from(name, (size_t)(dot + 1 - name.data)) : (struct span){0};
    if (sql_table_is_quoted(name, span_of(statement->text, statement->size)))
        error_add(err, "; a text is written in single quotes");
    else if (dot)
        error_add(err, "; a member of a map is written %.*s ->> '$.%.*s'", (int)(dot - name.data),
                  name.data, (int)member.size, member.data);
    return false;
}

/* Statements. */

/* Adds to ERR, of a refused statement: a text in double quotes has become a column. */
static void sql_statement_hint_quotes(const struct sql_statement *statement, struct error *err)
{
    struct span text = span_of(statement->text, statement->size);
    for (const struct sql_table *each = statement->tables; each; each = each->next)
        for (size_t i = 0; i < each->columns->count; i++) {
            const struct sql_column *column = &each->columns->items[i];
            if (column->role != SQL_ATTRIBUTE ||
                !sql_table_is_quoted(span_text(column->name), text))
                continue;
            error_add(err, "; \"%s\" is a name: a text is written in single quotes", column->name);
            return;
        }
}

static bool sql_statement_plan(struct sql_statement *statement, size_t *size, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct span text = span_of(statement->text, statement->size);
    for (unsigned i = 0; i < SQL_MOST_NAMES; i++) {
        switch (sql_connection_prepare(statement->connection, text, &name, size, err)) {
        case SQL_CONNECTION_PREPARED:
            return true;
        case SQL_CONNECTION_FAILED:
            if (err->kind == ERROR_INVALID)
                sql_statement_hint_quotes(statement, err);
            return false;
        case SQL_CONNECTION_NO_TABLE:
            if (!sql_statement_add_table(statement, buf_span(&name), err))
                return false;
            break;
        case SQL_CONNECTION_NO_COLUMN:
            if (!sql_statement_add_column(statement, buf_span(&name), err))
                return false;
            break;
        }
    }
    return error_set(err, ERROR_INVALID, "the statement names more than %d tables and columns",
                     SQL_MOST_NAMES);
}

/* Fills ERR for a statement that is no SELECT: perhaps it is no SQL. Sends nothing. */
static bool sql_statement_refuse(struct sql_statement *statement, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    size_t size;
    struct span text = span_of(statement->text, statement->size);
    enum sql_connection_outcome outcome =
        sql_connection_prepare(statement->connection, text, &name, &size, err);
    return outcome == SQL_CONNECTION_FAILED
               ? false
               : error_set(err, ERROR_DENIED, SQL_CONNECTION_ONLY_SELECT);
}

void sql_statement_end(struct sql_statement *statement)
{
    if (!statement)
        return;
    if (statement->connection)
        sql_connection_reset(statement->connection);
    sql_reads_clean_up(&statement->reads); /* rows point to choices of the connection */
    sql_connection_destroy(statement->connection);
    for (struct sql_table *next, *each = statement->tables; each; each = next) {
        next = each->next;
        sql_table_destroy(each);
    }
    free(statement->text);
    free(statement);
}

static struct sql_statement *sql_statement_new(struct sql_session *session, struct span text,
                                               struct error *err)
{
    static const char *const of_rows[] = {"rowid", "oid", "_rowid_"};
    static const char *const stops[] = {"limit", "exists", "min", "max"};
    const struct sql_options *options = &session->options;
    struct sql_statement *statement = calloc(1, sizeof *statement);
    if (!statement) {
        error_no_memory(err);
        return NULL;
    }
    statement->session = session;
    statement->tree = *options->tree;
    statement->text = strndup(text.data, text.size);
    statement->size = statement->text ? strlen(statement->text) : 0;
    statement->names_rows = sql_has_word(text, of_rows, 3);
    struct sql_reads_options reads = {.tree = &statement->tree,
                                      .memory = options->memory,
                                      .reads_ahead = !sql_has_word(text, stops, 4),
                                      .goes_on = options->goes_on,
                                      .arg = options->arg};
    if (!statement->text || !sql_reads_init(&statement->reads, &reads))
        error_no_memory(err);
    else
        statement->connection = sql_connection_new(&statement->reads, options->may_scan, err);
    if (statement->connection)
        return statement;
    sql_statement_end(statement);
    return NULL;
}

bool sql_prepare(struct sql_session *session, struct span text, struct sql_statement **out,
                 struct span *rest, struct error *err)
{
    static const char *const beginnings[] = {"select", "with", "values"};
    size_t size = 0;
    text = sql_skip_blanks(text);
    *out = NULL;
    *rest = text;
    if (text.size == 0)
        return true;
    if (text.data[0] == '.')
        return error_set(err, ERROR_INVALID,
                         "a statement begins with select; commands with a dot are typed at the "
                         "prompt, which ddbfs sql without a statement opens");
    if (memchr(text.data, '\0', text.size))
        return error_set(err, ERROR_INVALID, "the statement has a NUL byte");
    if (sql_has_bracket(text))
        return error_set(err, ERROR_INVALID,
                         "[ is not accepted: write a list as (…), a member of a list as "
                         "attribute ->> 0, and a name in double quotes");
    struct sql_statement *statement = sql_statement_new(session, text, err);
    if (!statement)
        return false;
    bool is_select = sql_has_word(sql_first_word(text), beginnings, 3);
    if (!(is_select ? sql_statement_plan(statement, &size, err)
                    : sql_statement_refuse(statement, err))) {
        sql_statement_end(statement);
        return false;
    }
    statement->size = size;
    *rest = sql_skip_blanks(span_from(text, size));
    *out = statement;
    return true;
}

size_t sql_statement_columns(const struct sql_statement *statement)
{
    return sql_connection_column_count(statement->connection);
}

struct span sql_statement_name(const struct sql_statement *statement, size_t column)
{
    return sql_connection_column_name(statement->connection, column);
}

/* Passes. */

/* A statement that runs. */
struct sql_run {
    struct sql_statement *statement;
    sql_row_fn *fn;
    void *arg;
    struct sql_value *values; /* of a row; owned */
    size_t columns;
    uint64_t rows;     /* of this pass, before the first want */
    uint64_t repeated; /* the digest of those that were returned before */
    bool returns;      /* rows are returned in this pass */
    bool may_stream;
    bool is_over; /* the receiver wants no more */
};

static uint64_t sql_run_digest(const struct sql_run *run, uint64_t digest)
{
    for (size_t i = 0; i < run->columns; i++) {
        const struct sql_value *value = &run->values[i];
        uint64_t number = (uint64_t)value->integer;
        if (value->type == SQL_REAL)
            memcpy(&number, &value->real, sizeof number);
        digest = (digest ^ (uint64_t)value->type ^ number) * 0x100000001b3U;
        for (size_t k = 0; k < value->bytes.size; k++)
            digest = (digest ^ (unsigned char)value->bytes.data[k]) * 0x100000001b3U;
    }
    return digest;
}

/* A row of the statement is final if no lookup in front of it was wanted. Each pass repeats the
 * rows of the passes before. */
static bool sql_run_take_row(struct sql_run *run, struct error *err)
{
    struct sql_statement *statement = run->statement;
    if (statement->reads.wanted_count > 0 || !run->returns)
        return true;
    run->rows++;
    if (run->rows > statement->returned) {
        statement->returned++;
        statement->digest = sql_run_digest(run, statement->digest);
        run->is_over = !run->fn(run->arg, run->values);
        return true;
    }
    run->repeated = sql_run_digest(run, run->repeated);
    return run->rows < statement->returned || run->repeated == statement->digest ||
           error_set(err, ERROR_REPLACED,
                     "rows that were printed would differ now; the items changed while the "
                     "statement ran: start it again");
}

/* Runs the statement once over the rows that are there. */
static bool sql_run_pass(struct sql_run *run, struct error *err)
{
    struct sql_statement *statement = run->statement;
    enum sql_connection_step step;
    bool ok = true;
    sql_reads_begin_pass(&statement->reads);
    run->rows = 0;
    run->repeated = 0;
    do {
        step = sql_connection_step(statement->connection, run->values, err);
        if (step == SQL_CONNECTION_ROW)
            ok = sql_run_take_row(run, err);
    } while (ok && step == SQL_CONNECTION_ROW && !run->is_over);
    if (step == SQL_CONNECTION_STOPPED)
        ok = statement->reads.is_full;
    sql_connection_reset(statement->connection);
    return ok;
}

/* Plans the statement again, without relying on the order of a table. */
static bool sql_run_sort(struct sql_run *run, struct error *err)
{
    struct sql_statement *statement = run->statement;
    size_t size;
    statement->reads.unordered->is_unordered = true;
    statement->reads.unordered = NULL;
    statement->reads.streams = false;
    sql_reads_clear(&statement->reads);
    return sql_statement_plan(statement, &size, err);
}

/* Prepares the next pass. *ENDS: the pass before was the last. */
static bool sql_run_proceed(struct sql_run *run, bool *ends, struct error *err)
{
    struct sql_statement *statement = run->statement;
    struct sql_reads *reads = &statement->reads;
    if (run->is_over) {
        *ends = true;
        return true;
    }
    if (reads->unordered)
        return sql_run_sort(run, err);
    if (reads->repeats) {
        run->may_stream = false;
        reads->streams = false;
        reads->repeats = false;
        sql_reads_clear(reads);
        return true;
    }
    if (reads->wanted_count == 0) {
        *ends = run->returns;
        run->returns = true;
        return true;
    }
    if (run->may_stream && reads->began == 1 && !reads->is_full) {
        reads->streams = true;
        run->returns = true;
        return true;
    }
    if (reads->is_full && reads->most_wanted < SQL_MOST_WANTED)
        reads->most_wanted *= 2;
    return sql_reads_run(reads, err) || reads->unordered;
}

/* SQLite does not begin a lookup if it finds itself that two conditions exclude each other. */
static bool sql_run_note_void(void *arg, struct sql_choice *choice, const char *alias)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf why = {0};
    struct sql_lookup *lookups;
    size_t count = 0;
    (void)alias;
    if (choice->lookups > 0 || !choice->is_known)
        return true;
    if (!sql_access_bind(choice->access, choice->values, &arena, &lookups, &count, arg))
        return false;
    if (count > 0)
        return true;
    sql_access_write_void(choice->access, choice->values, &why);
    return (!why.failed && sql_table_note_void(choice->table, buf_span(&why))) ||
           error_no_memory(arg);
}

bool sql_statement_run(struct sql_statement *statement, sql_row_fn *fn, void *arg,
                       struct error *err)
{
    struct sql_run run = {.statement = statement,
                          .fn = fn,
                          .arg = arg,
                          .columns = sql_connection_column_count(statement->connection),
                          .returns = !sql_connection_is_volatile(statement->connection),
                          .may_stream = sql_connection_has_one_reader(statement->connection)};
    bool ends = false, ok = true;
    run.values = calloc(run.columns + 1, sizeof *run.values);
    if (!run.values)
        return error_no_memory(err);
    statement->reads.most_wanted = SQL_FIRST_WANTED;
    while (ok && !ends)
        ok = sql_run_pass(&run, err) && sql_run_proceed(&run, &ends, err);
    free(run.values);
    return ok && (statement->reads.began > 0 || !statement->tables ||
                  sql_connection_each_choice(statement->connection, sql_run_note_void, err, err));
}

void sql_statement_warn(const struct sql_statement *statement,
                        void (*fn)(void *arg, const char *text), void *arg)
{
    for (const struct sql_table *each = statement->tables; each; each = each->next)
        sql_table_warn(each, span_of(statement->text, statement->size), fn, arg);
}

/* Explanations. */

struct sql_explaining {
    struct sql_statement *statement;
    bool (*fn)(void *arg, const struct sql_step *step);
    void *arg;
    struct error *err;
};

/* The first lookup with the known values, and "{column}" for the others. */
static bool sql_explain_example(struct sql_choice *choice, struct sql_step *step,
                                struct place **out, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct sql_lookup *lookups;
    size_t count = 0;
    if (!sql_access_bind(choice->access, choice->values, &arena, &lookups, &count, err))
        return false;
    step->lookups = count;
    if (count == 0 || step->is_scan)
        return true;
    *out = sql_table_find(choice->table, &lookups[0], 0, err);
    return *out;
}

static bool sql_explain_choice(void *arg, struct sql_choice *choice, const char *alias)
{
    struct sql_explaining *explaining = arg;
    struct place *example = NULL;
    enum sql_access_kind kind = sql_access_kind_of(choice->access);
    struct sql_step step = {.table = choice->table->shown,
                            .alias = alias,
                            .place = choice->at,
                            .directory = choice->table->place,
                            .is_scan = kind == SQL_ACCESS_SCAN,
                            .lookups = choice->lookups};
    bool may_repeat =
        choice->follows || sql_connection_is_recursive(explaining->statement->connection);
    step.per_row = kind != SQL_ACCESS_NONE && !choice->is_known && (may_repeat || !choice->lookups);
    bool needs_example = kind != SQL_ACCESS_NONE && (step.per_row || choice->lookups == 0);
    bool ok = !needs_example || sql_explain_example(choice, &step, &example, explaining->err);
    if (needs_example)
        step.place = example;
    ok = ok && explaining->fn(explaining->arg, &step);
    place_destroy(example);
    return ok;
}

bool sql_statement_explain(struct sql_statement *statement,
                           bool (*fn)(void *arg, const struct sql_step *step), void *arg,
                           struct error *err)
{
    struct sql_explaining explaining = {statement, fn, arg, err};
    struct sql_run run = {.statement = statement,
                          .columns = sql_connection_column_count(statement->connection)};
    if (!statement->tables)
        return true;
    run.values = calloc(run.columns + 1, sizeof *run.values);
    if (!run.values)
        return error_no_memory(err);
    statement->reads.is_dry = true;
    statement->reads.most_wanted = SIZE_MAX;
    bool ok =
        sql_run_pass(&run, err) &&
        sql_connection_each_choice(statement->connection, sql_explain_choice, &explaining, err);
    statement->reads.is_dry = false;
    free(run.values);
    return ok;
}

/* Names. */

static void sql_session_write_table(const struct map_environment *environment,
                                    const struct model *model, struct buf *out)
{
    database_write_name(format_literal(&environment->name), out);
    buf_add_char(out, '.');
    database_write_name(span_text(model->path_name), out);
}

void sql_session_each_table(const struct sql_session *session,
                            void (*fn)(void *arg, const char *name), void *arg)
{
    const struct map *map = session->options.tree->map;
    for (const struct map_environment *each = map->environments; each; each = each->next) {
        for (size_t i = 0; format_is_literal(&each->name) && i < map->model_count; i++) {
            CLEAN_UP(buf_clean_up) struct buf name = {0};
            sql_session_write_table(each, map->models[i], &name);
            if (!name.failed)
                fn(arg, buf_text(&name));
        }
    }
}

/* The model of a table as sql_session_each_table names it; else of a table that was described. */
static const struct model *sql_session_find_model(struct sql_session *session, struct span name,
                                                  struct place **place)
{
    CLEAN_UP(buf_clean_up) struct buf plain = {0}, path = {0};
    const struct tree *tree = session->options.tree;
    struct error ignored;
    for (size_t i = 0; i < name.size; i++)
        if (name.data[i] != '"')
            buf_add_char(&plain, name.data[i]);
    struct span text = buf_span(&plain);
    for (size_t i = text.size; i-- > 1;) {
        const struct model *model =
            text.data[i] == '.' ? map_find_model(tree->map, span_from(text, i + 1)) : NULL;
        if (model)
            return model;
    }
    buf_add_text(&path, "/" MAP_TABLES_NAME "/");
    if (!names_write_table(text, &path, &ignored) || path.failed ||
        !tree_resolve_now(tree, NULL, buf_span(&path), place, &ignored))
        return NULL;
    return *place ? (*place)->table : NULL;
}

void sql_session_each_column(struct sql_session *session, const char *table,
                             void (*fn)(void *arg, const char *name), void *arg)
{
    struct place *place = NULL;
    const struct model *model = sql_session_find_model(session, span_text(table), &place);
    struct sql_columns *columns =
        model ? sql_columns_new(model, session->options.tree->show_secrets) : NULL;
    for (size_t i = 0; columns && i < columns->count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        database_write_name(span_text(columns->items[i].name), &name);
        if (!name.failed)
            fn(arg, buf_text(&name));
    }
    sql_columns_destroy(columns);
    place_destroy(place);
}
