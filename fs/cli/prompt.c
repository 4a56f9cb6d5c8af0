#include "fs/cli/prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "fs/cli/output.h"

enum { PROMPT_LONGEST_CODE = 64 };

/* The signal that arrived while the terminal showed nothing; 0: none. Its handler writes to the
 * pipe too, so that a signal just before poll(), or in another thread, ends the wait. */
static volatile sig_atomic_t prompt_signal;
static int prompt_pipe[2];

static const int prompt_ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { PROMPT_ENDS = sizeof prompt_ends / sizeof prompt_ends[0] };

static void prompt_take_signal(int number)
{
    int error = errno;
    prompt_signal = number;
    if (write(prompt_pipe[1], "", 1) != 1)
        prompt_signal = number; /* a full pipe ends the wait as well */
    errno = error;
}

/* Appends a line without its end, cut at PROMPT_LONGEST_CODE. False if it is empty, or a signal
 * arrived. */
static bool prompt_read_line(int terminal, struct buf *code)
{
    struct pollfd ready[] = {{.fd = terminal, .events = POLLIN},
                             {.fd = prompt_pipe[0], .events = POLLIN}};
    char c = '\0';
    buf_reserve(code, PROMPT_LONGEST_CODE);
    while (c != '\n') {
        int count = poll(ready, 2, -1);
        if (prompt_signal || (count < 0 && errno != EINTR))
            break;
        ssize_t size = count < 0 ? 0 : read(terminal, &c, 1);
        if (count < 0 || (size < 0 && errno == EINTR))
            continue;
        if (size <= 0)
            break;
        if (c > ' ' && code->size < PROMPT_LONGEST_CODE)
            buf_add_char(code, c);
    }
    explicit_bzero(&c, sizeof c);
    return !prompt_signal && code->size > 0;
}

/* A signal that ends the process is handled when the terminal shows its input again. */
static bool prompt_read_code(int terminal, const char *serial, struct buf *code)
{
    struct termios shown, hidden;
    struct sigaction old[PROMPT_ENDS], action = {.sa_handler = prompt_take_signal};
    char device[256], prompt[320];
    printable_copy(device, sizeof device, span_text(serial), "");
    int length = snprintf(prompt, sizeof prompt, "Enter MFA code for %s: ", device);
    prompt_signal = 0;
    if (tcgetattr(terminal, &shown) != 0 || pipe2(prompt_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    for (int i = 0; i < PROMPT_ENDS; i++)
        sigaction(prompt_ends[i], &action, &old[i]);
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    bool typed = tcsetattr(terminal, TCSAFLUSH, &hidden) == 0 &&
                 write(terminal, prompt, (size_t)length) == length &&
                 prompt_read_line(terminal, code);
    tcsetattr(terminal, TCSAFLUSH, &shown);
    if (write(terminal, "\n", 1) != 1)
        typed = false;
    for (int i = 0; i < PROMPT_ENDS; i++)
        sigaction(prompt_ends[i], &old[i], NULL);
    close(prompt_pipe[0]);
    close(prompt_pipe[1]);
    if (prompt_signal)
        output_end_by(prompt_signal);
    return typed;
}

enum mfa_input prompt_for_code(void *arg, const char *serial, struct buf *code, struct error *err)
{
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    (void)arg;
    if (terminal < 0)
        return MFA_NO_TERMINAL;
    bool typed = prompt_read_code(terminal, serial, code);
    close(terminal);
    if (typed)
        return MFA_TYPED;
    error_set(err, ERROR_DENIED,
              "no code of the MFA device %.300s was typed; the role needs one: repeat the command",
              serial);
    return MFA_FAILED;
}

enum prompt_consent prompt_for_consent(const char *question)
{
    FILE *terminal = fopen("/dev/tty", "r+e");
    if (!terminal)
        return PROMPT_NO_TERMINAL;
    fprintf(terminal, "%s? [y/N] ", question);
    fflush(terminal);
    int answer = getc(terminal);
    fclose(terminal);
    return answer == 'y' || answer == 'Y' ? PROMPT_AGREED : PROMPT_REFUSED;
}
