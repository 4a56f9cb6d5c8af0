#include "core/sql/sql_connection.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "core/sql/sql_module.h"

enum { SQL_CONNECTION_STEPS = 20000 }; /* between two calls of goes_on: a millisecond */

struct sql_connection {
    struct sql_module module;
    sqlite3 *handle;
    sqlite3_stmt *statement;
    int first_choice; /* of the statement */
    bool is_user;     /* a user's statement is prepared: only a SELECT is allowed */
    bool is_recursive, is_volatile;
    unsigned opens, filters; /* cursors, and places where they are filtered */
    struct error denied;     /* by the authorizer */
    int64_t heap_before;     /* the limit of SQLite's heap */
};

/* Errors. */

static bool sql_connection_refuse_size(struct error *err)
{
    return error_set(err, ERROR_TOO_LARGE,
                     "the statement needs more memory than its limit; select fewer rows or "
                     "columns, or raise the limit: --cache-size");
}

/* The likely cause of a syntax error, behind "; ", or "". */
static const char *sql_connection_hint(const char *message)
{
    if (strncmp(message, "near \"-\"", 8) == 0 || strncmp(message, "near \"@", 7) == 0)
        return "; a name such as \"prod-Orders\" is in double quotes, which a shell removes "
               "unless each has a \\ before it";
    return "";
}

/* Fills ERR with the reason of SQLite's CODE. */
static bool sql_connection_explain_failure(struct sql_connection *connection, int code,
                                           struct error *err)
{
    const char *message = sqlite3_errmsg(connection->handle);
    const char *name = strchr(message, ':');
    if (connection->module.fault.kind != ERROR_NONE) {
        *err = connection->module.fault;
        return false;
    }
    if (connection->denied.kind != ERROR_NONE) {
        *err = connection->denied;
        return false;
    }
    if (strstr(message, "may not be modified"))
        return error_set(err, ERROR_DENIED, SQL_CONNECTION_ONLY_SELECT);
    if ((code & 0xff) == SQLITE_NOMEM)
        return sql_connection_refuse_size(err);
    if ((code & 0xff) == SQLITE_INTERRUPT && connection->module.reads->failed.kind != ERROR_NONE) {
        *err = connection->module.reads->failed;
        return false;
    }
    if (strcmp(message, "no query solution") == 0 &&
        connection->module.refused.kind != ERROR_NONE) {
        *err = connection->module.refused;
        return false;
    }
    if (name && strncmp(message, "ambiguous column name: ", 23) == 0)
        return error_set(err, ERROR_INVALID,
                         "the column%s may be of several tables; write the table's alias in front "
                         "of it: alias.%s",
                         name + 1, name + 2);
    return error_set(err, ERROR_INVALID, "SQLite refuses the statement: %s%s", message,
                     sql_connection_hint(message));
}

/* Guards. */

static bool sql_connection_has_table(const struct sql_connection *connection, const char *schema,
                                     const char *name)
{
    for (const struct sql_table *each = connection->module.tables; each; each = each->next)
        if (sqlite3_stricmp(each->name, name) == 0 && schema &&
            sqlite3_stricmp(each->schema, schema) == 0)
            return true;
    return false;
}

static int sql_connection_deny(struct sql_connection *connection, const char *what)
{
    if (what)
        error_set(&connection->denied, ERROR_DENIED,
                  "%s is no table of DynamoDB; a statement reads these alone", what);
    else
        error_set(&connection->denied, ERROR_DENIED, SQL_CONNECTION_ONLY_SELECT);
    return SQLITE_DENY;
}

