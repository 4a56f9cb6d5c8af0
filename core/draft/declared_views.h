/* Listings that a program declares, and the windows on them: directories that are typed and never
 * listed, so that whoever walks over a listing sees each item once. */
#ifndef DDBFS_CORE_DRAFT_DECLARED_VIEWS_H
#define DDBFS_CORE_DRAFT_DECLARED_VIEWS_H

#include "core/map/declaration.h"

/* A listing below TABLE's directory. All but PATH and ATTRIBUTE may be NULL. */
struct view {
    const char *path;                       /* ends in a slash */
    const char *kind;                       /* what it lists; NULL: the table's only kind */
    const char *index;                      /* what it asks; NULL: the table */
    const struct declared_condition *where; /* what the path does not say by itself */
    const char *name;                       /* a format */
    bool hidden;

    const char *part;      /* what windows are on: the first part of the sort key that the path
                            * does not say; NULL: there is none */
    const char *attribute; /* the sort key, when PART is all of it; else NULL */
    enum value_type type;  /* the sort key's */
    bool dated;            /* PART is a date: its last values are the newest */
};

/* What the windows of one table call their parameters: nothing that is a part of a key. */
struct window_params {
    const char *prefix, *from, *to, *count, *key;
};

/* WANTED, or with a number behind it where some key of TABLE has a part of that name. */
const char *view_free_param(struct arena *arena, const struct declared_table *table,
                            const char *wanted);

/* The names for a table whose records and indexes are declared. */
struct window_params window_params_of(struct arena *arena, const struct declared_table *table);

/* Declares the listing, which is returned. NULL when memory ran out. */
struct declared_path *view_add(struct arena *arena, struct declared_table *table,
                               const struct view *view);

/* Declares its windows: "{prefix}*", "{from}..{to}", "last", "last:{count}"; and, on a whole sort
 * key, "first", "first:{count}" and "after:{key}". Of dates the last are the "newest", the first
 * the "oldest". */
void view_add_windows(struct arena *arena, struct declared_table *table, const struct view *view,
                      const struct window_params *params);

#endif
