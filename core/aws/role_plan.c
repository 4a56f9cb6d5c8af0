/* Following a role to its source. */
#include "core/aws/role_plan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/aws/cli_cache.h"
#include "core/aws/stored.h"
#include "core/json/json.h"

static void role_plan_free_role(struct role *role)
{
    free(role->profile);
    free(role->arn);
    free(role->session_name);
    free(role->external_id);
    free(role->duration_seconds);
    free(role->mfa_serial);
    free(role->token_file);
    free(role->cache);
}

void role_plan_clean_up(struct role_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        role_plan_free_role(&plan->roles[i]);
    free(plan->roles);
    free(plan->source);
    free(plan->origin);
    *plan = (struct role_plan){0};
}

void role_write_name(struct buf *out, const struct role *role)
{
    buf_printf(out, "role %.300s of ", role->arn);
    if (role->profile)
        buf_printf(out, "profile %.200s", role->profile);
    else
        buf_add_text(out, "AWS_ROLE_ARN");
}

/* While a plan is made. */
struct planner {
    struct role_plan *plan;
    const struct profiles *profiles;
    bool no_memory;
};

static char *role_plan_store(struct planner *in, struct span text)
{
    char *copy = strndup(text.data, text.size);
    in->no_memory = in->no_memory || !copy;
    return copy;
}

/* NULL when the profile does not say. */
static char *role_plan_take(struct planner *in, const char *profile, const char *key)
{
    struct span value;
    return profiles_get(in->profiles, profile, key, &value) ? role_plan_store(in, value) : NULL;
}

static bool role_plan_has(const struct profiles *profiles, const char *profile, const char *key)
{
    struct span value;
    return profiles_get(profiles, profile, key, &value);
}

/* The section that has KEY: of the credentials file where both have it. */
static void role_plan_store_origin(struct planner *in, const char *profile, const char *key)
{
    CLEAN_UP(buf_clean_up) struct buf origin = {0};
    struct span value;
    bool in_credentials = profile_get(&in->profiles->credentials, profile, key, &value);
    profiles_origin(in->profiles, in_credentials ? PROFILE_CREDENTIALS : PROFILE_CONFIG, profile,
                    &origin);
    in->plan->origin = buf_steal(&origin, NULL);
    in->no_memory = in->no_memory || !in->plan->origin;
}

/* Either key, as for the AWS CLI: half a pair is a mistake to be told, and no reason to go on. */
static bool role_plan_has_keys(const struct profiles *profiles, const char *profile)
{
    return role_plan_has(profiles, profile, "aws_access_key_id") ||
           role_plan_has(profiles, profile, "aws_secret_access_key");
}

static bool role_plan_has_role(const struct profiles *profiles, const char *profile)
{
    return role_plan_has(profiles, profile, "role_arn") &&
           !role_plan_has(profiles, profile, "web_identity_token_file");
}

/* The name of the AWS CLI's file is made of what Python prints for the arguments. A session's name
 * is among them only where somebody has chosen it. */

static void role_plan_add_argument(struct buf *out, const char *name, const char *value,
                                   bool is_number)
{
    if (!value)
        return;
    buf_add_text(out, out->size > 1 ? ", " : "");
    buf_printf(out, "\"%s\": ", name);
    if (is_number)
        buf_add_text(out, value);
    else
        json_write_ascii(out, span_text(value));
}

static void role_plan_name_cache(struct planner *in, struct role *role)
{
    CLEAN_UP(buf_clean_up) struct buf arguments = {0};
    buf_add_char(&arguments, '{');
    role_plan_add_argument(&arguments, "DurationSeconds", role->duration_seconds, true);
    role_plan_add_argument(&arguments, "ExternalId", role->external_id, false);
    role_plan_add_argument(&arguments, "RoleArn", role->arn, false);
    role_plan_add_argument(&arguments, "RoleSessionName", role->session_name, false);
    role_plan_add_argument(&arguments, "SerialNumber", role->mfa_serial, false);
    buf_add_char(&arguments, '}');
    role->cache = arguments.failed ? NULL : cli_cache_path(buf_span(&arguments));
    in->no_memory = in->no_memory || !role->cache;
}

static struct role *role_plan_add_role(struct planner *in)
{
    struct role_plan *plan = in->plan;
    struct role *grown = reallocarray(plan->roles, plan->count + 1, sizeof *grown);
    if (!grown) {
        in->no_memory = true;
        return NULL;
    }
    plan->roles = grown;
    plan->roles[plan->count] = (struct role){0};
    return &plan->roles[plan->count++];
}

