/* DynamoDB, and the other services that the program calls: requests are checked as the service
 * would, answered from the history, and booked. */
#ifndef DDBFS_TESTS_SIM_SIM_SERVICE_H
#define DDBFS_TESTS_SIM_SIM_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/sim_causes.h"

/* sim_transport.c: struct transport of the product, whose responses come from sim_service_answer,
 * late or never, whole or broken, as the faults of the life will have it. It defines http_new. */

/* A request as it was received. Borrowed. */
struct sim_request {
    uint64_t number;                          /* of its dice */
    const char *method, *url, *host, *target; /* TARGET: of X-Amz-Target; "" without */
    const char *const *headers;
    size_t header_count;
    const char *body; /* ends in NUL besides */
    size_t size;
    int64_t skew_ms; /* of the machine's clock, when it was sent */
};

struct sim_bill;

/* A response; owned by the caller afterwards (sim_answer_free). */
struct sim_answer {
    int status;
    char **headers; /* "Name: value"; owned */
    size_t header_count;
    char *body; /* owned */
    size_t size;
    struct sim_bill *bill; /* owned; what was booked for it; NULL: nothing */
    const char *operation; /* static; "" if the request named none */
    /* Of a failure that a fault of the life causes: */
    enum sim_fault fault; /* SIM_FAULTS: none */
    int error;            /* the errno that docs/errors.md names for it */
    bool is_final;        /* no retry helps */
    int64_t retry_after_ms;
};

/* Processes a request: checks its signature, members, expressions, names, types and sizes (a
 * request that the real service would refuse is a defect unless a fault of the life explains it),
 * reads the history at this moment, and books its units. */
void sim_service_answer(const struct sim_request *request, struct sim_answer *out);
void sim_answer_free(struct sim_answer *answer);
/* The program can't rely on the response: it is lost, late, or damaged. Books its units as lost. */
void sim_service_note_lost(struct sim_answer *answer);
/* The halves of units that were booked since. */
uint64_t sim_service_half_units_since(int64_t since_ms);

/* The books: what the service has charged. */
struct sim_books {
    uint64_t requests; /* that were processed */
    uint64_t refused;  /* throttled, denied, failed */
    uint64_t lost;     /* processed, but the response did not arrive */
    /* In halves of a read unit, so that sums are exact. */
    uint64_t half_units;      /* of all processed requests */
    uint64_t half_units_most; /* of one of these requests */
    uint64_t half_units_lost; /* of those whose response did not arrive, or was damaged: the program
                               * knows these units at best in part */
    uint64_t search_bytes, search_bytes_lost; /* of vector searches */
};
struct sim_books sim_service_books(void);

/* How many transfers are under way: at the end 0. */
size_t sim_transport_count(void);
/* How many requests the program has sent, in all; also those that did not reach the service. */
uint64_t sim_transport_sent(void);

#endif
