#include "fs/cli/line_editor.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/utf8.h"
#include "fs/cli/interrupt.h"
#include "fs/cli/output.h"

enum { LINE_EDITOR_HISTORY = 1000, LINE_EDITOR_SHOWN = 100 };

struct line_editor {
    EditLine *edit;          /* owned; NULL: lines are read as they come */
    History *history;        /* owned; NULL without EDIT */
    char *file;              /* owned; NULL: no history is stored */
    FILE *out;               /* borrowed: the terminal */
    locale_t locale, before; /* UTF-8, whatever the user's is; 0: not available */
    const char *prompt;      /* borrowed while a line is read */
    line_complete_fn *complete;
    void *arg;
    bool interrupted, closed; /* how the last wait for a byte ended */
};

/* Reads one byte from the terminal; false at its end, or at Ctrl-C. */
static bool line_editor_read_byte(struct line_editor *editor, char *out)
{
    struct pollfd ready[] = {{.fd = interrupt_descriptor(), .events = POLLIN},
                             {.fd = STDIN_FILENO, .events = POLLIN}};
    for (;;) {
        int count = poll(ready, 2, -1);
        if (interrupt_has_come()) {
            interrupt_forget();
            editor->interrupted = true;
            return false;
        }
        ssize_t size = count < 0 ? -1 : read(STDIN_FILENO, out, 1);
        if (size > 0)
            return true;
        if (size == 0 || errno != EINTR) {
            editor->closed = true;
            return false;
        }
    }
}

/* el_rfunc_t: 1 for a character; -1 ends the line. */
static int line_editor_read_character(EditLine *edit, wchar_t *out)
{
    struct line_editor *editor;
    char bytes[4];
    size_t size = 0, length;
    el_get(edit, EL_CLIENTDATA, &editor);
    do {
        if (!line_editor_read_byte(editor, &bytes[size]))
            return -1;
        length = utf8_length(span_of(bytes, ++size));
    } while (length == 0 && (unsigned char)bytes[0] >= 0xc2 && size < sizeof bytes);
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    if (length == 0) {
        *out = 0xfffd;
        return 1;
    }
    *out = (unsigned char)bytes[0] & masks[length];
    for (size_t i = 1; i < length; i++)
        *out = *out << 6 | ((unsigned char)bytes[i] & 0x3f);
    return 1;
}

static char *line_editor_find_prompt(EditLine *edit)
{
    static char prompt[32];
    struct line_editor *editor;
    el_get(edit, EL_CLIENTDATA, &editor);
    snprintf(prompt, sizeof prompt, "%s", editor->prompt);
    return prompt;
}

/* The bytes that all words have in common with the first. */
static size_t line_editor_common(const struct buf *words)
{
    struct span first = span_text(words->data);
    for (size_t at = first.size + 1; at < words->size; at += strlen(words->data + at) + 1) {
        size_t same = 0;
        while (same < first.size && words->data[at + same] == first.data[same])
            same++;
        first.size = same;
    }
    while (first.size > 0 && !utf8_valid(first))
        first.size--;
    return first.size;
}

static void line_editor_list(const struct line_editor *editor, const struct buf *words)
{
    size_t count = 0;
    fputc('\n', editor->out);
    for (size_t at = 0; at < words->size; at += strlen(words->data + at) + 1)
        if (count++ < LINE_EDITOR_SHOWN)
            fprintf(editor->out, "%s\n", words->data + at);
    if (count > LINE_EDITOR_SHOWN)
        fprintf(editor->out, "and %zu more\n", count - LINE_EDITOR_SHOWN);
    fflush(editor->out);
}

static unsigned char line_editor_complete(EditLine *edit, int key)
{
    struct line_editor *editor;
    CLEAN_UP(buf_clean_up) struct buf words = {0}, text = {0};
    const LineInfo *line = el_line(edit);
    (void)key;
    el_get(edit, EL_CLIENTDATA, &editor);
    struct span typed = span_of(line->buffer, (size_t)(line->cursor - line->buffer));
    size_t size = editor->complete(editor->arg, typed, &words);
    if (words.failed || words.size == 0)
        return CC_REFRESH_BEEP;
    bool alone = strlen(words.data) + 1 == words.size;
    buf_add_span(&text, span_of(words.data, line_editor_common(&words)));
    buf_add_text(&text, alone ? " " : "");
    bool is_longer = text.size > size;
    /* The case of the typed letters may change, too. */
    if (text.size >= size && !text.failed) {
        el_deletestr(edit, (int)size);
        el_insertstr(edit, buf_text(&text));
    }
    if (is_longer)
        return CC_REFRESH;
    line_editor_list(editor, &words);
    return CC_REDISPLAY;
}

