/* The world of one life: its seed, its clock, its story, and the turns of all that happens. */
#ifndef DDBFS_TESTS_SIM_SIM_WORLD_H
#define DDBFS_TESTS_SIM_SIM_WORLD_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/sim_dice.h"

/* What the command line says of a life. */
struct sim_settings {
    uint64_t seed;
    unsigned actions; /* how many the plan has at most */
    bool tells;       /* prints the story while it happens */
    /* Actions and faults that are left out, by number, in increasing order (the shrinker). */
    const unsigned *left_out;
    unsigned left_out_count;
};

extern struct sim_settings sim_settings;

/* Monotonic virtual milliseconds since the life began, and since 1970. Both move only when nothing
 * can run. A skewed machine's wall clock is the sum with sim_world_skew_ms. */
int64_t sim_now_ms(void);
int64_t sim_wall_ms(void);
/* The difference between the program's wall clock and the service's. */
void sim_set_skew_ms(int64_t skew_ms);
int64_t sim_service_wall_ms(void);

/* Moves the virtual clock to at most UNTIL_MS, or to the wake-up of a fiber before it. Nothing
 * moves while a fiber can run. */
void sim_world_skip(int64_t until_ms);

/* Waits until READY(ARG) is true: on a fiber as sim_fiber_wait_until, on the loop's own thread
 * while others have turns. False: UNTIL_MS came first. */
typedef bool sim_ready_fn(void *arg);
bool sim_world_wait(sim_ready_fn *ready, void *arg, int64_t until_ms);
/* A chance for threads of the program to run in the middle of what the caller does. */
void sim_world_yield(void);

/* Sends a signal to the program, as kill(1) does. */
void sim_signal_program(int number);

/* The dice of PURPOSE in this life. */
struct sim_dice sim_dice_for(const char *purpose, uint64_t number);

/* Whether the action or fault NUMBER of the plan takes place: the shrinker leaves some out. */
bool sim_is_left_out(unsigned number);

/* A line of the story: it is part of the digest, and is printed with its time if the life is told.
 * WHO is the actor, the service, the kernel. No pointers, no real times, no numbers of descriptors
 * in it. */
void sim_tell(const char *who, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds bytes to the digest alone. */
void sim_digest(const void *bytes, uint64_t size);

/* An oracle has found a defect: prints it with the time, the seed and the action, and ends the
 * process with SIM_EXIT_DEFECT. */
_Noreturn void sim_defect(const char *oracle, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The simulator itself is wrong, or the machine has no memory: SIM_EXIT_BROKEN. */
_Noreturn void sim_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

enum { SIM_EXIT_DEFECT = 3, SIM_EXIT_BROKEN = 4 };

/* Memory of the simulator, which the leak check and injected failures do not concern. Never NULL.
 */
void *sim_alloc(uint64_t size); /* zeroed */
void *sim_grow(void *memory, uint64_t size);
char *sim_copy(const char *text);
char *sim_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *sim_vprintf(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
void sim_free(void *memory);

#endif
