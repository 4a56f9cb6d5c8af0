/* The end of a life: what the program has counted equals what the service has booked, and nothing
 * that readers needed is left. */
#include "tests/sim/sim_end.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_actors.h"
#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_model.h"
#include "tests/sim/sim_service.h"
#include "tests/sim/sim_text.h"
#include "tests/sim/sim_world.h"

/* Streams are polled for ten minutes after the last read. */
enum { END_POLLED_MS = 11 * 60 * 1000, END_QUIET_MS = 5 * 60 * 1000 };

/* Decimal numbers of a few digits were added in different orders. */
#define END_ROUNDING 1e-6

static double end_number(const struct sim_json *object, const char *name)
{
    const struct sim_json *value = sim_json_get(object, name);
    return value && value->kind == SIM_JSON_NUMBER ? strtod(value->bytes, NULL) : 0;
}

/* Such as the sum of the units of all programs. */
static double end_sum(const struct sim_json *array, const char *name)
{
    double sum = 0;
    for (size_t i = 0; array && i < array->count; i++)
        sum += end_number(&array->members[i], name);
    return sum;
}

static bool end_differs(double a, double b)
{
    return fabs(a - b) > END_ROUNDING;
}

/* Each line is a JSON object. */
static void end_check_lines(const char *path, const char *bytes, size_t size)
{
    for (const char *at = bytes, *end; at < bytes + size; at = end + 1) {
        struct sim_json line;
        end = memchr(at, '\n', (size_t)(bytes + size - at));
        if (!end || !sim_json_parse(&line, at, (size_t)(end - at)))
            sim_defect("control", "a line of %s is no JSON: %.200s", path, at);
        if (!sim_json_text(&line, "path") || !sim_json_text(&line, "program"))
            sim_defect("control", "a line of %s lacks members: %.200s", path, at);
        sim_json_free(&line);
    }
}

/* A line of errors or log has the time, and fields with the process, the errno, or a note. */
static void end_check_errors(const char *path, const char *bytes, size_t size)
{
    for (const char *at = bytes, *end; at < bytes + size; at = end + 1) {
        size_t length;
        end = memchr(at, '\n', (size_t)(bytes + size - at));
        if (!end)
            sim_defect("control", "the last line of %s is torn", path);
        length = (size_t)(end - at);
        if (length < 21 || strncmp(at, "20", 2) != 0 || at[19] != 'Z' || at[20] != ' ' ||
            !(memmem(at, length, " pid=", 5) || memmem(at, length, " note", 5)))
            sim_defect("control", "a line of %s has another form: %.*s", path, (int)length, at);
    }
}

static void end_check_json(const char *path, const char *bytes, size_t size)
{
    struct sim_json json;
    if (!sim_json_parse(&json, bytes, size))
        sim_defect("control", "%s is no JSON: %.200s", path, bytes);
    sim_json_free(&json);
}

static void end_check_metrics(const char *path, const char *bytes, size_t size)
{
    if (size < 6 || strcmp(bytes + size - 6, "# EOF\n") != 0)
        sim_defect("control", "%s does not end in # EOF", path);
}

void sim_end_check_control(const char *path, const char *bytes, size_t size)
{
    if (strcmp(path, "/.ddbfs/ledger.jsonl") == 0)
        end_check_lines(path, bytes, size);
    else if (strcmp(path, "/.ddbfs/stats.json") == 0 || strcmp(path, "/.ddbfs/mount.json") == 0)
        end_check_json(path, bytes, size);
    else if (strcmp(path, "/.ddbfs/metrics") == 0)
        end_check_metrics(path, bytes, size);
    else if (strcmp(path, "/.ddbfs/errors") == 0)
        end_check_errors(path, bytes, size);
}

/* The limit of a second, while the life goes on. The last request of a second may exceed it, which
 * the next two seconds pay for: of more than they have, the rest is forgotten. */
enum { AUDIT_MOST_S = 4000 };

