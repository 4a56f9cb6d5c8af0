/* The head of an answer: its headers, as they come in line by line. */
#ifndef DDBFS_CORE_NET_HEAD_H
#define DDBFS_CORE_NET_HEAD_H

#include "core/base/buf.h"
#include "core/base/span.h"
#include "core/net/transport.h"

/* {0} is one of which nothing has come. */
struct head {
    struct buf text; /* "Name", NUL, "value", NUL for each header */
    size_t count;
    bool complete; /* the empty line has come */
};

void head_clean_up(struct head *head);

/* Takes LINE in. A status line begins anew: an interim answer may have come before. */
void head_add(struct head *head, struct span line);

/* The headers as an array into the head; NULL when memory ran out. The caller frees it. */
struct http_header *head_list(const struct head *head);

#endif
