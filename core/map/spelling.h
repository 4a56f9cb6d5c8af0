/* How the keys of a table spell their parts: {email:lower}, {score:05}. */
#ifndef DDBFS_CORE_MAP_SPELLING_H
#define DDBFS_CORE_MAP_SPELLING_H

#include "core/base/error.h"
#include "core/map/declaration.h"
#include "core/map/findings.h"

/* Collects the parts that are spelled from the formats of MODEL, whose kinds, indexes and
 * parameters are complete. Two spellings of one part are found, and values of a parameter that the
 * part can't have. */
void spelling_collect(struct model *model, struct arena *arena, struct findings *findings);

/* Fills ERR, ERROR_INVALID: TEXT is no value of the part SPELLING. Returns false. */
bool spelling_refuse(const struct format_piece *spelling, struct span text, struct error *err);

/* Whether the values of PATH can stand where FORMAT spells them. False with ERR filled. */
bool spelling_check(const struct format *format, const struct bindings *path, struct error *err);

/* PATH with the values of its "where" as keys spell the parts that they are compared with; what is
 * new is in ARENA. False with a finding. */
bool spelling_of_wheres(const struct model *model, const struct declared_path *path,
                        struct arena *arena, struct findings *findings, struct declared_path *out);

#endif