static void end_audit_window(const uint64_t *half_units, unsigned from_s, unsigned until_s)
{
    struct sim_books books = sim_service_books();
    double units = (double)(half_units[until_s] - half_units[from_s]) / 2;
    double request = (double)books.half_units_most / 2;
    double seconds = until_s - from_s + 1, lost = (double)books.half_units_lost / 2;
    double limit = sim_life_options()->max_rcu;
    double excess = request <= 2 * limit ? request : request * (floor(seconds / 3) + 2);
    double most = limit * seconds + excess + lost;
    if (books.half_units_most > 0 && units > most + END_ROUNDING)
        sim_defect("limits",
                   "%g RCU in the seconds %u to %u, with --max-rcu %g and %g in a request", units,
                   from_s, until_s, sim_life_options()->max_rcu, request);
}

static bool end_actors_have_ended(void *arg)
{
    (void)arg;
    return sim_actors_have_ended();
}

static void end_audit(void *arg)
{
    static uint64_t half_units[AUDIT_MOST_S];
    static const unsigned windows_s[] = {1, 2, 5, 20, 100};
    (void)arg;
    for (unsigned s = 0; s < AUDIT_MOST_S; s++) {
        half_units[s] = sim_service_books().half_units;
        for (unsigned i = 0; i < sizeof windows_s / sizeof windows_s[0]; i++)
            if (s >= windows_s[i])
                end_audit_window(half_units, s - windows_s[i], s);
        if (sim_fiber_wait_until(end_actors_have_ended, NULL, sim_now_ms() + 1000))
            return;
    }
}

void sim_end_start_audit(void)
{
    if (sim_life_options()->max_rcu > 0)
        sim_fiber_start("audit", end_audit, NULL);
}

static bool end_is_idle(void *arg)
{
    (void)arg;
    return sim_transport_count() == 0;
}

/* The work for an interrupted reader continues for a second, because the next one may join it:
 * docs/internals/parked-requests.md. */
enum { END_JOINED_MS = 1100 };

/* After the last reader, requests under way end, and no further ones are sent, except polls of
 * streams for ten minutes. False: the wait was not long enough for listings that readers share. */
static bool end_check_silence(void)
{
    bool polls = sim_life_options()->live;
    struct sim_dice dice = sim_dice_for("silence", 0);
    struct sim_books before;
    uint64_t sent;
    sim_fiber_sleep_ms(END_JOINED_MS);
    sim_fiber_wait_until(end_is_idle, NULL, sim_now_ms() + 4 * sim_life_options()->timeout_ms);
    if (polls && !sim_dice_chance(&dice, 300))
        return false;
    before = sim_service_books();
    if (polls)
        sim_fiber_sleep_ms(END_POLLED_MS);
    sent = sim_transport_sent();
    /* For an outage, listings are kept that much longer. */
    sim_fiber_sleep_ms(END_QUIET_MS + sim_life_options()->stale_ms);
    bool may_poll = polls && sim_causes_had(SIM_FAULT_MEMORY); /* docs/internals/live.md */
    if (sim_transport_sent() != sent && !may_poll)
        sim_defect("silence", "%llu requests were sent after all readers had gone",
                   (unsigned long long)(sim_transport_sent() - sent));
    if (sim_service_books().half_units != before.half_units)
        sim_defect("silence", "units were consumed after all readers had gone");
    return true;
}

/* Memory pressure drops all names; those of directories go after those below. */
static void end_forget_all(void)
{
    for (unsigned i = 0; i < 20; i++) {
        struct sim_kernel_counts before = sim_kernel_count(), after;
        sim_kernel_shrink(1000);
        sim_fiber_sleep_ms(10);
        after = sim_kernel_count();
        if (after.dentries == before.dentries && after.inodes == before.inodes)
            break;
    }
}

static void end_check_kernel(void)
{
    struct sim_kernel_counts counts = sim_kernel_count();
    if (counts.open_files || counts.waiting_requests || counts.queued_requests)
        sim_defect("end", "%zu open files, %zu waiting and %zu queued requests are left",
                   counts.open_files, counts.waiting_requests, counts.queued_requests);
}

