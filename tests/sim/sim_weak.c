/* Stands in for parts of the simulator that are not there yet. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/http.h"
#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_history.h"
#include "tests/sim/sim_kernel.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_paths.h"
#include "tests/sim/sim_service.h"
#include "tests/sim/sim_streams.h"
#include "tests/sim/sim_tables.h"
#include "tests/sim/sim_text.h"
#include "tests/sim/sim_vectors.h"
#include "tests/sim/sim_world.h"

#define WEAK __attribute__((weak))

/* Causes. */
WEAK const char *sim_fault_name(enum sim_fault fault)
{
    (void)fault;
    return "fault";
}
WEAK unsigned sim_causes_plan(unsigned first_number, int64_t life_ms)
{
    (void)life_ms;
    return first_number;
}
WEAK bool sim_causes_strike(enum sim_fault fault, const char *detail)
{
    (void)fault;
    (void)detail;
    return false;
}
WEAK void sim_causes_note(enum sim_fault fault, const char *detail)
{
    (void)fault;
    (void)detail;
}
WEAK bool sim_causes_explain(int error, int64_t from_ms, int64_t until_ms, int64_t reach_ms)
{
    (void)error;
    (void)from_ms;
    (void)until_ms;
    (void)reach_ms;
    return false;
}
WEAK bool sim_causes_any(int64_t from_ms, int64_t until_ms)
{
    (void)from_ms;
    (void)until_ms;
    return false;
}

/* Streams and vectors. */
WEAK const char *sim_streams_view(const struct sim_table *table)
{
    (void)table;
    return "NEW_AND_OLD_IMAGES";
}
WEAK bool sim_vectors_draw(struct sim_dice *dice, const struct sim_table *table,
                           struct sim_attribute *out)
{
    (void)dice;
    (void)table;
    (void)out;
    return false;
}

/* Kernel: the greeting alone. */
static struct {
    bool is_mounted, greets, is_live;
} weak_kernel;

WEAK void sim_kernel_mount(void)
{
    weak_kernel.is_mounted = weak_kernel.greets = true;
}
WEAK void sim_kernel_unmount(void)
{
    weak_kernel.is_mounted = false;
}
WEAK bool sim_kernel_is_live(void)
{
    return weak_kernel.is_live && weak_kernel.is_mounted;
}
WEAK void sim_kernel_device_close(void)
{
    weak_kernel.is_mounted = false;
}
WEAK bool sim_kernel_device_is_readable(void)
{
    return weak_kernel.greets || !weak_kernel.is_mounted;
}
WEAK ssize_t sim_kernel_device_read(void *bytes, size_t size)
{
    /* struct fuse_in_header and struct fuse_init_in of version 7.31 */
    uint32_t words[14] = {56, 26, 1, 0, 0, 0, 0, 0, 0, 0, 7, 31, 131072, 0xffff};
    if (weak_kernel.greets && size >= sizeof words) {
        weak_kernel.greets = false;
        memcpy(bytes, words, sizeof words);
        return sizeof words;
    }
    errno = weak_kernel.is_mounted ? EAGAIN : ENODEV;
    return -1;
}
WEAK ssize_t sim_kernel_device_writev(const struct iovec *parts, int count)
{
    ssize_t size = 0;
    for (int i = 0; i < count; i++)
        size += (ssize_t)parts[i].iov_len;
    weak_kernel.is_live = true;
    return size;
}
WEAK struct sim_kernel_counts sim_kernel_count(void)
{
    return (struct sim_kernel_counts){0};
}
WEAK const struct sim_process *sim_kernel_find_process(pid_t pid)
{
    (void)pid;
    return NULL;
}
WEAK const struct sim_process *sim_kernel_next_process(pid_t after)
{
    (void)after;
    return NULL;
}
WEAK void sim_kernel_configure(const struct sim_mounting *mounting)
{
    (void)mounting;
}
WEAK void sim_kernel_add_process(struct sim_process *process)
{
    (void)process;
}
WEAK void sim_kernel_remove_process(struct sim_process *process)
{
    (void)process;
}
WEAK void sim_kernel_signal(struct sim_process *process)
{
    (void)process;
}
WEAK void sim_kernel_shrink(unsigned per_mille)
{
    (void)per_mille;
}
WEAK int sim_sys_stat(struct sim_process *process, const char *path, struct stat *out)
{
    (void)process;
    (void)path;
    (void)out;
    return -ENOENT;
}
WEAK int sim_sys_open(struct sim_process *process, const char *path)
{
    (void)process;
    (void)path;
    return -ENOENT;
}
WEAK ssize_t sim_sys_pread(struct sim_process *process, int fd, void *bytes, size_t size,
                           off_t offset)
{
    (void)process;
    (void)fd;
    (void)bytes;
    (void)size;
    (void)offset;
    return -EBADF;
}
WEAK int sim_sys_opendir(struct sim_process *process, const char *path)
{
    (void)process;
    (void)path;
    return -ENOENT;
}
WEAK ssize_t sim_sys_getdents(struct sim_process *process, int fd, struct sim_entry *out,
                              size_t count)
{
    (void)process;
    (void)fd;
    (void)out;
    (void)count;
    return -EBADF;
}
WEAK int sim_sys_seekdir(struct sim_process *process, int fd, int64_t cookie)
{
    (void)process;
    (void)fd;
    (void)cookie;
    return -EBADF;
}
WEAK ssize_t sim_sys_readlink(struct sim_process *process, const char *path, char *out, size_t size)
{
    (void)process;
    (void)path;
    (void)out;
    (void)size;
    return -ENOENT;
}
WEAK int sim_sys_close(struct sim_process *process, int fd)
{
    (void)process;
    (void)fd;
    return -EBADF;
}
WEAK int sim_sys_write_attempt(struct sim_process *process, const char *path, unsigned kind)
{
    (void)process;
    (void)path;
    (void)kind;
    return -EROFS;
}

