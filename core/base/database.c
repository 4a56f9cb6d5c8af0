#include "core/base/database.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/ascii.h"
#include "core/base/database_files.h"
#include "core/base/rollback_journal.h"
#include "core/base/shell.h"

/* SQLite's rollback journal lies beside the file. It gets the file's mode. */
enum {
    DATABASE_FILE_MODE = 0600,
    DATABASE_WATCH_STEPS = 10000,    /* less than a millisecond */
    DATABASE_PAUSE_MS = 5,           /* between two tries for a lock */
    DATABASE_MOST_VALUE = 256 << 20, /* bytes: anyone may have made the file */
};

struct database {
    sqlite3 *handle; /* owned */
    char *file;      /* owned */
    bool is_in_memory;
    database_watch_fn *watch;
    void *watch_arg;
};

struct statement {
    sqlite3_stmt *handle; /* owned */
    struct database *database;
    int fault; /* of a bind: an SQLite code */
};

/* The kind and the remedy of each code; the low byte of an extended code has its own row. */
static const struct database_fault {
    int code;
    enum error_kind kind;
    const char *what; /* behind the file's name */
} database_faults[] = {
    {SQLITE_NOTADB, ERROR_INVALID,
     "is not a snapshot: it is no SQLite database; make one with ddbfs import"},
    {SQLITE_CORRUPT, ERROR_BAD_ANSWER,
     "is damaged or cut short; import it again, or restore a copy"},
    {SQLITE_FULL, ERROR_NO_SPACE, "cannot grow: the disk is full; free space there"},
    {SQLITE_READONLY_ROLLBACK, ERROR_BAD_ANSWER,
     "is in the middle of a change: its writer was killed and left a journal beside it; roll the "
     "change back: ddbfs import --repair "}, /* and the file */
    {SQLITE_READONLY, ERROR_DENIED,
     "cannot be written: the file or its folder is read-only; use another folder"},
    {SQLITE_PERM, ERROR_DENIED, "cannot be opened: permission denied; change its mode"},
    {SQLITE_BUSY, ERROR_TIMED_OUT,
     "is in use: another program reads or writes it; wait until that has ended"},
    {SQLITE_LOCKED, ERROR_TIMED_OUT,
     "is in use: another program reads or writes it; wait until that has ended"},
    {SQLITE_INTERRUPT, ERROR_TIMED_OUT,
     "was not read to the end: the read was interrupted; raise the limit: --timeout"},
    {SQLITE_TOOBIG, ERROR_TOO_LARGE, "has a value of more than 256 MB; no item is so large"},
    {SQLITE_CONSTRAINT, ERROR_INVALID, "would have the same key twice, or a missing value"},
};

/* The system's reason of an input or output error, which SQLite does not print. */
static bool database_set_io_error(sqlite3 *handle, const char *file, struct error *err)
{
    int number = sqlite3_system_errno(handle), code = sqlite3_extended_errcode(handle);
    struct stat status;
    if (number == ENOSPC || number == EDQUOT || number == EFBIG)
        return error_set(err, ERROR_NO_SPACE, "%s cannot grow: %s; free space there", file,
                         strerror(number));
    if (code == SQLITE_IOERR_SHORT_READ)
        return error_set(err, ERROR_BAD_ANSWER,
                         "%s is cut short: its last pages are missing; import it again, or restore "
                         "a copy",
                         file);
    const char *opened = sqlite3_db_filename(handle, "main");
    if (opened && stat(opened, &status) != 0)
        number = errno;
    return error_set(err, ERROR_BAD_ANSWER, "%s cannot be read or written: %s; check the disk",
                     file, number ? strerror(number) : sqlite3_errstr(code));
}

/* Appends FILE as a word of a command. */
static void database_add_word(const char *file, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf word = {0};
    shell_word(&word, span_text(file));
    error_add(err, "%s", buf_text(&word));
}

/* Whether the opened file has lost its name: SQLite then reports a file that cannot be written, or
 * an error of its input or output. */
static bool database_has_moved(sqlite3 *handle)
{
    int moved = 0;
    return handle && !sqlite3_db_readonly(handle, "main") &&
           sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
           moved;
}

