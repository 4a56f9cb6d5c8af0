#include "fs/mount/mount.h"

#include <unistd.h>

/* So many answers of the service in a row a caller waits for: a query's, a record's, and one more.
 */
enum { ANSWERS_IN_A_ROW = 3 };

int64_t mount_now_ms(const struct mount *mount)
{
    struct clock *clock = loop_clock(mount->app->loop);
    return clock->now_ms(clock);
}

int64_t mount_longest_wait_ms(const struct mount *mount)
{
    return (int64_t)mount->app->options->timeout_ms * ANSWERS_IN_A_ROW;
}

void mount_ready(struct mount *mount)
{
    if (mount->ready_fd < 0)
        return;
    if (write(mount->ready_fd, "", 1) != 1)
        log_line(&mount->app->log, LOG_LEVEL_WARNING, "who started the mount has gone away");
    close(mount->ready_fd);
    mount->ready_fd = -1;
}
