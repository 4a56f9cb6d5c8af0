/* Asking the metadata service for the zone, whose name without its last letter is the region's. */
#include "core/aws/machine_region.h"

#include <stdlib.h>

#include "core/aws/credentials_metadata.h"
#include "core/aws/local_call.h"
#include "core/aws/metadata.h"
#include "core/aws/sign_in.h"

struct region_provider {
    struct credentials_provider base; /* first: a provider is cast to it */
    const struct credentials_context *context;
    int64_t absent_until_ms;
};

struct credentials_request {
    struct region_provider *provider;
    struct loop_timer *timer; /* instead of METADATA, where there is nothing to ask */
    struct metadata *metadata;
    credentials_fn *fn;
    void *arg;
};

static void machine_region_free_get(struct credentials_request *get)
{
    metadata_destroy(get->metadata);
    free(get);
}

static void machine_region_report(struct credentials_request *get,
                                  const struct credentials_answer *answer)
{
    credentials_fn *fn = get->fn;
    void *arg = get->arg;
    machine_region_free_get(get);
    fn(arg, answer);
}

/* WHY is what the metadata service had to say, if anything. */
static void machine_region_report_none(struct credentials_request *get, const struct error *why)
{
    struct credentials_answer answer = {.found = CREDENTIALS_FAILED};
    const char *profile = get->provider->context->profile;
    CLEAN_UP(buf_clean_up) struct buf option = {0};
    aws_add_profile_option(&option, profile);
    error_set(&answer.err, ERROR_INVALID,
              "no region: give --region, set AWS_REGION, or give profile %s a region (aws "
              "configure set region REGION%s)",
              profile, buf_text(&option));
    const struct profiles *profiles = get->provider->context->profiles;
    if (profiles->unreadable.kind != ERROR_NONE) {
        answer.err = profiles->unreadable;
    } else if (profiles->config.is_empty) {
        answer.err.kind = ERROR_DENIED; /* the region may have stood there, as credentials may */
        error_add(&answer.err, "; %s is empty", profiles->config_path);
    }
    if (why && why->kind == ERROR_NO_MEMORY)
        answer.err = *why;
    else if (why)
        error_add(&answer.err, "; %s", why->text);
    machine_region_report(get, &answer);
}

static void machine_region_on_zone(void *arg, const struct metadata_answer *from)
{
    struct credentials_request *get = arg;
    struct region_provider *provider = get->provider;
    struct credentials_answer answer = {.found = CREDENTIALS_ABSENT};
    struct error why = from->err;
    bool nobody = from->found == METADATA_ABSENT && !from->is_there;
    if (from->found == METADATA_FOUND &&
        aws_settings_find_region(provider->context->settings,
                                 span_of(from->text.data, from->text.size - 1), "instance metadata",
                                 &why)) {
        machine_region_report(get, &answer);
        return;
    }
    if (nobody)
        provider->absent_until_ms = loop_now_ms(provider->context->loop) + METADATA_ABSENT_MS;
    machine_region_report_none(get, nobody ? NULL : &why);
}

static void machine_region_report_at_once(void *arg)
{
    struct credentials_request *get = arg;
    struct credentials_answer answer = {.found = CREDENTIALS_ABSENT};
    get->timer = NULL;
    if (get->provider->context->settings->region)
        machine_region_report(get, &answer);
    else
        machine_region_report_none(get, NULL);
}

static bool machine_region_start(struct credentials_request *get)
{
    const struct region_provider *provider = get->provider;
    if (provider->context->settings->region ||
        loop_now_ms(provider->context->loop) < provider->absent_until_ms) {
        get->timer = loop_add_timer(provider->context->loop, 0, machine_region_report_at_once, get);
        return get->timer != NULL;
    }
    get->metadata = metadata_new(provider->context);
    return get->metadata &&
           metadata_request(get->metadata, "meta-data/placement/availability-zone/",
                            local_call_has_body, machine_region_on_zone, get);
}

static struct credentials_request *machine_region_region_get(struct credentials_provider *base,
                                                             credentials_fn *fn, void *arg)
{
    struct credentials_request *get = calloc(1, sizeof *get);
    if (!get)
        return NULL;
    *get = (struct credentials_request){
        .provider = (struct region_provider *)base, .fn = fn, .arg = arg};
    if (machine_region_start(get))
        return get;
    machine_region_free_get(get);
    return NULL;
}

static void machine_region_region_cancel(struct credentials_request *get)
{
    loop_remove_timer(get->timer);
    machine_region_free_get(get);
}

static void machine_region_region_destroy(struct credentials_provider *base)
{
    free(base);
}

struct credentials_provider *machine_region_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {
        machine_region_region_get, machine_region_region_cancel, machine_region_region_destroy};
    struct region_provider *provider = calloc(1, sizeof *provider);
    if (!provider)
        return NULL;
    *provider =
        (struct region_provider){.base = {&ops}, .context = context, .absent_until_ms = INT64_MIN};
    return &provider->base;
}
