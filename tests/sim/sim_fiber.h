/* Fibers: the actors of a life, and the threads of the program, take turns on one thread. */
#ifndef DDBFS_TESTS_SIM_SIM_FIBER_H
#define DDBFS_TESTS_SIM_SIM_FIBER_H

#include <stdbool.h>
#include <stdint.h>

struct sim_fiber;

typedef void sim_fiber_fn(void *arg);

/* Whether a fiber that waits can go on. It changes nothing. */
typedef bool sim_ready_fn(void *arg);

/* A fiber that begins at some later turn. NAME is borrowed for the fiber's life. Never NULL: the
 * simulator ends if memory runs out. */
struct sim_fiber *sim_fiber_start(const char *name, sim_fiber_fn *fn, void *arg);

/* The fiber that runs; NULL: the program's own thread, the loop. */
struct sim_fiber *sim_fiber_current(void);
const char *sim_fiber_name(const struct sim_fiber *fiber);
bool sim_fiber_has_ended(const struct sim_fiber *fiber);
/* Frees a fiber that has ended. */
void sim_fiber_free(struct sim_fiber *fiber);

/* Lets others run until READY(ARG) is true; only on a fiber. Spurious returns do not happen. */
void sim_fiber_wait(sim_ready_fn *ready, void *arg);
/* Likewise, but at most until the virtual time UNTIL_MS. False: the time is over, READY is not
 * true. */
bool sim_fiber_wait_until(sim_ready_fn *ready, void *arg, int64_t until_ms);
void sim_fiber_sleep_ms(int64_t ms);
/* Gives another a turn. */
void sim_fiber_yield(void);

/* For the scheduler (sim_world.c): */

/* A fiber of a thread of the program: it may also have turns within a call of the loop. */
struct sim_fiber *sim_fiber_start_thread(const char *name, sim_fiber_fn *fn, void *arg);

/* Gives one fiber that can run a turn, which DICE choose. False: none can. */
struct sim_dice;
bool sim_fiber_run_one(struct sim_dice *dice);
/* Likewise, but threads alone. */
bool sim_fiber_run_thread(struct sim_dice *dice);
/* Whether any fiber can run now. */
bool sim_fiber_any_is_ready(void);
/* When the next waiting fiber is to run in any case; INT64_MAX: never. */
int64_t sim_fiber_wakes_ms(void);
/* Fibers that have not ended. */
unsigned sim_fiber_count(void);
/* The name of the first of them, for messages; NULL: there is none. */
const char *sim_fiber_first_name(void);

#endif
