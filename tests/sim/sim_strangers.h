/* Users who have not mounted, and what they may do. */
#ifndef DDBFS_TESTS_SIM_SIM_STRANGERS_H
#define DDBFS_TESTS_SIM_SIM_STRANGERS_H

/* They come at some moments, as long as the mount is live and actors act. */
void sim_strangers_start(void);

#endif
