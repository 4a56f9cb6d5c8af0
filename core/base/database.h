/* An SQLite database. A database and its statements belong to one thread at a time. */
#ifndef DDBFS_CORE_BASE_DATABASE_H
#define DDBFS_CORE_BASE_DATABASE_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/span.h"

struct database;
struct statement;

enum database_mode {
    DATABASE_READ,     /* an existing file; nothing is written */
    DATABASE_READ_NOW, /* the same, without a wait: a locked file is an error at once */
    DATABASE_WRITE,    /* an existing file */
    DATABASE_CREATE,   /* a new file of mode 0600, or an empty one */
};

enum { DATABASE_MOST_MEMORY = 2047 << 20 }; /* bytes: SQLite allocates less than 2 GB at once */
enum { DATABASE_BUSY_MS = 5000 };           /* the longest wait for a lock of another process */

/* To read a file creates, changes and removes nothing. If a writer was killed and left a journal, a
 * reader fails with ERROR_BAD_ANSWER; DATABASE_WRITE and DATABASE_CREATE apply the journal, unless
 * it names another file. NULL with ERR filled: also if the file is missing, is no SQLite database,
 * has a write-ahead log, or cannot be opened. */
struct database *database_open(const char *file, enum database_mode mode, struct error *err);

/* Called often while a statement runs or waits for a lock. If it returns false, the statement fails
 * with ERROR_TIMED_OUT. */
typedef bool database_watch_fn(void *arg);

/* The same, with a watch from the beginning. FN may be NULL. */
struct database *database_open_watched(const char *file, enum database_mode mode,
                                       database_watch_fn *fn, void *arg, struct error *err);
/* Applies the journal that a killed writer left; REPAIRED: there was one. False with ERR filled. */
bool database_repair(const char *file, bool *repaired, struct error *err);

/* An empty database in memory, whose file has at most MOST bytes (0: DATABASE_MOST_MEMORY); a
 * statement that needs more fails with ERROR_NO_SPACE. NAME is for messages. NULL with ERR filled.
 */
struct database *database_open_in_memory(const char *name, size_t most, struct error *err);
/* The file of one that is in memory, as of the last transaction; empty before the first. Borrowed
 * until the next statement. */
struct span database_image(const struct database *database);
/* Its statements must have ended. An open transaction is rolled back. NULL is fine. */
void database_close(struct database *database);

/* The name for messages: that by which it was opened, unless another one was set. */
const char *database_file(const struct database *database);
bool database_set_file(struct database *database, const char *shown, struct error *err);

/* Whether FILE is still the file that was opened. False with ERR filled: another program removed or
 * replaced it, and work that was committed is lost. */
bool database_check_place(struct database *database, struct error *err);

/* Runs statements without parameters, up to the first that fails; rows are dropped. */
bool database_run(struct database *database, const char *sql, struct error *err);

/* The first column of the only row that SQL returns; a missing row is ERROR_BAD_ANSWER. */
bool database_read_integer(struct database *database, const char *sql, int64_t *out,
                           struct error *err);

/* See database_watch_fn; NULL: no more. */
void database_watch(struct database *database, database_watch_fn *fn, void *arg);

/* SQL is one statement; parameters are ?1, ?2, … NULL with ERR filled. */
struct statement *database_prepare(struct database *database, const char *sql, struct error *err);
void statement_end(struct statement *statement); /* NULL is fine */

/* Bound bytes must stay until the statement is reset. A failure is reported by the next step. */
void statement_bind_text(struct statement *statement, int number, struct span text);
void statement_bind_bytes(struct statement *statement, int number, struct span bytes);
void statement_bind_integer(struct statement *statement, int number, int64_t value);
void statement_bind_real(struct statement *statement, int number, double value);

enum statement_step { STATEMENT_ROW, STATEMENT_DONE, STATEMENT_FAILED };

/* The next row; STATEMENT_FAILED with ERR filled. After the last row, or a failure, the statement
 * has to be reset before another step. */
enum statement_step statement_step(struct statement *statement, struct error *err);
/* Makes it ready for another run. Its parameters are NULL again. */
void statement_reset(struct statement *statement);
/* One run of a statement without rows. It is reset in either case. */
bool statement_run(struct statement *statement, struct error *err);

/* Columns of the current row, from 0 on. Bytes are valid until the next step or reset. A NULL is an
 * empty span, or 0. */
bool statement_is_null(const struct statement *statement, int column);
bool statement_is_text(const struct statement *statement, int column);
bool statement_is_bytes(const struct statement *statement, int column);
struct span statement_text(const struct statement *statement, int column);
struct span statement_bytes(const struct statement *statement, int column);
int64_t statement_integer(const struct statement *statement, int column);

/* Appends the name of a table or a column as a statement writes it: a plain word, unless that is a
 * keyword; else in double quotes. */
void database_write_name(struct span name, struct buf *out);

#endif
