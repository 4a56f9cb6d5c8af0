/* The names of a listing's entries: made of the parts of their keys, with a rank in front where the
 * map says so; and the number of entries in a path. */
#ifndef DDBFS_CORE_MAP_ENTRY_NAMES_H
#define DDBFS_CORE_MAP_ENTRY_NAMES_H

#include "core/map/model.h"

struct pattern_draft;

/* Fills in the entries of the draft's pattern: one for each kind, named by the parts of the key
 * that the path does not have, or by the map's "name". False with a finding. */
bool entry_names_compile(struct pattern_draft *draft);

/* The part of the key in which the last key condition of the listing PATTERN selects a prefix or a
 * range; NULL for none. */
const char *entry_names_tested_part(const struct map_pattern *pattern);
/* Whether the first part of the names of PATTERN's entries is PART. */
bool entry_names_begin_with(const struct map_pattern *pattern, const char *part);

/* The number of entries in a path: "newest:{count}/". */
enum { ENTRY_LIMIT_MOST = 1000000 };

/* Whether TEXT has only digits, so that another step of the map does not take it. */
bool entry_limit_is_number(struct span text);
/* False with ERR (which may be NULL) filled, ERROR_INVALID, if TEXT is not a number from 1 to
 * ENTRY_LIMIT_MOST; PARAM is the path's parameter. */
bool entry_limit_parse(const char *param, struct span text, uint32_t *out, struct error *err);

/* The digits of the ranks of a listing with at most LIMIT entries; 0 is no limit. */
unsigned rank_digits(uint32_t limit);
/* Appends NUMBER, from 1 on, and the text behind it; nothing where names have no rank. False if
 * NUMBER has too many digits: such names would not sort. */
bool rank_write(const struct map_rank *rank, uint64_t number, struct buf *out);
/* Fills ERR for a number for which rank_write returned false. Returns false. */
bool rank_refuse(const struct map_rank *rank, struct error *err);
/* Takes the rank, of any number of digits, and the text behind it off NAME. False if NAME has no
 * rank or nothing follows. */
bool rank_skip(const struct map_rank *rank, struct span *name);
/* Appends the rank as the map writes it: "{rank}_". */
void rank_write_format(const struct map_rank *rank, struct buf *out);

#endif
