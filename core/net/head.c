#include "core/net/head.h"

#include <stdlib.h>
#include <string.h>

void head_clean_up(struct head *head)
{
    buf_clean_up(&head->text);
    *head = (struct head){0};
}

static struct span head_trimmed(struct span text)
{
    while (text.size > 0 && strchr(" \t\r\n", text.data[text.size - 1]))
        text.size--;
    while (text.size > 0 && strchr(" \t", text.data[0]))
        text = span_from(text, 1);
    return text;
}

static void head_add_text(struct buf *out, struct span text)
{
    buf_add_span(out, text);
    buf_add_char(out, '\0');
}

static void head_add_header(struct head *head, struct span line)
{
    const char *colon = memchr(line.data, ':', line.size);
    if (!colon)
        return;
    size_t name = (size_t)(colon - line.data);
    head_add_text(&head->text, head_trimmed(span_of(line.data, name)));
    head_add_text(&head->text, head_trimmed(span_from(line, name + 1)));
    head->count++;
}

void head_add(struct head *head, struct span line)
{
    line = head_trimmed(line);
    if (span_starts(line, SPAN_LITERAL("HTTP/"))) {
        buf_truncate(&head->text, 0);
        head->count = 0;
        head->complete = false;
    } else if (line.size == 0) {
        head->complete = true;
    } else {
        head_add_header(head, line);
    }
}

struct http_header *head_list(const struct head *head)
{
    struct http_header *headers = calloc(head->count + 1, sizeof *headers);
    const char *at = buf_text(&head->text);
    for (size_t i = 0; headers && i < head->count; i++) {
        headers[i].name = at;
        at += strlen(at) + 1;
        headers[i].value = at;
        at += strlen(at) + 1;
    }
    return headers;
}
