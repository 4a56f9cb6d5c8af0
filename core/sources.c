#include "core/sources.h"

#include <stdlib.h>
#include <string.h>

#include "core/aws/arn.h"
#include "core/aws/sign_in.h"
#include "core/aws/sso_token.h"
#include "core/aws/url.h"
#include "core/base/list.h"
#include "core/dynamo/dynamo.h"
#include "core/dynamo/request_print.h"
#include "core/import/s3_input.h"
#include "core/live/live.h"
#include "core/net/http.h"
#include "core/recording/recording.h"
#include "core/source/batching.h"
#include "core/source/ranges.h"

enum {
    MAX_CONNECTIONS = 16,
    LIVE_SETTLE_MS = 2000, /* most responses lack no change that is a second old */
};

/* An open source and its session. Environments with equal settings share it, and with it the
 * credentials, the retry quota and the cache. */
struct open_source {
    struct aws_session *session; /* owned */
    struct source *source;       /* owned */
    bool is_live;                /* the streams of its tables are followed */
    bool in_force;               /* current settings lead to it: a reference to SOURCE */
    struct list_node node;       /* in SOURCES' list */
};

/* The resolved settings of one environment. Found by its options, because maps come and go. */
struct resolved_settings {
    char *profile, *region, *endpoint_url; /* the options; owned, NULL for none */
    struct aws_settings settings;
    bool is_live;               /* likewise an option: environments that differ share no source */
    bool is_provisional;        /* a profile file could not be read, or no file has a region */
    unsigned reads;             /* the number of the reading of the profile files */
    struct open_source *opened; /* NULL until its first use */
    struct list_node node;      /* in one of SOURCES' lists */
};

/* An environment, and a source that the recording has for it. */
struct recorded_environment {
    struct list_node node;
    uint64_t number; /* of the source */
    size_t size;
    char name[];
};

struct sources {
    struct sources_options options;
    struct source_bounds bounds; /* of each layer of each source of DynamoDB */
    struct recorder *recorder;   /* owned; NULL: nothing is recorded */
    bool records_secrets, has_passed_over, has_reported_ignored;
    struct list recorded;               /* of struct recorded_environment, owned */
    struct sources_following following; /* of sources that are opened from now on */
    bool hedges;                        /* of sources that are opened from now on */
    struct profiles profiles;           /* as of their last reading */
    struct transport *transport;        /* NULL until the first is opened */
    struct sso_tokens *tokens;          /* owned */
    struct list current;                /* of struct resolved_settings, owned; the newest first */
    struct list
        retired; /* of struct resolved_settings, owned; replaced, but sessions may borrow them */
    struct list opened;          /* of struct open_source, owned; the newest first */
    uint64_t opened_count;       /* so far */
    struct snapshots *snapshots; /* owned */
    struct loop_timer *sweep;    /* to close sources without users */
    struct source_stats gone;    /* of closed sources */
};

struct sources *sources_new(const struct sources_options *options)
{
    struct sources *sources = calloc(1, sizeof *sources);
    if (!sources)
        return NULL;
    sources->options = *options;
    sources->bounds = (struct source_bounds){options->most_items, options->deadline_ms};
    sources->tokens = sso_tokens_new();
    sources->snapshots = snapshots_new(&(struct snapshots_options){
        options->loop, options->log, options->snapshots, options->snapshot_count,
        options->snapshots_named_by, options->snapshots_are_past, &sources->gone});
    if (sources->tokens && sources->snapshots)
        return sources;
    sources_destroy(sources);
    return NULL;
}

static bool sources_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool sources_copy_text(char **out, const char *text)
{
    *out = text ? strdup(text) : NULL;
    return *out || !text;
}

static void sources_free_resolved(struct resolved_settings *resolved)
{
    free(resolved->profile);
    free(resolved->region);
    free(resolved->endpoint_url);
    aws_settings_clean_up(&resolved->settings);
    free(resolved);
}

static void sources_free_all(struct list *resolved)
{
    LIST_EACH_SAFE (struct resolved_settings, each, resolved, node)
        sources_free_resolved(each);
}

static void sources_close_one(struct open_source *opened)
{
    source_destroy(opened->source);
    aws_session_destroy(opened->session);
    free(opened);
}

