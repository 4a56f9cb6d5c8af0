/* Keys that ElectroDB writes: "$service#label_value" and "$entity_version#label_value". A label is
 * an attribute's name in lower case. The attribute __edb_e__ of its items is their entity. */
#ifndef DDBFS_CORE_DRAFT_ELECTRO_KEYS_H
#define DDBFS_CORE_DRAFT_ELECTRO_KEYS_H

#include "core/draft/key_shape.h"

/* The item's entity; empty when ElectroDB did not write the item. */
struct span electro_keys_find_entity(const struct sampled_item *item);

/* Splits the keys of ElectroDB's items in COLUMN again: labels are before parts. A key whose number
 * of tokens is not that of most keys of its entity gets no shape. */
void electro_keys_split_column(struct column *column);

#endif
