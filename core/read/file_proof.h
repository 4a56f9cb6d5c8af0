/* Files that the map itself puts into a directory ("access-token"): a listing tells them only when
 * they can be opened. A listing that holds whole records may know that already; else each is read.
 */
#ifndef DDBFS_CORE_READ_FILE_PROOF_H
#define DDBFS_CORE_READ_FILE_PROOF_H

#include "core/plan/item_match.h"
#include "core/read/entries.h"

struct file_proof {
    struct span name;        /* in the owner's arena */
    struct place *place;     /* owned */
    const struct plan *plan; /* PLACE's */
    bool listed;             /* its record has been told among those of the directory's listing */
    bool covered;            /* the directory's own listing brings all that is to be looked at */
    struct pick pick;        /* of a covered one */
    struct error failed;     /* why the finder gave up; kind ERROR_NONE when it did not */
};

struct proofs {
    struct file_proof *items; /* owned */
    size_t count;
    struct arena arena; /* owns the names */
};

/* Finds the files that the map declares in PLACE, a directory or the companion of one; in others
 * are none. LIST is the plan of its listing, or NULL. A file whose plan can't be made for the
 * path's values is none. False with ERR filled when one has no name that opens it, or memory ran
 * out. To be cleaned up in either case. */
bool proofs_init(struct proofs *proofs, const struct place *place,
                 const struct place_options *names, const struct plan *list, struct error *err);
void proofs_clean_up(struct proofs *proofs);

/* An item of the directory's listing, as it comes. */
void proofs_consider(struct proofs *proofs, const struct key *key, struct json item,
                     const struct record_origin *origin);

/* Whether the proof's file is a record of the listing under a name of its own, as far as its key
 * tells: then it is no entry as well. Where it is a file only of records that pass a filter, the
 * listing must show enough of them to know. */
bool file_proof_is_record(const struct file_proof *proof);

/* Adds what the listing does not cover to a directory's cost. */
void proofs_add_cost(const struct proofs *proofs, struct cost *cost);

#endif
