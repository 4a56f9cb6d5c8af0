/* The settings of a live mount, from the text of its mount.json. */
#ifndef DDBFS_FS_CLI_MOUNT_FACTS_H
#define DDBFS_FS_CLI_MOUNT_FACTS_H

#include "core/base/arena.h"
#include "fs/cli/options.h"

/* Completes OPTIONS, of a command, by those that a command inherits from the mount of TEXT. Their
 * texts are in ARENA. Sets IS_MAPPED: the mount has a map. False if TEXT is not understood, or
 * memory ran out. */
bool mount_facts_apply(struct span text, struct options *options, struct arena *arena,
                       bool *is_mapped);

#endif
