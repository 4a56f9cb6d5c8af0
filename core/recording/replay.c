#include "core/recording/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/database.h"
#include "core/base/instant.h"
#include "core/base/worker.h"
#include "core/recording/recording_file.h"
#include "core/recording/replayed.h"
#include "core/snapshot/schema.h"

enum { REPLAY_SECOND_MS = 1000 };

struct replay {
    size_t references;
    struct loop *loop;        /* borrowed */
    struct replay_file *file; /* owned; the thread's while jobs are under way */
    struct worker *worker;    /* owned; NULL before the first read */
    int64_t *moments;         /* owned; the newest first */
    size_t moment_count;
};

struct replay_source {
    struct source source;  /* first: a pointer to it is a pointer to this */
    struct replay *replay; /* a reference */
    char *environment;     /* owned */
    int64_t at_ms;
};

struct replay_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    struct replay_job *job;  /* under way, or NULL */
    struct replayed_call found;
    unsigned pages; /* delivered */
};

struct replay_job {
    struct worker_job job;    /* first: a pointer to it is a pointer to this */
    struct replay_call *call; /* NULL: it has ended */
    struct replay *replay;    /* which waits for the job at its end */
    struct replay_request request;
    struct replayed page;
    struct error why; /* with a kind: instead of the page */
};

bool replay_find_kind(const char *file, bool *is_recording, struct error *err)
{
    struct database *database = database_open(file, DATABASE_READ, err);
    bool ok = database && schema_check(database, err) &&
              recording_file_check(database, is_recording, err);
    database_close(database);
    return ok;
}

struct replay *replay_open(const char *file, struct loop *loop, struct error *err)
{
    struct replay *replay = calloc(1, sizeof *replay);
    if (!replay) {
        error_no_memory(err);
        return NULL;
    }
    replay->references = 1;
    replay->loop = loop;
    replay->file = replay_file_open(file, err);
    if (replay->file &&
        replay_file_read_moments(replay->file, &replay->moments, &replay->moment_count, err))
        return replay;
    replay_unref(replay);
    return NULL;
}

struct replay *replay_ref(struct replay *replay)
{
    replay->references++;
    return replay;
}

void replay_unref(struct replay *replay)
{
    if (!replay || --replay->references > 0)
        return;
    worker_destroy(replay->worker);
    replay_file_close(replay->file);
    free(replay->moments);
    free(replay);
}

char *replay_read_suffix(const char *file)
{
    char *suffix = NULL;
    struct replay_file *opened = replay_file_open(file, NULL);
    if (opened)
        replay_file_read_fact(opened, "suffix", &suffix, NULL);
    replay_file_close(opened);
    return suffix;
}

void replay_write_origin(const struct replay *replay, int64_t at_ms, struct buf *out)
{
    if (at_ms == INT64_MAX && replay->moment_count > 0)
        at_ms = replay->moments[0];
    if (at_ms != INT64_MAX)
        instant_write(out, at_ms);
    buf_printf(out, " in the recording %s", replay_file_name(replay->file));
}

size_t replay_moments(const struct replay *replay, const int64_t **newest_first)
{
    *newest_first = replay->moments;
    return replay->moment_count;
}

/* Calls. */

static void replay_free_job(struct replay_job *job)
{
    replay_request_clean_up(&job->request);
    replayed_clean_up(&job->page);
    free(job);
}

/* In the thread. */
static void replay_run(struct worker_job *base)
{
    struct replay_job *job = (struct replay_job *)base;
    replay_file_read(job->replay->file, &job->request, &job->page, &job->why);
}

static void replay_deliver(struct worker_job *base)
{
    struct replay_job *job = (struct replay_job *)base;
    struct replay_call *call = job->call;
    if (!call) {
        replay_free_job(job);
        return;
    }
    call->job = NULL;
    call->found = job->page.call;
    call->pages++;
    const struct replayed *from = &job->page;
    const struct page page = {
        .items = from->items,
        .item_count = from->item_count,
        .counted = from->counted,
        .scanned = from->scanned,
        .scanned_twice = from->scanned_twice,
        .names = from->names,
        .name_count = from->name_count,
        .table = from->table,
        .description = from->description,
        .continues = from->continues,
        .more = from->more,
        .request_id = "",
    };
    bool failed = job->why.kind != ERROR_NONE;
    call->base.fn(call->base.arg, failed ? NULL : &page, failed ? &job->why : NULL);
    replay_free_job(job);
}

static bool replay_send(struct replay_call *call)
{
    struct replay_source *source = (struct replay_source *)call->base.source;
    struct replay *replay = source->replay;
    if (!replay->worker)
        replay->worker = worker_new(replay->loop);
    struct replay_job *job = replay->worker ? calloc(1, sizeof *job) : NULL;
    if (!job)
        return false;
    job->job = (struct worker_job){.run = replay_run, .done = replay_deliver};
    job->call = call;
    job->replay = replay;
    job->request.call = call->found;
    job->request.page = call->pages + 1;
    job->request.at_ms = source->at_ms;
    if (!replay_request_init(&job->request, call->base.read, span_text(source->environment))) {
        replay_free_job(job);
        return false;
    }
    call->job = job;
    worker_send(replay->worker, &job->job);
    return true;
}

static bool replay_start(struct source_call *base)
{
    return replay_send((struct replay_call *)base);
}

static void replay_more(struct source_call *base)
{
    struct error why;
    if (replay_send((struct replay_call *)base))
        return;
    error_no_memory(&why);
    base->fn(base->arg, NULL, &why);
}

static void replay_end(struct source_call *base)
{
    struct replay_call *call = (struct replay_call *)base;
    struct replay_job *job = call->job;
    if (!job)
        return;
    job->call = NULL;
    if (worker_take_back(job->replay->worker, &job->job))
        replay_free_job(job);
}

static void replay_destroy(struct source *base)
{
    struct replay_source *source = (struct replay_source *)base;
    replay_unref(source->replay);
    free(source->environment);
    free(source);
}

static const struct source_ops replay_ops = {
    .layer = SOURCE_SERVICE,
    .call_size = sizeof(struct replay_call),
    .start = replay_start,
    .more = replay_more,
    .end = replay_end,
    .destroy = replay_destroy,
};

struct source *replay_new(struct replay *replay, struct span environment, int64_t at_ms)
{
    struct replay_source *source = calloc(1, sizeof *source);
    char *name = strndup(environment.data ? environment.data : "", environment.size);
    if (!source || !name) {
        free(source);
        free(name);
        return NULL;
    }
    *source = (struct replay_source){.source = {.ops = &replay_ops},
                                     .replay = replay_ref(replay),
                                     .environment = name,
                                     .at_ms = at_ms};
    if (at_ms < INT64_MAX - REPLAY_SECOND_MS) /* the end of its second */
        source->at_ms = at_ms - at_ms % REPLAY_SECOND_MS + REPLAY_SECOND_MS - 1;
    return &source->source;
}
