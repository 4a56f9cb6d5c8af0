/* The program as a process that stays: each call runs in a fork of it, because a start of the
 * sanitized program costs more than most commands.
 *
 *     resident NAME
 *
 * It listens at NAME, an abstract Unix socket. A call is one message: the three standard
 * descriptors, and texts that end with NUL: the folder, the number of words, the words, the
 * environment. The responses are the process id, then the status as waitpid returns it.
 * tests/harness/resident_ddbfs.py is the caller. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RESIDENT_MOST_BYTES = 1 << 18, RESIDENT_MOST_TEXTS = 1 << 14, RESIDENT_MOST_CALLS = 256 };

int ddbfs_main(int argc, char **argv);

struct resident_call {
    pid_t pid;
    int link;
};

static struct resident_call resident_calls[RESIDENT_MOST_CALLS];
static char resident_message[RESIDENT_MOST_BYTES];
static char *resident_texts[RESIDENT_MOST_TEXTS + 1];

static _Noreturn void resident_fail(void)
{
    _exit(98);
}

/* Receives the message of a call, and makes its descriptors the standard ones. Returns its size. */
static size_t resident_receive(int link)
{
    int passed[3];
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof passed)];
    } control;
    struct iovec into = {.iov_base = resident_message, .iov_len = sizeof resident_message - 1};
    struct msghdr message = {.msg_iov = &into,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t size = recvmsg(link, &message, 0);
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (size <= 0 || !header || header->cmsg_len != CMSG_LEN(sizeof passed))
        resident_fail();
    memcpy(passed, CMSG_DATA(header), sizeof passed);
    for (int i = 0; i < 3; i++)
        if (dup2(passed[i], i) != i)
            resident_fail();
    return (size_t)size;
}

/* In the fork: the command, as if it had been started with these words. */
static _Noreturn void resident_run(int link)
{
    size_t size = resident_receive(link), count = 0;
    for (size_t at = 0; at < size && count < RESIDENT_MOST_TEXTS;
         at += strlen(resident_message + at) + 1)
        resident_texts[count++] = resident_message + at;
    size_t words = count > 1 ? strtoul(resident_texts[1], NULL, 10) : 0;
    if (words == 0 || words + 2 > count || chdir(resident_texts[0]) != 0)
        resident_fail();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    close_range(STDERR_FILENO + 1, ~0U, 0);
    static char *arguments[RESIDENT_MOST_TEXTS + 1];
    memcpy((void *)arguments, (void *)(resident_texts + 2), words * sizeof *arguments);
    environ = resident_texts + 2 + words;
    exit(ddbfs_main((int)words, arguments));
}

static void resident_accept(int listener)
{
    int link = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    struct resident_call *call = resident_calls;
    while (call < resident_calls + RESIDENT_MOST_CALLS && call->pid)
        call++;
    if (link < 0 || call == resident_calls + RESIDENT_MOST_CALLS)
        resident_fail();
    *call = (struct resident_call){.pid = fork(), .link = link};
    if (call->pid == 0)
        resident_run(link);
    if (call->pid < 0 || send(link, &call->pid, sizeof call->pid, MSG_NOSIGNAL) < 0)
        resident_fail();
}

static void resident_reap(void)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (struct resident_call *call = resident_calls;
             call < resident_calls + RESIDENT_MOST_CALLS; call++)
            if (call->pid == pid) {
                send(call->link, &status, sizeof status, MSG_NOSIGNAL);
                close(call->link);
                call->pid = 0;
            }
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = argc == 2 ? strlen(argv[1]) : 0;
    if (length == 0 || length + 1 > sizeof address.sun_path)
        return 2;
    memcpy(address.sun_path + 1, argv[1], length);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    prctl(PR_SET_NAME, "ddbfs");
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int ended = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    if (listener < 0 || ended < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
        listen(listener, 64) != 0)
        return 1;
    for (;;) {
        struct pollfd watched[] = {{.fd = listener, .events = POLLIN},
                                   {.fd = ended, .events = POLLIN}};
        if (poll(watched, 2, -1) < 0 && errno != EINTR)
            return 1;
        struct signalfd_siginfo info;
        if (watched[1].revents && read(ended, &info, sizeof info) == (ssize_t)sizeof info)
            resident_reap();
        if (watched[0].revents)
            resident_accept(listener);
    }
}
