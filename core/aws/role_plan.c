/* Follows a role to its signer; codes of MFA devices. */
#include "core/aws/role_plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/aws/cli_cache.h"
#include "core/json/json.h"

void role_plan_clean_up(struct role_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct role *role = &plan->roles[i];
        free(role->profile);
        free(role->arn);
        free(role->session_name);
        free(role->external_id);
        free(role->duration_seconds);
        free(role->mfa_serial);
        free(role->token_file);
        free(role->cache);
    }
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

struct role_planner {
    struct role_plan *plan;
    const struct profiles *profiles;
    bool no_memory;
};

static char *role_plan_copy(struct role_planner *in, struct span text)
{
    char *copy = strndup(text.data, text.size);
    in->no_memory = in->no_memory || !copy;
    return copy;
}

/* NULL without such a key. */
static char *role_plan_read(struct role_planner *in, const char *profile, const char *key)
{
    struct span value;
    return profiles_get(in->profiles, profile, key, &value) ? role_plan_copy(in, value) : NULL;
}

static bool role_plan_has(const struct profiles *profiles, const char *profile, const char *key)
{
    struct span value;
    return profiles_get(profiles, profile, key, &value);
}

static bool role_plan_has_role(const struct profiles *profiles, const char *profile)
{
    return role_plan_has(profiles, profile, "role_arn") &&
           !role_plan_has(profiles, profile, "web_identity_token_file");
}

static void role_plan_read_origin(struct role_planner *in, const char *profile, const char *key)
{
    CLEAN_UP(buf_clean_up) struct buf origin = {0};
    profiles_origin_of_key(in->profiles, profile, key, &origin);
    in->plan->origin = buf_steal(&origin, NULL);
    in->no_memory = in->no_memory || !in->plan->origin;
}

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

static struct role *role_plan_add(struct role_planner *in)
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

static void role_plan_drop_empty(char **text)
{
    if (!*text || **text)
        return;
    free(*text);
    *text = NULL;
}

/* A number as Python reads and prints it. As in the AWS CLI, any other text is ignored. */
static void role_plan_read_duration(struct role_planner *in, struct role *role, const char *profile)
{
    char *text = role_plan_read(in, profile, "duration_seconds"), *digits = text;
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
        role->duration_seconds = role_plan_copy(in, buf_span(&number));
    }
    free(text);
}

/* False with ERR filled: memory ran out, or the role has no ARN. */
static bool role_plan_finish(struct role_planner *in, struct role *role, struct error *err)
{
    role_plan_drop_empty(&role->session_name);
    if (in->no_memory)
        return error_no_memory(err);
    bool is_named = role->arn && *role->arn;
    if (!is_named && role->profile)
        return error_set(err, ERROR_DENIED,
                         "profile %.200s does not name the role; set its role_arn to the role's "
                         "ARN, arn:aws:iam::123456789012:role/name",
                         role->profile);
    if (!is_named)
        return error_set(err, ERROR_DENIED,
                         "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN, the role for the "
                         "token, is not; set it to the role's ARN");
    /* The name of the AWS CLI's file is a digest of the arguments as Python prints them. A session
     * name is among them only if the user has set it. */
    CLEAN_UP(buf_clean_up) struct buf arguments = {0};
    buf_add_char(&arguments, '{');
    role_plan_add_argument(&arguments, "DurationSeconds", role->duration_seconds, true);
    role_plan_add_argument(&arguments, "ExternalId", role->external_id, false);
    role_plan_add_argument(&arguments, "RoleArn", role->arn, false);
    role_plan_add_argument(&arguments, "RoleSessionName", role->session_name, false);
    role_plan_add_argument(&arguments, "SerialNumber", role->mfa_serial, false);
    buf_add_char(&arguments, '}');
    role->cache = arguments.failed ? NULL : cli_cache_path(buf_span(&arguments));
    return role->cache || error_no_memory(err);
}

/* Sources. */