/* Functions whose result may differ from pass to pass. */
static bool sql_connection_function_is_volatile(const char *name)
{
    static const char *const names[] = {
        "random",   "randomblob", "date",         "time",         "datetime",          "julianday",
        "strftime", "unixepoch",  "current_date", "current_time", "current_timestamp", "timediff"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (sqlite3_stricmp(names[i], name) == 0)
            return true;
    return false;
}

/* The second one returns an address of memory. */
static bool sql_connection_function_is_denied(const char *name)
{
    return sqlite3_stricmp(name, "load_extension") == 0 ||
           sqlite3_stricmp(name, "fts3_tokenizer") == 0;
}

/* A name whose columns are not read comes with an empty column, and with its schema only if the
 * statement has that. It may be the name of a subquery. */
static bool sql_connection_may_read(const struct sql_connection *connection, const char *schema,
                                    const char *name, const char *column)
{
    return sql_connection_has_table(connection, schema ? schema : "main", name) ||
           sqlite3_stricmp(name, "json_each") == 0 || sqlite3_stricmp(name, "json_tree") == 0 ||
           (!schema && !column[0] && sqlite3_strnicmp(name, "sqlite_", 7) != 0);
}

static int sql_connection_authorize(void *arg, int action, const char *one, const char *two,
                                    const char *schema, const char *trigger)
{
    struct sql_connection *connection = arg;
    (void)trigger;
    if (!connection->is_user)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
        return SQLITE_OK;
    case SQLITE_RECURSIVE:
        connection->is_recursive = true;
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        connection->is_volatile =
            connection->is_volatile || sql_connection_function_is_volatile(two);
        return sql_connection_function_is_denied(two) ? sql_connection_deny(connection, NULL)
                                                      : SQLITE_OK;
    case SQLITE_READ:
        return sql_connection_may_read(connection, schema, one, two)
                   ? SQLITE_OK
                   : sql_connection_deny(connection, one);
    default:
        return sql_connection_deny(connection, NULL);
    }
}

static int sql_connection_watch(void *arg)
{
    struct sql_connection *connection = arg;
    return !sql_reads_goes_on(connection->module.reads);
}

/* The database. */

static bool sql_connection_run(struct sql_connection *connection, const char *sql,
                               struct error *err)
{
    int code = sqlite3_exec(connection->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK || sql_connection_explain_failure(connection, code, err);
}

static bool sql_connection_set_up(struct sql_connection *connection, struct error *err)
{
    sqlite3 *handle = connection->handle;
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    if (!sql_module_register(&connection->module, handle))
        return error_no_memory(err);
    sqlite3_set_authorizer(handle, sql_connection_authorize, connection);
    sqlite3_progress_handler(handle, SQL_CONNECTION_STEPS, sql_connection_watch, connection);
    /* The tables of JSON are declared when they are first named, by statements that are denied to
     * users. */
    return sql_connection_run(connection,
                              "PRAGMA temp_store=MEMORY; PRAGMA case_sensitive_like=ON;"
                              "SELECT 1 FROM json_each('[]'), json_tree('[]')",
                              err);
}

struct sql_connection *sql_connection_new(struct sql_reads *reads, bool may_scan, struct error *err)
{
    struct sql_connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        error_no_memory(err);
        return NULL;
    }
    *connection = (struct sql_connection){.module = {.reads = reads, .may_scan = may_scan}};
    connection->module.heap_base = sqlite3_memory_used();
    connection->heap_before = sqlite3_hard_heap_limit64(-1);
    int code =
        sqlite3_open_v2(":memory:", &connection->handle,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK ? sql_connection_set_up(connection, err) : error_no_memory(err))
        return connection;
    sql_connection_destroy(connection);
    return NULL;
}

void sql_connection_destroy(struct sql_connection *connection)
{
    if (!connection)
        return;
    sqlite3_finalize(connection->statement);
    sqlite3_hard_heap_limit64(connection->heap_before);
    sqlite3_close(connection->handle);
    arena_clean_up(&connection->module.arena);
    free(connection->module.text);
    sql_lost_clean_up(&connection->module.lost);
    free(connection);
}

static void sql_connection_write_quoted(struct span name, struct buf *out)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < name.size; i++) {
        buf_add_text(out, name.data[i] == '"' ? "\"" : "");
        buf_add_char(out, name.data[i]);
    }
    buf_add_char(out, '"');
}

