/* Signature Version 4 as a service of AWS checks it: rebuilt from the request that was received. */
#ifndef DDBFS_TESTS_SIM_SIM_SIGV4_H
#define DDBFS_TESTS_SIM_SIM_SIGV4_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/sim_identity.h"

/* The result of a check. */
struct sim_signature {
    const char *code; /* of the service's error; static; NULL: the signature is right */
    char *message;    /* owned (sim_free); NULL if it is right */
    bool is_of_clock; /* the date alone is wrong */
};

/* Checks the signature of REQUEST with CREDENTIALS for the service "dynamodb" in REGION, at the
 * service's time WALL_MS. PATH is the URL's path; there is no query. */
struct sim_signature sim_sigv4_check(const struct sim_request *request, const char *path,
                                     const struct sim_credentials *credentials, const char *region,
                                     int64_t wall_ms);

/* The value of a header of REQUEST, without blanks at its ends; NULL without one. */
const char *sim_request_header(const struct sim_request *request, const char *name);

enum { SIM_DATE_SIZE = 17 };
/* Writes 20260416T101500Z. */
void sim_sigv4_write_date(char out[SIM_DATE_SIZE], int64_t wall_ms);

#endif
