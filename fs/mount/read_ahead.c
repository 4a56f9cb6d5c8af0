#include "fs/mount/read_ahead.h"

#include <stdlib.h>

#include "fs/mount/notifier.h"

/* A listing's files get their numbers in its order. Who reads so many, each a few numbers further
 * on than the one before (or back: a listing of the newest first, read by name), is taken to want
 * more. */
enum { RUN = 4, STEP = 8 };

/* So many files are given at once at first, twice as many the next time, and so on up to a most, as
 * the kernel itself reads ahead in a file; but no more than so many bytes. */
enum { FIRST_FILES = 32, MOST_FILES = 256, BYTES = 1 << 20 };

/* A file's bytes on their way. The thread touches nothing but these. */
struct given {
    struct given *next;
    uint64_t ino;
    size_t size;
    char bytes[];
};

struct delivery {
    struct notice notice; /* first, so that an notice is a delivery */
    struct fuse_session *session;
    struct read_ahead *ahead; /* for the loop alone */
    struct given *first;      /* owned */
    size_t files, bytes;
};

struct read_ahead {
    struct mount *mount;
    uint64_t parent, last; /* of the file that was read last */
    int direction;         /* +1 or -1; 0 while it is not known */
    unsigned run;          /* how many files have been read so */
    unsigned files;        /* to be given next */
    uint64_t end;          /* the number up to which files have been read or given in this run */
    uint64_t given;        /* files, in all */
    bool delivering;       /* one delivery at a time: memory is bounded */
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

static void read_ahead_deliver(struct notice *notice)
{
    struct delivery *delivery = (struct delivery *)notice;
    for (struct given *each = delivery->first; each; each = each->next) {
        struct fuse_bufvec bytes = FUSE_BUFVEC_INIT(each->size);
        bytes.buf[0].mem = each->bytes;
        /* A file that the kernel has let go of meanwhile needs nothing. */
        fuse_lowlevel_notify_store(delivery->session, each->ino, 0, &bytes, 0);
    }
}

static void read_ahead_delivery_destroy(struct delivery *delivery)
{
    struct given *next;
    for (struct given *each = delivery->first; each; each = next) {
        next = each->next;
        free(each);
    }
    free(delivery);
}

static void read_ahead_on_given(struct notice *notice)
{
    struct delivery *delivery = (struct delivery *)notice;
    delivery->ahead->delivering = false;
    read_ahead_delivery_destroy(delivery);
}

/* Adds the file if there is something to give. What reads a secret asks for it each time. */
static bool read_ahead_add(struct delivery *delivery, struct node *node, struct given ***last)
{
    struct span bytes;
    if (node->secret || !nodes_content(delivery->ahead->mount->nodes, node, &bytes) ||
        bytes.size == 0)
        return true;
    struct given *given = malloc(sizeof *given + bytes.size);
    if (!given)
        return false;
    *given = (struct given){.ino = node->ino, .size = bytes.size};
    memcpy(given->bytes, bytes.data, bytes.size);
    **last = given;
    *last = &given->next;
    delivery->bytes += bytes.size;
    delivery->files++;
    return true;
}

/* The files that come next in the run, beginning behind those that have been given already. */
static void read_ahead_deliver_it(struct read_ahead *ahead)
{
    struct delivery *delivery = calloc(1, sizeof *delivery);
    if (!delivery)
        return; /* it is a courtesy */
    *delivery = (struct delivery){.notice = {read_ahead_deliver, read_ahead_on_given},
                                  .session = ahead->mount->session,
                                  .ahead = ahead};
    struct given **last = &delivery->first;
    bool ok = true;
    for (unsigned i = 0; i < ahead->files && delivery->bytes < BYTES && ok; i++) {
        ahead->end += (uint64_t)(int64_t)ahead->direction;
        struct node *node = nodes_find(ahead->mount->nodes, ahead->end);
        bool sibling =
            node && node->parent && node->parent->ino == ahead->parent && node->kind == NODE_FILE;
        ok = !sibling || read_ahead_add(delivery, node, &last);
    }
    if (ahead->files < MOST_FILES)
        ahead->files *= 2;
    if (delivery->first && notifier_send(ahead->mount->notifier, &delivery->notice)) {
        ahead->delivering = true;
        ahead->given += delivery->files;
    } else {
        read_ahead_delivery_destroy(delivery);
    }
}

/* Whether NODE goes on with the run: beyond the last one, and not far beyond what has been given.
 * What has been given is not asked for, so a run goes in leaps. */
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
        read_ahead_deliver_it(ahead);
}

uint64_t read_ahead_count(const struct read_ahead *ahead)
{
    return ahead->given;
}