/* SOURCE signs for the last role so far. NEXT: it does so as another role. */
static bool role_plan_check_source(const struct role_planner *in, const char *profile,
                                   const char *source, bool *next, struct error *err)
{
    const struct role_plan *plan = in->plan;
    bool visited = false;
    if (!profiles_has(in->profiles, source)) {
        CLEAN_UP(buf_clean_up) struct buf names = {0};
        profiles_names(in->profiles, &names);
        return error_set(err, ERROR_DENIED,
                         "profile %.200s names source_profile %.200s, which is in neither %s nor "
                         "%s; profiles there: %.600s",
                         profile, source, in->profiles->config_path, in->profiles->credentials_path,
                         buf_text(&names));
    }
    /* One key is enough, as in the AWS CLI: half a pair is a mistake to report. */
    bool has_keys = role_plan_has(in->profiles, source, "aws_access_key_id") ||
                    role_plan_has(in->profiles, source, "aws_secret_access_key");
    for (size_t i = 0; i < plan->count; i++)
        visited = visited || strcmp(plan->roles[i].profile, source) == 0;
    *next = !has_keys && role_plan_has_role(in->profiles, source);
    if (!visited || (strcmp(source, profile) == 0 && has_keys))
        return true;
    error_set(err, ERROR_DENIED,
              "the source_profile of profile %.200s goes in a circle: ", plan->roles[0].profile);
    for (size_t i = 0; i < plan->count; i++)
        error_add(err, "%.100s -> ", plan->roles[i].profile);
    error_add(err, "%.100s; one of them needs a source with credentials of its own", source);
    return false;
}

/* The words are the AWS CLI's, case included. */
static bool role_plan_read_place(struct role_plan *plan, const char *profile, const char *place,
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
                     "profile %.200s has credential_source = %.60s, which is not one of "
                     "Environment, Ec2InstanceMetadata and EcsContainer; correct it",
                     profile, place);
}

/* Follows PROFILE to its source. NEXT gets the source's name if it is a role itself, for the caller
 * to free. */
static bool role_plan_follow(struct role_planner *in, const char *profile, char **next,
                             struct error *err)
{
    char *source = role_plan_read(in, profile, "source_profile");
    char *place = role_plan_read(in, profile, "credential_source");
    bool goes_on = false, ok;
    *next = NULL;
    if (in->no_memory)
        ok = error_no_memory(err);
    else if (!source && !place)
        ok = error_set(err, ERROR_DENIED,
                       "profile %.200s has role_arn, but no keys to sign with; add source_profile "
                       "(a profile with credentials) or credential_source",
                       profile);
    else if (source && place)
        ok = error_set(err, ERROR_DENIED,
                       "profile %.200s has both source_profile and credential_source; remove one",
                       profile);
    else if (place)
        ok = role_plan_read_place(in->plan, profile, place, err);
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
    struct role_planner in = {.plan = plan, .profiles = context->profiles};
    if (!role_plan_has_role(in.profiles, context->profile))
        return CREDENTIALS_ABSENT;
    role_plan_read_origin(&in, context->profile, "role_arn");
    char *profile = role_plan_copy(&in, span_text(context->profile)), *next = NULL;
    bool ok = profile || error_no_memory(err);
    while (ok && profile) {
        struct role *role = role_plan_add(&in);
        if (role) {
            role->profile = role_plan_copy(&in, span_text(profile));
            role->arn = role_plan_read(&in, profile, "role_arn");
            role->session_name = role_plan_read(&in, profile, "role_session_name");
            role->external_id = role_plan_read(&in, profile, "external_id");
            role->mfa_serial = role_plan_read(&in, profile, "mfa_serial");
            role_plan_read_duration(&in, role, profile);
        }
        ok = role ? role_plan_finish(&in, role, err) : error_no_memory(err);
        ok = ok && role_plan_follow(&in, profile, &next, err);
        free(profile);
        profile = ok ? next : NULL;
    }
    return ok ? CREDENTIALS_FOUND : CREDENTIALS_FAILED;
}

/* Web identity. */

/* The environment goes before the profile, key by key. As in the AWS CLI, an empty variable is
 * set. */
static const char *role_plan_find_variable(const struct credentials_context *context,
                                           const char *variable)
{
    return context->by_option || context->is_source ? NULL : getenv(variable);
}

static char *role_plan_read_variable(struct role_planner *in,
                                     const struct credentials_context *context,
                                     const char *variable, const char *key)
{
    const char *value = role_plan_find_variable(context, variable);
    return value ? role_plan_copy(in, span_text(value)) : role_plan_read(in, context->profile, key);
}

