/* The declared records of the kinds that were found: formats of keys, names, and notes on what they
 * rest. */
#ifndef DDBFS_CORE_DRAFT_INFERRED_RECORDS_H
#define DDBFS_CORE_DRAFT_INFERRED_RECORDS_H

#include "core/draft/inference.h"

/* Declares a record for each kind that its keys tell for sure, and "other" behind them for what
 * none fits; the kinds that are left have their final records and parts. Where none is left the
 * table keeps its record. False when memory ran out. */
bool inferred_records_make(struct inferring *inferring);

#endif
