/* What a command may consume before somebody agrees to more: a filter or a count shows little of
 * what is read for it. Asked is only who typed the command at a terminal, never a script. */
#ifndef DDBFS_FS_CLI_SPENDING_H
#define DDBFS_FS_CLI_SPENDING_H

#include "core/source/payer.h"
#include "fs/cli/app.h"

struct spending {
    struct payer
        payer; /* first: a pointer to it is a pointer to this; pays for all that is asked */
    const struct options *options;
    double units;   /* that were consumed so far */
    double allowed; /* so many may be before it is asked again; 0: nobody is asked */
    bool refused;   /* somebody has said no, which holds for all that comes */
};

/* Stays until nothing is left that could charge it. */
void spending_init(struct spending *spending, const struct options *options);

/* Whether to ask before what PLACE reads: because little of it is shown, or every listing is meant.
 */
bool spending_watches(const struct spending *spending, const struct place *place);

/* Whether the next page of the listing PLACE, named PATH, may be read: it stays below what is
 * allowed, or whoever sits at the terminal agrees. False with ERR filled. */
bool spending_agrees(struct spending *spending, const struct place *place, const char *path,
                     struct error *err);

#endif
