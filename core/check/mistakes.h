/* What sampled items contradict in a map: each mistake once, with its first item and with how many
 * items show it. */
#ifndef DDBFS_CORE_CHECK_MISTAKES_H
#define DDBFS_CORE_CHECK_MISTAKES_H

#include "core/base/arena.h"
#include "core/check/table_check.h"

struct mistake;

/* Starts as zeros. */
struct mistakes {
    struct mistake *first, *last; /* in the arena */
    struct arena arena;           /* owned */
    size_t item;                  /* which one is looked at; counted by the caller */
};

void mistakes_clean_up(struct mistakes *mistakes);

/* One item shows the mistake SUBJECT at LINE of the map. The text is that of the first item. */
void mistakes_add(struct mistakes *mistakes, unsigned line, const char *subject, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

/* Reports all, in the order in which they came. */
void mistakes_report(const struct mistakes *mistakes, check_finding_fn *fn, void *arg);

#endif
