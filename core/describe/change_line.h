/* A change of an item as one line: text for people, or JSON for programs. */
#ifndef DDBFS_CORE_DESCRIBE_CHANGE_LINE_H
#define DDBFS_CORE_DESCRIBE_CHANGE_LINE_H

#include "core/item/item.h"
#include "core/stream/change.h"

/* All of it is borrowed. */
struct change_line {
    const struct change *change;
    struct span path;    /* of the item; empty: none is known */
    bool has_left;       /* the followed path showed the item before the change, and does not now */
    bool is_fetched;     /* the item was read after the change: */
    struct json fetched; /* that item; absent: it did not exist any more */
    struct record_view view; /* the key attributes; masked ones; COMPACT is set */
};

/* Appends "TIME MODIFY PATH   status: "A" -> "B", +added: 1, -removed: 2" and one newline. Without
 * a path, the key is there in words. With COLUMNS the line is cut to that many characters; 0: not.
 * False if an image is not a typed item, or memory ran out (OUT->failed); OUT has its old size. */
bool change_line_write_text(const struct change_line *line, size_t columns, struct buf *out);

/* Appends one JSON object and one newline: time, kind, expired, path, keys, old, new, changed,
 * sequence, shard. An image is null if the item did not exist, and absent if the stream does not
 * have it. Numbers are copied digit by digit. False as above. */
bool change_line_write_json(const struct change_line *line, struct buf *out);

/* Appends the JSON object of an event that is no change: KIND is "gap" or "end"; PATH is that of
 * the table or directory that is followed. */
void change_line_write_event(const char *kind, int64_t at_ms, struct span path, const char *text,
                             struct buf *out);

#endif
