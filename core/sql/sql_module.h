/* SQLite's virtual tables, which read DynamoDB's, and DynamoDB's functions. No header of SQLite is
 * included in this room but by sql_module.c and sql_connection.c. */
#ifndef DDBFS_CORE_SQL_SQL_MODULE_H
#define DDBFS_CORE_SQL_SQL_MODULE_H

#include "core/sql/sql_functions.h"
#include "core/sql/sql_lost.h"
#include "core/sql/sql_reader.h"

struct sqlite3;
struct sqlite3_value;

/* The state of virtual tables, which their connection owns and shares. */
struct sql_module {
    struct sql_reads *reads;    /* borrowed */
    bool may_scan;              /* tables that are no snapshots, too */
    char *text;                 /* of the statement; owned */
    struct arena arena;         /* of choices */
    struct sql_table *tables;   /* borrowed */
    struct sql_table *adding;   /* that is created */
    struct sql_choice *choices; /* the newest first */
    int choice_count;
    struct sql_types types; /* of values of the statement */
    struct sql_lost lost;   /* of the statement; of columns, if the statement has lists: */
    bool has_lists;         /* IN lists or subqueries, of number columns */
    bool needs_ids;         /* SQLite identifies rows by their numbers */
    struct error fault;     /* of a callback of SQLite */
    struct error refused;   /* the reason why a table can't be read; */
    size_t refused_usable;  /* the number of constraints that were usable then */
    int64_t heap_base;      /* bytes of SQLite's heap in use before the statement */
};

/* Adds the virtual tables ("USING ddbfs"), begins_with, contains and exact sums to HANDLE. MODULE
 * stays as long as HANDLE. False when memory ran out. */
bool sql_module_register(struct sql_module *module, struct sqlite3 *handle);

/* Sets the limit of SQLite's heap: SQLite and the stored rows share one. */
void sql_module_limit_heap(struct sql_module *module);

/* Its bytes are valid as long as those of FROM. */
struct sql_value sql_module_read_value(struct sqlite3_value *from);

/* NULL: there is no such choice. */
struct sql_choice *sql_module_find_choice(const struct sql_module *module, int number);

#endif
