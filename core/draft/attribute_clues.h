/* Clues in the names of attributes and in the texts of keys. They are habits of table designers: a
 * map that is drafted by a clue has a note of it. */
#ifndef DDBFS_CORE_DRAFT_ATTRIBUTE_CLUES_H
#define DDBFS_CORE_DRAFT_ATTRIBUTE_CLUES_H

#include "core/base/span.h"

/* An upper-case word, as in keys that distinguish kinds: "USER", "API_KEY", "OAUTH2"; not
 * "CLN-001". */
bool clue_is_tag(struct span text);

/* "c", as in "c#12345". */
bool clue_is_letter(struct span text);

/* A word of any case, without digits: "user", "Shopify", "in-progress"; it may be in quotes. */
bool clue_is_word(struct span text);

/* A date or a time in ISO-8601, or its beginning: "2026-04-16", "2026-04", "2026-04-16T09:41:07Z".
 */
bool clue_is_date(struct span text);

/* A time alone, with the hour at least: it contains colons. */
bool clue_is_time(struct span text);

/* Whether NAME is of TAG: "user_id", "userId" and "user" are of "USER". */
bool clue_is_of_tag(struct span name, struct span tag);

/* Names of attributes with the item's kind: "type", "entity_type", "__typename". */
bool clue_names_a_type(struct span name);

/* Whether an attribute called NAME has the item's kind: "__typename" does, "type" may. */
enum clue_kind { KIND_NOT_NAMED, KIND_MAY_BE_NAMED, KIND_IS_NAMED };
enum clue_kind clue_of_kind(struct span name);

/* Names without a clue to the key's content: "pk", "SK", "GSI1PK", "gsi2-sort-key". */
bool clue_is_generic_key(struct span name);

/* Names of dates that order items: "created_at", "orderDate", "day". */
bool clue_names_a_date(struct span name);

/* How well an attribute called NAME dates its item. */
enum clue_dating { DATES_NOTHING, DATES_SOMETHING, DATES_CREATION, DATES_CHANGE };
enum clue_dating clue_dating(struct span name);

#endif
