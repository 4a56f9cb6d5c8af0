/* Calls of the system that the program makes: files of the machine, processes, the mount itself. */
#include "tests/sim/sim_os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fs/mount/mount.h"
#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_kernel.h"
#include "tests/sim/sim_log.h"
#include "tests/sim/sim_memory.h"
#include "tests/sim/sim_world.h"

/* The folder of a life has this name for the program, so that texts are equal in all of its runs.
 */
#define SIM_FOLDER "/proc/self/cwd"

enum { SIM_MINOR = 42 };

static const uint64_t SIM_DISK_BYTES = UINT64_C(64) << 30;

int sim_real_close(int fd) SIM_REAL(close);
ssize_t sim_real_read(int fd, void *bytes, size_t size) SIM_REAL(read);
ssize_t sim_real_write(int fd, const void *bytes, size_t size) SIM_REAL(write);
ssize_t sim_real_writev(int fd, const struct iovec *parts, int count) SIM_REAL(writev);
ssize_t sim_real_pread(int fd, void *bytes, size_t size, off_t offset) SIM_REAL(pread64);
ssize_t sim_real_pwrite(int fd, const void *bytes, size_t size, off_t offset) SIM_REAL(pwrite64);
int sim_real_poll(struct pollfd *fds, nfds_t count, int timeout_ms) SIM_REAL(poll);
int sim_real_fcntl(int fd, int command, ...) SIM_REAL(fcntl64);
int sim_real_open(const char *path, int flags, ...) SIM_REAL(open64);
int sim_real_openat(int folder, const char *path, int flags, ...) SIM_REAL(openat64);
FILE *sim_real_fopen(const char *path, const char *mode) SIM_REAL(fopen64);
DIR *sim_real_opendir(const char *path) SIM_REAL(opendir);
int sim_real_access(const char *path, int mode) SIM_REAL(access);
char *sim_real_realpath(const char *path, char *out) SIM_REAL(realpath);

int sim_os_close(int fd) SIM_WRAP(close);
ssize_t sim_os_read(int fd, void *bytes, size_t size) SIM_WRAP(read);
ssize_t sim_os_write(int fd, const void *bytes, size_t size) SIM_WRAP(write);
ssize_t sim_os_writev(int fd, const struct iovec *parts, int count) SIM_WRAP(writev);
ssize_t sim_os_pread(int fd, void *bytes, size_t size, off_t offset) SIM_WRAP(pread64);
ssize_t sim_os_pwrite(int fd, const void *bytes, size_t size, off_t offset) SIM_WRAP(pwrite64);
int sim_os_poll(struct pollfd *fds, nfds_t count, int timeout_ms) SIM_WRAP(poll);
int sim_os_fcntl(int fd, int command, ...) SIM_WRAP(fcntl64);
int sim_os_open(const char *path, int flags, ...) SIM_WRAP(open64);
int sim_os_openat(int folder, const char *path, int flags, ...) SIM_WRAP(openat64);
FILE *sim_os_fopen(const char *path, const char *mode) SIM_WRAP(fopen64);
DIR *sim_os_opendir(const char *path) SIM_WRAP(opendir);
int sim_os_access(const char *path, int mode) SIM_WRAP(access);
char *sim_os_realpath(const char *path, char *out) SIM_WRAP(realpath);
int sim_os_tgkill(pid_t process, pid_t task, int number) SIM_WRAP(tgkill);
pid_t sim_os_getpid(void) SIM_WRAP(getpid);
uid_t sim_os_getuid(void) SIM_WRAP(getuid);
uid_t sim_os_geteuid(void) SIM_WRAP(geteuid);
gid_t sim_os_getgid(void) SIM_WRAP(getgid);
gid_t sim_os_getegid(void) SIM_WRAP(getegid);
int sim_os_prctl(int option, ...) SIM_WRAP(prctl);
struct mallinfo2 sim_os_mallinfo(void) SIM_WRAP(mallinfo2);
int sim_os_malloc_trim(size_t pad) SIM_WRAP(malloc_trim);
ssize_t sim_os_getrandom(void *bytes, size_t size, unsigned flags) SIM_WRAP(getrandom);
int sim_os_statx(int folder, const char *path, int flags, unsigned mask, struct statx *out)
    SIM_WRAP(statx);
