/* The plan of a life: the options of its mount, its length, and its actions with their times. */
#include "tests/sim/sim_life.h"

#include <stddef.h>
#include <stdio.h>

#include "tests/sim/sim_text.h"
#include "tests/sim/sim_world.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Each option has dice of its own, so that a new option moves no other one. */
static bool life_has(const char *option, unsigned per_mille)
{
    struct sim_dice dice = sim_dice_for(option, 0);
    return sim_dice_chance(&dice, per_mille);
}

static int64_t life_choose(const char *option, const int64_t *values, size_t count)
{
    struct sim_dice dice = sim_dice_for(option, 1);
    return values[sim_dice_below(&dice, (uint32_t)count)];
}

#define CHOOSE(option, ...)                                                                        \
    life_choose(option, (const int64_t[]){__VA_ARGS__}, COUNT(((const int64_t[]){__VA_ARGS__})))

static void life_draw_limits(struct sim_life_options *out)
{
    if (life_has("--timeout", 200))
        out->timeout_ms = CHOOSE("--timeout", 500, 1000, 2000, 5000, 30000);
    if (life_has("--cache-size", 300))
        out->cache_bytes = (uint64_t)CHOOSE("--cache-size", 1, 1, 1, 2, 8, 1024) << 20;
    if (life_has("--max-rcu", 120))
        out->max_rcu = (double)CHOOSE("--max-rcu", 1, 2, 3, 8, 30, 1000);
    if (life_has("--max-rcu-per-process", 120))
        out->max_rcu_per_process = (double)CHOOSE("--max-rcu-per-process", 1, 3, 10, 50, 500);
    if (life_has("--stale-if-error", 200))
        out->stale_ms = 1000 * CHOOSE("--stale-if-error", 1, 5, 30, 300, 3600);
    if (life_has("--max-entries", 80))
        out->max_entries = (uint32_t)CHOOSE("--max-entries", 10, 10, 30, 100, 1000);
    if (life_has("--parallel", 500))
        out->parallel_ms = CHOOSE("--parallel", -1, 0, 0, 0, 0, 1, 20);
    if (life_has("--spool-size", 100))
        out->spool_bytes = (uint64_t)CHOOSE("--spool-size", 1, 1, 4) << 20;
    out->no_spool = life_has("--spool no", 60);
}

static void life_draw_views(struct sim_life_options *out)
{
    static const char *const suffixes[] = {".json", ".txt", "_", ".item-of-a-table"};
    out->live = life_has("--live", 300);
    out->show_secrets = life_has("--show-secrets", 150);
    out->is_compact = life_has("--format compact", 200);
    out->no_hedge = life_has("--hedge no", 300);
    out->allow_scan = life_has("--allow-scan", 60);
    if (out->allow_scan && life_has("--scan-limit", 300))
        out->scan_limit = (uint64_t)CHOOSE("--scan-limit", 1, 5, 20, 100);
    out->is_quiet = life_has("unlistable=quiet", 150);
    out->allow_other = life_has("allow_other", 80);
    out->has_ledger = life_has("--ledger", 400);
    out->records = life_has("--record", 60);
    out->is_snapshot = life_has("--snapshot", 100);
    out->is_replay = !out->is_snapshot && life_has("replay", 60);
    if (out->is_snapshot || out->is_replay) {
        out->live = out->records = false;
        out->allow_scan = out->is_snapshot; /* its partition keys are listed without the option */
        out->scan_limit = 0;
    }
    if (life_has("--suffix", 200))
        out->suffix = suffixes[CHOOSE("--suffix", 0, 1, 2, 3)];
    if (life_has("umask=", 100))
        out->umask = (unsigned)CHOOSE("umask=", 022, 027, 077);
}

const struct sim_life_options *sim_life_options(void)
{
    static struct sim_life_options options;
    static bool is_drawn;
    if (is_drawn)
        return &options;
    is_drawn = true;
    options = (struct sim_life_options){.timeout_ms = 10000,
                                        .cache_bytes = 256 << 20,
                                        .max_entries = 1000000,
                                        .parallel_ms = 3,
                                        .suffix = ""};
    /* A third of the lives have the defaults, except where their figures come from. */
    if (life_has("options", 667)) {
        life_draw_limits(&options);
        life_draw_views(&options);
    }
    return &options;
}

static bool life_is_recording;

void sim_life_begin_recording(void)
{
    life_is_recording = true;
}

bool sim_life_is_recording(void)
{
    return life_is_recording;
}

bool sim_life_is_frozen(void)
{
    const struct sim_life_options *options = sim_life_options();
    return options->is_snapshot || options->is_replay;
}

