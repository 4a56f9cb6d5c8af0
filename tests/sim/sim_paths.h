/* What paths mean, from the documents alone: the map of this life, what each path shows at each
 * moment, and the oracles of what was read. Nothing here calls the product. */
#ifndef DDBFS_TESTS_SIM_SIM_PATHS_H
#define DDBFS_TESTS_SIM_SIM_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/sim_dice.h"

/* Draws the map of this life for the tables of the history. Returns its JSON text, or NULL: the
 * life has no map, and reads /tables/. Also the text after a reload (SIGHUP), which may differ. */
const char *sim_paths_draw_map(void);
const char *sim_paths_redraw_map(void);

enum sim_path_kind {
    SIM_PATH_ITEM,      /* a file that shows one item */
    SIM_PATH_LISTING,   /* a directory whose entries come from a query */
    SIM_PATH_STRUCTURE, /* a directory that the map alone defines */
    SIM_PATH_COMPANION, /* NAME@typed, NAME@info, LIST@jsonl, LIST@count, … */
    SIM_PATH_ABSENT,    /* of an item that has never existed, or of a name that nothing defines */
    SIM_PATH_PROBE,     /* .git and its like */
    SIM_PATH_CONTROL,   /* below /.ddbfs */
    SIM_PATH_KINDS
};

/* A random path of KIND (if the life has one; else another kind). Returns its kind. OUT has 4,096
 * bytes. */
enum sim_path_kind sim_paths_draw(struct sim_dice *dice, enum sim_path_kind kind, char *out);

/* The oracles. Each ends the life with sim_defect if what was read can't be true. Times are those
 * of the begin and of the end of the operation; OPENED_MS is when the name was last resolved by the
 * kernel or the program (a file that is open shows the version it had then). */

/* A whole file was read from PATH. */
void sim_oracle_file(const char *path, const char *bytes, size_t size, int64_t from_ms,
                     int64_t until_ms);
/* A directory was read to its end without an error; NAMES in their order, without "." and "..". */
void sim_oracle_listing(const char *path, char *const *names, size_t count, int64_t from_ms,
                        int64_t until_ms);
/* An operation on PATH failed with errno ERROR. ENOENT must have been true; any other error must
 * have a cause. */
void sim_oracle_error(const char *path, const char *operation, int error, int64_t from_ms,
                      int64_t until_ms);
/* stat: SIZE is that of a version; MODE and mtime are as the documents say. */
struct stat;
void sim_oracle_stat(const char *path, const struct stat *stat, int64_t from_ms, int64_t until_ms);
/* A link's target. */
void sim_oracle_link(const char *path, const char *target, int64_t from_ms, int64_t until_ms);

/* The ttl of the results of PATH, an item or a listing; 0: each read sends a request, or unknown.
 */
int64_t sim_paths_ttl_ms(const char *path);
/* Whether entry NAME of the listing PATH is an item, which the listing has read whole. */
bool sim_paths_is_item(const char *path, const char *name);

/* The user has asked for fresh data at ASKED_MS, and the refresh has ended: reads that begin later
 * show nothing older than that. */
void sim_oracle_note_refresh(const char *path, int64_t asked_ms);
/* SIGHUP was sent: it takes effect soon. */
void sim_oracle_note_reload(void);

#endif
