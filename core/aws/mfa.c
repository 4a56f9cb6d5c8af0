/* Keeping codes until they are used. */
#include "core/aws/mfa.h"

#include <stdlib.h>
#include <string.h>

#include "core/aws/cli_cache.h"
#include "core/aws/role_plan.h"

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

static enum mfa_asked mfa_request_one(struct mfa_codes *codes, const char *serial, mfa_ask_fn *ask,
                                      void *arg, struct error *err)
{
    struct mfa_code *code = calloc(1, sizeof *code);
    if (!code || !(code->serial = strdup(serial))) {
        free(code);
        error_no_memory(err);
        return MFA_FAILED;
    }
    enum mfa_asked asked = ask(arg, serial, &code->code, err);
    if (asked == MFA_TYPED && !code->code.failed) {
        code->next = codes->first;
        codes->first = code;
        return asked;
    }
    if (asked == MFA_TYPED)
        error_no_memory(err);
    mfa_free_code(code);
    return asked == MFA_TYPED ? MFA_FAILED : asked;
}

static bool mfa_is_kept(const struct credentials_context *context, const struct role *role)
{
    struct clock *clock = loop_clock(context->loop);
    struct credentials kept = {0};
    bool found = cli_cache_read(role->cache, clock->wall_ms(clock), &kept);
    credentials_clean_up(&kept);
    return found;
}

bool mfa_codes_request(struct mfa_codes *codes, const struct credentials_context *context,
                       mfa_ask_fn *ask, void *arg, struct error *err)
{
    CLEAN_UP(role_plan_clean_up) struct role_plan plan = {0};
    const char *key = getenv("AWS_ACCESS_KEY_ID");
    enum mfa_asked asked = MFA_TYPED;
    struct error ignored;
    if ((key && *key && !context->asked_for) ||
        role_plan_of_sources(&plan, context, &ignored) != CREDENTIALS_FOUND)
        return true; /* it is another's affair, or whoever asks for credentials tells why not */
    for (size_t i = 0; asked == MFA_TYPED && i < plan.count; i++) {
        if (mfa_is_kept(context, &plan.roles[i]))
            break;
        if (plan.roles[i].mfa_serial)
            asked = mfa_request_one(codes, plan.roles[i].mfa_serial, ask, arg, err);
    }
    return asked != MFA_FAILED;
}
