/* From sampled items to a map with the formats of keys: kinds of item by the words in their keys,
 * named parts, the formats of each index, dates and secrets. No function here sends a request. A
 * sample can't prove everything: an item that fits no kind, sampled or not, is of the kind "other",
 * by its whole keys, and no list of values is declared to be complete. */
#ifndef DDBFS_CORE_DRAFT_INFER_H
#define DDBFS_CORE_DRAFT_INFER_H

#include "core/json/json.h"
#include "core/map/declaration.h"

/* Items beyond these limits are only counted. */
enum { INFER_MOST_ITEMS = 2000, INFER_MOST_BYTES = 16 << 20 };

/* The sampled items of one table. */
struct inference;

/* DESCRIBED, which must outlive the inference, is the table's generic declaration (generic_view.h):
 * one kind of item, by whole keys. NULL when memory ran out. */
struct inference *inference_new(const struct declared_table *described);
void inference_destroy(struct inference *inference); /* NULL is fine */

/* Adds a copy of a typed item; any other JSON is only counted. False when memory ran out. */
bool inference_add(struct inference *inference, struct json item);

/* The items that were added are all of the table. Only then the result states which kinds have an
 * attribute with the name of a part. */
void inference_note_end(struct inference *inference);

/* How many items were added. */
size_t inference_count(const struct inference *inference);

/* The table with all that was inferred, in ARENA; it shares parts of DESCRIBED. A note at each
 * inferred declaration states its evidence. If nothing was inferred from the keys, the kind is that
 * of DESCRIBED. Else the table has no paths: the caller adds them (drafted_paths.h). NULL when
 * memory ran out. */
struct declared_table *inference_end(struct inference *inference, struct arena *arena);

#endif
