/* A parsed response: its checksum, compression and JSON, then its content, or a typed error. */
#ifndef DDBFS_CORE_DYNAMO_ANSWER_H
#define DDBFS_CORE_DYNAMO_ANSWER_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/dynamo/request.h"
#include "core/json/json.h"
#include "core/net/transport.h"
#include "core/source/source.h"

/* The content of one response. The values point into its own document, so it never moves. */
struct answer {
    struct page_owner owner; /* first: a pointer to it is a pointer to this; answer_destroy */
    struct buf body;         /* the JSON, inflated */
    struct json_doc doc;
    struct arena arena; /* of all below */
    struct json *items; /* of a transaction one for each part, absent if it is not found */
    size_t item_count;
    uint64_t counted;   /* see struct page */
    size_t scanned;     /* items that were read before the filter */
    struct span *names; /* of tables */
    size_t name_count;
    struct table_info *table; /* of DescribeTable; else NULL */
    struct json description;  /* of a table, its expiry or its recovery; else absent */
    struct json resume;       /* the position for request_write; absent at the end */
    int64_t took_ms, date_ms; /* see struct page */
    double capacity;          /* RCU; < 0: not stated */
    double search_bytes;      /* of a search; < 0: not stated */
    struct spent lost;        /* by earlier requests without a valid response */
    size_t read_count;        /* items that were read, also those that the filter left out */
    char request_id[64];
};

/* The most bytes of JSON that a valid response has: no more are received or inflated. */
size_t answer_limit(const struct sent_request *sent);

/* The same of all items of a batch, in all its rounds. */
size_t answer_limit_of_rounds(const struct sent_request *sent);

/* Reads RESPONSE, which is not needed afterwards; its body is moved out of its holder, if it has
 * one. NULL with ERR filled, code, status and request id included. STATED (may be NULL) gets the
 * units that a rejected response states; < 0: none. */
struct answer *answer_new(const struct sent_request *sent, const struct http_response *response,
                          double *stated, struct error *err);
/* The units that RESPONSE states, in at most MOST bytes of JSON; < 0: none. */
double answer_stated(const struct http_response *response, size_t most);
void answer_destroy(struct answer *answer); /* NULL is fine */

#endif