bool sim_life_is_fat(void)
{
    return life_has("fat", 250) && !sim_life_is_frozen();
}

bool sim_life_cuts_pages(void)
{
    return life_has("cut pages", 200);
}

struct life_words {
    const char **words; /* owned, and the words */
    unsigned count;
};

static void life_add_word(struct life_words *words, char *word)
{
    words->words = sim_grow(words->words, (words->count + 1) * sizeof *words->words);
    words->words[words->count++] = word;
}

static void life_add_option(struct life_words *words, bool is_given, const char *name, char *value)
{
    if (is_given) {
        life_add_word(words, sim_copy(name));
        life_add_word(words, sim_copy(value));
    }
    sim_free(value);
}

static void life_add_flag(struct life_words *words, bool is_given, const char *name)
{
    if (is_given)
        life_add_word(words, sim_copy(name));
}

static void life_add_limits(struct life_words *words, const char *scratch)
{
    const struct sim_life_options *options = sim_life_options();
    life_add_option(words, options->timeout_ms != 10000, "--timeout",
                    sim_printf("%lld.%lld", (long long)options->timeout_ms / 1000,
                               (long long)options->timeout_ms % 1000 / 100));
    life_add_option(words, options->cache_bytes != 256 << 20, "--cache-size",
                    sim_printf("%lluM", (unsigned long long)options->cache_bytes >> 20));
    life_add_option(words, options->max_rcu > 0, "--max-rcu", sim_printf("%g", options->max_rcu));
    life_add_option(words, options->max_rcu_per_process > 0, "--max-rcu-per-process",
                    sim_printf("%g", options->max_rcu_per_process));
    life_add_option(words, options->stale_ms > 0, "--stale-if-error",
                    sim_printf("%lld", (long long)options->stale_ms / 1000));
    life_add_option(words, options->max_entries != 1000000, "--max-entries",
                    sim_printf("%u", options->max_entries));
    life_add_option(words, options->parallel_ms != 3, "--parallel",
                    options->parallel_ms < 0 ? sim_copy("no")
                                             : sim_printf("%lld", (long long)options->parallel_ms));
    life_add_option(words, options->spool_bytes > 0, "--spool-size",
                    sim_printf("%lluM", (unsigned long long)options->spool_bytes >> 20));
    life_add_option(words, true, "--spool", sim_copy(options->no_spool ? "no" : scratch));
    life_add_option(words, options->scan_limit > 0, "--scan-limit",
                    sim_printf("%llu", (unsigned long long)options->scan_limit));
}

/* Where the files of the life are. */
static const char *life_scratch;

