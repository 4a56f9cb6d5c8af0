/* INI text as the AWS CLI reads it, which is as Python's RawConfigParser does: sections of keys,
 * values that go on in indented lines, and one level of keys that are nested under another. */
#ifndef DDBFS_CORE_AWS_INI_H
#define DDBFS_CORE_AWS_INI_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/slots.h"
#include "core/base/span.h"

struct ini_section {
    struct span header; /* what stands between the brackets, as it stands there */
    unsigned line;
};

struct ini_key {
    size_t section;     /* its number */
    struct span parent; /* the key that it is nested under; empty for a plain one */
    struct span name;   /* of a plain key the case does not matter; of a nested one it does */
    struct span
        value; /* of a key that has others nested under it: their lines, as they stand there */
    bool has_nested;
    unsigned line;
};

/* A text with its sections and keys, in their order; {0} is an empty one. Spans point into TEXT. */
struct ini {
    struct buf text; /* owned; values that go on stand in one piece, and comments are overwritten */
    struct ini_section *sections; /* owned */
    size_t section_count, section_capacity;
    struct ini_key *keys; /* owned */
    size_t key_count, key_capacity;
    size_t
        defaults; /* the number of the section [DEFAULT], or INI_NONE: all others have its keys */
    struct slots by_header, by_key;
};

#define INI_NONE ((size_t)-1)

/* Takes INI's text apart, which is written over meanwhile. PATH is for errors (ERROR_DENIED), which
 * name the line and never quote it. INI is to be cleaned up in either case. */
bool ini_parse(struct ini *ini, const char *path, struct error *err);

/* Wipes and frees. */
void ini_clean_up(struct ini *ini);

/* The key of a section, PARENT being empty for a plain one, or that of [DEFAULT]; NULL for none. */
const struct ini_key *ini_find(const struct ini *ini, size_t section, struct span parent,
                               struct span name);

/* The plain keys that a section has, those of [DEFAULT] too, one after the other: AT is zero at
 * first. NULL behind the last. */
const struct ini_key *ini_next(const struct ini *ini, size_t section, size_t *at);

#endif
