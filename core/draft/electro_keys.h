/* Keys that ElectroDB writes: "$service#label_value" and "$entity_version#label_value", where a
 * label is an attribute's name in lower case. Its items say in __edb_e__ which entity they are. */
#ifndef DDBFS_CORE_DRAFT_ELECTRO_KEYS_H
#define DDBFS_CORE_DRAFT_ELECTRO_KEYS_H

#include "core/draft/key_shape.h"

/* The entity that wrote the item; empty where ElectroDB did not. */
struct span electro_entity(const struct sampled_item *specimen);

/* Takes those keys of COLUMN apart anew whose items say their entity: labels stand before parts.
 * A key that is cut in another number of pieces than most keys of its entity has no shape. */
void electro_keys_take_apart(struct column *column);

#endif