void sources_destroy(struct sources *sources)
{
    if (!sources)
        return;
    loop_remove_timer(sources->sweep);
    snapshots_destroy(sources->snapshots);
    LIST_EACH_SAFE (struct open_source, each, &sources->opened, node)
        sources_close_one(each);
    recorder_destroy(sources->recorder);
    LIST_EACH_SAFE (struct recorded_environment, each, &sources->recorded, node)
        free(each);
    sources_free_all(&sources->current);
    sources_free_all(&sources->retired);
    sso_tokens_destroy(sources->tokens);
    if (sources->transport)
        sources->transport->ops->destroy(sources->transport);
    profiles_clean_up(&sources->profiles);
    free(sources);
}

/* Where no environment is, as without a map. */
static const struct map_environment nowhere;

static struct aws_options sources_options_for(const struct sources *sources,
                                              const struct map_environment *environment)
{
    const struct aws_options *over = &sources->options.over;
    environment = environment ? environment : &nowhere;
    return (struct aws_options){
        .profile = over->profile ? over->profile : environment->profile,
        .region = over->region ? over->region : environment->region,
        .endpoint_url = over->endpoint_url ? over->endpoint_url : environment->endpoint_url,
    };
}

bool sources_resolve(struct sources *sources, const struct map_environment *environment,
                     struct aws_settings *settings, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, by = {0};
    const struct aws_options *over = &sources->options.over;
    environment = environment ? environment : &nowhere;
    struct aws_options options = sources_options_for(sources, environment);
    format_write(&environment->name, &name);
    buf_printf(&by, "the map's environment %s", buf_text(&name));
    options.profile_named_by = over->profile ? "--profile" : buf_text(&by);
    options.region_named_by = over->region ? "--region" : buf_text(&by);
    options.endpoint_named_by = over->endpoint_url ? "--endpoint-url" : buf_text(&by);
    bool readable = profiles_refresh(&sources->profiles, err);
    return aws_settings_init(settings, &options, &sources->profiles, readable ? err : NULL) &&
           readable;
}

static bool sources_is_live(const struct sources *sources,
                            const struct map_environment *environment)
{
    const struct sources_following *how = &sources->following;
    return how->most_bytes > 0 && (how->all || (environment && environment->live));
}

static struct resolved_settings *sources_find_resolved(const struct sources *sources,
                                                       const struct aws_options *options,
                                                       bool is_live)
{
    LIST_EACH (struct resolved_settings, each, &sources->current, node)
        if (each->is_live == is_live && sources_same_text(each->profile, options->profile) &&
            sources_same_text(each->region, options->region) &&
            sources_same_text(each->endpoint_url, options->endpoint_url))
            return each;
    return NULL;
}

/* Resolves the options of ENVIRONMENT anew. NULL with ERR filled. */
static struct resolved_settings *sources_resolve_anew(struct sources *sources,
                                                      const struct map_environment *environment,
                                                      struct error *err)
{
    struct aws_options options = sources_options_for(sources, environment);
    struct resolved_settings *resolved = calloc(1, sizeof *resolved);
    if (!resolved) {
        error_no_memory(err);
        return NULL;
    }
    bool ok = sources_resolve(sources, environment, &resolved->settings, err);
    if (ok && !(sources_copy_text(&resolved->profile, options.profile) &&
                sources_copy_text(&resolved->region, options.region) &&
                sources_copy_text(&resolved->endpoint_url, options.endpoint_url)))
        ok = error_no_memory(err);
    if (!ok) {
        sources_free_resolved(resolved);
        return NULL;
    }
    resolved->is_provisional =
        sources->profiles.unreadable.kind != ERROR_NONE || resolved->settings.of_machine;
    resolved->is_live = sources_is_live(sources, environment);
    resolved->reads = sources->profiles.reads;
    return resolved;
}

static bool sources_is_lent(const struct sources *sources, const struct resolved_settings *resolved)
{
    LIST_EACH (struct open_source, each, &sources->opened, node)
        if (aws_session_settings(each->session) == &resolved->settings)
            return true;
    return false;
}

static void sources_close_unused(void *arg)
{
    struct sources *sources = arg;
    sources->sweep = NULL;
    LIST_EACH_SAFE (struct open_source, opened, &sources->opened, node) {
        if (opened->source->users > 0)
            continue;
        list_remove(&opened->node);
        source_add_stats(opened->source, &sources->gone);
        sources->gone.live.tables = sources->gone.live.late = sources->gone.live.bytes = 0;
        sources->gone.live.lag_ms = 0;
        sources_close_one(opened);
    }
    LIST_EACH_SAFE (struct resolved_settings, resolved, &sources->retired, node) {
        if (sources_is_lent(sources, resolved))
            continue;
        list_remove(&resolved->node);
        sources_free_resolved(resolved);
    }
}

