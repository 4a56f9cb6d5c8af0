#include "fs/mount/read_ahead.h"

#include <stdlib.h>

#include "fs/mount/notifier.h"

/* The inode numbers of a listing's files are in its order. A program that reads RUN files, each at
 * most STEP numbers after the one before (or before it: a listing of the newest first, read by
 * name), probably reads more of them. */
enum { RUN = 4, STEP = 8 };

/* The first delivery has FIRST_FILES, each next one twice as many, as the kernel itself reads ahead
 * in a file. */
enum { FIRST_FILES = 32, MOST_FILES = 256, MOST_BYTES = 1 << 20 };

/* Files on their way. Their bytes are lent by the nodes, so the thread may read them. */
struct delivery {
    struct notice notice; /* first, so that a notice is a delivery */
    struct fuse_session *session;
    struct read_ahead *ahead; /* for the loop only */
    size_t count, bytes;
    struct delivered_file {
        struct node *node; /* for the loop only */
        uint64_t ino;
        struct span content; /* lent */
    } files[MOST_FILES];
};

struct read_ahead {
    struct mount *mount;
    uint64_t parent, last; /* of the file that was read last */
    int direction;         /* +1 or -1; 0: unknown */
    unsigned run;          /* how many files have been read in order */
    unsigned files;        /* in the next delivery */
    uint64_t end;          /* the number up to which files of this run have been read or stored */
    uint64_t stored;       /* files, in all */
    bool delivering;       /* one delivery at a time bounds the memory */
};

struct read_ahead *read_ahead_new(struct mount *mount)
{
    struct read_ahead *ahead = calloc(1, sizeof *ahead);
    if (ahead)
        ahead->mount = mount;
    return ahead;
}

void read_ahead_destroy(struct read_ahead *ahead)
{
    free(ahead);
}

static void read_ahead_store(struct notice *notice)
{
    struct delivery *delivery = (struct delivery *)notice;
    for (size_t i = 0; i < delivery->count; i++) {
        const struct delivered_file *file = &delivery->files[i];
        struct fuse_bufvec bytes = FUSE_BUFVEC_INIT(file->content.size);
        bytes.buf[0].mem = (void *)(uintptr_t)file->content.data;
        /* an error means that the kernel has forgotten the file meanwhile */
        fuse_lowlevel_notify_store(delivery->session, file->ino, 0, &bytes, 0);
    }
}

static void read_ahead_free_delivery(struct delivery *delivery)
{
    for (size_t i = 0; i < delivery->count; i++)
        nodes_return_content(delivery->ahead->mount->nodes, delivery->files[i].node);
    free(delivery);
}

static void read_ahead_on_stored(struct notice *notice)
{
    struct delivery *delivery = (struct delivery *)notice;
    delivery->ahead->delivering = false;
    read_ahead_free_delivery(delivery);
}

/* Sends the next files of the run, from those on that have not been stored. Secrets are left out:
 * each read of one is a request. */
static void read_ahead_deliver(struct read_ahead *ahead)
{
    struct nodes *nodes = ahead->mount->nodes;
    struct delivery *delivery = calloc(1, sizeof *delivery);
    if (!delivery)
        return;
    delivery->notice = (struct notice){read_ahead_store, read_ahead_on_stored};
    delivery->session = ahead->mount->session;
    delivery->ahead = ahead;
    for (unsigned i = 0; i < ahead->files && delivery->bytes < MOST_BYTES; i++) {
        struct delivered_file *file = &delivery->files[delivery->count];
        ahead->end += (uint64_t)(int64_t)ahead->direction;
        struct node *node = nodes_find(nodes, ahead->end);
        bool is_sibling =
            node && node->parent && node->parent->ino == ahead->parent && node->kind == NODE_FILE;
        if (!is_sibling || node->secret || node->size == 0 ||
            !nodes_lend_content(nodes, node, &file->content))
            continue;
        file->node = node;
        file->ino = node->ino;
        delivery->bytes += file->content.size;
        delivery->count++;
    }
    if (ahead->files < MOST_FILES)
        ahead->files *= 2;
    size_t count = delivery->count;
    if (count > 0 && notifier_send(ahead->mount->notifier, &delivery->notice)) {
        ahead->delivering = true;
        ahead->stored += count;
    } else {
        read_ahead_free_delivery(delivery);
    }
}

/* Whether NODE continues the run: behind the last file, and not far behind the stored files, which
 * are read without a request. */
static bool read_ahead_continues(struct read_ahead *ahead, const struct node *node)
{
    int64_t from_last = (int64_t)(node->ino - ahead->last);
    int direction = ahead->direction ? ahead->direction : from_last > 0 ? 1 : -1;
    if (ahead->run == 0 || node->parent->ino != ahead->parent || from_last * direction <= 0 ||
        (int64_t)(node->ino - ahead->end) * direction > STEP)
        return false;
    ahead->direction = direction;
    return true;
}

void read_ahead_note(struct read_ahead *ahead, const struct node *node)
{
    if (node->kind != NODE_FILE)
        return;
    if (read_ahead_continues(ahead, node)) {
        ahead->run++;
    } else {
        ahead->run = 1;
        ahead->direction = 0;
        ahead->parent = node->parent->ino;
        ahead->end = node->ino;
        ahead->files = FIRST_FILES;
    }
    ahead->last = node->ino;
    int64_t left = (int64_t)(ahead->end - node->ino) * ahead->direction;
    if (left < 0)
        ahead->end = node->ino;
    if (ahead->run >= RUN && left < FIRST_FILES && !ahead->delivering)
        read_ahead_deliver(ahead);
}

uint64_t read_ahead_count(const struct read_ahead *ahead)
{
    return ahead->stored;
}
