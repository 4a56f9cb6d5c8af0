/* The result of an import. */
#ifndef DDBFS_CORE_DRAFT_IMPORTED_H
#define DDBFS_CORE_DRAFT_IMPORTED_H

#include "core/map/declaration.h"

/* The name of a table whose model has no name: the user has to replace it. */
#define IMPORT_NO_TABLE_NAME "NAME-OF-THE-TABLE"

/* A part of a model that was not imported. */
struct left_out {
    const char *where; /* "line 12, models.User.sk.value" */
    const char *why;   /* a phrase */
    struct left_out *next;
};

/* All of it is in the given arena. */
struct imported {
    const char *format;            /* the model's format: "OneTable schema" */
    struct declared_table *tables; /* records and indexes, in the file's order */
    struct left_out *left_out;     /* in the order of finding; NULL when all was imported */
};

#endif
