/* The decisions to send a request again that are made above an AWS call. All layers that retry are
 * in docs/internals/retries.md. */
#ifndef DDBFS_CORE_SOURCE_RETRIES_H
#define DDBFS_CORE_SOURCE_RETRIES_H

#include "core/source/source.h"

/* Whether the keys of a batch that failed with ERR are read one by one. The cause may be one key,
 * the payer of one key, or that several keys are read together. */
bool retries_key_by_key(const struct error *err);

/* For how long the keys of that table are read one by one then; 0: only those of the batch. */
int64_t retries_apart_ms(const struct error *err);

/* The most requests that a source may still send for the page under way, of ATTEMPTS that the
 * settings allow and SENT that it has sent. */
unsigned retries_left(const struct read *read, unsigned attempts, unsigned sent);

/* Whether the table of PAGE has capacity for requests that are sent for speed alone. */
bool retries_allow_extra(const struct page *page);

#endif