static bool database_refuse_moved(const char *file, struct error *err)
{
    return error_set(err, ERROR_REPLACED,
                     "%s was removed or replaced by another program while it was written to, so "
                     "that this change is lost; run the command again",
                     file);
}

/* Fills ERR if a journal that is not trusted lies beside the file, which is written to. */
static bool database_has_strange_journal(sqlite3 *handle, struct error *err)
{
    const char *name = sqlite3_db_filename(handle, "main");
    if (!name || !*name || sqlite3_db_readonly(handle, "main"))
        return false;
    const char *journal = sqlite3_filename_journal(name);
    return !rollback_journal_is_trusted(journal, name) &&
           !rollback_journal_check(journal, name, 0, err);
}

/* Fills ERR for the failure CODE of HANDLE. Returns false. */
static bool database_refuse(sqlite3 *handle, const char *file, int code, struct error *err)
{
    int kind = code & 0xff;
    if (kind == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM)
        return error_no_memory(err);
    if ((kind == SQLITE_IOERR || kind == SQLITE_READONLY || kind == SQLITE_CANTOPEN) &&
        database_has_moved(handle))
        return database_refuse_moved(file, err);
    if (kind == SQLITE_CANTOPEN && handle && database_has_strange_journal(handle, err))
        return false;
    if (kind == SQLITE_IOERR)
        return database_set_io_error(handle, file, err);
    for (size_t i = 0; i < sizeof database_faults / sizeof database_faults[0]; i++)
        if (database_faults[i].code == code || database_faults[i].code == kind) {
            error_set(err, database_faults[i].kind, "%s %s", file, database_faults[i].what);
            if (code == SQLITE_READONLY_ROLLBACK)
                database_add_word(file, err);
            return false;
        }
    return error_set(err, ERROR_BAD_ANSWER, "%s: SQLite failed: %s; ddbfs check examines the file",
                     file, sqlite3_errmsg(handle));
}

static bool database_only_reads(enum database_mode mode)
{
    return mode == DATABASE_READ || mode == DATABASE_READ_NOW;
}

static bool database_refuse_file(const char *file, int number, struct error *err)
{
    enum error_kind kind = number == ENOENT   ? ERROR_INVALID
                           : number == EACCES ? ERROR_DENIED
                           : number == EROFS  ? ERROR_DENIED
                           : number == ENOSPC ? ERROR_NO_SPACE
                           : number == EMFILE ? ERROR_NO_DESCRIPTORS
                           : number == ENFILE ? ERROR_NO_DESCRIPTORS
                                              : ERROR_INVALID;
    return error_set(err, kind, "%s cannot be opened: %s", file, strerror(number));
}

/* SQLite's own text names neither the file nor the cause. A file that exists is not opened here: to
 * close it would drop the locks that other threads have on it. */
static bool database_check_file(const char *file, enum database_mode mode, struct error *err)
{
    struct stat status;
    int rights = database_only_reads(mode) ? R_OK : R_OK | W_OK;
    int fd = mode == DATABASE_CREATE
                 ? open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, DATABASE_FILE_MODE)
                 : -1;
    if (fd >= 0)
        close(fd);
    else if (mode == DATABASE_CREATE && errno != EEXIST)
        return database_refuse_file(file, errno, err);
    if (stat(file, &status) != 0)
        return database_refuse_file(file, errno, err);
    if (!S_ISREG(status.st_mode))
        return error_set(err, ERROR_INVALID, "%s is no regular file; name a snapshot", file);
    if (faccessat(AT_FDCWD, file, rights, AT_EACCESS) != 0)
        return database_refuse_file(file, errno, err);
    return status.st_size > 0 || mode == DATABASE_CREATE ||
           error_set(err, ERROR_INVALID,
                     "%s is not a snapshot: it is empty; make one with ddbfs import", file);
}

/* Waits for a lock. Returns 0 when the wait is over. */
static int database_on_busy(void *arg, int count)
{
    const struct database *database = arg;
    if (count >= DATABASE_BUSY_MS / DATABASE_PAUSE_MS ||
        (database->watch && !database->watch(database->watch_arg)))
        return 0;
    sqlite3_sleep(DATABASE_PAUSE_MS);
    return 1;
}