void sim_life_write_map(const char *text)
{
    char *name = sim_printf("%s/map.json", life_scratch);
    FILE *file = fopen(name, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        sim_broken("can't write %s", name);
    sim_free(name);
}

void sim_life_read_file(const char *name, struct sim_text *out)
{
    char *path = sim_printf("%s/%s", life_scratch, name), bytes[65536];
    FILE *file = fopen(path, "r");
    size_t size;
    if (!file)
        sim_broken("can't read %s", path);
    while ((size = fread(bytes, 1, sizeof bytes, file)) > 0)
        sim_text_add(out, bytes, size);
    fclose(file);
    sim_free(path);
}

const char *const *sim_life_words(const char *scratch, unsigned *count)
{
    const struct sim_life_options *options = sim_life_options();
    struct life_words words = {0};
    life_scratch = sim_copy(scratch);
    life_add_limits(&words, scratch);
    life_add_flag(&words, options->live, "--live");
    life_add_flag(&words, options->show_secrets, "--show-secrets");
    life_add_flag(&words, options->allow_scan && !options->is_snapshot, "--allow-scan");
    life_add_option(&words, options->is_compact, "--format", sim_copy("compact"));
    life_add_option(&words, options->no_hedge, "--hedge", sim_copy("no"));
    life_add_option(&words, options->is_quiet, "-o", sim_copy("unlistable=quiet"));
    life_add_option(&words, options->allow_other, "-o", sim_copy("allow_other"));
    life_add_option(&words, options->umask > 0, "-o", sim_printf("umask=0%o", options->umask));
    life_add_option(&words, options->has_ledger && !life_is_recording, "--ledger",
                    sim_printf("%s/ledger.jsonl", scratch));
    life_add_option(&words, options->records || life_is_recording, "--record",
                    sim_printf("%s/recording.ddb", scratch));
    life_add_option(&words, options->is_snapshot, "--snapshot",
                    sim_printf("%s/snapshot.ddb", scratch));
    life_add_option(&words, options->is_replay && !life_is_recording, "--snapshot",
                    sim_printf("%s/recording.ddb", scratch));
    life_add_option(&words, options->suffix[0], "--suffix", sim_copy(options->suffix));
    *count = words.count;
    return words.words;
}

int64_t sim_life_span_ms(void)
{
    struct sim_dice dice = sim_dice_for("span", 0);
    switch (sim_dice_below(&dice, 4)) {
    case 0:
        return sim_dice_between(&dice, 2000, 20000);
    case 1:
        return sim_dice_between(&dice, 120000, 1200000);
    default:
        return sim_dice_between(&dice, 20000, 120000);
    }
}

/* Of a life with each kind in its usual share. */
static const unsigned life_weights[SIM_ACT_KINDS] = {
    [SIM_ACT_CAT] = 200,      [SIM_ACT_LS] = 80,      [SIM_ACT_LS_LONG] = 80,
    [SIM_ACT_GREP] = 40,      [SIM_ACT_FIND] = 20,    [SIM_ACT_HEAD] = 40,
    [SIM_ACT_STAT] = 80,      [SIM_ACT_HOLD] = 40,    [SIM_ACT_LINK] = 20,
    [SIM_ACT_COMPANION] = 80, [SIM_ACT_PROBE] = 20,   [SIM_ACT_CONTROL] = 10,
    [SIM_ACT_WRITE] = 120,    [SIM_ACT_REFRESH] = 60, [SIM_ACT_TWO_READERS] = 30,
    [SIM_ACT_SIGNAL] = 50,    [SIM_ACT_STORM] = 20,   [SIM_ACT_SHRINK] = 20,
    [SIM_ACT_RELOAD] = 4,     [SIM_ACT_TOUCH] = 10,   [SIM_ACT_TAIL] = 12,
    [SIM_ACT_UNMOUNT] = 0,
};

/* A life without some kinds, and with more of others, reaches states that the average of all kinds
 * does not. */
static void life_draw_weights(unsigned *weights)
{
    for (unsigned i = 0; i < SIM_ACT_KINDS; i++) {
        struct sim_dice dice = sim_dice_for("weight", i);
        static const unsigned factors[] = {0, 1, 2, 2, 2, 2, 4, 16};
        weights[i] = life_weights[i] * factors[sim_dice_below(&dice, COUNT(factors))];
    }
    weights[SIM_ACT_CAT] += 20;
    if (sim_life_options()->live)
        weights[SIM_ACT_REFRESH] += 300; /* changes of what was read, which must show */
    if (sim_life_options()->max_rcu > 0 || sim_life_options()->max_rcu_per_process > 0) {
        weights[SIM_ACT_GREP] += 400; /* programs that reach a limit */
        weights[SIM_ACT_STORM] += 100;
        weights[SIM_ACT_REFRESH] += 100;
    }
}

static enum sim_action_kind life_draw_kind(struct sim_dice *dice, const unsigned *weights)
{
    uint32_t sum = 0, at;
    unsigned kind = 0;
    for (unsigned i = 0; i < SIM_ACT_KINDS; i++)
        sum += weights[i];
    at = sim_dice_below(dice, sum);
    for (; at >= weights[kind]; kind++)
        at -= weights[kind];
    return (enum sim_action_kind)kind;
}

struct sim_action *sim_life_plan(unsigned first_number, unsigned *count)
{
    unsigned weights[SIM_ACT_KINDS], most = sim_settings.actions;
    struct sim_dice life = sim_dice_for("plan", 0);
    unsigned crowd = (unsigned)sim_dice_between(&life, 100, 900);
    int64_t at_ms = 0,
            gap_ms = 1 + 2000 * sim_life_span_ms() / ((1000 - crowd) * (int64_t)(most + 1));
    struct sim_action *plan = sim_alloc((most + 1) * sizeof *plan);
    life_draw_weights(weights);
    for (unsigned i = 0; i < most; i++) {
        struct sim_dice dice = sim_dice_for(life_is_recording ? "recorded" : "action", i);
        at_ms += sim_dice_chance(&dice, crowd) ? sim_dice_between(&dice, 0, 10)
                                               : sim_dice_between(&dice, 0, gap_ms);
        plan[i] = (struct sim_action){.number = first_number + i,
                                      .kind = life_draw_kind(&dice, weights),
                                      .at_ms = at_ms,
                                      .seed = sim_dice_draw(&dice)};
    }
    *count = most;
    /* The mount ends while programs use it. */
    if (most > 0 && !life_is_recording && life_has("unmount", 60))
        plan[most - 1 - sim_dice_below(&life, 1 + most / 4)].kind = SIM_ACT_UNMOUNT;
    return plan;
}
