/* The map: which environments there are, and the models of which tables. A map is data; it is read
 * once, checked, and never changes afterwards: to read it again is to make another, and the old one
 * lives as long as somebody holds it. docs/map.md describes the file. */
#ifndef DDBFS_CORE_MAP_MAP_H
#define DDBFS_CORE_MAP_MAP_H

#include "core/base/error.h"
#include "core/map/findings.h"
#include "core/map/model.h"

/* "prod", or "dev-{branch}", whose values are found among the names of the tables. */
struct map_environment {
    struct format name;
    struct format prefix;     /* of each table's name */
    const char *profile;      /* NULL: as the aws tools choose */
    const char *region;       /* NULL: likewise */
    const char *endpoint_url; /* NULL: likewise */
    double price;             /* dollars for a million read units on demand */
    bool priced;              /* the map says so of this one by its name */
    unsigned line;
    struct map_environment *next;
};

/* What a million read request units on demand cost in us-east-1 since November 2024, in dollars. */
#define MAP_PRICE 0.125

struct map {
    struct arena arena; /* owns everything below, but for what the models own */
    size_t references;
    struct map *self; /* itself, to count references: all who hold one see it const */
    const char *file; /* as errors name it */
    const char *text; /* as it was read */
    struct map_environment *environments;
    const struct model **models; /* holds a reference to each */
    size_t model_count;
};

/* Reads, parses and checks. NULL with everything that is wrong in FINDINGS (which may be NULL, and
 * has none where the file can't be read at all), and ERR filled: its text begins with FILE:LINE.
 * The reference is the caller's. */
const struct map *map_load(const char *file, struct findings *findings, struct error *err);

/* As map_load, for a file that has been read before by somebody who must not wait: what is no
 * regular file (a pipe has given what it had) is refused. */
const struct map *map_load_again(const char *file, struct error *err);
/* The same for a text; FILE is what errors call it. */
const struct map *map_parse(const char *file, struct span text, struct findings *findings,
                            struct error *err);

/* The map of who has none: without environments or tables. Every other has some. NULL when memory
 * ran out. */
const struct map *map_none(void);
bool map_is_none(const struct map *map);

/* What the directory of tables that need no map is called, so that no table of a map's own is. */
#define MAP_TABLES_NAME "tables"

/* Another reference to MAP, which is returned; it stays const for all who use it. */
const struct map *map_ref(const struct map *map); /* NULL gives NULL */
/* Lets go of one; the last one frees it. NULL is fine. */
void map_unref(const struct map *map);

/* The model whose directory is called NAME; borrowed from the map, NULL when it has none. */
const struct model *map_find_model(const struct map *map, struct span name);

/* How many maps there are in this process: one, unless something still holds an old one. */
size_t map_count(void);

/* Whether EACH, an environment of MAP, is meant by NAME: its own name as the map writes it, or one
 * that it can have and that no other environment is called by. NULL means all. VALUES (which may be
 * NULL) get what the parameters of its name stand for, or a "*" each. */
bool map_environment_is_named(const struct map *map, const struct map_environment *each,
                              const char *name, struct bindings *values);

/* Fills ERR: MAP has none that NAME means, but others. Returns false. */
bool map_refuse_environment(const struct map *map, const char *name, struct error *err);

/* Whether TABLE, a table's whole name, is what an environment of MAP calls MODEL's table. */
bool map_names_table(const struct map *map, const struct model *model, struct span table);

#endif
