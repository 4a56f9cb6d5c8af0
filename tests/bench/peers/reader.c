/* The reading side, the same program for the mount and for its peer on tmpfs:
 *
 *   reader read FILES PAUSE_US  open, read, close each file of the list, one after the other
 *   reader stat FILES PAUSE_US  stat each
 *   reader miss FILES PAUSE_US  stat each; none of them may exist
 *   reader each FILES           a thread a line, all opening, reading and closing at once
 *
 * FILES is a file with a path a line. Prints each time in nanoseconds; of "each", when the last
 * was through. A path that cannot be read ends it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1000000, LONGEST = 4096, CHUNK = 65536 };

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "reader: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static void read_file(int folder, const char *path)
{
    char bytes[CHUNK];
    ssize_t size;
    int fd = openat(folder, path, O_RDONLY);
    if (fd < 0)
        die(path);
    do
        size = read(fd, bytes, sizeof bytes);
    while (size > 0);
    if (size < 0)
        die(path);
    close(fd);
}

static void stat_file(int folder, const char *path)
{
    struct stat found;
    if (fstatat(folder, path, &found, 0) != 0)
        die(path);
}

static void miss_file(int folder, const char *path)
{
    struct stat found;
    if (fstatat(folder, path, &found, 0) == 0 || errno != ENOENT)
        die(path);
}

typedef void touch_fn(int folder, const char *path);

static size_t read_list(const char *file, char **paths)
{
    char line[LONGEST];
    size_t count = 0;
    FILE *in = fopen(file, "r");
    if (!in)
        die(file);
    while (count < MOST && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        paths[count] = strdup(line);
        if (!paths[count++])
            die("strdup");
    }
    fclose(in);
    return count;
}

static void one_by_one(touch_fn *touch, char **paths, size_t count, useconds_t pause_us)
{
    int64_t *times = calloc(count + 1, sizeof *times);
    if (!times)
        die("calloc");
    for (size_t i = 0; i < count; i++) {
        int64_t began = now_ns();
        touch(AT_FDCWD, paths[i]);
        times[i] = now_ns() - began;
        if (pause_us)
            usleep(pause_us);
    }
    for (size_t i = 0; i < count; i++)
        printf("%lld\n", (long long)times[i]);
    free(times);
}

/* Readers that wait at a gate, and the time when the last of them had read. */
struct crowd {
    pthread_barrier_t gate;
    char **paths;
    atomic_size_t next;
    _Atomic int64_t last_ns;
};

static void *wait_and_read(void *arg)
{
    struct crowd *crowd = arg;
    const char *path = crowd->paths[atomic_fetch_add(&crowd->next, 1)];
    pthread_barrier_wait(&crowd->gate);
    read_file(AT_FDCWD, path);
    int64_t now = now_ns();
    int64_t last = atomic_load(&crowd->last_ns);
    while (last < now && !atomic_compare_exchange_weak(&crowd->last_ns, &last, now))
        continue;
    return NULL;
}

static void all_at_once(char **paths, size_t count)
{
    struct crowd crowd = {.paths = paths};
    pthread_t *readers = calloc(count, sizeof *readers);
    if (!readers)
        die("calloc");
    pthread_barrier_init(&crowd.gate, NULL, (unsigned)count + 1);
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&readers[i], NULL, wait_and_read, &crowd) != 0)
            die("pthread_create");
    usleep(50000); /* the readers have come to the gate */
    int64_t began = now_ns();
    pthread_barrier_wait(&crowd.gate);
    for (size_t i = 0; i < count; i++)
        pthread_join(readers[i], NULL);
    printf("%lld\n", (long long)(crowd.last_ns - began));
    pthread_barrier_destroy(&crowd.gate);
    free(readers);
}

static void of_list(const char *mode, const char *file, useconds_t pause_us)
{
    char **paths = calloc(MOST, sizeof *paths);
    if (!paths)
        die("calloc");
    size_t count = read_list(file, paths);
    if (strcmp(mode, "each") == 0)
        all_at_once(paths, count);
    else
        one_by_one(strcmp(mode, "stat") == 0   ? stat_file
                   : strcmp(mode, "miss") == 0 ? miss_file
                                               : read_file,
                   paths, count, pause_us);
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: reader read|stat|miss|each FILES [PAUSE_US]\n");
        return 2;
    }
    of_list(argv[1], argv[2], argc > 3 ? (useconds_t)strtoul(argv[3], NULL, 10) : 0);
    return EXIT_SUCCESS;
}
