/* A line from the terminal, unseen. */
#include "fs/cli/code_prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/printable.h"

enum { LONGEST_CODE = 64 };

/* Which of those below came while somebody was typing; 0 for none. The pipe tells it too, so that
 * one that comes just before the waiting begins, or in another thread, ends it all the same. */
static volatile sig_atomic_t came;
static int told[2];

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

enum { ENDS = sizeof ends / sizeof ends[0] };

static void code_prompt_note(int number)
{
    int error = errno;
    came = number;
    if (write(told[1], "", 1) != 1)
        came = number; /* the pipe is full: it tells already */
    errno = error;
}

/* Signals that end the process end the waiting instead, for a terminal that shows nothing must not
 * be left behind. False when there is no pipe to be had, with nothing changed. */
static bool code_prompt_catch_ends(struct sigaction old[ENDS])
{
    struct sigaction action = {.sa_handler = code_prompt_note};
    came = 0;
    if (pipe2(told, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    for (int i = 0; i < ENDS; i++)
        sigaction(ends[i], &action, &old[i]);
    return true;
}

static void code_prompt_release_ends(const struct sigaction old[ENDS])
{
    for (int i = 0; i < ENDS; i++)
        sigaction(ends[i], &old[i], NULL);
    close(told[0]);
    close(told[1]);
    if (came)
        raise(came);
}

/* Whether something was typed; false when a signal came first. */
static bool code_prompt_wait_for_typing(int terminal)
{
    struct pollfd ready[] = {{.fd = terminal, .events = POLLIN}, {.fd = told[0], .events = POLLIN}};
    while (poll(ready, 2, -1) < 0)
        if (errno != EINTR)
            return false;
    return !came;
}

/* Up to the line's end, without it; what is beyond LONGEST_CODE is none. False when nothing was
 * typed. */
static bool code_prompt_read_line(int terminal, struct buf *code)
{
    char c = '\0';
    buf_reserve(code, LONGEST_CODE);
    while (c != '\n' && code_prompt_wait_for_typing(terminal)) {
        ssize_t size = read(terminal, &c, 1);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            break;
        if (c > ' ' && code->size < LONGEST_CODE)
            buf_add_char(code, c);
    }
    explicit_bzero(&c, sizeof c);
    return !came && code->size > 0;
}

static bool code_prompt_request(int terminal, const char *serial, struct buf *code)
{
    struct termios shown, hidden;
    struct sigaction old[ENDS];
    char device[256], prompt[320];
    printable_copy(device, sizeof device, span_text(serial), "");
    int length = snprintf(prompt, sizeof prompt, "Enter MFA code for %s: ", device);
    if (tcgetattr(terminal, &shown) != 0 || !code_prompt_catch_ends(old))
        return false;
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    bool typed = tcsetattr(terminal, TCSAFLUSH, &hidden) == 0 &&
                 write(terminal, prompt, (size_t)length) == length &&
                 code_prompt_read_line(terminal, code);
    tcsetattr(terminal, TCSAFLUSH, &shown);
    if (write(terminal, "\n", 1) != 1)
        typed = false;
    code_prompt_release_ends(old);
    return typed;
}

enum mfa_input code_prompt(void *arg, const char *serial, struct buf *code, struct error *err)
{
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    (void)arg;
    if (terminal < 0)
        return MFA_NO_TERMINAL;
    bool typed = code_prompt_request(terminal, serial, code);
    close(terminal);
    if (typed)
        return MFA_TYPED;
    error_set(err, ERROR_DENIED,
              "no code of the MFA device %.300s was typed, and the role is not to be had without",
              serial);
    return MFA_FAILED;
}