/* Closes unused sources in a later round, because the last user may be returning from a call.
 * Without memory for a timer the next sweep closes them. */
static void sources_sweep_later(void *arg)
{
    struct sources *sources = arg;
    if (!sources->sweep)
        sources->sweep = loop_add_timer(sources->options.loop, 0, sources_close_unused, sources);
}

/* Replaces RESOLVED. Its source is closed after the last user, unless other settings lead to it. */
static void sources_retire(struct sources *sources, struct resolved_settings *resolved)
{
    struct open_source *opened = resolved->opened;
    bool is_used = false;
    list_remove(&resolved->node);
    list_prepend(&sources->retired, &resolved->node);
    LIST_EACH (struct resolved_settings, each, &sources->current, node)
        is_used = is_used || each->opened == opened;
    if (opened && !is_used && opened->in_force) {
        opened->in_force = false;
        source_unref(opened->source);
    }
    sources_sweep_later(sources);
}

/* The resolved settings of ENVIRONMENT; they are resolved once, and again only while they are
 * provisional and the files have changed. NULL with ERR filled. */
static struct resolved_settings *sources_get_resolved(struct sources *sources,
                                                      const struct map_environment *environment,
                                                      struct error *err)
{
    struct aws_options options = sources_options_for(sources, environment);
    struct resolved_settings *before =
        sources_find_resolved(sources, &options, sources_is_live(sources, environment));
    if (before && before->is_provisional)
        profiles_refresh(&sources->profiles, NULL);
    if (before && (!before->is_provisional || before->reads == sources->profiles.reads))
        return before;
    struct resolved_settings *now = sources_resolve_anew(sources, environment, err);
    if (!now)
        return NULL;
    if (before && aws_settings_equal(&before->settings, &now->settings)) {
        before->is_provisional = now->is_provisional;
        before->reads = now->reads;
        sources_free_resolved(now);
        return before;
    }
    if (before)
        sources_retire(sources, before);
    list_prepend(&sources->current, &now->node);
    return now;
}

/* Whether the same options resolve to other settings now. A region that was found elsewhere is not
 * searched again. */
static bool sources_was_edited(struct sources *sources, const struct resolved_settings *resolved,
                               struct error *err)
{
    const struct aws_settings *old = &resolved->settings;
    CLEAN_UP(aws_settings_clean_up) struct aws_settings now = {0};
    const struct aws_options options = {
        .profile = resolved->profile,
        .profile_named_by = aws_settings_origin(old, AWS_SETTING_PROFILE),
        .region = resolved->region,
        .region_named_by = aws_settings_origin(old, AWS_SETTING_REGION),
        .endpoint_url = resolved->endpoint_url,
        .endpoint_named_by = aws_settings_origin(old, AWS_SETTING_URLS),
    };
    bool ok = profiles_refresh(&sources->profiles, err) &&
              aws_settings_init(&now, &options, &sources->profiles, err);
    if (ok && !now.region && old->region_is_found)
        ok = aws_settings_find_region(&now, span_text(old->region), options.region_named_by, err);
    return ok && !aws_settings_equal(old, &now);
}

void sources_reload(struct sources *sources)
{
    snapshots_reload(sources->snapshots);
    LIST_EACH_SAFE (struct resolved_settings, each, &sources->current, node) {
        struct error err = {0};
        const char *profile = aws_settings_profile_in_force(&each->settings);
        bool edited = sources_was_edited(sources, each, &err);
        if (err.kind)
            log_line(sources->options.log, LOG_LEVEL_ERROR,
                     "the settings of profile %s stay as they were: %s", profile, err.text);
        if (!edited)
            continue;
        log_line(sources->options.log, LOG_LEVEL_WARNING,
                 "the settings of profile %s have been read again", profile);
        sources_retire(sources, each);
    }
}

/* Wraps a new source of DynamoDB, layer by layer (docs/internals/source.md). A failed layer leaves
 * those below it in OPENED. */
