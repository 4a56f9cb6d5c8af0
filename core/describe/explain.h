/* A place in words: its requests, their cost, and the equal `aws` commands. Sends no request. */
#ifndef DDBFS_CORE_DESCRIBE_EXPLAIN_H
#define DDBFS_CORE_DESCRIBE_EXPLAIN_H

#include "core/read/tree.h"

/* The texts that the tree writes into files: READMEs, and @info of items and listings. */
extern const struct tree_texts describe_texts;

/* Appends the explanation for a person, or as one JSON object. PATH is the one that the user typed.
 * False with ERR filled when no item can have the path's values. */
bool explain_write(const struct tree *tree, const struct place *place, struct span path, bool json,
                   struct buf *out, struct error *err);

/* Appends the Reads of a place with a plan in words, and the equal command; none for a snapshot.
 * False as above. */
bool explain_write_reads(const struct tree *tree, const struct place *place, struct buf *words,
                         struct buf *command, struct error *err);

#endif
