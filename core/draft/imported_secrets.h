/* Attributes that an imported table keeps secret: those that their model calls encrypted ("crypt")
 * or "hidden", and those that have a secret's name, as with sampled records. */
#ifndef DDBFS_CORE_DRAFT_IMPORTED_SECRETS_H
#define DDBFS_CORE_DRAFT_IMPORTED_SECRETS_H

#include "core/draft/import_reader.h"

/* Looks at the attribute that records of TABLE have as NAME, of which the model says ATTRIBUTE. */
void imported_secrets_look_at(struct import_reader *reading, struct declared_table *table,
                              struct json name, struct json attribute);

/* The same of all members of ATTRIBUTES, an object by names; the member that is called STORED says
 * what an attribute is called in the table, where that is another name. Either name may be a
 * secret's. */
void imported_secrets_look_at_all(struct import_reader *reading, struct declared_table *table,
                                  struct json attributes, const char *stored);

/* Once all was read: those that indexes list, none of those that are keys, which paths spell; and
 * to the table's note what each rests on. */
void imported_secrets_resolve(struct arena *arena, struct declared_table *table);

#endif
