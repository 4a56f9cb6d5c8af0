#include "core/recording/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/worker.h"
#include "core/recording/recording_file.h"

/* The most bytes of responses that are not written yet. */
enum { RECORDER_MOST_BYTES = 64 << 20 };

/* All that came while the group before was written is one transaction. */
struct recorder_group {
    struct worker_job job; /* first: a pointer to it is a pointer to this */
    struct recorder *recorder;
    struct list responses; /* of struct recorded, owned */
    size_t bytes;
    uint64_t count;
    bool is_last;
    struct error why; /* with a kind: it was not written */
};

struct recorder {
    struct loop *loop; /* borrowed; so is LOG */
    const struct log *log;
    char *name; /* owned */
    struct worker *worker;
    struct recording_file *file; /* owned; the thread's while a group is under way */
    struct list waiting;         /* of struct recorded, owned */
    size_t waiting_bytes;
    size_t bytes; /* of these, and of the group under way */
    struct recorder_group group, last;
    bool is_writing; /* the group is under way */
    bool has_ended;
    uint64_t calls, written;
    struct error failure; /* with a kind: the recording has stopped */
};

static void recorder_free_all(struct list *list)
{
    LIST_EACH_SAFE (struct recorded, each, list, node) {
        list_remove(&each->node);
        recorded_free(each);
    }
}

/* The first failure counts. */
static void recorder_stop(struct recorder *recorder, const struct error *why)
{
    if (recorder->failure.kind != ERROR_NONE)
        return;
    error_set(
        &recorder->failure, why->kind,
        "the recording %s has stopped: %s; later responses are not in it, and reading goes on",
        recorder->name, why->text);
    recorder_free_all(&recorder->waiting);
    recorder->bytes -= recorder->waiting_bytes;
    recorder->waiting_bytes = 0;
    log_line(recorder->log, LOG_LEVEL_ERROR, "%s", recorder->failure.text);
}

/* In the thread. */
static void recorder_run(struct worker_job *job)
{
    struct recorder_group *group = (struct recorder_group *)job;
    struct recording_file *file = group->recorder->file;
    struct clock *clock = loop_clock(group->recorder->loop);
    LIST_EACH (const struct recorded, each, &group->responses, node)
        group->count += each->kind != NULL;
    if (!list_is_empty(&group->responses))
        recording_file_add(file, &group->responses, &group->why);
    recorder_free_all(&group->responses);
    if (group->is_last && group->why.kind == ERROR_NONE)
        recording_file_end(file, clock->wall_ms(clock), &group->why);
}

static void recorder_write(struct recorder *recorder, struct recorder_group *group);

static void recorder_on_written(struct worker_job *job)
{
    struct recorder_group *group = (struct recorder_group *)job;
    struct recorder *recorder = group->recorder;
    recorder->is_writing = false;
    recorder->bytes -= group->bytes;
    if (group->why.kind != ERROR_NONE)
        recorder_stop(recorder, &group->why);
    else
        recorder->written += group->count;
    if (!list_is_empty(&recorder->waiting) && !recorder->has_ended)
        recorder_write(recorder, &recorder->group);
}

/* Sends all that waits as GROUP. */
static void recorder_write(struct recorder *recorder, struct recorder_group *group)
{
    *group = (struct recorder_group){
        .job = {.run = recorder_run, .done = recorder_on_written},
        .recorder = recorder,
        .bytes = recorder->waiting_bytes,
        .is_last = group == &recorder->last,
    };
    list_move(&group->responses, &recorder->waiting);
    recorder->waiting_bytes = 0;
    recorder->is_writing = true;
    worker_send(recorder->worker, &group->job);
}

struct recorder *recorder_open(const char *file, const struct recording_about *about,
                               struct loop *loop, const struct log *log, struct error *err)
{
    struct clock *clock = loop_clock(loop);
    struct recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder) {
        error_no_memory(err);
        return NULL;
    }
    *recorder = (struct recorder){.loop = loop, .log = log, .name = strdup(file)};
    recorder->worker = worker_new(loop);
    if (!recorder->name || !recorder->worker)
        error_no_memory(err);
    else
        recorder->file = recording_file_open(file, about, clock->wall_ms(clock), err);
    if (recorder->file)
        return recorder;
    recorder_destroy(recorder);
    return NULL;
}

uint64_t recorder_count_call(struct recorder *recorder)
{
    return ++recorder->calls;
}

void recorder_add(struct recorder *recorder, struct recorded *recorded)
{
    size_t bytes = sizeof *recorded + arena_memory(&recorded->arena);
    if (recorder_check(recorder, NULL) && recorder->bytes + bytes > RECORDER_MOST_BYTES) {
        struct error why;
        error_set(&why, ERROR_NO_SPACE,
                  "the disk takes fewer bytes a second than are read; use a faster one");
        recorder_stop(recorder, &why);
    }
    if (!recorder_check(recorder, NULL) || recorder->has_ended) {
        recorded_free(recorded);
        return;
    }
    list_append(&recorder->waiting, &recorded->node);
    recorder->waiting_bytes += bytes;
    recorder->bytes += bytes;
    if (!recorder->is_writing)
        recorder_write(recorder, &recorder->group);
}

void recorder_lack_memory(struct recorder *recorder)
{
    struct error why;
    error_no_memory(&why);
    recorder_stop(recorder, &why);
}

bool recorder_check(const struct recorder *recorder, struct error *err)
{
    if (recorder->failure.kind != ERROR_NONE && err)
        *err = recorder->failure;
    return recorder->failure.kind == ERROR_NONE;
}

uint64_t recorder_count(const struct recorder *recorder)
{
    return recorder->written;
}

const char *recorder_file(const struct recorder *recorder)
{
    return recorder->name;
}

/* worker_destroy waits for the group under way, and for the last one. */
bool recorder_finish(struct recorder *recorder)
{
    if (recorder->file && !recorder->has_ended && recorder_check(recorder, NULL))
        recorder_write(recorder, &recorder->last);
    recorder->has_ended = true;
    worker_destroy(recorder->worker);
    recorder->worker = NULL;
    recording_file_close(recorder->file);
    recorder->file = NULL;
    return recorder_check(recorder, NULL);
}

void recorder_destroy(struct recorder *recorder)
{
    if (!recorder)
        return;
    recorder_finish(recorder);
    recorder_free_all(&recorder->waiting);
    free(recorder->name);
    free(recorder);
}
