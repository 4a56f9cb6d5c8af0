/* From a path to a dentry, as a kernel walks. */
#ifndef DDBFS_TESTS_SIM_SIM_WALK_H
#define DDBFS_TESTS_SIM_SIM_WALK_H

#include "tests/sim/sim_dentries.h"

/* How PATH is followed. */
struct sim_walk {
    struct sim_process *process;
    bool follows;      /* a link at the end */
    bool looks_up_all; /* ESTALE: each name is looked up again */
    bool wants_parent; /* all but the last name: it is in NAME afterwards */
    char name[SIM_NAME_MOST + 1];
};

/* The dentry at PATH, used by the caller: positive, or an error (-ENOENT, …). After ESTALE it is
 * walked once more with looks_up_all. */
int sim_walk_path(struct sim_walk *walk, const char *path, struct sim_dentry **out);

/* Whether the process may do MASK (R_OK, X_OK) with the inode: 0 or a negative errno. */
int sim_walk_permit(struct sim_process *process, struct sim_inode *inode, int mask);

/* Fetches the attributes if they are not valid. FILE's handle goes with the request if it has one.
 */
int sim_walk_refresh(struct sim_process *process, struct sim_inode *inode, const uint64_t *fh);

/* The target of a link; it is valid as long as the inode is used. */
int sim_walk_read_link(struct sim_process *process, struct sim_inode *inode, const char **out);

#endif
