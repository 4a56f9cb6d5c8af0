/* Notifications of the program to the simulated kernel. */
#ifndef DDBFS_TESTS_SIM_SIM_NOTIFY_H
#define DDBFS_TESTS_SIM_SIM_NOTIFY_H

#include <stddef.h>

/* Does what the notification CODE with BODY wants. It may wait. Returns 0 or an errno. */
int sim_notify(int code, const unsigned char *body, size_t size);

#endif
