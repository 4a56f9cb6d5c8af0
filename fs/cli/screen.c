/* Control sequences of ECMA-48, and two of xterm that all terminals support: the alternate screen,
 * and lines that are cut instead of wrapped. */
#include "fs/cli/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/printable.h"
#include "fs/cli/output.h"

#define SCREEN_OPEN "\033[?1049h\033[?25l\033[?7l"
#define SCREEN_CLOSE "\033[?7h\033[?25h\033[?1049l"

enum { SCREEN_ROWS = 24, SCREEN_COLUMNS = 80 }; /* if unknown */

/* A signal that ends the program must not leave the terminal changed. */
static void screen_fill_signals(sigset_t *set)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(set, numbers[i]);
}

bool screen_open(struct screen *screen)
{
    sigset_t set;
    screen_fill_signals(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    screen->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (screen->signals < 0) {
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        return false;
    }
    screen->reads_keys = tcgetattr(STDIN_FILENO, &screen->before) == 0;
    struct termios keys = screen->before;
    if (screen->reads_keys) { /* keys are read one by one, and not shown */
        keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        keys.c_cc[VMIN] = 1;
        keys.c_cc[VTIME] = 0;
        keys.c_cc[VSUSP] = _POSIX_VDISABLE; /* Ctrl-Z would leave the alternate screen */
        tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    fputs(SCREEN_OPEN, output_raw(stdout));
    fflush(output_raw(stdout));
    return true;
}

void screen_close(struct screen *screen)
{
    sigset_t set;
    screen_fill_signals(&set);
    fputs(SCREEN_CLOSE, output_raw(stdout));
    fflush(output_raw(stdout));
    if (screen->reads_keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &screen->before);
    close(screen->signals);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

unsigned screen_rows(void)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
    return known ? size.ws_row : SCREEN_ROWS;
}

unsigned screen_columns(void)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : SCREEN_COLUMNS;
}

/* A newline behind the last line would scroll the screen. */
bool screen_show(struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf frame = {0};
    FILE *out = output_raw(stdout);
    buf_add_text(&frame, "\033[H");
    while (text.size > 0) {
        const char *end = memchr(text.data, '\n', text.size);
        size_t size = end ? (size_t)(end - text.data) : text.size;
        printable_add(&frame, span_of(text.data, size), "");
        buf_add_text(&frame, "\033[K");
        text = span_from(text, end ? size + 1 : size);
        buf_add_text(&frame, text.size > 0 ? "\n" : "");
    }
    buf_add_text(&frame, "\033[J");
    fwrite(buf_text(&frame), 1, frame.size, out);
    return fflush(out) == 0;
}

enum screen_event screen_wait(const struct screen *screen, int ms)
{
    struct pollfd watched[] = {{.fd = screen->signals, .events = POLLIN},
                               {.fd = STDOUT_FILENO},
                               {.fd = STDIN_FILENO, .events = POLLIN}};
    if (poll(watched, screen->reads_keys ? 3 : 2, ms) <= 0)
        return SCREEN_TIME;
    struct signalfd_siginfo info;
    if (watched[0].revents && read(screen->signals, &info, sizeof info) != sizeof info)
        return SCREEN_TIME;
    if (watched[0].revents)
        return info.ssi_signo == SIGWINCH ? SCREEN_RESIZED : SCREEN_END;
    if (watched[1].revents & (POLLERR | POLLHUP | POLLNVAL))
        return SCREEN_END;
    if (!screen->reads_keys || !watched[2].revents)
        return SCREEN_TIME;
    char key;
    ssize_t got = read(STDIN_FILENO, &key, 1);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return SCREEN_TIME;
    return got <= 0 || key == 'q' || key == 'Q' ? SCREEN_END : SCREEN_TIME;
}
