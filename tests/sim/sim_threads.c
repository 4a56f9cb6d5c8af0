/* The program's threads are fibers; each of its calls that other threads could notice is a chance
 * for them to run. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_os.h"
#include "tests/sim/sim_world.h"

struct sim_thread {
    struct sim_fiber *fiber;
    void *(*fn)(void *arg);
    void *arg, *result;
    bool has_ended, is_detached;
    struct sim_thread *next;
};

/* A thread in pthread_cond_wait. */
struct sim_sleeper {
    pthread_cond_t *cond;
    bool is_awake;
    struct sim_sleeper *next;
};

static struct {
    struct sim_thread *first;
    unsigned count;
    struct sim_sleeper *sleepers;
} sim_threads;

int sim_real_mutex_trylock(pthread_mutex_t *mutex) __asm__("pthread_mutex_trylock");
int sim_real_mutex_unlock(pthread_mutex_t *mutex) SIM_REAL(pthread_mutex_unlock);

int sim_thread_create(pthread_t *out, const pthread_attr_t *how, void *(*fn)(void *), void *arg)
    SIM_WRAP(pthread_create);
int sim_thread_join(pthread_t number, void **result) SIM_WRAP(pthread_join);
int sim_thread_detach(pthread_t number) SIM_WRAP(pthread_detach);
int sim_thread_lock(pthread_mutex_t *mutex) SIM_WRAP(pthread_mutex_lock);
int sim_thread_unlock(pthread_mutex_t *mutex) SIM_WRAP(pthread_mutex_unlock);
int sim_thread_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) SIM_WRAP(pthread_cond_wait);
int sim_thread_signal(pthread_cond_t *cond) SIM_WRAP(pthread_cond_signal);
int sim_thread_broadcast(pthread_cond_t *cond) SIM_WRAP(pthread_cond_broadcast);

unsigned sim_thread_count(void)
{
    return sim_threads.count;
}

static void sim_thread_free(struct sim_thread *thread)
{
    struct sim_thread **at = &sim_threads.first;
    while (*at != thread)
        at = &(*at)->next;
    *at = thread->next;
    sim_fiber_free(thread->fiber);
    sim_free(thread);
    sim_threads.count--;
}

static void sim_thread_main(void *arg)
{
    struct sim_thread *thread = arg;
    thread->result = thread->fn(thread->arg);
    thread->has_ended = true;
}

int sim_thread_create(pthread_t *out, const pthread_attr_t *how, void *(*fn)(void *), void *arg)
{
    struct sim_thread *thread = sim_alloc(sizeof *thread);
    int state = PTHREAD_CREATE_JOINABLE;
    if (how)
        pthread_attr_getdetachstate(how, &state);
    thread->fn = fn;
    thread->arg = arg;
    thread->is_detached = state == PTHREAD_CREATE_DETACHED;
    thread->next = sim_threads.first;
    sim_threads.first = thread;
    sim_threads.count++;
    thread->fiber = sim_fiber_start_thread("a thread", sim_thread_main, thread);
    *out = (pthread_t)thread;
    sim_world_yield();
    return 0;
}

static bool sim_thread_is_over(void *arg)
{
    return sim_fiber_has_ended(((struct sim_thread *)arg)->fiber);
}

int sim_thread_join(pthread_t number, void **result)
{
    struct sim_thread *thread = (struct sim_thread *)number;
    sim_world_wait(sim_thread_is_over, thread, INT64_MAX);
    if (result)
        *result = thread->result;
    sim_thread_free(thread);
    return 0;
}

int sim_thread_detach(pthread_t number)
{
    ((struct sim_thread *)number)->is_detached = true;
    return 0;
}

/* All run on one thread of the system, so that a lock that is held is held by another fiber. */
static bool sim_thread_is_free(void *arg)
{
    return sim_real_mutex_trylock(arg) == 0 && sim_real_mutex_unlock(arg) == 0;
}

int sim_thread_lock(pthread_mutex_t *mutex)
{
    sim_world_yield();
    while (sim_real_mutex_trylock(mutex) == EBUSY)
        sim_world_wait(sim_thread_is_free, mutex, INT64_MAX);
    return 0;
}

int sim_thread_unlock(pthread_mutex_t *mutex)
{
    int error = sim_real_mutex_unlock(mutex);
    sim_world_yield();
    return error;
}

static bool sim_thread_is_awake(void *arg)
{
    return ((struct sim_sleeper *)arg)->is_awake;
}

int sim_thread_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    struct sim_sleeper sleeper = {.cond = cond, .next = sim_threads.sleepers};
    sim_threads.sleepers = &sleeper;
    sim_real_mutex_unlock(mutex);
    sim_world_wait(sim_thread_is_awake, &sleeper, INT64_MAX);
    struct sim_sleeper **at = &sim_threads.sleepers;
    while (*at != &sleeper)
        at = &(*at)->next;
    *at = sleeper.next;
    return sim_thread_lock(mutex);
}

/* Wakes COUNT sleepers: which one is the first is not promised. */
static void sim_thread_wake(const pthread_cond_t *cond, unsigned count)
{
    for (struct sim_sleeper *each = sim_threads.sleepers; each && count > 0; each = each->next)
        if (each->cond == cond && !each->is_awake) {
            each->is_awake = true;
            count--;
        }
}

int sim_thread_signal(pthread_cond_t *cond)
{
    sim_thread_wake(cond, 1);
    return 0;
}

int sim_thread_broadcast(pthread_cond_t *cond)
{
    sim_thread_wake(cond, UINT32_MAX);
    return 0;
}
