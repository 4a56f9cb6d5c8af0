#include "fs/mount/mount.h"

/* So many answers of the service in a row a caller waits for: a query's, a record's, and one more.
 */
enum { ANSWERS_IN_A_ROW = 3 };

int64_t mount_now_ms(const struct mount *mount)
{
    return loop_now_ms(mount->app->loop);
}

int64_t mount_longest_wait_ms(const struct mount *mount)
{
    return (int64_t)mount->app->options->timeout_ms * ANSWERS_IN_A_ROW;
}