static bool line_editor_start(struct line_editor *editor)
{
    HistEvent event;
    editor->history = history_init();
    if (!editor->history)
        return false;
    editor->edit = el_init("ddbfs", stdin, editor->out, stderr);
    if (!editor->edit)
        return false;
    EditLine *edit = editor->edit;
    history(editor->history, &event, H_SETSIZE, LINE_EDITOR_HISTORY);
    history(editor->history, &event, H_SETUNIQUE, 1);
    if (editor->file)
        history(editor->history, &event, H_LOAD, editor->file);
    el_set(edit, EL_CLIENTDATA, editor);
    el_set(edit, EL_PROMPT, line_editor_find_prompt);
    el_set(edit, EL_EDITOR, "emacs");
    el_set(edit, EL_SIGNAL, 1);
    el_set(edit, EL_HIST, history, editor->history);
    el_set(edit, EL_GETCFN, line_editor_read_character);
    /* The narrow form copies the texts, and never frees them. */
    el_wset(edit, EL_ADDFN, L"ddbfs-complete", L"complete a word", line_editor_complete);
    el_set(edit, EL_BIND, "^I", "ddbfs-complete", NULL);
    el_set(edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    return true;
}

struct line_editor *line_editor_new(const char *history, line_complete_fn *complete, void *arg)
{
    const char *terminal = getenv("TERM");
    struct line_editor *editor = calloc(1, sizeof *editor);
    if (!editor)
        return NULL;
    *editor = (struct line_editor){.complete = complete, .arg = arg};
    editor->out = output_raw(isatty(STDOUT_FILENO) ? stdout : stderr);
    editor->file = history ? strdup(history) : NULL;
    editor->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (editor->locale)
        editor->before = uselocale(editor->locale);
    bool moves = terminal && terminal[0] && strcmp(terminal, "dumb") != 0;
    if ((!history || editor->file) && (!moves || line_editor_start(editor)))
        return editor;
    line_editor_end(editor);
    return NULL;
}

/* False with errno. */
static bool line_editor_store(const struct line_editor *editor)
{
    HistEvent event;
    int fd = open(editor->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool ok = fchmod(fd, 0600) == 0 && ftruncate(fd, 0) == 0 &&
              history(editor->history, &event, H_SAVE_FP, file) >= 0;
    return (fclose(file) == 0) && ok;
}

bool line_editor_end(struct line_editor *editor)
{
    if (!editor)
        return true;
    bool ok = !editor->edit || !editor->file || line_editor_store(editor);
    int error = errno;
    if (editor->edit)
        el_end(editor->edit);
    if (editor->history)
        history_end(editor->history);
    if (editor->locale) {
        uselocale(editor->before);
        freelocale(editor->locale);
    }
    free(editor->file);
    free(editor);
    errno = error;
    return ok;
}

static void line_editor_read_plain(struct line_editor *editor, struct buf *out)
{
    char byte;
    fputs(editor->prompt, editor->out);
    fflush(editor->out);
    while (line_editor_read_byte(editor, &byte) && byte != '\n')
        buf_add_char(out, byte);
    if (editor->closed && out->size > 0)
        editor->closed = false; /* the last line has no end */
}

enum line_end line_editor_read(struct line_editor *editor, const char *prompt, struct buf *out)
{
    int count = 0;
    editor->prompt = prompt;
    editor->interrupted = editor->closed = false;
    if (!editor->edit) {
        line_editor_read_plain(editor, out);
    } else {
        /* Before the prompt, after which the terminal must not see Ctrl-D as its own. */
        el_set(editor->edit, EL_PREP_TERM, 1);
        const char *line = el_gets(editor->edit, &count);
        if (line && count > 0)
            buf_add(out, line, (size_t)count - (line[count - 1] == '\n'));
        else
            editor->closed = !editor->interrupted;
    }
    if (!editor->interrupted && !editor->closed)
        return LINE_TYPED;
    buf_truncate(out, 0);
    /* Without EDIT the terminal has shown "^C". */
    fputs(editor->interrupted && editor->edit ? "^C\n" : "\n", editor->out);
    fflush(editor->out);
    return editor->interrupted ? LINE_INTERRUPTED : LINE_CLOSED;
}

void line_editor_remember(struct line_editor *editor, const char *line)
{
    HistEvent event;
    if (editor->history)
        history(editor->history, &event, H_ENTER, line);
}