/* An empty name is none. */
static void role_plan_drop_empty(char **text)
{
    if (!*text || **text)
        return;
    free(*text);
    *text = NULL;
}

/* A number as Python reads and prints it; what is none is passed over, as the AWS CLI does. */
static void role_plan_read_duration(struct planner *in, struct role *role, const char *profile)
{
    char *text = role_plan_take(in, profile, "duration_seconds"), *digits = text;
    if (!text)
        return;
    bool negative = *digits == '-';
    digits += *digits == '-' || *digits == '+';
    size_t size = strspn(digits, "0123456789");
    if (size > 0 && digits[size] == '\0') {
        digits += strspn(digits, "0");
        digits -= *digits == '\0';
        CLEAN_UP(buf_clean_up) struct buf number = {0};
        buf_printf(&number, "%s%s", negative && strcmp(digits, "0") != 0 ? "-" : "", digits);
        role->duration_seconds = role_plan_store(in, buf_span(&number));
    }
    free(text);
}

/* False with ERR filled: memory ran out, or the role has no name. */
static bool role_plan_finish_role(struct planner *in, struct role *role, struct error *err)
{
    role_plan_drop_empty(&role->session_name);
    if (in->no_memory)
        return error_no_memory(err);
    bool is_named = role->arn && *role->arn;
    if (!is_named && role->profile)
        return error_set(
            err, ERROR_DENIED,
            "profile %.200s does not say which role is wanted: set its role_arn to the "
            "role's ARN, arn:aws:iam::123456789012:role/name",
            role->profile);
    if (!is_named)
        return error_set(err, ERROR_DENIED,
                         "AWS_WEB_IDENTITY_TOKEN_FILE is set, and AWS_ROLE_ARN, which says which "
                         "role the token is for, is not; set it to the role's ARN");
    role_plan_name_cache(in, role);
    return !in->no_memory || error_no_memory(err);
}

/* Sources. */

static bool role_plan_add_role_of(struct planner *in, const char *profile, struct error *err)
{
    struct role *role = role_plan_add_role(in);
    if (!role)
        return error_no_memory(err);
    role->profile = role_plan_store(in, span_text(profile));
    role->arn = role_plan_take(in, profile, "role_arn");
    role->session_name = role_plan_take(in, profile, "role_session_name");
    role->external_id = role_plan_take(in, profile, "external_id");
    role->mfa_serial = role_plan_take(in, profile, "mfa_serial");
    role_plan_read_duration(in, role, profile);
    return role_plan_finish_role(in, role, err);
}

static bool role_plan_is_visited(const struct role_plan *plan, const char *profile)
{
    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->roles[i].profile, profile) == 0)
            return true;
    return false;
}

static bool role_plan_fail_circle(const struct role_plan *plan, const char *source,
                                  struct error *err)
{
    error_set(err, ERROR_DENIED,
              "the source_profile of profile %.200s goes in a circle: ", plan->roles[0].profile);
    for (size_t i = 0; i < plan->count; i++)
        error_add(err, "%.100s -> ", plan->roles[i].profile);
    error_add(err, "%.100s; one of them needs a source with credentials of its own", source);
    return false;
}

/* The profile in SOURCE signs for the last role so far; NEXT when it does so as another role. */
static bool role_plan_check_source(const struct planner *in, const char *profile,
                                   const char *source, bool *next, struct error *err)
{
    *next = false;
    if (!profiles_has(in->profiles, source)) {
        CLEAN_UP(buf_clean_up) struct buf names = {0};
        profiles_names(in->profiles, &names);
        return error_set(err, ERROR_DENIED,
                         "profile %.200s names source_profile %.200s, which is in neither %s nor "
                         "%s; profiles there: %.600s",
                         profile, source, in->profiles->config_path, in->profiles->credentials_path,
                         buf_text(&names));
    }
    bool keys = role_plan_has_keys(in->profiles, source);
    if (role_plan_is_visited(in->plan, source) && (strcmp(source, profile) != 0 || !keys))
        return role_plan_fail_circle(in->plan, source, err);
    *next = !keys && role_plan_has_role(in->profiles, source);
    return true;
}

