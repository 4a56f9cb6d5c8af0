/* A kernel: system calls of actors become requests of the FUSE protocol to the program's own
 * session, and what a kernel caches is cached as a kernel does: dentries with their time-outs,
 * negative ones, lookup counts, inodes, pages, attributes. */
#ifndef DDBFS_TESTS_SIM_SIM_KERNEL_H
#define DDBFS_TESTS_SIM_SIM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

/* A process of the machine: an actor runs as one. */
struct sim_process {
    pid_t pid, group;
    uid_t uid;
    gid_t gid;
    char program[16];
    bool is_signalled; /* a deadly signal waits: its waiting request is interrupted */
    /* For the false /proc; the kernel's own: 'S' sleeps and hears signals, 'D' does not hear them,
     * 0 runs. How often it has gone to sleep. */
    char state;
    uint64_t switches;
    struct sim_call *calls; /* that it waits for; the kernel's own */
};

/* The device: called by the wrapped system calls of the program (sim_os.c). */
ssize_t sim_kernel_device_read(void *bytes, size_t size);               /* -1 with errno */
ssize_t sim_kernel_device_writev(const struct iovec *parts, int count); /* -1 with errno */
bool sim_kernel_device_is_readable(void);
/* The program has closed the device, or the mount is gone: requests fail with ENOTCONN. */
void sim_kernel_device_close(void);

/* Who has mounted, and the deadline of each request (3 times --timeout; 0: none). Before
 * sim_kernel_mount. */
struct sim_mounting {
    uid_t uid;
    gid_t gid;
    bool allow_other;
    int64_t deadline_ms;
};
void sim_kernel_configure(const struct sim_mounting *mounting);

/* The mount begins: queues FUSE_INIT. */
void sim_kernel_mount(void);
/* Another process unmounts: the device returns ENODEV from now on. */
void sim_kernel_unmount(void);
bool sim_kernel_knows_epochs(void);
/* When a listing's names were last made valid in an epoch that began after their reply had come (0:
 * never): fuse_direntplus_link of Linux reads the epoch when it links. */
int64_t sim_kernel_straddled_ms(void);
bool sim_kernel_is_live(void); /* FUSE_INIT has its reply, and it is mounted */

/* System calls on the mount; PATH begins with "/", which is the mountpoint. Each runs on a fiber,
 * may wait, and returns a negative errno as a kernel does. */
/* stat follows links, lstat does not follow the last one. */
int sim_sys_stat(struct sim_process *process, const char *path, struct stat *out);
int sim_sys_lstat(struct sim_process *process, const char *path, struct stat *out);
int sim_sys_statfs(struct sim_process *process, const char *path);
ssize_t sim_sys_getxattr(struct sim_process *process, const char *path, const char *name);
int sim_sys_open(struct sim_process *process, const char *path); /* a file's descriptor */
ssize_t sim_sys_pread(struct sim_process *process, int fd, void *bytes, size_t size, off_t offset);
int sim_sys_opendir(struct sim_process *process, const char *path);
/* Up to COUNT entries from the directory's cursor, with "." and ".."; 0: the end. */
struct sim_entry {
    char name[256];
    uint64_t ino;
    unsigned type; /* DT_DIR, DT_REG, DT_LNK */
    int64_t cookie;
};
ssize_t sim_sys_getdents(struct sim_process *process, int fd, struct sim_entry *out, size_t count);
int sim_sys_seekdir(struct sim_process *process, int fd, int64_t cookie); /* 0: rewind */
ssize_t sim_sys_readlink(struct sim_process *process, const char *path, char *out, size_t size);
int sim_sys_close(struct sim_process *process, int fd);
/* A write: opens for writing, removes, makes a directory, truncates, changes the mode, renames
 * (KIND % 6). The result is EROFS, or an error of the path. */
int sim_sys_write_attempt(struct sim_process *process, const char *path, unsigned kind);

/* A deadly signal: if the process waits for a request, FUSE_INTERRUPT is sent (perhaps before the
 * request is read, perhaps after its reply). */
void sim_kernel_signal(struct sim_process *process);

/* Memory pressure: drops some unused dentries, inodes and pages, with FORGET or BATCH_FORGET.
 * PER_MILLE of them; 1000: all unused. */
void sim_kernel_shrink(unsigned per_mille);

/* What the kernel holds, for the oracles at the end of a life. */
struct sim_kernel_counts {
    size_t dentries, inodes, open_files, waiting_requests, queued_requests;
    uint64_t lookups;                          /* sum of nlookup */
    uint64_t requests, replies, notifications; /* so far */
};
struct sim_kernel_counts sim_kernel_count(void);

/* The process with this number, for the false /proc; NULL: it has ended. */
const struct sim_process *sim_kernel_find_process(pid_t pid);
/* The process with the lowest number beyond AFTER; NULL: there is none. */
const struct sim_process *sim_kernel_next_process(pid_t after);
void sim_kernel_add_process(struct sim_process *process); /* borrowed until it is removed */
void sim_kernel_remove_process(struct sim_process *process);

#endif
