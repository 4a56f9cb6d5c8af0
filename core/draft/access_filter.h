/* The filter of an access pattern ("filter_expression"), as conditions of a path. */
#ifndef DDBFS_CORE_DRAFT_ACCESS_FILTER_H
#define DDBFS_CORE_DRAFT_ACCESS_FILTER_H

#include "core/draft/import_reader.h"
#include "core/draft/key_template.h"

/* What the caller may call a parameter of the path; NULL when memory ran out. */
typedef const char *access_filter_name_fn(void *context, const char *parameter);

/* All borrowed but STEPS, which the caller cleans up. */
struct access_filter {
    struct import_reader *reader;
    struct declared_table *table;
    struct attribute_parts *names;
    struct json declared; /* the pattern's "parameters" */
    access_filter_name_fn *name;
    void *context;
    const char **parameters; /* as parts are called; those that the filter uses are taken out */
    size_t *count;
    struct buf steps; /* the steps of the path that say them: "/{least}" */
    struct declared_condition *conditions;
};

/* Reads EXPRESSION. Returns NULL, or why no path can have it. */
const char *access_filter_read(struct access_filter *filter, struct json expression);

#endif
