#include "fs/mount/waiting.h"

#include <errno.h>

/* OVER may free WAITING, so the request is taken out before; it may also look at what waits in the
 * kernel behind the request, so the reply comes after. */
static void waiting_end_by_itself(struct waiting *waiting, int error)
{
    fuse_req_t req = waiting_take(waiting);
    waiting->over(waiting->arg, error);
    fuse_reply_err(req, error);
}

static void waiting_on_deadline(void *arg)
{
    struct waiting *waiting = arg;
    waiting->deadline = NULL;
    waiting_end_by_itself(waiting, ETIMEDOUT);
}

static void waiting_on_interrupt(void *arg)
{
    waiting_end_by_itself(arg, EINTR);
}

bool waiting_start(struct waiting *waiting, struct mount *mount, fuse_req_t req, int64_t since_ms,
                   waiting_over_fn *over, void *arg)
{
    int64_t left_ms = since_ms + mount_longest_wait_ms(mount) - mount_now_ms(mount);
    *waiting = (struct waiting){
        .mount = mount,
        .req = req,
        .pid = fuse_req_ctx(req)->pid,
        .since_ms = since_ms,
        .deadline = loop_add_timer(mount->app->loop, left_ms, waiting_on_deadline, waiting),
        .over = over,
        .arg = arg,
    };
    if (!waiting->deadline) {
        waiting_fail(waiting, ENOMEM);
        return false;
    }
    interrupt_watch(&waiting->interrupt, mount->app->loop, req, waiting_on_interrupt, waiting);
    return true;
}

fuse_req_t waiting_take(struct waiting *waiting)
{
    fuse_req_t req = waiting->req;
    waiting->req = NULL;
    loop_remove_timer(waiting->deadline);
    waiting->deadline = NULL;
    interrupt_clean_up(&waiting->interrupt);
    return req;
}

void waiting_fail(struct waiting *waiting, int error)
{
    fuse_req_t req = waiting_take(waiting);
    if (req)
        fuse_reply_err(req, error);
}
