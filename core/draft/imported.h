/* What comes of a model that somebody else wrote. */
#ifndef DDBFS_CORE_DRAFT_IMPORTED_H
#define DDBFS_CORE_DRAFT_IMPORTED_H

#include "core/map/declaration.h"

/* What a model says that the map can't, or that was not understood. */
struct left_out {
    const char *where; /* "line 12, models.User.sk.value" */
    const char *why;   /* a phrase that a person can act on */
    struct left_out *next;
};

/* All of it is in the arena that was given. */
struct imported {
    const char *format;            /* what the model is: "OneTable schema" */
    struct declared_table *tables; /* records and indexes, without paths; in the file's order */
    struct left_out *left_out;     /* in the order of finding; NULL when all was imported */
};

/* The name of a table whose model does not say it: whoever prints the map has to give it one. */
#define IMPORT_NO_TABLE_NAME "NAME-OF-THE-TABLE"

#endif
