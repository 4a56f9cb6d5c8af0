/* OpenMetrics 1.0: families one after another, each with its type, unit and help; samples of
 * counters end in _total; "# EOF" at the end, so that nobody takes a part for the whole. */
#include "fs/mount/metrics.h"

#include "core/base/decimal.h"
#include "core/sources.h"
#include "fs/mount/counters.h"
#include "fs/mount/usage_sums.h"

/* Where nothing is said: the table itself, or no table at all. */
struct label {
    const char *name;
    struct span value;
};

static void metrics_write_family(struct buf *out, const char *name, const char *type,
                                 const char *unit, const char *help)
{
    buf_printf(out, "# TYPE ddbfs_%s %s\n", name, type);
    if (unit[0])
        buf_printf(out, "# UNIT ddbfs_%s %s\n", name, unit);
    buf_printf(out, "# HELP ddbfs_%s %s\n", name, help);
}

static void metrics_write_value(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\n') {
            buf_add_text(out, "\\n");
            continue;
        }
        if (text.data[i] == '\\' || text.data[i] == '"')
            buf_add_char(out, '\\');
        buf_add_char(out, text.data[i]);
    }
}

/* LABELS end with one that has no name. */
static void metrics_write_sample(struct buf *out, const char *name, const struct label *labels,
                                 double value)
{
    buf_printf(out, "ddbfs_%s", name);
    for (size_t i = 0; labels[i].name; i++) {
        buf_printf(out, "%c%s=\"", i ? ',' : '{', labels[i].name);
        metrics_write_value(out, labels[i].value);
        buf_add_char(out, '"');
    }
    buf_add_text(out, labels[0].name ? "} " : " ");
    decimal_write(value, out);
    buf_add_char(out, '\n');
}

static void metrics_write_build(struct buf *out)
{
    const struct label labels[] = {{"version", SPAN_LITERAL(DDBFS_VERSION)}, {0}};
    metrics_write_family(out, "build", "info", "", "Which ddbfs this is.");
    metrics_write_sample(out, "build_info", labels, 1);
}

static void metrics_write_numbers(const struct mount *mount, struct buf *out)
{
    static const struct label none[] = {{0}};
    struct number numbers[NUMBERS];
    counters_fill(mount, numbers);
    for (size_t i = 0; i < NUMBERS; i++) {
        const struct number *number = &numbers[i];
        bool is_counter = number->kind == NUMBER_COUNTER;
        char name[64];
        snprintf(name, sizeof name, "%s%s", number->name, is_counter ? "_total" : "");
        metrics_write_family(out, number->name, is_counter ? "counter" : "gauge", number->unit,
                             number->help);
        metrics_write_sample(out, name, none, number->value);
    }
}

static void metrics_write_requests(const struct mount *mount, struct buf *out)
{
    struct source_stats source = sources_stats(mount->app->sources);
    metrics_write_family(out, "requests", "counter", "",
                         "Requests to the service, retries included.");
    for (size_t i = 0; i < source.operation_count; i++) {
        const struct label labels[] = {{"operation", span_text(source.operations[i].name)}, {0}};
        metrics_write_sample(out, "requests_total", labels, (double)source.operations[i].count);
    }
}

/* The buckets of a histogram hold those of the ones before, too. */
static void metrics_write_pace(struct buf *out, const struct usage_sums_pace *pace)
{
    uint64_t count = 0;
    struct label labels[] = {
        {"operation", pace->operation}, {"table", pace->table}, {"le", {0}}, {0}};
    for (size_t i = 0; i < USAGE_SUMS_BUCKETS; i++) {
        char bound[32] = "+Inf";
        if (usage_sums_bound_ms(i) >= 0)
            snprintf(bound, sizeof bound, usage_sums_bound_ms(i) % 1000 ? "%g" : "%.1f",
                     (double)usage_sums_bound_ms(i) / 1000);
        count += pace->buckets[i];
        labels[2].value = span_text(bound);
        metrics_write_sample(out, "request_duration_seconds_bucket", labels, (double)count);
    }
    labels[2] = (struct label){0};
    metrics_write_sample(out, "request_duration_seconds_count", labels, (double)count);
    metrics_write_sample(out, "request_duration_seconds_sum", labels, (double)pace->took_ms / 1000);
}

static void metrics_write_paces(const struct mount *mount, struct buf *out)
{
    struct usage_sums_pace pace;
    metrics_write_family(out, "request_duration_seconds", "histogram", "seconds",
                         "How long requests took, by operation and table, failed ones included.");
    for (size_t i = 0; usage_sums_pace(mount->tally, i, &pace); i++)
        metrics_write_pace(out, &pace);
}

/* Families that tell the same things of each use. */
static void metrics_write_uses(const struct mount *mount, struct buf *out)
{
    static const struct {
        const char *name, *sample, *unit, *help;
    } families[] = {
        {"use_requests", "use_requests_total", "",
         "Requests, by table, index, the map's pattern and the calling program."},
        {"use_request_failures", "use_request_failures_total", "",
         "Of these, requests that failed, or that nobody waited for any more."},
        {"use_read_units", "use_read_units_total", "read_units",
         "Read units that responses state, by table, index, the map's pattern and the program."},
        {"use_read_units_at_most", "use_read_units_at_most_total", "",
         "The same, with the upper bound of requests whose responses state none."},
    };
    struct usage_sums_use use;
    for (size_t family = 0; family < sizeof families / sizeof families[0]; family++) {
        metrics_write_family(out, families[family].name, "counter", families[family].unit,
                             families[family].help);
        for (size_t i = 0; usage_sums_use(mount->tally, i, &use); i++) {
            const struct label labels[] = {{"table", use.table},
                                           {"index", use.index},
                                           {"pattern", use.pattern},
                                           {"program", use.program},
                                           {0}};
            const double values[] = {(double)use.sum.requests, (double)use.sum.failures,
                                     use.sum.spent.units,
                                     use.sum.spent.units + use.sum.spent.doubted};
            metrics_write_sample(out, families[family].sample, labels, values[family]);
        }
    }
}

static void metrics_write_questions(const struct mount *mount, struct buf *out)
{
    struct usage_sums_program program;
    metrics_write_family(
        out, "questions", "counter", "",
        "Questions by program: the service was asked, memory sufficed, or it failed.");
    for (size_t i = 0; usage_sums_program(mount->tally, i, &program); i++) {
        const struct {
            const char *answer;
            uint64_t count;
        } answers[] = {
            {"service", program.questions - program.cached - program.failed},
            {"cache", program.cached},
            {"error", program.failed},
        };
        for (size_t k = 0; k < sizeof answers / sizeof answers[0]; k++) {
            const struct label labels[] = {
                {"program", program.name}, {"answer", span_text(answers[k].answer)}, {0}};
            metrics_write_sample(out, "questions_total", labels, (double)answers[k].count);
        }
    }
}

void metrics_write(const struct mount *mount, struct buf *out)
{
    metrics_write_build(out);
    metrics_write_numbers(mount, out);
    metrics_write_requests(mount, out);
    metrics_write_paces(mount, out);
    metrics_write_uses(mount, out);
    metrics_write_questions(mount, out);
    buf_add_text(out, "# EOF\n");
}