/* The whole file NAME of /.ddbfs; the caller frees it (sim_free). NULL: a fault prevents it. */
static char *end_read(struct sim_actor *actor, const char *name, size_t *size)
{
    char path[64];
    snprintf(path, sizeof path, "/.ddbfs/%s", name);
    return sim_program_read(actor, path, size);
}

/* The inodes of /, /.ddbfs and stats.json itself remain. */
static void end_check_nodes(const struct sim_json *stats)
{
    const struct sim_json *waiting = sim_json_get(stats, "waiting");
    /* A closed listing without memory for its timer is freed by the budget (open_listing_close). */
    bool is_timed = !sim_causes_had(SIM_FAULT_MEMORY);
    if (is_timed && (end_number(stats, "directories") > 2 || end_number(stats, "files") > 1))
        sim_defect("end", "%g directories and %g files are left after the kernel forgot all",
                   end_number(stats, "directories"), end_number(stats, "files"));
    if (waiting && waiting->count > 0)
        sim_defect("end", "%zu accesses wait after all readers have gone", waiting->count);
    if (end_number(stats, "maps") > 1)
        sim_defect("end", "%g maps are in use", end_number(stats, "maps"));
}

/* A process group exceeds its limit by a request at most. "A request without a response is charged
 * to the limit with its estimate" (docs/internals/limits.md). */
static void end_check_groups(const struct sim_json *stats)
{
    const struct sim_json *groups = sim_json_get(stats, "budgets");
    double most = sim_life_options()->max_rcu_per_process;
    struct sim_books books = sim_service_books();
    double request = (double)books.half_units_most / 2;
    if (books.lost > 0 || books.refused > 0 || sim_causes_had(SIM_FAULT_RESET_BEFORE) ||
        sim_causes_had(SIM_FAULT_UNREACHABLE) || sim_causes_had(SIM_FAULT_NO_ANSWER))
        return;
    for (size_t i = 0; most > 0 && groups && i < groups->count; i++)
        if (end_number(&groups->members[i], "units") > most + request + END_ROUNDING)
            sim_defect("limits",
                       "a group has consumed %g RCU, with --max-rcu-per-process %g and "
                       "%g in a request",
                       end_number(&groups->members[i], "units"), most, request);
}

/* Units that a lost or damaged response stated may be known or not; all others are known exactly.
 */
static void end_check_units(const struct sim_json *stats)
{
    struct sim_books books = sim_service_books();
    double charged = (double)books.half_units / 2, lost = (double)books.half_units_lost / 2;
    double known = end_number(stats, "consumed_capacity");
    double at_most = end_number(stats, "consumed_capacity_at_most");
    bool is_read = !sim_causes_had(SIM_FAULT_MEMORY); /* each response */
    if (known > charged + END_ROUNDING || (is_read && known < charged - lost - END_ROUNDING))
        sim_defect("books",
                   "consumed_capacity is %g; the service charged %g, of which %g were lost", known,
                   charged, lost);
    if (at_most < charged - END_ROUNDING)
        sim_defect("books", "consumed_capacity_at_most is %g; the service charged %g", at_most,
                   charged);
    if (is_read && books.half_units_lost == 0 && books.lost == 0 && books.refused == 0 &&
        end_differs(known, charged))
        sim_defect("books", "consumed_capacity is %g; the service charged %g", known, charged);
}

/* Each request belongs to a program, and to a use. */
static void end_check_sums(const struct sim_json *stats)
{
    const struct sim_json *programs = sim_json_get(stats, "programs");
    double known = end_number(stats, "consumed_capacity");
    double by_program = end_sum(programs, "units");
    double by_use = end_sum(sim_json_get(stats, "uses"), "units");
    if (end_differs(by_program, known) || end_differs(by_use, known))
        sim_defect("books", "the mount consumed %g RCU, its programs %g, its uses %g", known,
                   by_program, by_use);
}

