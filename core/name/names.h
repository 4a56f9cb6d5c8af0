/* The names in a directory: finding the meaning of a name, and writing a name that has this meaning
 * only. A written name is looked up, and more of it is escaped until it leads back;
 * docs/internals/names.md has the rules. */
#ifndef DDBFS_CORE_NAME_NAMES_H
#define DDBFS_CORE_NAME_NAMES_H

#include "core/base/error.h"
#include "core/map/companion.h"
#include "core/map/map.h"
#include "core/map/route.h"
#include "core/source/scan_limits.h"

struct moments;

#define README_NAME "README"

struct place_options {
    const char *suffix;             /* of every item's name; "" for none */
    bool hide_secrets;              /* other users may read here: files of secrets are denied */
    const struct scan_limits *scan; /* NULL: nothing is ever scanned; else the partition keys of a
                                     * table that has no map are listed so */
    bool table_is_file; /* LIST@table is a file of the first columns that fit; else a directory */
    bool opens_probed;  /* names that programs probe open as all others: for paths that users type;
                         * written names are the same as without */
    bool omit_placeholders;        /* listings show none; they can be looked up all the same */
    const struct moments *moments; /* of environments (core/read/moments.h); NULL: none has any */
};

/* A directory within a table. All borrowed. */
struct names_directory {
    const struct model *table;
    const struct route *route;
    const struct bindings *path; /* the values of the path to it */
    const struct place_options *options;
    const struct route *scanned; /* the step whose names a Scan lists; NULL for none */
    bool opens_probed;           /* see struct place_options */
};

enum names_kind {
    NAMES_CHILD,       /* a step that the map has: ROUTE, with VALUES for its parameters */
    NAMES_README,      /* the directory's own */
    NAMES_PLACEHOLDER, /* of the step ROUTE, whose names nothing lists */
    NAMES_SHORTENED, /* an entry whose key only the listing has: ROUTE is the first kind of entry */
};

struct names_found {
    enum names_kind kind;
    const struct route *route;
    enum companion companion; /* of an item or of a listing */
    struct span columns;      /* of such a companion, as they are written: a piece of the name */
    struct bindings
        values;       /* values that the path does not have; pieces of the name, or in the arena */
    struct span bare; /* of a shortened name: without rank, suffix and companion */
};

/* Finds NAME in the directory. False with ERR (which may be NULL) filled: ERROR_NOT_FOUND with the
 * names that exist; ERROR_INVALID if the map refuses a value; ERROR_DENIED for a secret; or memory
 * ran out (ARENA->failed). */
bool names_find(const struct names_directory *directory, struct span name, struct arena *arena,
                struct names_found *found, struct error *err);

/* Appends the name of CHILD, a step below the directory or an entry of its listing. PARTS has the
 * values of its parameters that the path does not have. RANK is the entry's position in the
 * listing, from 1 on; to compare names, use names_skip_rank. names_find finds CHILD by this name
 * and nothing else; a shortened name is found by the listing. False with ERR filled: ERROR_INVALID
 * if no name leads back, or memory ran out. */
bool names_write(const struct names_directory *directory, const struct route *child,
                 const struct bindings *parts, uint64_t rank, struct buf *out, struct error *err);

/* Takes the rank off NAME, a name of CHILD, if CHILD's names have ranks. False if NAME has no rank.
 */
bool names_skip_rank(const struct route *child, struct span *name);

/* Whether the items of every directory of MAP can have names with the suffix of OPTIONS. False with
 * ERR filled if another name of the map takes them, or memory ran out. */
bool names_suit(const struct map *map, const struct place_options *options, struct error *err);

/* Sets OUT, in ARENA, to the COUNT attributes in COLUMNS, which are separated by commas and written
 * as names; none if COLUMNS is empty. False with ERR (which may be NULL) filled if one is not a
 * name, or memory ran out. */
bool names_find_columns(struct span columns, struct arena *arena, struct span **out, size_t *count,
                        struct error *err);

/* As names_write, for a text alone: an item's attribute in NAME@/, or a value of a parameter. A
 * shortened name can only be compared. */
bool names_write_attribute(struct span attribute, struct buf *out);
/* Appends the attribute of NAME. False if NAME is not a name, or is shortened. */
bool names_find_attribute(struct span name, struct buf *out, struct error *err);

/* The same for tables, by their full names. False with ERR filled: ERROR_LONG_NAME if the name with
 * its escapes is too long; ERROR_NOT_FOUND if no table can have the name. */
bool names_write_table(struct span table, struct buf *out, struct error *err);
bool names_find_table(struct span name, struct buf *out, struct error *err);

/* Whether a table can have NAME. False with ERR filled (ERROR_BAD_ANSWER): a list of tables must
 * omit it. */
bool names_check_table(struct span name, struct error *err);

/* The same for environments: a literal comes first. VALUES are those of its parameters. */
const struct map_environment *names_find_environment(const struct map *map, struct span name,
                                                     bool opens_probed, struct arena *arena,
                                                     struct bindings *values, struct error *err);
bool names_write_environment(const struct map_environment *environment,
                             const struct bindings *values, struct buf *out);

/* The longest name that is not shortened. */
size_t names_limit(const struct place_options *options);

/* Whether the file at the route is a secret that this mount must not show. */
bool names_withhold(const struct route *route, const struct place_options *options);

/* The first step behind AFTER (NULL: of all) with a placeholder, because no listing shows all of
 * its names. NULL for none. No key has the name of a placeholder. */
const struct route *names_next_unlisted(const struct names_directory *directory,
                                        const struct route *after);
/* Whether the directory has a README, unless the map has something of that name there. */
bool names_have_readme(const struct route *route);
/* Whether listings show the README: in a table's own directory, and where some names can't be
 * listed. Elsewhere it can be opened, but programs that walk over items do not meet it. */
bool names_list_readme(const struct model *table, const struct route *route,
                       const struct bindings *path);

/* The name of the placeholder in LIST@table. */
#define PLACEHOLDER_COLUMNS "{columns}"

/* A placeholder is a directory that a listing shows for a step whose names nothing lists. It can be
 * looked up, but not opened. Appends its name: the step as the map writes it. */
void names_write_placeholder(const struct route *step, struct buf *out);

/* Fills ERR with ERROR_NOT_LISTABLE: the reason why not all names of STEP, of TABLE, are listed,
 * and the name to type. PATH has the values of the path to the directory. Returns false. */
bool names_refuse_unlisted(const struct model *table, const struct route *step,
                           const struct bindings *path, struct error *err);
/* The same for columns. */
bool names_refuse_columns(struct error *err);

/* Whether programs (shells, editors, version control, file browsers, indexers) probe NAME on their
 * own. In a mount such a name is "not found" without a request, unless the map has it. A key of
 * that text has a character escaped in listings, and opens by that name. */
bool names_is_probed(struct span name);
/* Whether NAME is probed, and OPTIONS do not open it. True with ERR filled. */
bool names_refuse_probed(const struct place_options *options, struct span name, struct error *err);
/* Whether NAME is probed and STEP does not expect it: STEP is no literal, and has no text of its
 * own that begins with the dot or ends with the tilde. */
bool names_is_probed_at(const struct format *step, struct span name);

#endif
