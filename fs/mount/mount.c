#include "fs/mount/mount.h"

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
