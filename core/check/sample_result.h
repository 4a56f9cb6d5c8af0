/* What sampled items prove of a map, and what they do not. */
#ifndef DDBFS_CORE_CHECK_SAMPLE_RESULT_H
#define DDBFS_CORE_CHECK_SAMPLE_RESULT_H

#include "core/check/sample_check.h"

enum sample_verdict {
    SAMPLE_MISTAKE,  /* the items contradict the map */
    SAMPLE_WARNING,  /* a reader may see what the map should hide */
    SAMPLE_UNPROVEN, /* no item was read that could show it */
};

/* LINE is of the map; TEXT is borrowed for the time of the call. */
typedef void sample_report_fn(void *arg, enum sample_verdict verdict, unsigned line,
                              const char *text);

/* How many items of a kind were read. */
typedef void sample_kind_fn(void *arg, const struct map_kind *kind, size_t items);

/* Reports each kind that is to be seen or was seen. */
void sample_each_kind(const struct sample *sample, sample_kind_fn *fn, void *arg);

/* Reports what the items contradict, each mistake once; attributes that look like secrets and that
 * the map does not mask; and what the items could not prove. False when memory ran out. */
bool sample_end(struct sample *sample, sample_report_fn *fn, void *arg);

#endif
