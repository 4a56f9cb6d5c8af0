/* Who the program is: the source of its credentials in this life, and the services of the machine
 * that issue them. */
#ifndef DDBFS_TESTS_SIM_SIM_IDENTITY_H
#define DDBFS_TESTS_SIM_SIM_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/sim_service.h"

/* Keys that DynamoDB accepts. */
struct sim_credentials {
    const char *access_key_id, *secret_access_key;
    const char *session_token; /* NULL: none */
    const char *account_id;    /* NULL: the program does not know it, so hosts have no account */
    int64_t until_ms;          /* INT64_MAX: they do not end */
};

/* Draws the source of this life: variables, a file, a container's endpoint, or the metadata service
 * of the machine. Sets variables, and writes files below the working folder, which is FOLDER. */
void sim_identity_prepare(const char *folder);

/* The keys that signed REQUEST; NULL: unknown keys, or none. */
const struct sim_credentials *sim_identity_of(const struct sim_request *request);

/* Whether URL is of a service that issues credentials. */
bool sim_identity_has(const char *url);
/* Answers a request to one. A request that it would refuse is a defect. */
void sim_identity_answer(const struct sim_request *request, struct sim_answer *out);

#endif