static bool sources_stack(struct sources *sources, struct open_source *opened,
                          const struct dynamo_options *dynamo, struct error *err)
{
    const struct sources_options *options = &sources->options;
    struct source *source = dynamo_new(dynamo);
    if (!source)
        return error_no_memory(err);
    opened->source = source;
    source = batching_new(&(struct batching_options){.source = source,
                                                     .loop = options->loop,
                                                     .log = options->log,
                                                     .deadline_ms = options->deadline_ms});
    if (!source)
        return error_no_memory(err);
    opened->source = source;
    if (options->slow_page_ms >= 0)
        source = ranges_new(&(struct ranges_options){
            .source = source, .loop = options->loop, .slow_ms = options->slow_page_ms});
    if (!source)
        return error_no_memory(err);
    opened->source = source;
    if (opened->is_live)
        source = live_new(&(struct live_options){.source = source,
                                                 .loop = options->loop,
                                                 .payer = sources->following.payer,
                                                 .log = sources->following.log,
                                                 .most_bytes = sources->following.most_bytes,
                                                 .charge = sources->following.charge,
                                                 .charge_arg = sources->following.charge_arg,
                                                 .settle_ms = LIVE_SETTLE_MS});
    if (!source)
        return error_no_memory(err);
    opened->source = source;
    if (sources->recorder)
        source = recording_new(&(struct recording_options){
            .source = source,
            .recorder = sources->recorder,
            .clock = loop_clock(options->loop),
            .number = (unsigned)sources->opened_count + 1,
            .show_secrets = sources->records_secrets,
        });
    if (!source)
        return error_no_memory(err);
    opened->source = source;
    if (!source_is_stacked(source))
        return error_set(err, ERROR_INVALID,
                         "the layers of a source are in the wrong order; this is a bug of ddbfs; "
                         "please report it");
    for (struct source *each = source; each; each = each->inner)
        each->bounds = &sources->bounds;
    source->number = ++sources->opened_count;
    source->unused = sources_sweep_later;
    source->unused_arg = sources;
    return true;
}

/* Opens DynamoDB. */
static bool sources_open(struct sources *sources, struct open_source *opened,
                         struct aws_settings *settings, struct error *err)
{
    struct clock *clock = loop_clock(sources->options.loop);
    if (!sources->transport) {
        struct http_options http = {MAX_CONNECTIONS, sources->options.user_agent};
        sources->transport = http_new(sources->options.loop, &http, err);
    }
    if (!sources->transport)
        return false;
    struct aws_session_parts parts = {sources->options.loop, sources->transport,
                                      sources->options.log, sources->tokens};
    mfa_prompt_fn *ask = sources->options.ask_code;
    opened->session = aws_session_new(settings, &parts);
    if (!opened->session)
        return error_no_memory(err);
    if (ask && !aws_session_prompt(opened->session, &sources->profiles, ask, NULL, err))
        return false;
    struct dynamo_options dynamo = {
        .loop = sources->options.loop,
        .transport = sources->transport,
        .session = opened->session,
        .log = sources->options.log,
        .deadline_ms = sources->options.deadline_ms,
        .random_seed = (unsigned)clock->wall_ms(clock),
        .may_scan = sources->options.may_scan,
        .hedges = sources->hedges,
    };
    return sources_stack(sources, opened, &dynamo, err);
}

/* The one that is open for the same, or a new one. */
static struct open_source *sources_open_for(struct sources *sources, struct aws_settings *settings,
                                            bool is_live, struct error *err)
{
    LIST_EACH (struct open_source, each, &sources->opened, node)
        if (each->is_live == is_live &&
            aws_settings_equal(aws_session_settings(each->session), settings))
            return each;
    struct open_source *opened = calloc(1, sizeof *opened);
    if (!opened) {
        error_no_memory(err);
        return NULL;
    }
    opened->is_live = is_live;
    if (!sources_open(sources, opened, settings, err)) {
        sources_close_one(opened);
        return NULL;
    }
    list_prepend(&sources->opened, &opened->node);
    return opened;
}

/* Settings of a stored map are not used: it may be a stranger's. */
static void sources_report_ignored(struct sources *sources,
                                   const struct map_environment *environment)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    if (sources->has_reported_ignored || !environment || !environment->ignored)
        return;
    sources->has_reported_ignored = true;
    format_write(&environment->name, &name);
    log_line(
        sources->options.log, LOG_LEVEL_WARNING,
        "\"%s\" of %s is ignored, because a map that is stored in a snapshot chooses no server "
        "and no file; pass --map FILE, or --profile, --region and --endpoint-url",
        environment->ignored, buf_text(&name));
}

