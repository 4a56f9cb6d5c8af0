/* What may be in a reply: the oracles of the protocol. */
#ifndef DDBFS_TESTS_SIM_SIM_REPLIES_H
#define DDBFS_TESTS_SIM_SIM_REPLIES_H

#include <stdbool.h>
#include <stdint.h>

struct sim_call;

/* The name of an opcode. */
const char *sim_reply_operation(uint32_t opcode);

/* Checks a reply without an error, whose size is right. */
void sim_reply_check(const struct sim_call *call);

/* Whether the documents give a reply to CALL a deadline of its own. */
bool sim_reply_has_deadline(const struct sim_call *call);

#endif
