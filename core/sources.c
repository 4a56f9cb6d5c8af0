#include "core/sources.h"

#include <stdlib.h>
#include <string.h>

#include "core/aws/arn.h"
#include "core/aws/sign_in.h"
#include "core/aws/sso_token.h"
#include "core/aws/url.h"
#include "core/dynamo/dynamo.h"
#include "core/dynamo/request_print.h"
#include "core/net/http.h"
#include "core/source/batching.h"
#include "core/source/both_ends.h"

enum { MAX_CONNECTIONS = 16 };

/* An open source and its session. Environments with equal settings share it, and with it the
 * credentials, the retry quota and the cache. */
struct opened {
    struct aws_session *session; /* owned */
    struct source *source;       /* owned */
    bool in_force;               /* current settings lead to it: a reference to SOURCE */
    struct opened *next;
};

/* The resolved settings of one environment. Found by its options, because maps come and go. */
struct settled {
    char *profile, *region, *endpoint_url; /* the options; owned, NULL for none */
    struct aws_settings settings;
    bool is_provisional;   /* a profile file could not be read, or no file has a region */
    unsigned reads;        /* the number of the reading of the profile files */
    struct opened *opened; /* NULL until its first use */
    struct settled *next;
};

struct sources {
    struct sources_options options;
    bool hedges;                 /* of sources that are opened from now on */
    struct profiles profiles;    /* as of their last reading */
    struct transport *transport; /* NULL until the first is opened */
    struct sso_tokens *tokens;   /* owned */
    struct settled *settled;     /* owned */
    struct settled *retired;     /* owned; replaced, but sessions may borrow their settings */
    struct opened *opened;       /* owned */
    uint64_t opened_count;       /* so far */
    struct loop_timer *sweep;    /* to close sources without users */
    struct source_stats gone;    /* of closed sources */
};

