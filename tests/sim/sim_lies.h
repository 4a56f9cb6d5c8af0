/* Responses that are not true, with a right checksum: those that the program must not take for an
 * item, for "not found", or for an end (docs/internals/source.md, "Checks of a response"). */
#ifndef DDBFS_TESTS_SIM_SIM_LIES_H
#define DDBFS_TESTS_SIM_SIM_LIES_H

#include "tests/sim/sim_tables.h"

/* Makes the response BODY of OPERATION false. False: there is no lie that a program can find out;
 * BODY remains. */
bool sim_lies_tell(const char *operation, const struct sim_json *request, struct sim_dice *dice,
                   struct sim_text *body);

#endif
