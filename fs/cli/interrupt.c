#include "fs/cli/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t interrupt_came;
static int interrupt_pipe[2] = {-1, -1};
static struct sigaction interrupt_before;

static void interrupt_take_signal(int number)
{
    int error = errno;
    interrupt_came = number;
    if (write(interrupt_pipe[1], "", 1) != 1)
        interrupt_came = number; /* a full pipe is readable as well */
    errno = error;
}

bool interrupt_begin(void)
{
    struct sigaction action = {.sa_handler =
                                   interrupt_take_signal}; /* a wait for the terminal ends */
    if (pipe2(interrupt_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    interrupt_came = 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &interrupt_before);
    return true;
}

void interrupt_end(void)
{
    if (interrupt_pipe[0] >= 0)
        sigaction(SIGINT, &interrupt_before, NULL);
    for (int i = 0; i < 2; i++) {
        if (interrupt_pipe[i] >= 0)
            close(interrupt_pipe[i]);
        interrupt_pipe[i] = -1;
    }
}

bool interrupt_has_come(void)
{
    return interrupt_came;
}

void interrupt_forget(void)
{
    char bytes[64];
    while (read(interrupt_pipe[0], bytes, sizeof bytes) > 0) {
    }
    interrupt_came = 0;
}

int interrupt_descriptor(void)
{
    return interrupt_pipe[0];
}
