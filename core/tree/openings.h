/* Which of a directory's own files are there: what its listing proves, and the others read. */
#ifndef DDBFS_CORE_TREE_OPENINGS_H
#define DDBFS_CORE_TREE_OPENINGS_H

#include "core/tree/proof.h"
#include "core/tree/tree.h"

/* One of the files: FILE when it is there, or why not; ERROR_NOT_FOUND is proven. */
typedef void openings_file_fn(void *arg, struct span name, const struct tree_file *file,
                              const struct error *err);
typedef void openings_done_fn(void *arg);

struct openings {
    struct opening *items; /* owned: one for each of the proofs */
    size_t count;
    size_t under_way; /* of them */
    openings_file_fn *fn;
    openings_done_fn *done;
    void *arg;
};

/* Once, when the listing has come to its end: FN is told of each file, those first that the listing
 * itself tells of; the others are read. A file of which the listing shows that no record counts is
 * passed over. DONE is called in the end, within this call when nothing had to be read. TREE and
 * PROOFS must stay. False with ERR filled when memory ran out. To be cleaned up in any case. */
bool openings_start(struct openings *openings, struct proofs *proofs, const struct tree *tree,
                    openings_file_fn *fn, openings_done_fn *done, void *arg, struct error *err);
/* Ends what is under way. {0} is fine. */
void openings_clean_up(struct openings *openings);

#endif