static struct open_source *sources_opened_for(struct sources *sources,
                                              const struct map_environment *environment,
                                              struct error *err)
{
    sources_report_ignored(sources, environment);
    struct resolved_settings *resolved = sources_get_resolved(sources, environment, err);
    if (!resolved)
        return NULL;
    if (!resolved->opened)
        resolved->opened = sources_open_for(sources, &resolved->settings, resolved->is_live, err);
    if (resolved->opened && !resolved->opened->in_force) {
        source_ref(resolved->opened->source);
        resolved->opened->in_force = true;
    }
    return resolved->opened;
}

struct snapshots *sources_snapshots(struct sources *sources)
{
    return sources->snapshots;
}

/* The recording gets each pair of an environment and a source once. */
static void sources_record_environment(struct sources *sources, const struct place *place,
                                       const struct open_source *opened)
{
    CLEAN_UP(buf_clean_up) struct buf settings = {0}, url = {0}, name = {0};
    const struct aws_settings *in_force = aws_session_settings(opened->session);
    uint64_t number = opened->source->number;
    snapshots_write_environment(place, &name);
    LIST_EACH (struct recorded_environment, each, &sources->recorded, node)
        if (each->number == number && span_equal(span_of(each->name, each->size), buf_span(&name)))
            return;
    struct recorded_environment *added = malloc(sizeof *added + name.size);
    aws_url_write_shown(&url, span_text(aws_settings_endpoint_url(in_force)));
    dynamo_write_options(&settings, aws_settings_profile(in_force), in_force->region,
                         url.size > 0 ? buf_text(&url) : NULL);
    if (!added || settings.failed || url.failed || name.failed) {
        free(added);
        recorder_lack_memory(sources->recorder);
        return;
    }
    *added = (struct recorded_environment){.number = number, .size = name.size};
    if (name.size > 0)
        memcpy(added->name, name.data, name.size);
    list_append(&sources->recorded, &added->node);
    recording_add_environment(sources->recorder, loop_clock(sources->options.loop), buf_span(&name),
                              (unsigned)number, buf_span(&settings));
}

/* A snapshot is a file already. */
static void sources_pass_over(struct sources *sources)
{
    if (sources->recorder && !sources->has_passed_over)
        log_line(sources->options.log, LOG_LEVEL_WARNING,
                 "items of snapshots are not in the recording %s",
                 recorder_file(sources->recorder));
    sources->has_passed_over = true;
}

/* Another kind of source is another branch here and in sources_describe, and a line in KINDS. */
struct source *sources_for(void *arg, const struct place *place, struct error *err)
{
    struct sources *sources = arg;
    if (snapshots_have(sources->snapshots, place)) {
        sources_pass_over(sources);
        return snapshots_source(sources->snapshots, place, err);
    }
    struct open_source *opened = sources_opened_for(sources, place->environment, err);
    if (opened && sources->recorder)
        sources_record_environment(sources, place, opened);
    return opened ? opened->source : NULL;
}

bool sources_record(struct sources *sources, const struct sources_recording *records,
                    struct error *err)
{
    const struct recording_about about = {.map = records->map,
                                          .map_name = records->map_name,
                                          .suffix = records->suffix,
                                          .show_secrets = records->show_secrets};
    sources->records_secrets = records->show_secrets;
    sources->recorder =
        recorder_open(records->file, &about, sources->options.loop, sources->options.log, err);
    return sources->recorder;
}

bool sources_end_recording(struct sources *sources)
{
    return !sources->recorder || recorder_finish(sources->recorder);
}

struct sources_recorded sources_recorded(const struct sources *sources)
{
    struct sources_recorded recorded = {0};
    if (!sources->recorder)
        return recorded;
    recorded.file = recorder_file(sources->recorder);
    recorded.responses = recorder_count(sources->recorder);
    recorder_check(sources->recorder, &recorded.stopped);
    return recorded;
}

struct aws_session *sources_session(struct sources *sources,
                                    const struct map_environment *environment, struct error *err)
{
    struct open_source *opened = NULL;
    if (snapshots_are_present(sources->snapshots, environment))
        error_set(err, ERROR_INVALID,
                  "--snapshot reads no setting of AWS, so nothing can be requested from it; leave "
                  "it out");
    else
        opened = sources_opened_for(sources, environment, err);
    return opened ? opened->session : NULL;
}

