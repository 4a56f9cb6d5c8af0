#include "core/import/s3_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/aws/s3_object.h"

enum { S3_LOOK_MS = 100 };

static const char s3_scheme[] = "s3://";

struct s3_folder {
    struct input_folder base;
    struct loop *loop;        /* borrowed */
    struct s3_client *client; /* owned */
    struct input_watch watch;
    bool has_read;         /* a file of it was read */
    char *bucket, *prefix; /* owned; the prefix without a slash at its end */
};

struct s3_input {
    struct input base;
    struct s3_folder *folder; /* borrowed */
    char *key;                /* owned */
    struct buf part;          /* the last one */
    size_t taken;             /* bytes of PART that were read */
    uint64_t end;             /* the offset behind PART */
    struct buf version;
    bool is_over;            /* the response under way has come */
    struct loop_timer *look; /* while a response is awaited: when the watch is called next */
    struct error err;
};

bool s3_input_is_url(const char *path)
{
    return strncmp(path, s3_scheme, strlen(s3_scheme)) == 0;
}

static void s3_input_take_part(void *arg, const struct s3_part *part, const struct error *err)
{
    struct s3_input *input = arg;
    input->is_over = true;
    if (err) {
        input->err = *err;
    } else if (input->end > 0 && part->size != input->base.size) {
        error_set(&input->err, ERROR_BAD_ANSWER,
                  "%s has %" PRIu64 " bytes, and had %" PRIu64 " when its first part was read; "
                  "check the endpoint, and import it again",
                  input->base.name, part->size, (uint64_t)input->base.size);
    } else {
        buf_truncate(&input->part, 0);
        buf_add_span(&input->part, part->bytes);
        buf_truncate(&input->version, 0);
        buf_add_text(&input->version, part->version);
        input->taken = 0;
        input->end += part->bytes.size;
        input->base.size = part->size;
    }
    loop_stop(input->folder->loop);
}

static void s3_input_look(void *arg)
{
    struct s3_input *input = arg;
    input->look = NULL;
    loop_stop(input->folder->loop);
}

/* Runs the loop until CALL is over. Ends it if the watch, or memory, wants so. */
static bool s3_input_wait(struct s3_input *input, struct s3_call *call, struct error *err)
{
    struct s3_folder *folder = input->folder;
    bool proceeds = true;
    while (!input->is_over && proceeds) {
        input->look = loop_add_timer(folder->loop, S3_LOOK_MS, s3_input_look, input);
        proceeds = input->look && loop_run(folder->loop) && folder->watch.waits(folder->watch.arg);
        loop_remove_timer(input->look);
        input->look = NULL;
    }
    if (input->is_over)
        return true;
    s3_call_end(call);
    return error_set(err, ERROR_TIMED_OUT, "%s was not read to its end: the import was interrupted",
                     input->base.name);
}

/* Waits for the part behind the last one. */
static bool s3_input_fetch(struct s3_input *input, struct error *err)
{
    struct s3_folder *folder = input->folder;
    const char *version = input->version.size > 0 ? buf_text(&input->version) : NULL;
    input->is_over = false;
    input->err = (struct error){0};
    struct s3_call *call = s3_part_read(folder->client, folder->bucket, input->key, input->end,
                                        version, s3_input_take_part, input);
    if (!call)
        return error_no_memory(err);
    if (!s3_input_wait(input, call, err))
        return false;
    if (input->part.failed || input->version.failed)
        return error_no_memory(err);
    bool is_missing = folder->has_read && input->err.kind == ERROR_DENIED &&
                      input->err.authenticated && input->end == 0;
    folder->has_read = folder->has_read || input->err.kind == ERROR_NONE;
    if (input->err.kind == ERROR_NONE)
        return true;
    *err = input->err;
    if (is_missing)
        err->kind = ERROR_NOT_FOUND;
    return false;
}

static bool s3_input_read(struct input *base, struct buf *out, struct error *err)
{
    struct s3_input *input = (struct s3_input *)base;
    bool has_more = input->end < base->size;
    if (input->taken == input->part.size && has_more && !s3_input_fetch(input, err))
        return false;
    size_t left = input->part.size - input->taken;
    size_t size = left < INPUT_CHUNK ? left : INPUT_CHUNK;
    if (size > 0)
        buf_add(out, input->part.data + input->taken, size);
    input->taken += size;
    base->position += size;
    return !out->failed || error_no_memory(err);
}

static void s3_input_close(struct input *base)
{
    struct s3_input *input = (struct s3_input *)base;
    buf_clean_up(&input->part);
    buf_clean_up(&input->version);
    free(input->key);
    free(input);
}

/* The first part is requested at once: it proves that the object exists. */
static struct input *s3_folder_open_file(struct input_folder *base, const char *name,
                                         struct error *err)
{
    static const struct input_ops ops = {s3_input_read, s3_input_close};
    struct s3_folder *folder = (struct s3_folder *)base;
    CLEAN_UP(buf_clean_up) struct buf key = {0}, shown = {0};
    struct s3_input *input = calloc(1, sizeof *input);
    if (!input) {
        error_no_memory(err);
        return NULL;
    }
    buf_printf(&key, "%s%s%s", folder->prefix, *name ? "/" : "", name);
    buf_printf(&shown, "%s%s/%s", s3_scheme, folder->bucket, buf_text(&key));
    *input = (struct s3_input){
        .base = {.ops = &ops, .name = buf_steal(&shown, NULL)},
        .folder = folder,
        .key = buf_steal(&key, NULL),
    };
    bool ok = input->base.name && input->key ? s3_input_fetch(input, err) : error_no_memory(err);
    if (ok)
        return &input->base;
    input_close(&input->base);
    return NULL;
}

static void s3_folder_close(struct input_folder *base)
{
    struct s3_folder *folder = (struct s3_folder *)base;
    s3_client_destroy(folder->client);
    free(folder->bucket);
    free(folder->prefix);
    free(folder);
}

static bool s3_folder_split(struct s3_folder *folder, const char *url, struct error *err)
{
    const char *bucket = url + strlen(s3_scheme), *slash = strchr(bucket, '/');
    size_t prefix_size = slash ? strlen(slash + 1) : 0;
    while (prefix_size > 0 && slash[prefix_size] == '/')
        prefix_size--;
    if (!slash || slash == bucket || prefix_size == 0)
        return error_set(err, ERROR_INVALID,
                         "%s is no address of an export; it has the form s3://bucket/prefix", url);
    folder->bucket = strndup(bucket, (size_t)(slash - bucket));
    folder->prefix = strndup(slash + 1, prefix_size);
    folder->base.name = strndup(url, (size_t)(slash + 1 - url) + prefix_size);
    return (folder->bucket && folder->prefix && folder->base.name) || error_no_memory(err);
}

struct input_folder *s3_input_open(const char *url, struct aws_session *session, struct loop *loop,
                                   int64_t deadline_ms, const struct input_watch *watch,
                                   struct error *err)
{
    static const struct input_folder_ops ops = {s3_folder_open_file, s3_folder_close};
    struct s3_folder *folder = calloc(1, sizeof *folder);
    if (!folder) {
        error_no_memory(err);
        return NULL;
    }
    *folder = (struct s3_folder){.base = {.ops = &ops},
                                 .loop = loop,
                                 .client = s3_client_new(session, deadline_ms),
                                 .watch = *watch};
    bool ok = folder->client ? s3_folder_split(folder, url, err) : error_no_memory(err);
    if (ok)
        return &folder->base;
    input_folder_close(&folder->base);
    return NULL;
}