int sim_real_stat(const char *path, struct stat *out) SIM_REAL(stat64);
int sim_real_fstat(int fd, struct stat *out) SIM_REAL(fstat64);
int sim_os_stat(const char *path, struct stat *out) SIM_WRAP(stat64);
int sim_os_fstat(int fd, struct stat *out) SIM_WRAP(fstat64);
int sim_os_statvfs(const char *path, struct statvfs *out) SIM_WRAP(statvfs64);
int sim_os_umount(const char *path, int flags) SIM_WRAP(umount2);
int sim_os_session_mount(struct fuse_session *session, const char *mountpoint)
    SIM_WRAP(fuse_session_mount);
void sim_os_session_unmount(struct fuse_session *session) SIM_WRAP(fuse_session_unmount);
int sim_os_session_fd(struct fuse_session *session) SIM_WRAP(fuse_session_fd);
int sim_real_session_receive(struct fuse_session *session, struct fuse_buf *buf)
    SIM_REAL(fuse_session_receive_buf);
int sim_os_session_receive(struct fuse_session *session, struct fuse_buf *buf)
    SIM_WRAP(fuse_session_receive_buf);
char *sim_os_getcwd(char *out, size_t size) SIM_WRAP(getcwd);

static int sim_os_session;

/* Descriptors. */

int sim_os_close(int fd)
{
    sim_world_yield();
    return sim_fd_is_own(fd) ? sim_fd_close(fd) : sim_real_close(fd);
}

ssize_t sim_os_read(int fd, void *bytes, size_t size)
{
    if (sim_fd_is_device(fd))
        return sim_kernel_device_read(bytes, size);
    sim_world_yield();
    return sim_fd_is_own(fd) ? sim_fd_read(fd, bytes, size) : sim_real_read(fd, bytes, size);
}

ssize_t sim_os_pread(int fd, void *bytes, size_t size, off_t offset)
{
    return sim_fd_is_own(fd) ? sim_fd_pread(fd, bytes, size, offset)
                             : sim_real_pread(fd, bytes, size, offset);
}

/* The log of the program is part of the story. */
static ssize_t sim_os_log(const char *bytes, size_t size)
{
    size_t shown = size > 0 && bytes[size - 1] == '\n' ? size - 1 : size;
    sim_tell("log", "%.*s", (int)shown, bytes);
    sim_log_check(bytes, shown);
    return (ssize_t)size;
}

/* A full disk: some writes put nothing, some a part. */
static bool sim_os_disk_is_full(size_t *size)
{
    if (!sim_causes_strike(SIM_FAULT_SPOOL, "a write to a file"))
        return false;
    *size /= 2;
    errno = ENOSPC;
    return true;
}

ssize_t sim_os_write(int fd, const void *bytes, size_t size)
{
    if (fd == STDERR_FILENO)
        return sim_os_log(bytes, size);
    ssize_t done;
    if (sim_fd_is_own(fd))
        done = sim_fd_write(fd, bytes, size);
    else if (sim_os_disk_is_full(&size) && size == 0)
        done = -1;
    else
        done = sim_real_write(fd, bytes, size);
    sim_world_yield();
    return done;
}

ssize_t sim_os_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    if (sim_os_disk_is_full(&size) && size == 0)
        return -1;
    return sim_real_pwrite(fd, bytes, size, offset);
}

ssize_t sim_os_writev(int fd, const struct iovec *parts, int count)
{
    if (!sim_fd_is_device(fd))
        return sim_real_writev(fd, parts, count);
    ssize_t done = sim_kernel_device_writev(parts, count);
    sim_world_yield();
    return done;
}

