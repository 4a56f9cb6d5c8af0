/* The outermost layer of a source while it is recorded: it passes every Read on, and hands each
 * page to the recorder, as the caller received it. */
#ifndef DDBFS_CORE_RECORDING_RECORDING_H
#define DDBFS_CORE_RECORDING_RECORDING_H

#include "core/recording/recorder.h"
#include "core/source/source.h"

struct recording_options {
    struct source *source;     /* owned from a successful call on */
    struct recorder *recorder; /* borrowed */
    struct clock *clock;       /* borrowed */
    unsigned number;           /* of the source, among those of this recorder */
    bool show_secrets;         /* values of secret attributes are recorded, too */
};

/* NULL when memory ran out. */
struct source *recording_new(const struct recording_options *options);

/* Records that the environment NAME ("" without a map) is read from source NUMBER, whose SETTINGS
 * are in words. */
void recording_add_environment(struct recorder *recorder, struct clock *clock, struct span name,
                               unsigned number, struct span settings);

#endif