static void end_check_requests(const struct sim_json *stats)
{
    const struct sim_json *operations = sim_json_get(stats, "requests");
    double sent = (double)sim_transport_sent(), counted = 0;
    for (size_t i = 0; operations && i < operations->count; i++)
        counted += strtod(operations->members[i].bytes, NULL);
    if (sim_life_is_frozen() && !sim_life_is_recording() && sent > 0)
        sim_defect("books", "a mount of a snapshot has sent %g requests", sent);
    if (end_differs(counted, sent))
        sim_defect("books", "stats.json has %g requests, and %g were sent", counted, sent);
}

/* The value of a sample without labels. */
static double end_metric(const char *metrics, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = metrics; (at = strstr(at, name)); at += size)
        if ((at == metrics || at[-1] == '\n') && at[size] == ' ')
            return strtod(at + size, NULL);
    sim_defect("books", "metrics lack %s", name);
}

/* The sum of all samples of a family with labels. */
static double end_metric_sum(const char *metrics, const char *name)
{
    size_t size = strlen(name);
    double sum = 0;
    for (const char *at = metrics; (at = strstr(at, name)); at += size) {
        const char *end = strchr(at, '\n'), *value = end;
        if ((at != metrics && at[-1] != '\n') || at[size] != '{' || !end)
            continue;
        while (value > at && value[-1] != ' ')
            value--;
        sum += strtod(value, NULL);
    }
    return sum;
}

static void end_check_metrics_books(const char *metrics, const struct sim_json *stats)
{
    double known = end_number(stats, "consumed_capacity");
    if (end_differs(end_metric(metrics, "ddbfs_consumed_capacity_total"), known) ||
        end_differs(end_metric_sum(metrics, "ddbfs_use_read_units_total"), known))
        sim_defect("books", "metrics have %g RCU, by use %g, and stats.json %g",
                   end_metric(metrics, "ddbfs_consumed_capacity_total"),
                   end_metric_sum(metrics, "ddbfs_use_read_units_total"), known);
}

/* The units and requests of all lines; *LINES is their number. */
static void end_sum_ledger(const char *name, const char *bytes, size_t size, double *units,
                           double *requests, size_t *lines)
{
    *units = *requests = 0;
    *lines = 0;
    for (const char *at = bytes, *end; at < bytes + size; at = end + 1, ++*lines) {
        struct sim_json line;
        end = memchr(at, '\n', (size_t)(bytes + size - at));
        /* A full disk accepts a part; the rest is written before the next line. */
        if (!end && sim_causes_had(SIM_FAULT_SPOOL))
            return;
        if (!end || !sim_json_parse(&line, at, (size_t)(end - at)))
            sim_defect("books", "a line of %s is no JSON: %.*s", name, end ? (int)(end - at) : 300,
                       at);
        *units += end_number(&line, "units");
        *requests += end_number(&line, "requests");
        sim_json_free(&line);
    }
}

/* The ledger in memory has the last 1,000 lines. */
static void end_check_ledger(struct sim_actor *actor, const struct sim_json *stats)
{
    enum { LINES = 1000 };
    double units, requests, known = end_number(stats, "consumed_capacity");
    size_t size, lines;
    char *ledger = end_read(actor, "ledger.jsonl", &size);
    if (!ledger)
        return;
    end_sum_ledger("the ledger", ledger, size, &units, &requests, &lines);
    /* A sum is rounded in each line. */
    bool is_whole = lines < LINES && !sim_causes_had(SIM_FAULT_MEMORY); /* which a line needs */
    if ((is_whole && fabs(units - known) > 1e-3) || units > known + 1e-3)
        sim_defect("books", "the lines of the ledger have %g RCU, and stats.json %g", units, known);
    sim_free(ledger);
}

