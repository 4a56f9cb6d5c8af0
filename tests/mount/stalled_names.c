/* LD_PRELOAD for a daemon: the name server does not answer.
 *
 *   STALLED_NAMES_FILE   as long as it is there, names under .stalled wait; who asks leaves a
 * second file beside it, which ends in .asked
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ROUNDS = 9000, ROUND_US = 10000 };

static int ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && strcmp(text + size - tail, end) == 0;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    const char *file = getenv("STALLED_NAMES_FILE");
    char asked[4096];
    if (node && ends_with(node, ".stalled")) {
        snprintf(asked, sizeof asked, "%s.asked", file);
        close(open(asked, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        for (int i = 0; i < MOST_ROUNDS && access(file, F_OK) == 0; i++)
            usleep(ROUND_US);
        return EAI_AGAIN;
    }
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(node, service, hints, out);
}
