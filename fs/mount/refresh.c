#include "fs/mount/refresh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "fs/mount/directory.h"
#include "fs/mount/interrupt.h"

/* A name for the kernel to forget. */
struct doomed {
    struct doomed *next;
    fuse_ino_t parent;
    size_t size;
    char name[];
};

/* Travels through the pipes: to the thread with its names, back without. The thread touches nothing
 * but the names. */
struct order {
    fuse_req_t req; /* NULL when nobody asked, or who did has been interrupted */
    struct interrupt interrupt;
    struct doomed *names;
};

struct refresher {
    struct mount *mount;
    pthread_t thread;
    int orders[2];  /* pipe to the thread */
    int done[2];    /* pipe back */
    size_t pending; /* orders that have not come back */
    struct loop_io *io;
};

static void free_first(struct order *order)
{
    struct doomed *gone = order->names;
    order->names = gone->next;
    free(gone);
}

static void *work(void *arg)
{
    struct refresher *refresher = arg;
    struct order *order;
    while (read(refresher->orders[0], &order, sizeof order) == sizeof order) {
        for (; order->names; free_first(order))
            fuse_lowlevel_notify_inval_entry(refresher->mount->session, order->names->parent,
                                             order->names->name, order->names->size);
        if (write(refresher->done[1], &order, sizeof order) != sizeof order)
            break;
    }
    return NULL;
}

static void take_done(void *arg, uint32_t events)
{
    (void)events;
    struct refresher *refresher = arg;
    struct order *order;
    if (read(refresher->done[0], &order, sizeof order) != sizeof order)
        return;
    refresher->pending--;
    interrupt_clean_up(&order->interrupt);
    if (order->req)
        fuse_reply_err(order->req, ENOENT);
    free(order);
}

bool refresher_is_busy(const struct refresher *refresher)
{
    return refresher->pending > 0;
}

void refresher_wait(struct refresher *refresher, int timeout_ms)
{
    struct pollfd done = {.fd = refresher->done[0], .events = POLLIN};
    if (poll(&done, 1, timeout_ms) > 0)
        take_done(refresher, POLLIN);
}

static bool start_thread(struct refresher *refresher)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&refresher->thread, NULL, work, refresher) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static void close_pipe(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

struct refresher *refresher_new(struct mount *mount)
{
    struct refresher *refresher = calloc(1, sizeof *refresher);
    if (!refresher)
        return NULL;
    refresher->mount = mount;
    if (pipe2(refresher->orders, O_CLOEXEC) != 0) {
        free(refresher);
        return NULL;
    }
    fcntl(refresher->orders[1], F_SETFL, O_NONBLOCK); /* the loop never waits for the thread */
    if (pipe2(refresher->done, O_CLOEXEC) == 0) {
        refresher->io =
            loop_add_io(mount->app->loop, refresher->done[0], EPOLLIN, take_done, refresher);
        if (refresher->io && start_thread(refresher))
            return refresher;
        loop_remove_io(refresher->io);
        close_pipe(refresher->done);
    }
    close_pipe(refresher->orders);
    free(refresher);
    return NULL;
}

void refresher_destroy(struct refresher *refresher)
{
    if (!refresher)
        return;
    close(refresher->orders[1]); /* the thread ends after what it has */
    pthread_join(refresher->thread, NULL);
    close(refresher->done[1]);
    loop_remove_io(refresher->io);
    close(refresher->orders[0]);
    close(refresher->done[0]);
    free(refresher);
}

struct search {
    struct span path;
    struct span above, name; /* the path in two: its directory, and the rest */
    struct order *order;
};

static struct search search_for(struct span path, struct order *order)
{
    size_t slash = path.size;
    while (slash > 0 && path.data[slash - 1] != '/')
        slash--;
    return (struct search){.path = path,
                           .above = span_of(path.data, slash > 1 ? slash - 1 : slash),
                           .name = span_from(path, slash),
                           .order = order};
}

/* Without memory for it, its TTL has to pass. */
static void doom_name(struct order *order, const struct node *parent, struct span name)
{
    struct doomed *doomed = calloc(1, sizeof *doomed + name.size + 1);
    if (!doomed)
        return;
    doomed->parent = parent->ino;
    doomed->size = name.size;
    memcpy(doomed->name, name.data, name.size);
    doomed->next = order->names;
    order->names = doomed;
}

/* Names below /.ddbfs are never old. The look-up that asks for a refresh holds one of its
 * directories: to make the kernel forget a name there would be to wait for oneself. */
static bool is_control(const struct node *node)
{
    return !node->place && (node->directory || !node->parent->place);
}

/* What is known as missing has no node: the path's own name is forgotten in any case. */
static void doom(void *arg, struct node *node)
{
    struct search *search = arg;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    nodes_path(node, span_text(""), &path);
    if (path.failed || is_control(node))
        return;
    if (node->parent && nodes_is_below(buf_span(&path), search->path))
        doom_name(search->order, node->parent, node->name);
    if (node->directory && search->name.size && span_equal(buf_span(&path), search->above))
        doom_name(search->order, node, search->name);
}

static void cancel(struct order *order)
{
    if (order->req)
        fuse_reply_err(order->req, EAGAIN);
    while (order->names)
        free_first(order);
    free(order);
}

/* The kernel is still told. */
static void on_interrupt(void *arg)
{
    struct order *order = arg;
    fuse_reply_err(order->req, EINTR);
    order->req = NULL;
}

void refresher_drop(struct refresher *refresher, struct span path, fuse_req_t req)
{
    struct order *order = calloc(1, sizeof *order);
    cache_drop(refresher->mount->app->cache);
    directories_forget(refresher->mount, path);
    if (!order) {
        if (req)
            fuse_reply_err(req, ENOMEM);
        return;
    }
    struct search search = search_for(path, order);
    order->req = req;
    doom(&search, nodes_root(refresher->mount->nodes));
    nodes_each(refresher->mount->nodes, doom, &search);
    /* A pipe holds thousands of orders; it is full only if the thread waits for very long. */
    if (write(refresher->orders[1], &order, sizeof order) != sizeof order) {
        cancel(order);
        return;
    }
    refresher->pending++;
    if (req)
        interrupt_watch(&order->interrupt, refresher->mount->app->loop, req, on_interrupt, order);
}
