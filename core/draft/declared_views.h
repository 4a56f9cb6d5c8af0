/* Listings of a drafted table, and the windows on them. Windows are directories that are typed and
 * never listed, so that a walk over a listing meets each item once. */
#ifndef DDBFS_CORE_DRAFT_DECLARED_VIEWS_H
#define DDBFS_CORE_DRAFT_DECLARED_VIEWS_H

#include "core/map/declaration.h"

/* A listing below TABLE's directory. All texts but PATH may be NULL. */
struct view {
    const char *path;                       /* ends in a slash */
    const char *kind;                       /* the listed kind; NULL: the table's only kind */
    const char *index;                      /* the queried index; NULL: the table */
    const struct declared_condition *where; /* conditions beside those of the path's own parts */
    const char *name;                       /* a format */
    bool hidden;

    const char *part;      /* windows are on it: the first part of the sort key that the path does
                            * not bind; NULL: no windows */
    const char *attribute; /* the sort key, when PART is all of it; else NULL */
    enum value_type type;  /* the sort key's */
    bool dated;            /* PART is a date: its last values are the newest */
};

/* The parameters of one table's windows: none is the name of a part of a key. */
struct window_params {
    const char *prefix, *from, *to, *count, *key;
};

/* WANTED, or with a number behind it where some key of TABLE has a part of that name. */
const char *declared_views_free_param(struct arena *arena, const struct declared_table *table,
                                      const char *wanted);

/* The names for a table whose records and indexes are declared. */
struct window_params declared_views_params(struct arena *arena, const struct declared_table *table);

/* Declares the listing and returns it. NULL when memory ran out. */
struct declared_path *declared_views_add(struct arena *arena, struct declared_table *table,
                                         const struct view *view);

/* Declares its windows: "{prefix}*", "{from}..{to}", "last", "last:{count}"; and, on a whole sort
 * key, "first", "first:{count}" and "after:{key}". For dates, "last" is "newest" and "first" is
 * "oldest". */
void declared_views_add_windows(struct arena *arena, struct declared_table *table,
                                const struct view *view, const struct window_params *params);

#endif
