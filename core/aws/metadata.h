/* The metadata service of the machine (EC2's, and those that are played after it): version 2, with
 * a token; version 1 where that is all there is. */
#ifndef DDBFS_CORE_AWS_METADATA_H
#define DDBFS_CORE_AWS_METADATA_H

#include "core/aws/credentials.h"

/* Questions that share a token, one at a time. */
struct metadata;

enum metadata_found {
    METADATA_FOUND,
    METADATA_ABSENT, /* it is turned off, nobody answers, or it does not have that */
    METADATA_FAILED, /* it is asked wrongly: the settings are no good, or it refuses the token */
};

/* Borrowed for the time of the call. */
struct metadata_answer {
    enum metadata_found found;
    struct span text; /* of what was found */
    bool is_there;    /* the service answered, if only to say no */
    struct error err; /* why nothing was found; no kind where it is turned off */
};

typedef void metadata_fn(void *arg, const struct metadata_answer *answer);

/* CONTEXT (settings need not be there) must outlive it. NULL when memory ran out. */
struct metadata *metadata_new(const struct credentials_context *context);
void metadata_destroy(struct metadata *metadata); /* ends a question; NULL is fine */

/* What stands at PATH ("meta-data/iam/…", copied) behind "latest/"; an answer that is not good is
 * asked for again as often as the settings say. FN is called later, once, and may destroy METADATA
 * or ask it again. False when memory ran out. */
bool metadata_request(struct metadata *metadata, const char *path,
                      bool (*is_good)(const struct http_response *response), metadata_fn *fn,
                      void *arg);

#endif
