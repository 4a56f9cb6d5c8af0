/* Stands in for parts of the simulator that are not there yet. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_history.h"
#include "tests/sim/sim_kernel.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_paths.h"
#include "tests/sim/sim_streams.h"
#include "tests/sim/sim_tables.h"
#include "tests/sim/sim_text.h"
#include "tests/sim/sim_vectors.h"
#include "tests/sim/sim_world.h"

#define WEAK __attribute__((weak))

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
