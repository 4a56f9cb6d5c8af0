/* What the name of an attribute, or a piece of a key, looks like. Habits of those who design
 * tables, and no more: whoever goes by a clue says so in the map that comes of it. */
#ifndef DDBFS_CORE_DRAFT_ATTRIBUTE_CLUES_H
#define DDBFS_CORE_DRAFT_ATTRIBUTE_CLUES_H

#include "core/base/span.h"

/* An upper-case word, as keys are told apart by: "USER", "API_KEY", "OAUTH2"; no "CLN-001". */
bool clue_is_tag(struct span text);

/* "c", as in "c#12345". */
bool clue_is_letter(struct span text);

/* A word of any case, without digits: "user", "Shopify", "in-progress"; it may be in quotes. */
bool clue_is_word(struct span text);

/* A date or a time in ISO-8601, or its beginning: "2026-04-16", "2026-04", "2026-04-16T09:41:07Z".
 */
bool clue_is_date(struct span text);

/* A time, with the hour at least, alone: it holds colons. */
bool clue_is_time(struct span text);

/* Whether the two say the same but for case, "_", "-" and ".". */
bool clue_alike(struct span a, struct span b);

/* Whether NAME is of TAG: "user_id", "userId" and "user" are of "USER". */
bool clue_is_of_tag(struct span name, struct span tag);

/* Names that say which kind of record it is: "type", "entity_type", "__typename". */
bool clue_names_a_type(struct span name);

/* Whether an attribute of that name says which kind its item is: "__typename" does, "type" may. */
enum clue_kind { KIND_NOT_NAMED, KIND_MAY_BE_NAMED, KIND_IS_NAMED };
enum clue_kind clue_of_kind(struct span name);

/* Names that say nothing of what a key holds: "pk", "SK", "GSI1PK", "gsi2-sort-key". */
bool clue_is_generic_key(struct span name);

/* Names of what ends at a date: "ttl", "expires_at". */
bool clue_names_an_end(struct span name);

/* Names of a date that things are put in order by: "created_at", "orderDate", "day". */
bool clue_names_a_date(struct span name);

/* How well the name of an attribute suits one that dates its record. */
enum clue_dating { DATES_NOTHING, DATES_SOMETHING, DATES_CREATION, DATES_CHANGE };
enum clue_dating clue_dating(struct span name);

#endif
