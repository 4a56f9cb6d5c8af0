/* Sampled items, compared with the map: `ddbfs check --sample`. */
#ifndef DDBFS_CORE_CHECK_SAMPLE_CHECK_H
#define DDBFS_CORE_CHECK_SAMPLE_CHECK_H

#include "core/plan/plan.h"

/* The sampled items of one table. */
struct sample_check;

/* Items are compared with TABLE, which is borrowed. NULL when memory ran out. */
struct sample_check *sample_check_new(const struct model *table);
void sample_check_destroy(struct sample_check *sample); /* NULL is fine */

/* Expects an item of each kind that PLAN (NULL: any path of the table) can return. */
void sample_check_expect(struct sample_check *sample, const struct plan *plan);

/* Compares an item that PLAN's first or second step returned. An item of two plans counts once.
 * False when memory ran out. */
bool sample_check_add_item(struct sample_check *sample, const struct plan *plan, struct json item);

/* Calls FN for each kind that was expected or read, with the number of its items. */
typedef void sample_kind_fn(void *arg, const struct map_kind *kind, size_t items);
void sample_check_each_kind(const struct sample_check *sample, sample_kind_fn *fn, void *arg);

enum sample_verdict {
    SAMPLE_MISTAKE,  /* the items contradict the map */
    SAMPLE_WARNING,  /* a reader may see an attribute that the map should mask */
    SAMPLE_UNPROVEN, /* no item was read that could prove it */
};

/* LINE is of the map; TEXT is borrowed for the time of the call. */
typedef void sample_report_fn(void *arg, enum sample_verdict verdict, unsigned line,
                              const char *text);

/* Reports each mistake once; attributes that look like secrets and are not masked; and what the
 * items could not prove. False when memory ran out. */
bool sample_check_report(struct sample_check *sample, sample_report_fn *fn, void *arg);

#endif
