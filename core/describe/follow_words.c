#include "core/describe/follow_words.h"

enum { HOUR_MS = 3600 * 1000 };

void follow_write_cost(struct buf *out)
{
    buf_printf(out,
               "for each shard GetShardIterator once, and GetRecords %d times an hour while "
               "nothing changes, and up to %d times while it does; these consume no RCU, but each "
               "request is billed",
               HOUR_MS / FOLLOW_POLL_MOST_MS, HOUR_MS / FOLLOW_POLL_LEAST_MS);
}

/* The follower's own sentence ends with the value of an option of the command. */
void follow_add_options(struct error *err, const char *options)
{
    if (err->kind == ERROR_NO_STREAM &&
        span_ends(span_text(err->text), SPAN_LITERAL("=NEW_AND_OLD_IMAGES")))
        error_add(err, "%s", options);
}
