/* Which of a directory's own files are there: what its listing proves, and the others read. */
#ifndef DDBFS_CORE_READ_DECLARED_FILES_H
#define DDBFS_CORE_READ_DECLARED_FILES_H

#include "core/read/file_proof.h"
#include "core/read/tree.h"

/* One of the files: FILE when it is there, or why not; ERROR_NOT_FOUND is proven. */
typedef void declared_files_file_fn(void *arg, struct span name, const struct tree_file *file,
                                    const struct error *err);
typedef void declared_files_done_fn(void *arg);

struct declared_files {
    struct opening *items; /* owned: one for each of the proofs */
    size_t count;
    size_t under_way; /* of them */
    declared_files_file_fn *fn;
    declared_files_done_fn *done;
    void *arg;
};

/* Once, when the listing has come to its end: FN is told of each file, those first that the listing
 * itself tells of; the others are read. A file of which the listing shows that no record counts is
 * passed over. DONE is called in the end, within this call when nothing had to be read. TREE and
 * PROOFS must stay. False with ERR filled when memory ran out. To be cleaned up in any case. */
bool declared_files_start(struct declared_files *openings, struct proofs *proofs,
                          const struct tree *tree, declared_files_file_fn *fn,
                          declared_files_done_fn *done, void *arg, struct error *err);
/* Ends what is under way. {0} is fine. */
void declared_files_clean_up(struct declared_files *openings);

#endif
