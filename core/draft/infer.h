/* From sampled records to a map that shows how keys are written: kinds of record by the words in
 * their keys, named parts, what indexes hold of each kind, dates and secrets. Nothing here asks
 * anybody. What a sample can't show is left open: a record that no kind fits, sampled or not, is of
 * the kind "other", by its whole keys, and no list of values is said to be whole. */
#ifndef DDBFS_CORE_DRAFT_INFER_H
#define DDBFS_CORE_DRAFT_INFER_H

#include "core/json/json.h"
#include "core/map/declaration.h"

/* Looked at are so many records, and so many bytes of what they say; others are counted. */
enum { INFER_MOST_RECORDS = 2000, INFER_MOST_BYTES = 16 << 20 };

/* What was seen of one table's records so far. */
struct inference;

/* DESCRIBED is the table as its description tells it (describe.h): one kind of record, by whole
 * keys. It must stay until the end. NULL when memory ran out. */
struct inference *inference_new(const struct declared_table *described);
void inference_destroy(struct inference *inference); /* NULL is fine */

/* A record, typed. Copied. False when memory ran out; what is no record is passed over. */
bool inference_add(struct inference *inference, struct json item);

/* How many records were added. */
size_t inference_count(const struct inference *inference);

/* The table with all that was learnt, in ARENA; what it shares with DESCRIBED belongs to that. Each
 * thing that was inferred has a note that says on what it rests. Where nothing was learnt of its
 * keys its kind is DESCRIBED's own. Its paths are gone with the parts that they named: whoever
 * calls adds some (paths.h). NULL when memory ran out. */
struct declared_table *inference_end(struct inference *inference, struct arena *arena);

#endif
