/* The kernel of tests: it asks a mount's operations, as libfuse would, and takes notes of their
 * replies. The mount stands on a scene, and so on a clock that waits for nothing. */
#ifndef DDBFS_TESTS_UNIT_KERNEL_H
#define DDBFS_TESTS_UNIT_KERNEL_H

#include "fs/mount/mount.h"
#include "tests/unit/scene.h"

/* A process that is no more: whatever interrupts it ends its wait. */
enum { KERNEL_CALLER = 4194305 };

/* A request, and the reply that it has got. */
struct fuse_req {
    struct mount *mount;
    struct fuse_ctx context;
    fuse_interrupt_func_t interrupt;
    void *interrupt_arg;
    unsigned replies;
    int error;
    struct fuse_entry_param entry;
    struct buf bytes; /* of a READ; of a READDIRPLUS "NAME INODE MODE\n" for each entry, where the
                         inode is 0 for one that is told by its name alone */
    off_t next;       /* where a READDIRPLUS goes on */
    uint64_t handle;
    struct fuse_req *older;
};

struct kernel {
    struct scene *scene;
    struct options options;
    struct app app;
    struct mount mount;
    struct fuse_req *newest; /* all requests; owned */
    int outcome;             /* what libfuse tells who replies with entries: 0, or an error */
};

/* Mounts the tree of SCENE, which is open. */
void kernel_mount(struct kernel *kernel, struct scene *scene);
/* Ends the mount; what still waits has got its reply before. */
void kernel_unmount(struct kernel *kernel);

/* Each asks, and returns without having waited. */
struct fuse_req *kernel_look_up(struct kernel *kernel, uint64_t parent, const char *name);
struct fuse_req *kernel_read(struct kernel *kernel, uint64_t ino);
struct fuse_req *kernel_opendir(struct kernel *kernel, uint64_t ino);
struct fuse_req *kernel_readdir(struct kernel *kernel, uint64_t handle, size_t size, off_t offset);
void kernel_releasedir(struct kernel *kernel, uint64_t handle);
void kernel_forget(struct kernel *kernel, uint64_t ino, uint64_t lookups);

/* The request's caller gets a signal that ends it. */
void kernel_interrupt(struct fuse_req *req);

/* Looks up each name of PATH, running the loop; the last one's reply. */
struct fuse_req *kernel_walk(struct kernel *kernel, const char *path);

#endif
