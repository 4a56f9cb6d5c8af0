/* The oracles of the end of a life, and of the files of /.ddbfs. */
#ifndef DDBFS_TESTS_SIM_SIM_END_H
#define DDBFS_TESTS_SIM_SIM_END_H

#include <stddef.h>

/* A file of /.ddbfs was read: its form is as documented. */
void sim_end_check_control(const char *path, const char *bytes, size_t size);

/* A fiber that compares the service's books with --max-rcu, second by second. */
void sim_end_start_audit(void);

#endif
