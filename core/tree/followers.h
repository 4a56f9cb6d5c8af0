/* Directories that the records of a listing bring along: where the map has "{index}.d/" beside
 * "{index}", each index of the listing has one. Records of the same parts bring the same. */
#ifndef DDBFS_CORE_TREE_FOLLOWERS_H
#define DDBFS_CORE_TREE_FOLLOWERS_H

#include "core/base/dict.h"
#include "core/plan/sieve.h"
#include "core/tree/entries.h"

struct followers {
    struct dict names; /* owns its nodes */
};

bool followers_init(struct followers *followers); /* false when memory ran out */
void followers_clean_up(struct followers *followers);

/* Adds to ENTRIES the directories of PLACE that come with a record of PARTS, an entry of ENTRY's,
 * and have not come before. One whose name had to be shortened is left out, since nobody could tell
 * which it is, and LEFT_OUT says so unless it says something already. When a name can't be written,
 * or memory ran out, ENTRIES has failed. */
void followers_add(struct followers *followers, const struct place *place,
                   const struct route *entry, const struct bindings *parts,
                   const struct place_options *names, struct entries *entries,
                   struct error *left_out);

/* Adds those in which the record KEY is found, though the listing has no entry of its parts: what
 * is read anyway leads to it, be there an "{index}" or not. */
void followers_add_finding(struct followers *followers, const struct place *place,
                           const struct key *key, const struct place_options *names,
                           struct entries *entries, struct error *left_out);

/* Adds those that ITEM, which is SIFTED of a listing of directories alone ("groups"), brings along.
 * False when it brings none: the index has it in another way than the map says. */
bool followers_add_groups(struct followers *followers, const struct place *place,
                          const struct sifted *sifted, struct json item,
                          const struct place_options *names, struct entries *entries,
                          struct error *left_out);

#endif
