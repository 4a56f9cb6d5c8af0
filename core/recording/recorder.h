/* The recorder: it writes responses to a recording, in a thread. The loop never waits for it. */
#ifndef DDBFS_CORE_RECORDING_RECORDER_H
#define DDBFS_CORE_RECORDING_RECORDER_H

#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/recording/recorded.h"
#include "core/recording/recording_file.h"

struct recorder;

/* Opens FILE, or creates it, and starts the thread: to be called after the process has forked. LOG
 * may be NULL. All is borrowed but the texts of ABOUT. NULL with ERR filled. */
struct recorder *recorder_open(const char *file, const struct recording_about *about,
                               struct loop *loop, const struct log *log, struct error *err);

/* The number of a new call. */
uint64_t recorder_count_call(struct recorder *recorder);

/* Takes RECORDED over. After a failure it is dropped. */
void recorder_add(struct recorder *recorder, struct recorded *recorded);

/* Memory for a response ran out: the recording stops. */
void recorder_lack_memory(struct recorder *recorder);

/* Why the recording has stopped: false with ERR filled. */
bool recorder_check(const struct recorder *recorder, struct error *err);

const char *recorder_file(const struct recorder *recorder);

/* Responses that are in the file. */
uint64_t recorder_count(const struct recorder *recorder);

/* Writes all that was added, closes the file and ends the thread; later responses are dropped. A
 * failure is in the log, and false is returned. */
bool recorder_finish(struct recorder *recorder);
void recorder_destroy(struct recorder *recorder); /* NULL is fine */

#endif
