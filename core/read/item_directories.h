/* Directories that the records of a listing bring along: where the map has "{index}.d/" beside
 * "{index}", each index of the listing has one. Records of the same parts bring the same. */
#ifndef DDBFS_CORE_READ_ITEM_DIRECTORIES_H
#define DDBFS_CORE_READ_ITEM_DIRECTORIES_H

#include "core/base/dict.h"
#include "core/plan/item_match.h"
#include "core/read/entries.h"

struct item_directories {
    struct dict names; /* owns its nodes */
};

bool item_directories_init(struct item_directories *followers); /* false when memory ran out */
void item_directories_clean_up(struct item_directories *followers);

/* Adds to ENTRIES the directories of PLACE that come with a record of PARTS, an entry of ENTRY's,
 * and have not come before. One whose name had to be shortened is left out, since nobody could tell
 * which it is, and LEFT_OUT says so unless it says something already. When a name can't be written,
 * or memory ran out, ENTRIES has failed. */
void item_directories_add(struct item_directories *followers, const struct place *place,
                          const struct route *entry, const struct bindings *parts,
                          const struct place_options *names, struct entries *entries,
                          struct error *left_out);

/* Adds those in which the record KEY is found, though the listing has no entry of its parts: what
 * is read anyway leads to it, be there an "{index}" or not. */
void item_directories_add_finding(struct item_directories *followers, const struct place *place,
                                  const struct key *key, const struct place_options *names,
                                  struct entries *entries, struct error *left_out);

/* Adds those that ITEM, which is MATCHED of a listing of directories alone ("groups"), brings
 * along. False when it brings none: the index has it in another way than the map says. */
bool item_directories_add_groups(struct item_directories *followers, const struct place *place,
                                 const struct matched_item *matched, struct json item,
                                 const struct place_options *names, struct entries *entries,
                                 struct error *left_out);

#endif