/* A schema is a database that is attached. */
static bool sql_connection_attach(struct sql_connection *connection, const char *schema,
                                  struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    unsigned schemas = 0;
    if (strcmp(schema, "main") == 0 || sqlite3_db_filename(connection->handle, schema))
        return true;
    while (sqlite3_db_name(connection->handle, (int)schemas))
        schemas++;
    if (schemas >= 2U + (unsigned)sqlite3_limit(connection->handle, SQLITE_LIMIT_ATTACHED, -1))
        return error_set(err, ERROR_INVALID,
                         "a statement may name %d environments and tables with an index; %s is one "
                         "too many",
                         sqlite3_limit(connection->handle, SQLITE_LIMIT_ATTACHED, -1), schema);
    buf_add_text(&sql, "ATTACH ':memory:' AS ");
    sql_connection_write_quoted(span_text(schema), &sql);
    return sql.failed ? error_no_memory(err) : sql_connection_run(connection, buf_text(&sql), err);
}

static bool sql_connection_create_table(struct sql_connection *connection, struct sql_table *table,
                                        struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    buf_add_text(&sql, "CREATE VIRTUAL TABLE ");
    sql_connection_write_quoted(span_text(table->schema), &sql);
    buf_add_char(&sql, '.');
    sql_connection_write_quoted(span_text(table->name), &sql);
    buf_add_text(&sql, " USING ddbfs");
    connection->module.adding = table;
    return sql.failed ? error_no_memory(err) : sql_connection_run(connection, buf_text(&sql), err);
}

/* For SQLite a name without schema is a table of any schema. A view of that name in "main", where
 * SQLite looks first, leads such a name to a table that is missing. */
#define SQL_MODULE_BARE_NAME "\x01"

static bool sql_connection_hide_bare_name(struct sql_connection *connection, const char *name,
                                          struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0}, missing = {0};
    buf_printf(&missing, SQL_MODULE_BARE_NAME "%s", name);
    buf_add_text(&sql, "CREATE VIEW IF NOT EXISTS main.");
    sql_connection_write_quoted(span_text(name), &sql);
    buf_add_text(&sql, " AS SELECT 1 FROM ");
    sql_connection_write_quoted(buf_span(&missing), &sql);
    if (sql.failed || missing.failed)
        return error_no_memory(err);
    return sql_connection_run(connection, buf_text(&sql), err);
}

static bool sql_connection_free_bare_name(struct sql_connection *connection, const char *name,
                                          struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    buf_add_text(&sql, "DROP VIEW IF EXISTS main.");
    sql_connection_write_quoted(span_text(name), &sql);
    return sql.failed ? error_no_memory(err) : sql_connection_run(connection, buf_text(&sql), err);
}

bool sql_connection_add_table(struct sql_connection *connection, struct sql_table *table,
                              struct error *err)
{
    bool is_main = strcmp(table->schema, "main") == 0;
    if (!sql_connection_attach(connection, table->schema, err) ||
        !(is_main ? sql_connection_free_bare_name
                  : sql_connection_hide_bare_name)(connection, table->name, err) ||
        !sql_connection_create_table(connection, table, err))
        return false;
    table->next = connection->module.tables;
    connection->module.tables = table;
    return true;
}

bool sql_connection_declare_again(struct sql_connection *connection, struct sql_table *table,
                                  struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    buf_add_text(&sql, "DROP TABLE ");
    sql_connection_write_quoted(span_text(table->schema), &sql);
    buf_add_char(&sql, '.');
    sql_connection_write_quoted(span_text(table->name), &sql);
    if (sql.failed)
        return error_no_memory(err);
    return sql_connection_run(connection, buf_text(&sql), err) &&
           sql_connection_create_table(connection, table, err);
}

/* Statements. */

static sqlite3_stmt *sql_connection_prepare_text(struct sql_connection *connection,
                                                 const char *text, size_t size, const char **rest,
                                                 int *code)
{
    sqlite3_stmt *statement = NULL;
    connection->is_user = true;
    *code = sqlite3_prepare_v3(connection->handle, text, (int)size, 0, &statement, rest);
    connection->is_user = false;
    return statement;
}

/* Reads the program of the statement: how often it opens and filters virtual tables, and whether it
 * reads the numbers of rows. */