struct sources *sources_new(const struct sources_options *options)
{
    struct sources *sources = calloc(1, sizeof *sources);
    if (!sources)
        return NULL;
    sources->options = *options;
    sources->tokens = sso_tokens_new();
    if (sources->tokens)
        return sources;
    free(sources);
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

static void sources_free_settled(struct settled *settled)
{
    free(settled->profile);
    free(settled->region);
    free(settled->endpoint_url);
    aws_settings_clean_up(&settled->settings);
    free(settled);
}

static void sources_free_all_settled(struct settled *first)
{
    for (struct settled *each = first, *next; each; each = next) {
        next = each->next;
        sources_free_settled(each);
    }
}

static void sources_close_one(struct opened *opened)
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
    for (struct opened *each = sources->opened, *next; each; each = next) {
        next = each->next;
        sources_close_one(each);
    }
    sources_free_all_settled(sources->settled);
    sources_free_all_settled(sources->retired);
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

static bool sources_is_for(const struct settled *settled, const struct aws_options *options)
{
    return sources_same_text(settled->profile, options->profile) &&
           sources_same_text(settled->region, options->region) &&
           sources_same_text(settled->endpoint_url, options->endpoint_url);
}

static struct settled *sources_find_settled(const struct sources *sources,
                                            const struct aws_options *options)
{
    for (struct settled *each = sources->settled; each; each = each->next)
        if (sources_is_for(each, options))
            return each;
    return NULL;
}

/* Works out what the environment's options come to. NULL with ERR filled. */
static struct settled *sources_resolve_now(struct sources *sources,
                                           const struct map_environment *environment,
                                           struct error *err)
{
    struct aws_options options = sources_options_for(sources, environment);
    struct settled *settled = calloc(1, sizeof *settled);
    if (!settled) {
        error_no_memory(err);
        return NULL;
    }
    bool ok = sources_resolve(sources, environment, &settled->settings, err);
    if (ok && !(sources_copy_text(&settled->profile, options.profile) &&
                sources_copy_text(&settled->region, options.region) &&
                sources_copy_text(&settled->endpoint_url, options.endpoint_url)))
        ok = error_no_memory(err);
    if (!ok) {
        sources_free_settled(settled);
        return NULL;
    }
    settled->is_provisional =
        sources->profiles.unreadable.kind != ERROR_NONE || settled->settings.of_machine;
    settled->reads = sources->profiles.reads;
    return settled;
}

/* Whether the files, which are looked at, say more than they did when SETTLED was worked out. */
static bool sources_has_news(struct sources *sources, const struct settled *settled)
{
    if (!settled->is_provisional)
        return false;
    profiles_refresh(&sources->profiles, NULL);
    return settled->reads != sources->profiles.reads;
}

static bool sources_is_lent(const struct sources *sources, const struct settled *settled)
{
    for (const struct opened *each = sources->opened; each; each = each->next)
        if (aws_session_settings(each->session) == &settled->settings)
            return true;
    return false;
}

static void sources_close_unused(void *arg)
{
    struct sources *sources = arg;
    sources->sweep = NULL;
    for (struct opened **link = &sources->opened; *link;) {
        struct opened *opened = *link;
        if (opened->source->users > 0) {
            link = &opened->next;
            continue;
        }
        *link = opened->next;
        source_add_stats(opened->source, &sources->gone);
        sources_close_one(opened);
    }
    for (struct settled **link = &sources->retired; *link;) {
        struct settled *settled = *link;
        if (sources_is_lent(sources, settled)) {
            link = &settled->next;
            continue;
        }
        *link = settled->next;
        sources_free_settled(settled);
    }
}

/* Later, because the last user may be on the way out of a call. Without memory for a timer the next
 * sweep closes it. */
static void sources_sweep_later(void *arg)
{
    struct sources *sources = arg;
    if (!sources->sweep)
        sources->sweep = loop_add_timer(sources->options.loop, 0, sources_close_unused, sources);
}

/* After settings have gone no others may lead to the source that they led to. */
static void sources_leave_force(struct sources *sources, struct opened *opened)
{
    bool is_used = false;
    for (const struct settled *each = sources->settled; each; each = each->next)
        is_used = is_used || each->opened == opened;
    if (!opened || is_used || !opened->in_force)
        return;
    opened->in_force = false;
    source_unref(opened->source);
}

static void sources_retire(struct sources *sources, struct settled *settled)
{
    struct settled **link = &sources->settled;
    while (*link != settled)
        link = &(*link)->next;
    *link = settled->next;
    settled->next = sources->retired;
    sources->retired = settled;
    sources_leave_force(sources, settled->opened);
    sources_sweep_later(sources);
}

/* The same, worked out once when it succeeds with all that it needs. */
static struct settled *sources_settle(struct sources *sources,
                                      const struct map_environment *environment, struct error *err)
{
    struct aws_options options = sources_options_for(sources, environment);
    struct settled *before = sources_find_settled(sources, &options);
    if (before && !sources_has_news(sources, before))
        return before;
    struct settled *settled = sources_resolve_now(sources, environment, err);
    if (before && settled && aws_settings_equal(&before->settings, &settled->settings)) {
        before->is_provisional = settled->is_provisional;
        before->reads = settled->reads;
        sources_free_settled(settled);
        return before;
    }
    if (!settled)
        return NULL;
    if (before)
        sources_retire(sources, before);
    settled->next = sources->settled;
    sources->settled = settled;
    return settled;
}

/* Whether the same options come to something else now. A region that was found elsewhere is not
 * looked for again. */
static bool sources_was_edited(struct sources *sources, const struct settled *settled,
                               struct error *err)
{
    const struct aws_settings *old = &settled->settings;
    CLEAN_UP(aws_settings_clean_up) struct aws_settings now = {0};
    const struct aws_options options = {
        .profile = settled->profile,
        .profile_named_by = aws_settings_origin(old, AWS_SETTING_PROFILE),
        .region = settled->region,
        .region_named_by = aws_settings_origin(old, AWS_SETTING_REGION),
        .endpoint_url = settled->endpoint_url,
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
    for (struct settled *each = sources->settled, *next; each; each = next) {
        struct error err = {0};
        next = each->next;
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

static bool sources_open_transport(struct sources *sources, struct error *err)
{
    if (!sources->transport) {
        struct http_options options = {MAX_CONNECTIONS, sources->options.user_agent};
        sources->transport = http_new(sources->options.loop, &options, err);
    }
    return sources->transport;
}

/* Wraps a new source of DynamoDB, layer by layer (docs/internals/source.md). A failed layer leaves
 * those below it in OPENED. */
static bool sources_stack(struct sources *sources, struct opened *opened,
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
        source = both_ends_new(&(struct both_ends_options){
            .source = source, .loop = options->loop, .slow_ms = options->slow_page_ms});
    if (!source)
        return error_no_memory(err);
    opened->source = source;
    if (!source_is_stacked(source))
        return error_set(err, ERROR_INVALID,
                         "the layers of a source are in the wrong order; this is a bug of ddbfs; "
                         "please report it");
    source->number = ++sources->opened_count;
    source->unused = sources_sweep_later;
    source->unused_arg = sources;
    return true;
}

/* Every environment's source is DynamoDB so far. Another kind is another branch here and in
 * sources_describe, and a line in KINDS. */
static bool sources_open(struct sources *sources, struct opened *opened,
                         struct aws_settings *settings, struct error *err)
{
    struct clock *clock = loop_clock(sources->options.loop);
    if (!sources_open_transport(sources, err))
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
static struct opened *sources_open_for(struct sources *sources, struct aws_settings *settings,
                                       struct error *err)
{
    for (struct opened *each = sources->opened; each; each = each->next)
        if (aws_settings_equal(aws_session_settings(each->session), settings))
            return each;
    struct opened *opened = calloc(1, sizeof *opened);
    if (!opened) {
        error_no_memory(err);
        return NULL;
    }
    if (!sources_open(sources, opened, settings, err)) {
        sources_close_one(opened);
        return NULL;
    }
    opened->next = sources->opened;
    sources->opened = opened;
    return opened;
}

static struct opened *sources_opened_for(struct sources *sources,
                                         const struct map_environment *environment,
                                         struct error *err)
{
    struct settled *settled = sources_settle(sources, environment, err);
    if (!settled)
        return NULL;
    if (!settled->opened)
        settled->opened = sources_open_for(sources, &settled->settings, err);
    if (settled->opened && !settled->opened->in_force) {
        source_ref(settled->opened->source);
        settled->opened->in_force = true;
    }
    return settled->opened;
}

struct source *sources_for(void *arg, const struct place *place, struct error *err)
{
    struct opened *opened = sources_opened_for(arg, place->environment, err);
    return opened ? opened->source : NULL;
}

struct aws_session *sources_session(struct sources *sources,
                                    const struct map_environment *environment, struct error *err)
{
    struct opened *opened = sources_opened_for(sources, environment, err);
    return opened ? opened->session : NULL;
}

void sources_go_offline(struct sources *sources)
{
    sources->options.ask_code = NULL;
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
    for (const struct opened *each = sources->opened; each; each = each->next)
        source_add_stats(each->source, &sum);
    return sum;
}

/* NULL when it is not known, or not yet. */
static const char *sources_region_of(const struct settled *settled)
{
    return settled->opened ? aws_session_settings(settled->opened->session)->region
                           : settled->settings.region;
}

/* Without settings (no such profile here) the commands still say what the map says. */
const struct source_ops *sources_describe(void *arg, const struct place *place, struct buf *options)
{
    struct sources *sources = arg;
    CLEAN_UP(buf_clean_up) struct buf url = {0};
    struct aws_options said = sources_options_for(sources, place->environment);
    const struct settled *settled = sources_settle(sources, place->environment, NULL);
    if (!settled && said.endpoint_url) {
        aws_url_write_shown(&url, span_text(said.endpoint_url));
        said.endpoint_url = buf_text(&url);
    }
    if (settled) {
        said.profile = aws_settings_profile(&settled->settings);
        said.region = sources_region_of(settled);
        said.endpoint_url = aws_settings_endpoint_url(&settled->settings);
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
    const struct settled *settled = sources_settle(sources, environment, NULL);
    struct span found = settled ? sources_find_account(sources, &settled->settings) : span_text("");
    const char *name = settled ? sources_region_of(settled) : said.region;
    buf_add_text(region, name ? name : "*");
    buf_add_span(account, found.size ? found : span_text("*"));
}