static bool sim_os_is_ready(void *arg)
{
    return sim_fd_is_readable(((struct pollfd *)arg)->fd);
}

static bool sim_os_never(void *arg)
{
    (void)arg;
    return false;
}

/* Standard error and output accept all; without descriptors it is a pause. */
int sim_os_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    int64_t until_ms = timeout_ms < 0 ? INT64_MAX : sim_now_ms() + timeout_ms;
    if (count == 0) {
        sim_world_wait(sim_os_never, NULL, until_ms);
        return 0;
    }
    if (count != 1)
        sim_broken("poll of %lu descriptors", (unsigned long)count);
    fds->revents = 0;
    if (!sim_fd_is_own(fds->fd)) {
        fds->revents = fds->events & POLLOUT;
        return fds->revents != 0;
    }
    if (!sim_world_wait(sim_os_is_ready, fds, until_ms))
        return 0;
    fds->revents = POLLIN;
    return 1;
}

int sim_os_fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    long value = va_arg(args, long);
    va_end(args);
    if (sim_fd_is_own(fd))
        return sim_fd_fcntl(fd, command, (int)value);
    return sim_real_fcntl(fd, command, value);
}

/* Files. Those of processes are the simulator's; the others are the machine's. */

/* "PID/NAME" of a path below /proc; NULL: it is no path of a process. */
static const char *sim_os_process_of(int folder, const char *path)
{
    if (folder != SIM_PROC_FD)
        path = strncmp(path, "/proc/", 6) == 0 ? path + 6 : "";
    return path[0] >= '0' && path[0] <= '9' ? path : NULL;
}

static int sim_os_open_process(const char *path)
{
    char *text = sim_proc_read(path);
    if (!text) {
        errno = ENOENT;
        return -1;
    }
    int fd = sim_fd_open_text(text, strlen(text));
    sim_free(text);
    return fd;
}

int sim_os_openat(int folder, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, unsigned) : 0;
    va_end(args);
    const char *process = sim_os_process_of(folder, path);
    return process ? sim_os_open_process(process) : sim_real_openat(folder, path, flags, mode);
}

int sim_os_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, unsigned) : 0;
    va_end(args);
    const char *process = sim_os_process_of(AT_FDCWD, path);
    return process ? sim_os_open_process(process) : sim_real_open(path, flags, mode);
}

/* The number of pages of this very process is no part of a life. */
FILE *sim_os_fopen(const char *path, const char *mode)
{
    bool is_own = strcmp(path, "/proc/self/statm") == 0;
    const char *process = sim_os_process_of(AT_FDCWD, path);
    if (!is_own && !process)
        return sim_real_fopen(path, mode);
    char *text = is_own ? sim_copy("1000 500 100 10 0 300 0\n") : sim_proc_read(process);
    if (!text) {
        errno = ENOENT;
        return NULL;
    }
    FILE *file = fmemopen(NULL, strlen(text) + 1, "w+e");
    if (!file || fputs(text, file) < 0)
        sim_broken("no memory for a file");
    rewind(file);
    sim_free(text);
    return file;
}

DIR *sim_os_opendir(const char *path)
{
    return strcmp(path, "/proc") == 0 ? sim_proc_open_folder() : sim_real_opendir(path);
}

int sim_os_access(const char *path, int mode)
{
    if (strcmp(path, "/dev/fuse") == 0 || strcmp(path, "/usr/bin/fusermount3") == 0)
        return 0;
    return sim_real_access(path, mode);
}

char *sim_os_realpath(const char *path, char *out)
{
    if (strncmp(path, SIM_FOLDER, strlen(SIM_FOLDER)) == 0)
        return out ? strcpy(out, path) : strdup(path);
    char *found = sim_real_realpath(path, out);
    sim_memory_add(found && !out);
    return found;
}

