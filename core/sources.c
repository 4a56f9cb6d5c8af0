#include "core/sources.h"

#include <stdlib.h>

#include "core/dynamo/command.h"
#include "core/dynamo/dynamo.h"
#include "core/net/http.h"

enum { MAX_CONNECTIONS = 16 };

/* A source is known by what it was opened with: environments that say the same share it, and so
 * does a map that was read again. */
struct opened {
    char *profile, *region, *endpoint_url; /* owned; NULL as in struct aws_options */
    struct source *source;
    struct aws_session *session; /* of a source that asks AWS */
    struct opened *next;
};

struct sources {
    struct sources_options options;
    struct transport *transport; /* NULL until the first is opened */
    struct opened *opened;
};

struct sources *sources_new(const struct sources_options *options)
{
    struct sources *sources = calloc(1, sizeof *sources);
    if (sources)
        sources->options = *options;
    return sources;
}

static void close_one(struct opened *opened)
{
    if (opened->source)
        opened->source->ops->destroy(opened->source);
    aws_session_destroy(opened->session);
    free(opened->profile);
    free(opened->region);
    free(opened->endpoint_url);
    free(opened);
}

void sources_destroy(struct sources *sources)
{
    if (!sources)
        return;
    struct opened *next;
    for (struct opened *each = sources->opened; each; each = next) {
        next = each->next;
        close_one(each);
    }
    if (sources->transport)
        sources->transport->ops->destroy(sources->transport);
    free(sources);
}

static struct aws_options options_for(const struct sources *sources,
                                      const struct map_environment *environment)
{
    const struct aws_options *over = &sources->options.over;
    return (struct aws_options){
        .profile = over->profile ? over->profile : environment->profile,
        .region = over->region ? over->region : environment->region,
        .endpoint_url = over->endpoint_url ? over->endpoint_url : environment->endpoint_url,
    };
}

static bool open_transport(struct sources *sources, struct error *err)
{
    if (!sources->transport) {
        struct http_options options = {MAX_CONNECTIONS, sources->options.user_agent};
        sources->transport = http_new(sources->options.loop, &options, err);
    }
    return sources->transport;
}

static bool open_dynamo(struct sources *sources, struct opened *opened, struct error *err)
{
    struct aws_options options = {opened->profile, opened->region, opened->endpoint_url};
    opened->session = aws_session_new(&options, err);
    if (!opened->session || !open_transport(sources, err))
        return false;
    struct clock *clock = loop_clock(sources->options.loop);
    struct dynamo_options dynamo = {
        .loop = sources->options.loop,
        .transport = sources->transport,
        .session = opened->session,
        .log = sources->options.log,
        .deadline_ms = sources->options.deadline_ms,
        .random_seed = (unsigned)clock->wall_ms(clock),
    };
    opened->source = dynamo_new(&dynamo);
    return opened->source || error_no_memory(err);
}

/* Every environment's source is DynamoDB so far. Another kind is another branch here and in
 * sources_describe, and a line in KINDS. */
static bool open_source(struct sources *sources, struct opened *opened, struct error *err)
{
    return open_dynamo(sources, opened, err);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool keep_text(char **out, const char *text)
{
    *out = text ? strdup(text) : NULL;
    return *out || !text;
}

struct source *sources_for(void *arg, const struct place *place, struct error *err)
{
    struct sources *sources = arg;
    struct aws_options options = options_for(sources, place->environment);
    for (struct opened *each = sources->opened; each; each = each->next)
        if (same_text(each->profile, options.profile) && same_text(each->region, options.region) &&
            same_text(each->endpoint_url, options.endpoint_url))
            return each->source;
    struct opened *opened = calloc(1, sizeof *opened);
    if (!opened) {
        error_no_memory(err);
        return NULL;
    }
    bool kept = (keep_text(&opened->profile, options.profile) &&
                 keep_text(&opened->region, options.region) &&
                 keep_text(&opened->endpoint_url, options.endpoint_url)) ||
                error_no_memory(err);
    if (!kept || !open_source(sources, opened, err)) {
        close_one(opened);
        return NULL;
    }
    opened->next = sources->opened;
    sources->opened = opened;
    return opened->source;
}

struct source_stats sources_stats(const struct sources *sources)
{
    static const struct source_ops *const kinds[] = {&dynamo_ops};
    struct source_stats sum = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        kinds[i]->add_stats(NULL, &sum);
    for (const struct opened *each = sources->opened; each; each = each->next)
        each->source->ops->add_stats(each->source, &sum);
    return sum;
}

/* Without a session (no such profile here) the commands still say what the map says. */
const struct source_ops *sources_describe(void *arg, const struct place *place, struct buf *options)
{
    struct sources *sources = arg;
    struct aws_options said = options_for(sources, place->environment);
    struct aws_session *session = aws_session_new(&said, NULL);
    dynamo_write_options(options, session ? aws_session_profile(session) : said.profile,
                         session ? aws_session_region(session) : said.region,
                         session ? aws_session_endpoint_url(session) : said.endpoint_url);
    aws_session_destroy(session);
    return &dynamo_ops;
}
