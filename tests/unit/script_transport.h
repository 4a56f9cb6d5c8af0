/* A transport that answers from a script, one step a request, and remembers what was sent. */
#ifndef DDBFS_TESTS_UNIT_SCRIPT_TRANSPORT_H
#define DDBFS_TESTS_UNIT_SCRIPT_TRANSPORT_H

#include "core/base/loop.h"
#include "core/net/transport.h"

struct script;

/* What one request was. */
struct script_sent {
    int64_t at_ms;
    int64_t timeout_ms;
    bool no_proxy;
    char *method; /* owned by the script, like all below */
    char *url;
    char *headers; /* one a line */
    char *body;
    char *ca_bundle; /* NULL for none */
};

/* NULL when memory ran out. A request beyond the script's end gets ERROR_BAD_ANSWER. */
struct script *script_new(struct loop *loop);
void script_destroy(struct script *script);
struct transport *script_transport(struct script *script);

/* Adds a step. HEADERS are lines of "Name: value". Texts are borrowed, and must outlive it. */
void script_answer(struct script *script, int status, const char *headers, const char *body);
void script_answer_bytes(struct script *script, int status, const char *headers, struct span body);
/* Adds a step without any answer. */
void script_fail(struct script *script, enum error_kind kind);
/* The response of the step added last may be of a party on the way. */
void script_doubt(struct script *script);
/* The step added last takes so long; beyond the request's time it is ERROR_TIMED_OUT. */
void script_delay(struct script *script, int64_t delay_ms);

size_t script_sent_count(const struct script *script);
/* The request I, from 0; an empty one beyond the last. */
const struct script_sent *script_sent(const struct script *script, size_t i);
size_t script_cancelled(const struct script *script);
/* Transfers that are neither answered nor cancelled. */
size_t script_pending(const struct script *script);

#endif
