/* The log of the program: what a line states about a request is what the service has sent. */
#ifndef DDBFS_TESTS_SIM_SIM_LOG_H
#define DDBFS_TESTS_SIM_SIM_LOG_H

#include <stddef.h>

/* A refusal of the service: CODE is its error code, or "". All are copied. */
void sim_log_note_response(const char *request_id, const char *operation, const char *table,
                           const char *code);

/* The oracle of a line of the log. */
void sim_log_check(const char *line, size_t size);

#endif