/* Life. */
WEAK struct sim_action *sim_life_plan(unsigned first_number, unsigned *count)
{
    (void)first_number;
    *count = 0;
    return NULL;
}
WEAK const struct sim_life_options *sim_life_options(void)
{
    static const struct sim_life_options options = {.timeout_ms = 10000};
    return &options;
}
WEAK const char *const *sim_life_words(const char *scratch, unsigned *count)
{
    (void)scratch;
    *count = 0;
    return NULL;
}
WEAK void sim_actors_start(const struct sim_action *actions, unsigned count)
{
    (void)actions;
    (void)count;
}
WEAK bool sim_actors_have_ended(void)
{
    return true;
}
WEAK void sim_life_check_end(void)
{
}
WEAK struct sim_life_counts sim_life_count(void)
{
    return (struct sim_life_counts){0};
}

/* Paths. */
WEAK const char *sim_paths_draw_map(void)
{
    return NULL;
}
WEAK const char *sim_paths_redraw_map(void)
{
    return NULL;
}
WEAK enum sim_path_kind sim_paths_draw(struct sim_dice *dice, enum sim_path_kind kind, char *out)
{
    (void)dice;
    (void)kind;
    strcpy(out, "/");
    return SIM_PATH_STRUCTURE;
}
WEAK void sim_oracle_file(const char *path, const char *bytes, size_t size, int64_t from_ms,
                          int64_t until_ms)
{
    (void)path;
    (void)bytes;
    (void)size;
    (void)from_ms;
    (void)until_ms;
}
WEAK void sim_oracle_listing(const char *path, char *const *names, size_t count, int64_t from_ms,
                             int64_t until_ms)
{
    (void)path;
    (void)names;
    (void)count;
    (void)from_ms;
    (void)until_ms;
}
WEAK void sim_oracle_error(const char *path, const char *operation, int error, int64_t from_ms,
                           int64_t until_ms)
{
    (void)path;
    (void)operation;
    (void)error;
    (void)from_ms;
    (void)until_ms;
}
WEAK void sim_oracle_stat(const char *path, const struct stat *stat, int64_t from_ms,
                          int64_t until_ms)
{
    (void)path;
    (void)stat;
    (void)from_ms;
    (void)until_ms;
}
WEAK void sim_oracle_link(const char *path, const char *target, int64_t from_ms, int64_t until_ms)
{
    (void)path;
    (void)target;
    (void)from_ms;
    (void)until_ms;
}
WEAK void sim_oracle_note_refresh(const char *path)
{
    (void)path;
}

/* The service: each request is denied, which permits the mount. */
struct transfer {
    struct loop_timer *timer;
    transport_done_fn *done;
    void *arg;
};
struct weak_transport {
    struct transport base;
    struct loop *loop;
};

static void weak_on_timer(void *arg)
{
    struct transfer transfer = *(struct transfer *)arg;
    static char body[] = "{\"__type\":\"com.amazonaws.dynamodb.v20120810#AccessDeniedException\","
                         "\"message\":\"no\"}";
    const struct http_response response = {
        .status = 400, .body = span_of(body, sizeof body - 1), .authentic = true};
    free(arg);
    transfer.done(transfer.arg, &response, NULL);
}

static struct transfer *weak_send(struct transport *transport, const struct http_request *request,
                                  transport_done_fn *done, void *arg)
{
    struct transfer *transfer = malloc(sizeof *transfer);
    (void)request;
    if (!transfer)
        return NULL;
    *transfer = (struct transfer){NULL, done, arg};
    transfer->timer =
        loop_add_timer(((struct weak_transport *)transport)->loop, 20, weak_on_timer, transfer);
    return transfer;
}

static void weak_cancel(struct transfer *transfer)
{
    loop_remove_timer(transfer->timer);
    free(transfer);
}

static void weak_destroy(struct transport *transport)
{
    free(transport);
}

WEAK struct transport *http_new(struct loop *loop, const struct http_options *options,
                                struct error *err)
{
    static const struct transport_ops ops = {weak_send, weak_cancel, weak_destroy};
    struct weak_transport *made = malloc(sizeof *made);
    (void)options;
    (void)err;
    if (made)
        *made = (struct weak_transport){{&ops}, loop};
    return made ? &made->base : NULL;
}

WEAK struct sim_books sim_service_books(void)
{
    return (struct sim_books){0};
}
WEAK struct sim_books sim_service_books_of(const char *name)
{
    (void)name;
    return (struct sim_books){0};
}
WEAK size_t sim_transport_count(void)
{
    return 0;
}

WEAK uint64_t sim_transport_sent(void)
{
    return 0;
}
WEAK int sim_sys_lstat(struct sim_process *process, const char *path, struct stat *out)
{
    (void)process;
    (void)path;
    (void)out;
    return -ENOTCONN;
}
WEAK int64_t sim_paths_ttl_ms(const char *path)
{
    (void)path;
    return 0;
}
WEAK bool sim_paths_is_item(const char *path, const char *name)
{
    (void)path;
    (void)name;
    return false;
}

WEAK bool sim_tables_answer(const char *operation, const struct sim_json *request,
                            const struct sim_mood *mood, struct sim_outcome *out)
{
    (void)operation;
    (void)request;
    (void)mood;
    (void)out;
    return false;
}
WEAK void sim_outcome_clean_up(struct sim_outcome *outcome)
{
    (void)outcome;
}
WEAK void sim_tables_write_item(struct sim_text *out, const struct sim_version *version)
{
    (void)out;
    (void)version;
}