static bool sql_connection_read_program(struct sql_connection *connection, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    int code;
    buf_printf(&sql, "EXPLAIN %s", connection->module.text);
    if (sql.failed)
        return error_no_memory(err);
    sqlite3_stmt *program =
        sql_connection_prepare_text(connection, buf_text(&sql), sql.size, NULL, &code);
    connection->module.needs_ids = false;
    connection->opens = 0;
    connection->filters = 0;
    while (program && (code = sqlite3_step(program)) == SQLITE_ROW) {
        const char *op = (const char *)sqlite3_column_text(program, 1);
        connection->opens += op && strcmp(op, "VOpen") == 0;
        connection->filters += op && strcmp(op, "VFilter") == 0;
        connection->module.needs_ids =
            connection->module.needs_ids || (op && strcmp(op, "Rowid") == 0);
    }
    sqlite3_finalize(program);
    return code == SQLITE_DONE || sql_connection_explain_failure(connection, code, err);
}

/* The name behind PREFIX in SQLite's message. */
static bool sql_connection_reads_name(const struct sql_connection *connection, const char *prefix,
                                      struct buf *name)
{
    const char *message = sqlite3_errmsg(connection->handle);
    size_t size = strlen(prefix);
    if (strncmp(message, prefix, size) != 0)
        return false;
    const char *bare = strstr(message, SQL_MODULE_BARE_NAME);
    buf_truncate(name, 0);
    buf_add_text(name, bare ? bare + sizeof SQL_MODULE_BARE_NAME - 1 : message + size);
    return true;
}

static bool sql_connection_admit_choice(void *arg, struct sql_choice *choice, const char *alias)
{
    (void)alias;
    *(bool *)arg = !choice->is_refused;
    return !choice->is_refused;
}

/* SQLite takes a parameter without a value for NULL, so that no row would match. */
static bool sql_connection_admit_statement(struct sql_connection *connection, struct error *err)
{
    const char *name = sqlite3_bind_parameter_name(connection->statement, 1);
    if (!sqlite3_stmt_readonly(connection->statement) ||
        sqlite3_stmt_isexplain(connection->statement)) {
        sql_connection_deny(connection, NULL);
        *err = connection->denied;
        return false;
    }
    return sqlite3_bind_parameter_count(connection->statement) == 0 ||
           error_set(
               err, ERROR_INVALID,
               "%s is a parameter, and nothing gives it a value; write the value in its place",
               name ? name : "?");
}

enum sql_connection_outcome sql_connection_prepare(struct sql_connection *connection,
                                                   struct span text, struct buf *name, size_t *size,
                                                   struct error *err)
{
    const char *rest = text.data;
    int code;
    sqlite3_finalize(connection->statement);
    free(connection->module.text);
    connection->module.text = NULL;
    connection->module.fault = (struct error){0};
    connection->denied = (struct error){0};
    connection->module.refused = (struct error){0};
    connection->module.refused_usable = 0;
    connection->is_recursive = false;
    connection->is_volatile = false;
    connection->first_choice = connection->module.choice_count;
    connection->statement =
        sql_connection_prepare_text(connection, text.data, text.size, &rest, &code);
    if (code != SQLITE_OK) {
        sql_connection_explain_failure(connection, code, err);
        bool is_other =
            connection->module.fault.kind != ERROR_NONE || connection->denied.kind != ERROR_NONE;
        if (!is_other && sql_connection_reads_name(connection, "no such table: ", name))
            return SQL_CONNECTION_NO_TABLE;
        if (!is_other && sql_connection_reads_name(connection, "no such column: ", name))
            return SQL_CONNECTION_NO_COLUMN;
        return SQL_CONNECTION_FAILED;
    }
    *size = (size_t)(rest - text.data);
    connection->module.text = strndup(text.data, *size);
    sql_lost_clean_up(&connection->module.lost);
    if (!connection->module.text ||
        !sql_lost_add_statement(&connection->module.lost, connection->module.text)) {
        error_no_memory(err);
        return SQL_CONNECTION_FAILED;
    }
    bool is_admitted = true;
    bool ok =
        sql_connection_admit_statement(connection, err) &&
        sql_connection_read_program(connection, err) &&
        (connection->module.refused_usable == 0 ||
         sql_connection_each_choice(connection, sql_connection_admit_choice, &is_admitted, err));
    if (!is_admitted)
        *err = connection->module.refused;
    return ok ? SQL_CONNECTION_PREPARED : SQL_CONNECTION_FAILED;
}

