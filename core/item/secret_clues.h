/* Whether an attribute looks like a secret: a password, a token, a signing key. Drafts of maps mask
 * such attributes, and `check --sample` warns of those that a map does not mask. */
#ifndef DDBFS_CORE_ITEM_SECRET_CLUES_H
#define DDBFS_CORE_ITEM_SECRET_CLUES_H

#include "core/base/span.h"

/* By an attribute's name: "refresh_tokens", "apiKey", "secretNameAndPassword"; not by "tokenCount",
 * "nextToken" or "secretArn", whose values are not secret. */
bool secret_clue_in_name(struct span name);

/* By a text value: a private key, or a credential of a known form. */
bool secret_clue_in_value(struct span value);

#endif
