/* A response taken apart: its checksum, compression and JSON, then what was read, or a typed
 * error that says what happened and what to do. */
#ifndef DDBFS_CORE_DYNAMO_ANSWER_H
#define DDBFS_CORE_DYNAMO_ANSWER_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/dynamo/sent_request.h"
#include "core/json/json.h"
#include "core/net/transport.h"
#include "core/source/source.h"

/* What one response held. The values below refer to its own document, so it never moves. */
struct answer {
    struct page_owner owner; /* first: a pointer to it is a pointer to this; answer_destroy */
    struct answer *next;     /* for an owner who keeps several */
    struct buf body;         /* the JSON, inflated */
    struct json_doc doc;
    struct arena arena; /* all below */
    struct json *items;
    size_t item_count;
    uint64_t counted;   /* see struct page */
    size_t scanned;     /* how many were read, before a filter */
    struct span *names; /* of tables */
    size_t name_count;
    struct table_info *table; /* NULL unless one was asked for */
    struct json description;  /* of a table, its expiry or its recovery; absent unless asked for */
    struct json resume;       /* what request_place goes on from; absent at the end */
    int64_t took_ms;          /* see struct page */
    double capacity;          /* read capacity units; < 0 when not told */
    struct spent lost;        /* on requests for the same that brought no answer */
    size_t read_count;        /* items that were read for it, those that a filter left out too */
    char request_id[64];
};

/* The largest answer that the question can honestly have, in bytes of JSON: as many are taken, as
 * they are sent and when they are inflated, and no more. */
size_t answer_limit(const struct answer_question *question);

/* The same of the records that a batch brings in all its rounds. */
size_t answer_limit_of_rounds(const struct answer_question *question);

/* Reads RESPONSE, which is not needed afterwards; its body is taken out of its holder, if it has
 * one. NULL with ERR filled, code, status and request id included, and in STATED (may be NULL) the
 * units that the rejected response states all the same; < 0: none. */
struct answer *answer_new(const struct answer_question *question,
                          const struct http_response *response, double *stated, struct error *err);
/* The units that RESPONSE states, of at most MOST bytes of JSON, whatever else it holds; < 0: none.
 */
double answer_stated(const struct http_response *response, size_t most);
void answer_destroy(struct answer *answer); /* NULL is fine */

#endif