size_t sql_connection_column_count(const struct sql_connection *connection)
{
    return (size_t)sqlite3_column_count(connection->statement);
}

struct span sql_connection_column_name(const struct sql_connection *connection, size_t column)
{
    return span_text(sqlite3_column_name(connection->statement, (int)column));
}

bool sql_connection_has_one_reader(const struct sql_connection *connection)
{
    return connection->opens == 1 && connection->filters == 1 && !connection->is_recursive;
}

bool sql_connection_is_recursive(const struct sql_connection *connection)
{
    return connection->is_recursive;
}

bool sql_connection_is_volatile(const struct sql_connection *connection)
{
    return connection->is_volatile;
}

enum sql_connection_step sql_connection_step(struct sql_connection *connection,
                                             struct sql_value *values, struct error *err)
{
    sql_module_limit_heap(&connection->module);
    int code = sqlite3_step(connection->statement);
    if (code == SQLITE_DONE)
        return SQL_CONNECTION_DONE;
    if (code != SQLITE_ROW) {
        if (!connection->module.reads->is_full)
            sql_connection_explain_failure(connection, code, err);
        return SQL_CONNECTION_STOPPED;
    }
    int count = sqlite3_column_count(connection->statement);
    for (int i = 0; i < count; i++)
        values[i] = sql_module_read_value(sqlite3_column_value(connection->statement, i));
    return SQL_CONNECTION_ROW;
}

void sql_connection_reset(struct sql_connection *connection)
{
    sqlite3_reset(connection->statement);
}

/* The choice of the statement that corresponds to NUMBER of its explanation, which was planned in
 * the same way. */
static struct sql_choice *sql_connection_counterpart(const struct sql_connection *connection,
                                                     int number, int first)
{
    return sql_module_find_choice(&connection->module, number - first + connection->first_choice);
}

/* "SCAN j VIRTUAL TABLE INDEX 3:" */
static bool sql_connection_read_plan(struct sql_connection *connection, const char *line, int first,
                                     struct sql_choice **choice, struct buf *alias)
{
    const char *index = strstr(line, " VIRTUAL TABLE INDEX ");
    const char *name = strchr(line, ' ');
    if (!index || !name || name >= index)
        return false;
    buf_truncate(alias, 0);
    buf_add_span(alias, span_of(name + 1, (size_t)(index - name - 1)));
    *choice = sql_connection_counterpart(
        connection, (int)strtol(index + sizeof " VIRTUAL TABLE INDEX " - 1, NULL, 10), first);
    return *choice;
}

/* NAME without that of the table itself, which SQLite prints in place of an alias. */
static const char *sql_connection_alias(const struct sql_table *table, const char *name)
{
    return strcmp(name, table->name) == 0 || strcmp(name, table->shown) == 0 ? "" : name;
}

bool sql_connection_each_choice(struct sql_connection *connection,
                                bool (*fn)(void *arg, struct sql_choice *choice, const char *alias),
                                void *arg, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0}, alias = {0};
    int code, first = connection->module.choice_count;
    bool goes_on = true;
    buf_printf(&sql, "EXPLAIN QUERY PLAN %s", connection->module.text);
    if (sql.failed)
        return error_no_memory(err);
    sqlite3_stmt *plan =
        sql_connection_prepare_text(connection, buf_text(&sql), sql.size, NULL, &code);
    while (plan && goes_on && (code = sqlite3_step(plan)) == SQLITE_ROW) {
        struct sql_choice *choice;
        const char *line = (const char *)sqlite3_column_text(plan, 3);
        if (line && sql_connection_read_plan(connection, line, first, &choice, &alias))
            goes_on = fn(arg, choice, sql_connection_alias(choice->table, buf_text(&alias)));
    }
    sqlite3_finalize(plan);
    return goes_on &&
           (code == SQLITE_DONE || sql_connection_explain_failure(connection, code, err));
}