/* FILE has all lines, unless the disk or memory failed. */
static void end_check_ledger_file(const struct sim_json *stats)
{
    double units, requests, known = end_number(stats, "consumed_capacity");
    struct sim_text bytes = {0};
    size_t lines;
    if (!sim_life_options()->has_ledger || sim_life_is_recording() ||
        end_number(stats, "ledger_lines_lost") > 0)
        return;
    sim_fiber_sleep_ms(1000); /* its thread writes */
    sim_life_read_file("ledger.jsonl", &bytes);
    end_sum_ledger("the file of --ledger", bytes.size ? bytes.bytes : "", bytes.size, &units,
                   &requests, &lines);
    bool is_whole = !sim_causes_had(SIM_FAULT_MEMORY);
    if ((is_whole && fabs(units - known) > 1e-3) || units > known + 1e-3)
        sim_defect("books", "the file of --ledger has %g RCU, and stats.json %g", units, known);
    sim_text_free(&bytes);
}

/* Each failure of the service is reported, unless memory was short. */
static void end_check_failures(struct sim_actor *actor, const struct sim_json *stats)
{
    size_t size;
    char *errors;
    if (sim_life_count().failures > 0 && end_number(stats, "errors") < 1)
        sim_defect("control", "%llu failures, and stats.json has none",
                   (unsigned long long)sim_life_count().failures);
    errors = end_read(actor, "errors", &size);
    if (errors && sim_life_count().failures > 0 && size == 0)
        sim_defect("control", "%llu failures, and errors is empty",
                   (unsigned long long)sim_life_count().failures);
    sim_free(errors);
}

static size_t end_count_lines(const char *text)
{
    size_t count = 0;
    for (; (text = strchr(text, '\n')); text++)
        count++;
    return count;
}

/* Whether TEXT is the map: the newest, or that before it if the newest could not be read. */
static bool end_is_map_in_use(const char *text)
{
    enum { READ_MS = 2000 };
    for (const struct sim_model *model = sim_model_now(); model; model = model->older) {
        if (strcmp(text, model->text ? model->text : "") == 0)
            return true;
        const struct sim_model *older = model->older;
        if (older && !sim_causes_any(older->until_ms, older->until_ms + READ_MS))
            return false;
    }
    return false;
}

/* The files of /.ddbfs have the documented numbers of lines, and the map in use. */
static void end_check_files(struct sim_actor *actor)
{
    static const struct {
        const char *name;
        size_t most;
    } files[] = {{"errors", 200}, {"log", 200}, {"ledger.jsonl", 1000}, {"recent", 256}};
    size_t size;
    char *text;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        text = end_read(actor, files[i].name, &size);
        if (text && end_count_lines(text) > files[i].most)
            sim_defect("control", "%s has %zu lines", files[i].name, end_count_lines(text));
        sim_free(text);
    }
    text = end_read(actor, "map.json", &size);
    if (text && !end_is_map_in_use(text))
        sim_defect("control", "map.json is not the map in use");
    sim_free(text);
}

static void end_check_books(struct sim_actor *actor, bool was_silent)
{
    size_t size;
    struct sim_json stats;
    char *metrics, *text = end_read(actor, "stats.json", &size);
    if (!text)
        return;
    if (!sim_json_parse(&stats, text, size))
        sim_defect("books", "stats.json is no JSON: %.200s", text);
    if (was_silent && !sim_life_is_frozen()) /* listings of a snapshot stay fresh */
        end_check_nodes(&stats);
    end_check_units(&stats);
    end_check_groups(&stats);
    end_check_sums(&stats);
    end_check_requests(&stats);
    metrics = end_read(actor, "metrics", &size);
    if (metrics)
        end_check_metrics_books(metrics, &stats);
    end_check_failures(actor, &stats);
    end_check_files(actor);
    end_check_ledger(actor, &stats);
    end_check_ledger_file(&stats);
    sim_free(metrics);
    sim_free(text);
    sim_json_free(&stats);
}

void sim_life_check_end(void)
{
    struct sim_actor *actor = sim_actor_new("check");
    if (sim_kernel_is_live()) {
        bool was_silent = end_check_silence();
        end_forget_all();
        end_check_kernel();
        end_check_books(actor, was_silent);
        end_forget_all();
    }
    sim_actor_end(actor);
}
