/* The files that SQLite may open for a database: the database itself and its rollback journal, if
 * they are regular files; no write-ahead log, and no super-journal. */
#ifndef DDBFS_CORE_BASE_DATABASE_FILES_H
#define DDBFS_CORE_BASE_DATABASE_FILES_H

#include <stdbool.h>

/* The name of SQLite's file system for databases that are read, where nothing is created, written
 * or removed, or for those that are written. NULL when memory ran out. */
const char *database_files(bool may_write);

#endif
