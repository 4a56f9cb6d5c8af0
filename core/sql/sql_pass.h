/* The state of a statement's reads, which sql_reads, sql_rows and sql_reader share, and the ways
 * that SQLite has chosen. */
#ifndef DDBFS_CORE_SQL_SQL_PASS_H
#define DDBFS_CORE_SQL_SQL_PASS_H

#include "core/base/dict.h"
#include "core/sql/sql_gather.h"

/* A way to read a table, which SQLite's planner has considered. It stays until the statement ends.
 */
struct sql_choice {
    struct sql_choice *next;
    int number;
    struct sql_table *table;
    const struct sql_access *access;
    bool is_refused; /* there is no access; a statement with this choice does not run */
    size_t constraint_count;
    size_t *taken; /* the constraints whose values SQLite passes, in their order */
    size_t taken_count;
    bool is_known;            /* all of their values are constants: */
    struct sql_value *values; /* by number of the constraint; others are "{column}" */
    const char **texts;       /* likewise: the column, if it is a text; else NULL */
    bool *is_literal;         /* likewise: the value is a constant */
    bool *is_list;            /* likewise: it is one of an IN list, and the column a number */
    size_t *used;             /* the columns that the statement reads */
    size_t used_count;
    size_t *at_used;        /* by number of the column: its place among these, if it is one */
    size_t limit, offset;   /* one more than the constraint of that kind; 0: none is taken */
    bool is_exact;          /* SQLite tests nothing beside the taken constraints */
    bool is_ordered;        /* SQLite relies on the order of the rows */
    const bool *needs_ids;  /* *NEEDS_IDS: SQLite identifies rows; borrowed */
    uint64_t lookups;       /* that readers began, each once */
    const struct place *at; /* of a dry pass: of the first one; the reads' */
    bool follows; /* likewise: another choice began before, whose rows its values may be */
};

struct sql_reads_options {
    const struct tree *tree; /* borrowed */
    uint64_t memory;         /* bytes of rows, and of SQLite */
    bool reads_ahead;        /* the statement probably wants all rows of a lookup */
    bool (*goes_on)(void *arg);
    void *arg;
};

struct sql_reads {
    struct sql_reads_options options;
    struct dict by_lookup; /* owns struct sql_rows */
    struct list wanted;    /* of struct sql_rows, in the order in which they were wanted */
    size_t wanted_count;
    struct list reading;    /* under way */
    struct list over;       /* ended, but not freed yet */
    size_t reading_queries; /* of READING, those that are no items by keys */
    struct list gathering;  /* their items are read by keys, or wait for other queries */
    struct sql_gather gather;
    size_t most_wanted;             /* the wanted lookups that end a pass */
    bool streams;                   /* pages are requested at once, and dropped behind the reader */
    bool is_dry;                    /* nothing is requested: every lookup seems empty */
    const struct sql_choice *first; /* of a dry pass: that began first; */
    bool has_others;                /* and another began, too */
    bool is_full;                   /* the pass must end: MOST_WANTED, or UNORDERED */
    bool repeats;                   /* a stream would have to begin again */
    struct sql_table *unordered;    /* its rows came in another order than that of its columns */
    uint64_t began;                 /* lookups that readers began, of this pass */
    uint64_t stored;                /* bytes of rows */
    uint64_t others;                /* bytes that SQLite takes, as the owner states them */
    struct dict ids;                /* of items, by their keys */
    struct arena id_arena;
    int64_t last_id;
    struct sql_row row; /* for the item in hand */
    struct buf line;    /* its values */
    struct buf scratch;
    struct loop_timer *watch;
    bool interrupted;
    struct error failed; /* the first failure */
};

#endif
