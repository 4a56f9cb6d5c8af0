/* Reads directories as libc lets a program do, for test_listing.py: one name a line.
 *
 *   readdir alarms FOLDER         with a signal every five milliseconds
 *   readdir rewind FOLDER         half of it, rewinddir, and then all
 *   readdir seek FOLDER           every name once more by telldir and seekdir, backwards
 *   readdir slow FOLDER COMMAND   the first names, then the command, then the rest
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { MOST = 200000, FIRST = 20 };

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
    (void)number;
    alarms++;
}

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/* Up to LIMIT names. */
static long print_names(DIR *folder, long limit)
{
    long count = 0;
    for (; count < limit; count++) {
        errno = 0;
        struct dirent *entry = readdir(folder);
        if (!entry && errno)
            fail("readdir");
        if (!entry)
            break;
        puts(entry->d_name);
    }
    return count;
}

static void with_alarms(DIR *folder)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, 5000}, {0, 5000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    print_names(folder, MOST);
    while (alarms == 0)
        ; /* a run without a signal would prove nothing */
}

static void with_rewind(DIR *folder)
{
    for (long count = 0; count < FIRST && readdir(folder); count++)
        ;
    rewinddir(folder);
    print_names(folder, MOST);
}

static void with_seek(DIR *folder)
{
    static long positions[MOST];
    long count = 0;
    for (;;) {
        positions[count] = telldir(folder);
        if (!readdir(folder) || ++count == MOST)
            break;
    }
    while (count-- > 0) {
        seekdir(folder, positions[count]);
        print_names(folder, 1);
    }
}

static void with_command(DIR *folder, const char *command)
{
    print_names(folder, FIRST);
    if (system(command) != 0)
        fail("the command failed");
    print_names(folder, MOST);
}

int main(int argc, char **argv)
{
    DIR *folder = argc > 2 ? opendir(argv[2]) : NULL;
    if (!folder)
        fail("opendir");
    if (strcmp(argv[1], "alarms") == 0)
        with_alarms(folder);
    else if (strcmp(argv[1], "rewind") == 0)
        with_rewind(folder);
    else if (strcmp(argv[1], "seek") == 0)
        with_seek(folder);
    else
        with_command(folder, argv[3]);
    closedir(folder);
    return 0;
}
