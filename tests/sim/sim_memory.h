/* The program's allocations. */
#ifndef DDBFS_TESTS_SIM_SIM_MEMORY_H
#define DDBFS_TESTS_SIM_SIM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* How many blocks the program has allocated and not freed. */
int64_t sim_memory_count(void);
/* Whether the spells of SIM_FAULT_MEMORY strike: while the loop of a live mount runs. */
void sim_memory_set_may_fail(bool may_fail);
/* Blocks that a library has allocated for the program, which frees them. */
void sim_memory_add(int64_t blocks);

#endif