struct input_folder *sources_open_bucket(struct sources *sources,
                                         const struct map_environment *environment, const char *url,
                                         const struct input_watch *watch, struct error *err)
{
    struct aws_session *session = sources_session(sources, environment, err);
    return session ? s3_input_open(url, session, sources->options.loop,
                                   sources->options.deadline_ms, watch, err)
                   : NULL;
}

void sources_go_offline(struct sources *sources)
{
    sources->options.ask_code = NULL;
}

void sources_follow(struct sources *sources, const struct sources_following *how)
{
    sources->following = *how;
}

void sources_forget_live(struct sources *sources)
{
    struct open_source *first =
        sources ? LIST_FIRST(&sources->opened, struct open_source, node) : NULL;
    for (struct open_source *each = first; each; each = LIST_NEXT(each, struct open_source, node))
        live_forget(each->source);
}

void sources_hedge(struct sources *sources)
{
    sources->hedges = true;
}

struct source_stats sources_stats(const struct sources *sources)
{
    static const struct source_ops *const kinds[] = {&dynamo_ops};
    struct source_stats sum = sources->gone;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        kinds[i]->add_stats(NULL, &sum);
    LIST_EACH (struct open_source, each, &sources->opened, node)
        source_add_stats(each->source, &sum);
    snapshots_add_stats(sources->snapshots, &sum);
    return sum;
}

/* NULL when it is not known, or not yet. */
static const char *sources_region_of(const struct resolved_settings *resolved)
{
    return resolved->opened ? aws_session_settings(resolved->opened->session)->region
                            : resolved->settings.region;
}

/* Without settings (no such profile here) the commands still say what the map says. */
const struct source_ops *sources_describe(void *arg, const struct place *place, struct buf *options)
{
    struct sources *sources = arg;
    CLEAN_UP(buf_clean_up) struct buf url = {0};
    if (snapshots_have(sources->snapshots, place))
        return snapshots_describe(sources->snapshots, place, options);
    struct aws_options said = sources_options_for(sources, place->environment);
    const struct resolved_settings *resolved =
        sources_get_resolved(sources, place->environment, NULL);
    if (!resolved && said.endpoint_url) {
        aws_url_write_shown(&url, span_text(said.endpoint_url));
        said.endpoint_url = buf_text(&url);
    }
    if (resolved) {
        said.profile = aws_settings_profile(&resolved->settings);
        said.region = sources_region_of(resolved);
        said.endpoint_url = aws_settings_endpoint_url(&resolved->settings);
    }
    dynamo_write_options(options, said.profile, said.region, said.endpoint_url);
    return &dynamo_ops;
}

void sources_prepare(void)
{
    sign_in_prepare();
}

/* Whose credentials will sign, as far as it is written down; empty when it is not. */
static struct span sources_find_account(const struct sources *sources,
                                        const struct aws_settings *settings)
{
    struct span account = span_text(""), file = span_text(getenv("AWS_WEB_IDENTITY_TOKEN_FILE"));
    const char *profile = aws_settings_profile_in_force(settings);
    const char *of_token = file.size && !settings->by_option ? getenv("AWS_ROLE_ARN") : NULL;
    if (!settings->by_option && span_text(getenv("AWS_ACCESS_KEY_ID")).size > 0)
        return span_text(getenv("AWS_ACCOUNT_ID"));
    bool has_role = profiles_get(&sources->profiles, profile, "role_arn", &account);
    if (of_token &&
        (!has_role || profiles_get(&sources->profiles, profile, "web_identity_token_file", &file)))
        return arn_account(span_text(of_token));
    if (has_role)
        return arn_account(account);
    if (!profiles_get(&sources->profiles, profile, "sso_account_id", &account))
        profiles_get(&sources->profiles, profile, "aws_account_id", &account);
    return account;
}

void sources_locate(struct sources *sources, const struct map_environment *environment,
                    struct buf *region, struct buf *account)
{
    struct aws_options said = sources_options_for(sources, environment);
    const struct resolved_settings *resolved = sources_get_resolved(sources, environment, NULL);
    struct span found =
        resolved ? sources_find_account(sources, &resolved->settings) : span_text("");
    const char *name = resolved ? sources_region_of(resolved) : said.region;
    buf_add_text(region, name ? name : "*");
    buf_add_span(account, found.size ? found : span_text("*"));
}
