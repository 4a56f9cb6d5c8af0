/* Memory: the simulator's own, and the program's, whose allocations are counted and may fail. */
#include "tests/sim/sim_memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_os.h"
#include "tests/sim/sim_world.h"

#ifdef SIM_HAS_ASAN
#include <sanitizer/lsan_interface.h>
#endif

void *sim_real_malloc(size_t size) SIM_REAL(malloc);
void *sim_real_calloc(size_t count, size_t size) SIM_REAL(calloc);
void *sim_real_realloc(void *memory, size_t size) SIM_REAL(realloc);
void *sim_real_reallocarray(void *memory, size_t count, size_t size) SIM_REAL(reallocarray);
void sim_real_free(void *memory) SIM_REAL(free);
char *sim_real_strdup(const char *text) SIM_REAL(strdup);
char *sim_real_strndup(const char *text, size_t size) SIM_REAL(strndup);
int sim_real_vasprintf(char **out, const char *format, va_list args) __asm__("vasprintf")
    __attribute__((format(printf, 2, 0)));

void *sim_memory_malloc(size_t size) SIM_WRAP(malloc);
void *sim_memory_calloc(size_t count, size_t size) SIM_WRAP(calloc);
void *sim_memory_realloc(void *memory, size_t size) SIM_WRAP(realloc);
void *sim_memory_reallocarray(void *memory, size_t count, size_t size) SIM_WRAP(reallocarray);
void sim_memory_free(void *memory) SIM_WRAP(free);
char *sim_memory_strdup(const char *text) SIM_WRAP(strdup);
char *sim_memory_strndup(const char *text, size_t size) SIM_WRAP(strndup);
int sim_memory_asprintf(char **out, const char *format, ...) SIM_WRAP(asprintf)
    __attribute__((format(printf, 2, 3)));

ssize_t sim_real_getdelim(char **line, size_t *room, int end, FILE *file) SIM_REAL(__getdelim);
ssize_t sim_memory_getdelim(char **line, size_t *room, int end, FILE *file) SIM_WRAP(__getdelim);
/* Without optimization it is not inlined as __getdelim. */
ssize_t sim_memory_getline(char **line, size_t *room, FILE *file) SIM_WRAP(getline);

static struct {
    int64_t count; /* of the program's blocks */
    bool may_fail;
} sim_memory;

int64_t sim_memory_count(void)
{
    return sim_memory.count;
}

void sim_memory_set_may_fail(bool may_fail)
{
    sim_memory.may_fail = may_fail;
}

void sim_memory_add(int64_t blocks)
{
    sim_memory.count += blocks;
}

/* A failed allocation ends most operations: only one of a few is drawn for, so that a spell of
 * seconds reaches each place now and then. */
enum { SIM_DRAWN_ALLOCATIONS = 4 };

/* A spell lasts for milliseconds at least, so that it is looked up once for each. */
static bool sim_memory_is_short(void)
{
    static int64_t checked_ms = -1;
    static bool is_short;
    if (checked_ms != sim_now_ms())
        is_short = sim_causes_is_under(SIM_FAULT_MEMORY);
    checked_ms = sim_now_ms();
    return is_short;
}

static bool sim_memory_fails(void)
{
    static struct sim_dice dice;
    if (!sim_memory.may_fail || !sim_memory_is_short())
        return false;
    if (!dice.state)
        dice = sim_dice_for("allocations", 0);
    if (sim_dice_below(&dice, SIM_DRAWN_ALLOCATIONS) > 0 ||
        !sim_causes_strike(SIM_FAULT_MEMORY, "an allocation"))
        return false;
    errno = ENOMEM;
    return true;
}

/* The program's. */

static void *sim_memory_counted(void *memory)
{
    sim_memory.count += memory != NULL;
    return memory;
}

void *sim_memory_malloc(size_t size)
{
    return sim_memory_fails() ? NULL : sim_memory_counted(sim_real_malloc(size));
}

void *sim_memory_calloc(size_t count, size_t size)
{
    return sim_memory_fails() ? NULL : sim_memory_counted(sim_real_calloc(count, size));
}

void *sim_memory_realloc(void *memory, size_t size)
{
    if (!memory)
        return sim_memory_malloc(size);
    return sim_memory_fails() ? NULL : sim_real_realloc(memory, size);
}

void *sim_memory_reallocarray(void *memory, size_t count, size_t size)
{
    if (sim_memory_fails())
        return NULL;
    void *grown = sim_real_reallocarray(memory, count, size);
    return memory ? grown : sim_memory_counted(grown);
}

void sim_memory_free(void *memory)
{
    sim_memory.count -= memory != NULL;
    sim_real_free(memory);
}

char *sim_memory_strdup(const char *text)
{
    return sim_memory_fails() ? NULL : sim_memory_counted(sim_real_strdup(text));
}

char *sim_memory_strndup(const char *text, size_t size)
{
    return sim_memory_fails() ? NULL : sim_memory_counted(sim_real_strndup(text, size));
}

int sim_memory_asprintf(char **out, const char *format, ...)
{
    va_list args;
    if (sim_memory_fails())
        return -1;
    va_start(args, format);
    int size = sim_real_vasprintf(out, format, args);
    va_end(args);
    sim_memory.count += size >= 0;
    return size;
}

ssize_t sim_memory_getdelim(char **line, size_t *room, int end, FILE *file)
{
    bool was_empty = !*line;
    ssize_t size = sim_real_getdelim(line, room, end, file);
    sim_memory.count += was_empty && *line;
    return size;
}

ssize_t sim_memory_getline(char **line, size_t *room, FILE *file)
{
    return sim_memory_getdelim(line, room, '\n', file);
}

/* The simulator's. */

/* Its blocks live as long as the process. */
static void *sim_memory_check(void *memory)
{
    if (!memory)
        sim_broken("the machine has no memory");
#ifdef SIM_HAS_ASAN
    __lsan_ignore_object(memory);
#endif
    return memory;
}

void *sim_alloc(uint64_t size)
{
    return sim_memory_check(sim_real_calloc(1, size ? size : 1));
}

void *sim_grow(void *memory, uint64_t size)
{
    return sim_memory_check(sim_real_realloc(memory, size ? size : 1));
}

char *sim_copy(const char *text)
{
    return sim_memory_check(sim_real_strdup(text));
}

char *sim_vprintf(const char *format, va_list args)
{
    char *text = NULL;
    int size = sim_real_vasprintf(&text, format, args);
    return sim_memory_check(size < 0 ? NULL : text);
}

char *sim_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = sim_vprintf(format, args);
    va_end(args);
    return text;
}

void sim_free(void *memory)
{
    sim_real_free(memory);
}
