/* The scripts that shells load, made by the build of the files beside this one. */
#ifndef DDBFS_FS_CLI_COMPLETION_COMMAND_H
#define DDBFS_FS_CLI_COMPLETION_COMMAND_H

extern const char completion_bash[], completion_zsh[], completion_fish[];

#endif