char *sim_os_getcwd(char *out, size_t size)
{
    return sim_os_realpath(SIM_FOLDER, size >= sizeof SIM_FOLDER ? out : NULL);
}

int sim_os_statx(int folder, const char *path, int flags, unsigned mask, struct statx *out)
{
    (void)folder;
    (void)path;
    (void)flags;
    (void)mask;
    *out = (struct statx){.stx_dev_minor = SIM_MINOR};
    return 0;
}

/* A file of the life belongs to the program's user, and has the date of the begin. */
static int sim_os_own(int result, struct stat *status)
{
    if (result != 0)
        return result;
    status->st_uid = status->st_gid = SIM_USER;
    status->st_mtim = status->st_ctim = status->st_atim = (struct timespec){0};
    return 0;
}

int sim_os_stat(const char *path, struct stat *out)
{
    return sim_os_own(sim_real_stat(path, out), out);
}

int sim_os_fstat(int fd, struct stat *out)
{
    return sim_os_own(sim_real_fstat(fd, out), out);
}

int sim_os_statvfs(const char *path, struct statvfs *out)
{
    (void)path;
    *out = (struct statvfs){.f_bsize = 4096,
                            .f_frsize = 4096,
                            .f_blocks = SIM_DISK_BYTES / 4096,
                            .f_bfree = SIM_DISK_BYTES / 8192,
                            .f_bavail = SIM_DISK_BYTES / 8192};
    return 0;
}

/* Processes. */

int sim_os_tgkill(pid_t process, pid_t task, int number)
{
    (void)task;
    (void)number;
    if (sim_kernel_find_process(process))
        return 0;
    errno = ESRCH;
    return -1;
}

pid_t sim_os_getpid(void)
{
    return SIM_PID;
}

uid_t sim_os_getuid(void)
{
    return SIM_USER;
}

uid_t sim_os_geteuid(void)
{
    return SIM_USER;
}

gid_t sim_os_getgid(void)
{
    return SIM_USER;
}

gid_t sim_os_getegid(void)
{
    return SIM_USER;
}

/* Debuggers and the leak sanitizer need this process as it is. */
int sim_os_prctl(int option, ...)
{
    (void)option;
    return 0;
}

struct mallinfo2 sim_os_mallinfo(void)
{
    return (struct mallinfo2){0};
}

int sim_os_malloc_trim(size_t pad)
{
    (void)pad;
    return 0;
}

ssize_t sim_os_getrandom(void *bytes, size_t size, unsigned flags)
{
    static struct sim_dice dice;
    static bool is_thrown;
    (void)flags;
    if (!is_thrown)
        dice = sim_dice_for("getrandom", 0);
    is_thrown = true;
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)sim_dice_draw(&dice);
    return (ssize_t)size;
}

/* The mount. libfuse closes the session's descriptor, so that it must be a real one. */

int sim_os_session_mount(struct fuse_session *session, const char *mountpoint)
{
    (void)session;
    (void)mountpoint;
    sim_os_session = sim_real_open("/dev/null", O_RDWR | O_CLOEXEC);
    if (sim_os_session < 0)
        return -1;
    sim_fd_set_device(sim_os_session);
    sim_kernel_mount();
    return 0;
}

void sim_os_session_unmount(struct fuse_session *session)
{
    (void)session;
    sim_kernel_device_close();
    sim_fd_set_device(-1);
}

int sim_os_session_fd(struct fuse_session *session)
{
    (void)session;
    return sim_os_session;
}

/* libfuse allocates the buffer, and the program frees it. */
int sim_os_session_receive(struct fuse_session *session, struct fuse_buf *buf)
{
    bool was_empty = !buf->mem;
    int size = sim_real_session_receive(session, buf);
    sim_memory_add(was_empty && buf->mem);
    return size;
}

int sim_os_umount(const char *path, int flags)
{
    (void)path;
    (void)flags;
    sim_kernel_unmount();
    return 0;
}
