/* timed FILE COMMAND...: runs the command and writes to FILE "WALL_NS CPU_NS PEAK_KB": its time,
 * the processor time and the most resident memory of its process and of those that it waited for.
 * Ends with its exit status. A small program: the peak of a process begins with that of the process
 * that started it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t timed_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t timed_ns(struct timeval time)
{
    return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

static int timed_run(char **command)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return EXIT_FAILURE;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    struct rusage used;
    FILE *out = argc > 2 ? fopen(argv[1], "w") : NULL;
    if (!out) {
        fputs("usage: timed FILE COMMAND...\n", stderr);
        return 2;
    }
    int64_t began = timed_now_ns();
    int status = timed_run(argv + 2);
    int64_t took = timed_now_ns() - began;
    getrusage(RUSAGE_CHILDREN, &used);
    fprintf(out, "%" PRId64 " %" PRId64 " %ld\n", took,
            timed_ns(used.ru_utime) + timed_ns(used.ru_stime), used.ru_maxrss);
    return fclose(out) == 0 ? status : EXIT_FAILURE;
}
