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
};

/* The device: called by the wrapped system calls of the program (sim_os.c). */
ssize_t sim_kernel_device_read(void *bytes, size_t size);               /* -1 with errno */
ssize_t sim_kernel_device_writev(const struct iovec *parts, int count); /* -1 with errno */
bool sim_kernel_device_is_readable(void);
/* The program has closed the device, or the mount is gone: requests fail with ENOTCONN. */
void sim_kernel_device_close(void);

/* The mount begins: queues FUSE_INIT. */
void sim_kernel_mount(void);
/* Another process unmounts: the device returns ENODEV from now on. */
void sim_kernel_unmount(void);
bool sim_kernel_is_live(void); /* FUSE_INIT has its reply, and it is mounted */

/* System calls on the mount; PATH begins with "/", which is the mountpoint. Each runs on a fiber,
 * may wait, and returns a negative errno as a kernel does. */
int sim_sys_stat(struct sim_process *process, const char *path, struct stat *out);
int sim_sys_open(struct sim_process *process, const char *path); /* a file's descriptor */
ssize_t sim_sys_pread(struct sim_process *process, int fd, void *bytes, size_t size, off_t offset);
int sim_sys_opendir(struct sim_process *process, const char *path);
/* Up to COUNT entries from the directory's cursor; 0: the end. PLUS: attributes were known, and
 * STAT is filled. */
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
/* A write of any kind; the result must be EROFS. */
int sim_sys_write_attempt(struct sim_process *process, const char *path, unsigned kind);

/* A signal: if the process waits for a request, FUSE_INTERRUPT is sent (perhaps before the request
 * is read, perhaps after its reply). */
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
void sim_kernel_add_process(struct sim_process *process); /* borrowed until it is removed */
void sim_kernel_remove_process(struct sim_process *process);

#endif
