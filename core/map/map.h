/* The map: environments, and the models of tables. A map is read once, checked, and constant;
 * reading its file again makes another map, and the old one exists until its last reference is
 * dropped. docs/map.md describes the file. */
#ifndef DDBFS_CORE_MAP_MAP_H
#define DDBFS_CORE_MAP_MAP_H

#include "core/base/error.h"
#include "core/map/findings.h"
#include "core/map/model.h"

/* "prod", or "dev-{branch}", whose values are found among the tables' names. */
struct map_environment {
    struct format name;
    struct format prefix;     /* of each table's name */
    const char *profile;      /* NULL: as the aws tools choose */
    const char *region;       /* NULL: likewise */
    const char *endpoint_url; /* NULL: likewise */
    const char *snapshot;     /* the file that has its items; NULL: DynamoDB has them */
    const char *snapshots;    /* the folder with the files of its past; NULL: none */
    const char *ignored;      /* a setting that a stored map had, for a message; or NULL */
    bool live;                /* a mount follows the streams of its tables */
    double price;             /* dollars for a million RCU on demand */
    bool priced;              /* the map has a price for its name */
    unsigned line;
    struct map_environment *next;
};

/* The price of a million RCU on demand in us-east-1 since November 2024, in dollars. */
#define MAP_PRICE 0.125

struct map {
    struct arena arena; /* owns everything below except the models */
    size_t references;
    struct map *self;   /* itself, to count references: every holder sees it const */
    const char *file;   /* its name in messages */
    const char *folder; /* that names of files in the map are relative to; NULL: that of FILE */
    const char *text;   /* as it was read */
    bool is_stored;     /* see struct map_origin */
    struct map_environment *environments;
    const struct model **models; /* holds a reference to each */
    size_t model_count;
};

/* Reads, parses and checks FILE; the caller owns the reference. Names of files in it are relative
 * to FOLDER; NULL: to the folder of FILE. NULL with all mistakes in FINDINGS (which may be NULL,
 * and stays empty if the file is unreadable) and ERR filled; its text begins with FILE:LINE. */
const struct map *map_load(const char *file, const char *folder, struct findings *findings,
                           struct error *err);

/* As map_load, without waiting, for a file that has been read before: anything but a regular file
 * (a pipe is empty now) is refused. */
const struct map *map_load_again(const char *file, struct error *err);
/* The same for a text; FILE is its name in messages. Names of files are relative to its folder. */
const struct map *map_parse(const char *file, struct span text, struct findings *findings,
                            struct error *err);
/* Where a text comes from. */
struct map_origin {
    const char *folder; /* see map_load */
    bool is_stored; /* a snapshot has it, perhaps a stranger's: its environments are checked, and
                     * then lose their settings of AWS, their files and "live" */
};
const struct map *map_parse_of(const char *file, const struct map_origin *origin, struct span text,
                               struct findings *findings, struct error *err);

/* The map without environments and tables, for `--no-map`; any other map has some. NULL if memory
 * ran out. */
const struct map *map_none(void);
bool map_is_none(const struct map *map);

/* The directory of tables without a map; no environment and no table of a map may have this name.
 */
#define MAP_TABLES_NAME "tables"

/* Another reference to MAP, which is returned; NULL for NULL. */
const struct map *map_ref(const struct map *map);
/* Drops a reference; the last one frees the map. NULL is fine. */
void map_unref(const struct map *map);

/* The model with the directory NAME; borrowed from the map. NULL for none. */
const struct model *map_find_model(const struct map *map, struct span name);

/* Whether PATH may have the value of a secret attribute in it: a key, an index, a condition or a
 * part of a path of MAP is of such an attribute, or PATH names a value of any index. */
bool map_may_reveal(const struct map *map, struct span path);

/* The number of maps in this process: one, unless an old one is still referenced. */
size_t map_count(void);

/* Whether NAME is a name of EACH, an environment of MAP: as the map writes it, or a name that
 * matches it and no literal environment. NULL matches all. VALUES (which may be NULL) get the
 * values of its parameters, or a "*" each. */
bool map_environment_is_named(const struct map *map, const struct map_environment *each,
                              const char *name, struct bindings *values);

/* Fills ERR: no environment of MAP matches NAME. Returns false. */
bool map_refuse_environment(const struct map *map, const char *name, struct error *err);

/* Whether TABLE, a table's full name, is the name of MODEL's table in an environment of MAP. */
bool map_names_table(const struct map *map, const struct model *model, struct span table);

#endif