/* The words are the AWS CLI's, case included. */
static bool role_plan_take_place(struct role_plan *plan, const char *profile, const char *place,
                                 struct error *err)
{
    static const char *const places[] = {[ROLE_SIGNED_BY_ENVIRONMENT] = "Environment",
                                         [ROLE_SIGNED_BY_CONTAINER] = "EcsContainer",
                                         [ROLE_SIGNED_BY_MACHINE] = "Ec2InstanceMetadata"};
    for (unsigned i = ROLE_SIGNED_BY_ENVIRONMENT; i <= ROLE_SIGNED_BY_MACHINE; i++)
        if (strcmp(place, places[i]) == 0) {
            plan->signers = (enum role_signers)i;
            return true;
        }
    return error_set(err, ERROR_DENIED,
                     "profile %.200s has credential_source = %.60s, which is none of Environment, "
                     "Ec2InstanceMetadata and EcsContainer; correct it",
                     profile, place);
}

/* PROFILE's source; NEXT gets its name when it is a role itself, for the caller to free. */
static bool role_plan_follow(struct planner *in, const char *profile, char **next,
                             struct error *err)
{
    char *source = role_plan_take(in, profile, "source_profile");
    char *place = role_plan_take(in, profile, "credential_source");
    bool goes_on = false, ok;
    *next = NULL;
    if (in->no_memory)
        ok = error_no_memory(err);
    else if (!source && !place)
        ok = error_set(err, ERROR_DENIED,
                       "profile %.200s has role_arn, and does not say whose keys ask for the role: "
                       "give it source_profile (a profile with credentials) or credential_source",
                       profile);
    else if (source && place)
        ok = error_set(err, ERROR_DENIED,
                       "profile %.200s has both source_profile and credential_source; take one "
                       "away",
                       profile);
    else if (place)
        ok = role_plan_take_place(in->plan, profile, place, err);
    else
        ok = role_plan_check_source(in, profile, source, &goes_on, err);
    free(place);
    if (ok && goes_on) {
        *next = source;
    } else if (ok && source) {
        in->plan->signers = ROLE_SIGNED_BY_PROFILE;
        in->plan->source = source;
    } else {
        free(source);
    }
    return ok;
}

enum credentials_found role_plan_of_sources(struct role_plan *plan,
                                            const struct credentials_context *context,
                                            struct error *err)
{
    struct planner in = {.plan = plan, .profiles = context->profiles};
    if (!role_plan_has_role(in.profiles, context->profile))
        return CREDENTIALS_ABSENT;
    role_plan_store_origin(&in, context->profile, "role_arn");
    char *profile = role_plan_store(&in, span_text(context->profile)), *next = NULL;
    bool ok = profile || error_no_memory(err);
    while (ok && profile) {
        ok = role_plan_add_role_of(&in, profile, err) && role_plan_follow(&in, profile, &next, err);
        free(profile);
        profile = ok ? next : NULL;
    }
    return ok ? CREDENTIALS_FOUND : CREDENTIALS_FAILED;
}

/* Web identity. */

/* The environment goes before the profile, key by key; as for the AWS CLI, a variable that is empty
 * is there. */
static const char *role_plan_stated(const struct credentials_context *context, const char *variable)
{
    return context->asked_for || context->is_source ? NULL : getenv(variable);
}

static char *role_plan_take_stated(struct planner *in, const struct credentials_context *context,
                                   const char *variable, const char *key)
{
    const char *value = role_plan_stated(context, variable);
    return value ? role_plan_store(in, span_text(value))
                 : role_plan_take(in, context->profile, key);
}

enum credentials_found role_plan_of_web_identity(struct role_plan *plan,
                                                 const struct credentials_context *context,
                                                 struct error *err)
{
    static const char variable[] = "AWS_WEB_IDENTITY_TOKEN_FILE";
    struct planner in = {.plan = plan, .profiles = context->profiles};
    char *file = role_plan_take_stated(&in, context, variable, "web_identity_token_file");
    role_plan_drop_empty(&file);
    if (!file && !in.no_memory)
        return CREDENTIALS_ABSENT;
    struct role *role = role_plan_add_role(&in);
    if (role && file) {
        role->token_file = stored_path(file);
        in.no_memory = in.no_memory || !role->token_file;
        if (role_plan_stated(context, variable)) {
            plan->origin = role_plan_store(&in, span_text(variable));
        } else {
            role->profile = role_plan_store(&in, span_text(context->profile));
            role_plan_store_origin(&in, context->profile, "web_identity_token_file");
        }
        role->arn = role_plan_take_stated(&in, context, "AWS_ROLE_ARN", "role_arn");
        role->session_name =
            role_plan_take_stated(&in, context, "AWS_ROLE_SESSION_NAME", "role_session_name");
    }
    free(file);
    bool ok = role && !in.no_memory ? role_plan_finish_role(&in, role, err) : error_no_memory(err);
    return ok ? CREDENTIALS_FOUND : CREDENTIALS_FAILED;
}
