/* The entries of a page of a directory, while they are collected. */
#ifndef DDBFS_CORE_READ_ENTRIES_H
#define DDBFS_CORE_READ_ENTRIES_H

#include "core/base/arena.h"
#include "core/read/tree.h"

/* {0} is an empty page. */
struct entries {
    struct arena arena;       /* owns the names */
    struct tree_entry *items; /* owned */
    size_t count;
    size_t capacity;
    bool failed;      /* memory ran out, or WHY says what else */
    struct error why; /* of a name that can't be written */
};

void entries_clean_up(struct entries *entries);

/* Empties the page; names given out are gone. */
void entries_clear(struct entries *entries);

/* Adds an entry of unknown size with the ttl of the map's names (NAME is copied), and returns it;
 * NULL when memory ran out. The pointer is valid until the next addition. */
struct tree_entry *entries_add(struct entries *entries, struct span name, bool directory);

/* Sorts them by their names. */
void entries_sort(struct entries *entries);

bool entries_have(const struct entries *entries, struct span name);

/* The names that the map itself puts into the directory PLACE and that are there in any case: its
 * README, and directories: environments and tables, literal segments, known values of parameters,
 * and placeholders of what no listing shows. */
void entries_add_declared(struct entries *entries, const struct place *place,
                          const struct place_options *names);

/* Likewise the files, which may not exist (core/read/declared_files.h). */
void entries_add_files(struct entries *entries, const struct place *place,
                       const struct place_options *names);

/* The environments of EACH's format that the name of a table belongs to. */
void entries_add_environment(struct entries *entries, const struct map *map,
                             const struct map_environment *each, struct span table_name);

#endif
