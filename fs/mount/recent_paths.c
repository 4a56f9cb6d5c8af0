#include "fs/mount/recent_paths.h"

#include <stdlib.h>

struct path {
    char *bytes; /* owned */
    size_t size;
};

struct recent_paths {
    size_t count;
    struct path paths[RECENT_PATHS_MOST]; /* the newest last */
};

struct recent_paths *recent_paths_new(void)
{
    return calloc(1, sizeof(struct recent_paths));
}

void recent_paths_destroy(struct recent_paths *recent)
{
    if (!recent)
        return;
    for (size_t i = 0; i < recent->count; i++)
        free(recent->paths[i].bytes);
    free(recent);
}

/* Takes out the path at AT, and moves the newer ones up. */
static struct path recent_take_out(struct recent_paths *recent, size_t at)
{
    struct path taken = recent->paths[at];
    recent->count--;
    memmove(&recent->paths[at], &recent->paths[at + 1], (recent->count - at) * sizeof taken);
    return taken;
}

void recent_paths_add(struct recent_paths *recent, struct span path)
{
    struct path added = {NULL, path.size};
    for (size_t i = recent->count; i-- > 0 && !added.bytes;)
        if (span_equal(span_of(recent->paths[i].bytes, recent->paths[i].size), path))
            added = recent_take_out(recent, i);
    if (!added.bytes) {
        added.bytes = malloc(path.size + 1);
        if (!added.bytes)
            return;
        memcpy(added.bytes, path.data, path.size);
        if (recent->count == RECENT_PATHS_MOST)
            free(recent_take_out(recent, 0).bytes);
    }
    recent->paths[recent->count++] = added;
}

void recent_paths_write(const struct recent_paths *recent, struct buf *out)
{
    for (size_t i = recent->count; i-- > 0;) {
        buf_add(out, recent->paths[i].bytes, recent->paths[i].size);
        buf_add_char(out, '\n');
    }
}
