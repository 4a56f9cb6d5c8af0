/* What an answer is an answer to. */
#ifndef DDBFS_CORE_DYNAMO_SENT_REQUEST_H
#define DDBFS_CORE_DYNAMO_SENT_REQUEST_H

#include "core/dynamo/request.h"

/* What was asked, of whom: for decoding, and for words. All borrowed. */
struct answer_question {
    enum dynamo_op op;
    const struct read *read;
    const char *region;
    const char *endpoint; /* the URL that was asked last; "" before */
    const char *profile;  /* NULL when none need be given */
    const char *method;   /* how the credentials were had that signed it; NULL: not known */
    const char *origin;   /* … and where; NULL: not known */
};

#endif