enum credentials_found role_plan_of_web_identity(struct role_plan *plan,
                                                 const struct credentials_context *context,
                                                 struct error *err)
{
    static const char variable[] = "AWS_WEB_IDENTITY_TOKEN_FILE";
    struct role_planner in = {.plan = plan, .profiles = context->profiles};
    char *file = role_plan_read_variable(&in, context, variable, "web_identity_token_file");
    role_plan_drop_empty(&file);
    if (!file && !in.no_memory)
        return CREDENTIALS_ABSENT;
    struct role *role = role_plan_add(&in);
    if (role && file) {
        role->token_file = stored_path(file);
        in.no_memory = in.no_memory || !role->token_file;
        if (role_plan_find_variable(context, variable)) {
            plan->origin = role_plan_copy(&in, span_text(variable));
        } else {
            role->profile = role_plan_copy(&in, span_text(context->profile));
            role_plan_read_origin(&in, context->profile, "web_identity_token_file");
        }
        role->arn = role_plan_read_variable(&in, context, "AWS_ROLE_ARN", "role_arn");
        role->session_name =
            role_plan_read_variable(&in, context, "AWS_ROLE_SESSION_NAME", "role_session_name");
    }
    free(file);
    bool ok = role && !in.no_memory ? role_plan_finish(&in, role, err) : error_no_memory(err);
    return ok ? CREDENTIALS_FOUND : CREDENTIALS_FAILED;
}

/* Codes of MFA devices. */

struct mfa_code {
    char *serial;    /* owned */
    struct buf code; /* a secret */
    struct mfa_code *next;
};

static void mfa_free_code(struct mfa_code *code)
{
    buf_clean_up_secret(&code->code);
    free(code->serial);
    free(code);
}

void mfa_codes_clean_up(struct mfa_codes *codes)
{
    for (struct mfa_code *each = codes->first, *next; each; each = next) {
        next = each->next;
        mfa_free_code(each);
    }
    codes->first = NULL;
}

bool mfa_codes_take(struct mfa_codes *codes, const char *serial, struct buf *out)
{
    for (struct mfa_code **link = &codes->first; *link; link = &(*link)->next) {
        struct mfa_code *found = *link;
        if (strcmp(found->serial, serial) != 0)
            continue;
        *link = found->next;
        buf_add_span(out, buf_span(&found->code));
        mfa_free_code(found);
        return true;
    }
    return false;
}

static enum mfa_input mfa_prompt(struct mfa_codes *codes, const char *serial, mfa_prompt_fn *prompt,
                                 void *arg, struct error *err)
{
    struct mfa_code *code = calloc(1, sizeof *code);
    if (!code || !(code->serial = strdup(serial))) {
        free(code);
        error_no_memory(err);
        return MFA_FAILED;
    }
    enum mfa_input input = prompt(arg, serial, &code->code, err);
    if (input == MFA_TYPED && !code->code.failed) {
        code->next = codes->first;
        codes->first = code;
        return input;
    }
    if (input == MFA_TYPED)
        error_no_memory(err);
    mfa_free_code(code);
    return input == MFA_TYPED ? MFA_FAILED : input;
}

bool mfa_codes_prompt(struct mfa_codes *codes, const struct credentials_context *context,
                      mfa_prompt_fn *prompt, void *arg, struct error *err)
{
    CLEAN_UP(role_plan_clean_up) struct role_plan plan = {0};
    struct clock *clock = loop_clock(context->loop);
    const char *key = getenv("AWS_ACCESS_KEY_ID");
    enum mfa_input input = MFA_TYPED;
    struct error ignored; /* the request for credentials will fail with it */
    if ((key && *key && !context->by_option) ||
        role_plan_of_sources(&plan, context, &ignored) != CREDENTIALS_FOUND)
        return true;
    for (size_t i = 0; input == MFA_TYPED && i < plan.count; i++) {
        CLEAN_UP(credentials_clean_up) struct credentials cached = {0};
        if (cli_cache_read(plan.roles[i].cache, clock->wall_ms(clock), &cached))
            break;
        if (plan.roles[i].mfa_serial)
            input = mfa_prompt(codes, plan.roles[i].mfa_serial, prompt, arg, err);
    }
    return input != MFA_FAILED;
}
