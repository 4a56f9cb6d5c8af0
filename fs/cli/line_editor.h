/* Lines that are typed at a terminal: edited, completed, and remembered (libedit). On a terminal
 * without cursor movements, and without a terminal, lines are read as they come. */
#ifndef DDBFS_FS_CLI_LINE_EDITOR_H
#define DDBFS_FS_CLI_LINE_EDITOR_H

#include <stddef.h>

#include "core/base/buf.h"

enum line_end { LINE_TYPED, LINE_INTERRUPTED, LINE_CLOSED };

/* Appends the words that complete the last word of TYPED, the text in front of the cursor: each as
 * a whole word and a NUL. Returns the size of the last word. */
typedef size_t line_complete_fn(void *arg, struct span typed, struct buf *words);

struct line_editor;

/* HISTORY is the name of a file; NULL: lines are forgotten. NULL when memory ran out. */
struct line_editor *line_editor_new(const char *history, line_complete_fn *complete, void *arg);
/* Writes the history, with mode 0600. False with errno if that fails. NULL is fine. */
bool line_editor_end(struct line_editor *editor);

/* Prints PROMPT, and reads a line into OUT, which is empty, without its end. */
enum line_end line_editor_read(struct line_editor *editor, const char *prompt, struct buf *out);

/* Adds LINE, which has no line end, to the history. */
void line_editor_remember(struct line_editor *editor, const char *line);

#endif