/* Reads the header by SQLite's own descriptor, since closing another one would drop locks. */
static bool database_check_header(struct database *database, struct error *err)
{
    enum { PAGE_SIZE_AT = 16, WRITE_VERSION_AT = 18, READ_VERSION_AT = 19, HEADER = 20, WAL = 2 };
    unsigned char header[HEADER] = {0};
    const char *name = sqlite3_db_filename(database->handle, "main");
    sqlite3_file *file = NULL;
    struct stat status;
    sqlite3_file_control(database->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (file && file->pMethods) /* a shorter file has zeros */
        file->pMethods->xRead(file, header, sizeof header, 0);
    bool has_log = stat(sqlite3_filename_wal(name), &status) == 0 &&
                   (status.st_size > 0 || !S_ISREG(status.st_mode));
    if (has_log || header[WRITE_VERSION_AT] == WAL || header[READ_VERSION_AT] == WAL)
        return error_set(err, ERROR_BAD_ANSWER,
                         "%s is in SQLite's WAL mode, in which a reader would create files beside "
                         "it; change the mode of a copy: sqlite3 COPY 'PRAGMA journal_mode=DELETE'",
                         database->file);
    uint32_t page_size = (uint32_t)header[PAGE_SIZE_AT] << 8 | header[PAGE_SIZE_AT + 1];
    return sqlite3_db_readonly(database->handle, "main") ||
           rollback_journal_check(sqlite3_filename_journal(name), name,
                                  page_size == 1 ? 65536 : page_size, err);
}

/* Views, triggers and virtual tables of a stranger's file run no code, nor do its expressions call
 * functions that have effects. */
static void database_distrust_schema(sqlite3 *handle)
{
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_drop_modules(handle, NULL);
}

/* A reader makes no temporary file. */
static const char read_settings[] = "PRAGMA temp_store = MEMORY; PRAGMA schema_version";

/* Opens the file and reads its first page; before that, a file of another kind is not noticed.
 * SQLITE_ERROR with ERR filled: SQLite may not read it. */
static int database_connect(struct database *database, enum database_mode mode, struct error *err)
{
    bool reads = database_only_reads(mode);
    const char *files = database_files(!reads);
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                (reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
    if (!files)
        return SQLITE_NOMEM;
    int code = sqlite3_open_v2(database->file, &database->handle, flags, files);
    if (code != SQLITE_OK)
        return code;
    if (!database_check_header(database, err))
        return SQLITE_ERROR;
    if (mode != DATABASE_READ_NOW)
        sqlite3_busy_handler(database->handle, database_on_busy, database);
    sqlite3_limit(database->handle, SQLITE_LIMIT_LENGTH, DATABASE_MOST_VALUE);
    database_distrust_schema(database->handle);
    return sqlite3_exec(database->handle, reads ? read_settings : "PRAGMA schema_version", NULL,
                        NULL, NULL);
}

/* CODE gets SQLite's result. */
static struct database *database_open_coded(const char *file, enum database_mode mode,
                                            database_watch_fn *fn, void *arg, int *code,
                                            struct error *err)
{
    *code = SQLITE_ERROR;
    if (!database_check_file(file, mode, err))
        return NULL;
    struct database *database = calloc(1, sizeof *database);
    if (database)
        database->file = strdup(file);
    if (!database || !database->file) {
        free(database);
        error_no_memory(err);
        return NULL;
    }
    database->watch = fn;
    database->watch_arg = arg;
    struct error refused = {0};
    *code = database_connect(database, mode, &refused);
    if (*code == SQLITE_OK)
        return database;
    int number = sqlite3_system_errno(database->handle);
    if (refused.kind != ERROR_NONE) {
        if (err)
            *err = refused;
    } else if ((*code & 0xff) == SQLITE_CANTOPEN && number) {
        database_refuse_file(file, number, err);
    } else {
        database_refuse(database->handle, file, *code, err);
    }
    database_close(database);
    return NULL;
}

struct database *database_open_watched(const char *file, enum database_mode mode,
                                       database_watch_fn *fn, void *arg, struct error *err)
{
    int code;
    return database_open_coded(file, mode, fn, arg, &code, err);
}

struct database *database_open(const char *file, enum database_mode mode, struct error *err)
{
    return database_open_watched(file, mode, NULL, NULL, err);
}

/* The journal of a writer at work is not applied. */
bool database_repair(const char *file, bool *repaired, struct error *err)
{
    int code;
    struct database *database = database_open_coded(file, DATABASE_READ, NULL, NULL, &code, err);
    *repaired = code == SQLITE_READONLY_ROLLBACK;
    if (*repaired)
        database = database_open(file, DATABASE_WRITE, err);
    database_close(database);
    return database != NULL;
}

/* Without a journal: a database in memory is dropped after a failure. Pages have one size, so that
 * the same rows make the same bytes. */
static const char memory_settings[] = "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF;"
                                      "PRAGMA temp_store = MEMORY";

static int database_connect_memory(struct database *database, size_t most)
{
    int flags =
        SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    sqlite3_int64 limit =
        most > 0 && most < DATABASE_MOST_MEMORY ? (sqlite3_int64)most : DATABASE_MOST_MEMORY;
    int code = sqlite3_open_v2("records", &database->handle, flags, "memdb");
    if (code != SQLITE_OK)
        return code;
    sqlite3_limit(database->handle, SQLITE_LIMIT_LENGTH, DATABASE_MOST_VALUE);
    code = sqlite3_exec(database->handle, memory_settings, NULL, NULL, NULL);
    return code != SQLITE_OK
               ? code
               : sqlite3_file_control(database->handle, "main", SQLITE_FCNTL_SIZE_LIMIT, &limit);
}

struct database *database_open_in_memory(const char *name, size_t most, struct error *err)
{
    struct database *database = calloc(1, sizeof *database);
    if (database)
        database->file = strdup(name);
    if (!database || !database->file) {
        free(database);
        error_no_memory(err);
        return NULL;
    }
    database->is_in_memory = true;
    int code = database_connect_memory(database, most);
    if (code == SQLITE_OK)
        return database;
    database_refuse(database->handle, name, code, err);
    database_close(database);
    return NULL;
}

static unsigned char *database_bytes(const struct database *database, size_t *size)
{
    sqlite3_int64 count = 0;
    unsigned char *bytes = database->handle ? sqlite3_serialize(database->handle, "main", &count,
                                                                SQLITE_SERIALIZE_NOCOPY)
                                            : NULL;
    *size = bytes ? (size_t)count : 0;
    return bytes;
}

struct span database_image(const struct database *database)
{
    size_t size;
    const unsigned char *bytes = database_bytes(database, &size);
    return span_of(bytes ? (const char *)bytes : "", size);
}

void database_close(struct database *database)
{
    if (!database)
        return;
    if (database->is_in_memory) { /* it may have secrets */
        size_t size;
        unsigned char *bytes = database_bytes(database, &size);
        if (bytes)
            explicit_bzero(bytes, size);
    }
    sqlite3_close(database->handle);
    free(database->file);
    free(database);
}

const char *database_file(const struct database *database)
{
    return database->file;
}

bool database_set_file(struct database *database, const char *shown, struct error *err)
{
    char *copy = strdup(shown);
    if (!copy)
        return error_no_memory(err);
    free(database->file);
    database->file = copy;
    return true;
}

bool database_check_place(struct database *database, struct error *err)
{
    return !database_has_moved(database->handle) || database_refuse_moved(database->file, err);
}

bool database_run(struct database *database, const char *sql, struct error *err)
{
    int code = sqlite3_exec(database->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK || database_refuse(database->handle, database->file, code, err);
}

bool database_read_integer(struct database *database, const char *sql, int64_t *out,
                           struct error *err)
{
    struct statement *statement = database_prepare(database, sql, err);
    enum statement_step step = statement ? statement_step(statement, err) : STATEMENT_FAILED;
    if (step == STATEMENT_ROW)
        *out = statement_integer(statement, 0);
    else if (step == STATEMENT_DONE)
        error_set(err, ERROR_BAD_ANSWER, "%s lacks a row that each snapshot has; import it again",
                  database->file);
    statement_end(statement);
    return step == STATEMENT_ROW;
}

static int database_watch_step(void *arg)
{
    const struct database *database = arg;
    return !database->watch(database->watch_arg);
}

void database_watch(struct database *database, database_watch_fn *fn, void *arg)
{
    database->watch = fn;
    database->watch_arg = arg;
    sqlite3_progress_handler(database->handle, fn ? DATABASE_WATCH_STEPS : 0,
                             fn ? database_watch_step : NULL, database);
}

struct statement *database_prepare(struct database *database, const char *sql, struct error *err)
{
    struct statement *statement = calloc(1, sizeof *statement);
    if (!statement) {
        error_no_memory(err);
        return NULL;
    }
    statement->database = database;
    int code = sqlite3_prepare_v3(database->handle, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                  &statement->handle, NULL);
    if (code == SQLITE_OK)
        return statement;
    database_refuse(database->handle, database->file, code, err);
    free(statement);
    return NULL;
}

void statement_end(struct statement *statement)
{
    if (!statement)
        return;
    sqlite3_finalize(statement->handle);
    free(statement);
}

static void statement_note_bind(struct statement *statement, int code)
{
    if (code != SQLITE_OK && statement->fault == SQLITE_OK)
        statement->fault = code;
}

/* A NULL pointer would bind NULL instead of an empty value. */
void statement_bind_text(struct statement *statement, int number, struct span text)
{
    statement_note_bind(statement,
                        sqlite3_bind_text64(statement->handle, number, text.data ? text.data : "",
                                            text.size, SQLITE_STATIC, SQLITE_UTF8));
}

void statement_bind_bytes(struct statement *statement, int number, struct span bytes)
{
    statement_note_bind(statement,
                        sqlite3_bind_blob64(statement->handle, number, bytes.data ? bytes.data : "",
                                            bytes.size, SQLITE_STATIC));
}

void statement_bind_integer(struct statement *statement, int number, int64_t value)
{
    statement_note_bind(statement, sqlite3_bind_int64(statement->handle, number, value));
}

void statement_bind_real(struct statement *statement, int number, double value)
{
    statement_note_bind(statement, sqlite3_bind_double(statement->handle, number, value));
}

enum statement_step statement_step(struct statement *statement, struct error *err)
{
    int code = statement->fault ? statement->fault : sqlite3_step(statement->handle);
    if (code == SQLITE_ROW)
        return STATEMENT_ROW;
    if (code == SQLITE_DONE)
        return STATEMENT_DONE;
    database_refuse(statement->database->handle, statement->database->file, code, err);
    return STATEMENT_FAILED;
}

void statement_reset(struct statement *statement)
{
    sqlite3_reset(statement->handle);
    sqlite3_clear_bindings(statement->handle);
    statement->fault = SQLITE_OK;
}

bool statement_run(struct statement *statement, struct error *err)
{
    bool ok = statement_step(statement, err) != STATEMENT_FAILED;
    statement_reset(statement);
    return ok;
}

bool statement_is_null(const struct statement *statement, int column)
{
    return sqlite3_column_type(statement->handle, column) == SQLITE_NULL;
}

bool statement_is_text(const struct statement *statement, int column)
{
    return sqlite3_column_type(statement->handle, column) == SQLITE_TEXT;
}

bool statement_is_bytes(const struct statement *statement, int column)
{
    return sqlite3_column_type(statement->handle, column) == SQLITE_BLOB;
}

struct span statement_text(const struct statement *statement, int column)
{
    const void *text = sqlite3_column_text(statement->handle, column);
    return span_of(text ? text : "", (size_t)sqlite3_column_bytes(statement->handle, column));
}

struct span statement_bytes(const struct statement *statement, int column)
{
    const void *bytes = sqlite3_column_blob(statement->handle, column);
    return span_of(bytes ? bytes : "", (size_t)sqlite3_column_bytes(statement->handle, column));
}

int64_t statement_integer(const struct statement *statement, int column)
{
    return sqlite3_column_int64(statement->handle, column);
}

static bool database_is_word(struct span name)
{
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        if (!ascii_is_letter(c) && c != '_' && (i == 0 || !ascii_is_digit(c)))
            return false;
    }
    return name.size > 0 && name.size <= INT32_MAX &&
           !sqlite3_keyword_check(name.data, (int)name.size);
}

void database_write_name(struct span name, struct buf *out)
{
    if (database_is_word(name)) {
        buf_add_span(out, name);
        return;
    }
    buf_add_char(out, '"');
    for (size_t i = 0; i < name.size; i++) {
        buf_add_char(out, name.data[i]);
        if (name.data[i] == '"')
            buf_add_char(out, '"');
    }
    buf_add_char(out, '"');
}
