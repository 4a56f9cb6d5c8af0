/* DynamoDB, and the other services that the program calls: requests are checked as the service would,
 * answered from the history, and booked. */
#ifndef DDBFS_TESTS_SIM_SIM_SERVICE_H
#define DDBFS_TESTS_SIM_SIM_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* sim_transport.c: struct transport of the product, whose responses come from sim_service_answer,
 * late or never, whole or broken, as the faults of the life will have it. It defines http_new. */

/* A request as it was received. Borrowed. */
struct sim_request {
    const char *method, *url, *host, *target; /* TARGET: of X-Amz-Target; "" without */
    const char *const *headers;
    size_t header_count;
    const char *body; /* ends in NUL besides */
    size_t size;
};

/* A response; owned by the caller afterwards (sim_answer_free). */
struct sim_answer {
    int status;
    char **headers; /* "Name: value"; owned */
    size_t header_count;
    char *body; /* owned */
    size_t size;
};

/* Processes a request: checks its signature, members, expressions, names, types and sizes (a request
 * that the real service would refuse is a defect unless a fault of the life explains it), reads the
 * history at this moment, and books its units. */
void sim_service_answer(const struct sim_request *request, struct sim_answer *out);
void sim_answer_free(struct sim_answer *answer);

/* sim_tables.c: the operations on items, without HTTP. */
struct sim_json;
struct sim_text;

/* The books: what the service has charged. */
struct sim_books {
    uint64_t requests;  /* that were processed */
    uint64_t refused;   /* throttled, denied, failed */
    uint64_t lost;      /* processed, but the response did not arrive */
    /* In halves of a read unit, so that sums are exact. */
    uint64_t half_units;      /* of all processed requests */
    uint64_t half_units_lost; /* of those whose response did not arrive */
};
struct sim_books sim_service_books(void);
/* By table, or table and index "TABLE/INDEX"; zeros if it was never read. */
struct sim_books sim_service_books_of(const char *name);

/* How many transfers are under way: at the end 0. */
size_t sim_transport_count(void);

#endif
