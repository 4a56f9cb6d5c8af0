/* The system below the program: its calls are wrapped by the linker. */
#ifndef DDBFS_TESTS_SIM_SIM_OS_H
#define DDBFS_TESTS_SIM_SIM_OS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/sim/sim_dice.h"

#if defined __SANITIZE_ADDRESS__
#define SIM_HAS_ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SIM_HAS_ASAN 1
#endif
#endif

/* A function of the simulator that the program calls as NAME, and the system's own. meson.build has
 * the names. */
#define SIM_WRAP(name) __asm__("__wrap_" #name)
#define SIM_REAL(name) __asm__("__real_" #name)

/* sim_fds.c: pipes, eventfds, signalfds and epolls exist in the simulator alone; their numbers are
 * from SIM_FIRST_FD on. */
enum { SIM_FIRST_FD = 1 << 20 };

bool sim_fd_is_own(int fd);
/* A file with this text, which is read from its begin. */
int sim_fd_open_text(const char *text, size_t size);
bool sim_fd_is_readable(int fd);
ssize_t sim_fd_read(int fd, void *bytes, size_t size);
ssize_t sim_fd_pread(int fd, void *bytes, size_t size, off_t offset);
ssize_t sim_fd_write(int fd, const void *bytes, size_t size);
int sim_fd_close(int fd);
int sim_fd_fcntl(int fd, int command, int value);
/* How many are open. */
unsigned sim_fd_count(void);
/* The session's descriptor, which is a real one, because libfuse closes it. */
void sim_fd_set_device(int fd);
bool sim_fd_is_device(int fd);

/* sim_threads.c: threads of the program that have not ended. */
unsigned sim_thread_count(void);

/* sim_proc.c: the text of a file "PID/NAME" of a process; NULL: there is none. Owned by the caller
 * (sim_free). */
char *sim_proc_read(const char *path);
DIR *sim_proc_open_folder(void);
enum { SIM_PROC_FD = SIM_FIRST_FD - 2 };

/* The user who mounts, and the program's process. */
enum { SIM_USER = 1000, SIM_PID = 1000 };

/* sim_world.c: for the scheduler. */
struct sim_dice *sim_world_turns_dice(void);
void sim_world_count_turn(void);
uint64_t sim_world_turns(void);
enum { SIM_DIGEST_SIZE = 33 };
void sim_world_write_digest(char out[SIM_DIGEST_SIZE]);

#endif
