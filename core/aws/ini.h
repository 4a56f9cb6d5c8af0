/* INI text as the AWS CLI reads it, which is as Python's RawConfigParser does: sections of keys,
 * values that go on in indented lines, and one level of keys that are nested under another. */
#ifndef DDBFS_CORE_AWS_INI_H
#define DDBFS_CORE_AWS_INI_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/slots.h"
#include "core/base/span.h"

struct ini_section {
    struct span header; /* the text between the brackets, unchanged */
    unsigned line;
};

struct ini_key {
    size_t section;     /* its number */
    struct span parent; /* of a nested key; empty for a plain key */
    struct span name;   /* the case of a nested key matters, that of a plain key does not */
    struct span value;  /* of a key with nested keys: their lines, unchanged */
    bool has_nested;
    unsigned line;
};

/* A text with its sections and keys, in their order; {0} is an empty one. Spans point into TEXT. */
struct ini {
    struct buf text; /* owned; values of several lines are joined, and comments are overwritten */
    struct ini_section *sections; /* owned */
    size_t section_count, section_capacity;
    struct ini_key *keys; /* owned */
    size_t key_count, key_capacity;
    size_t defaults; /* the number of [DEFAULT], whose keys all sections have, or INI_NONE */
    struct slots by_header, by_key;
};

#define INI_NONE ((size_t)-1)

/* Parses INI's text in place. PATH is for errors (ERROR_DENIED), which name the line and never
 * quote it. INI needs clean-up in either case. */
bool ini_parse(struct ini *ini, const char *path, struct error *err);

/* Wipes and frees. */
void ini_clean_up(struct ini *ini);

/* The key of a section, else of [DEFAULT]; PARENT is empty for a plain key. NULL for none. */
const struct ini_key *ini_find(const struct ini *ini, size_t section, struct span parent,
                               struct span name);

/* The plain keys of a section, those of [DEFAULT] included, one after the other: AT is zero at
 * first. NULL behind the last. */
const struct ini_key *ini_next(const struct ini *ini, size_t section, size_t *at);

#endif
