/* Collecting grants, and writing them as statements. */
#include "core/dynamo/policy_document.h"

#include <stdlib.h>

#include "core/json/json.h"

/* What is granted on one resource. What reads no record, and a Scan, have grants of their own, so
 * that who does not want them takes a statement away. */
struct policy_grant {
    char *resource; /* owned */
    unsigned ops;   /* bits, 1 << enum dynamo_op */
};

void policy_grant(struct policy *policy, enum dynamo_op op, struct span resource)
{
    unsigned records = 1u << DYNAMO_GET_ITEM | 1u << DYNAMO_BATCH_GET_ITEM | 1u << DYNAMO_QUERY;
    unsigned alike = records & 1u << op ? records : 1u << op;
    for (size_t i = 0; i < policy->count; i++)
        if ((policy->grants[i].ops & alike) && span_is(resource, policy->grants[i].resource)) {
            policy->grants[i].ops |= 1u << op;
            return;
        }
    struct policy_grant *grants =
        reallocarray(policy->grants, policy->count + 1, sizeof *policy->grants);
    char *copy = strndup(resource.data, resource.size);
    if (grants)
        policy->grants = grants;
    if (!grants || !copy) {
        policy->failed = true;
        free(copy);
        return;
    }
    policy->grants[policy->count++] = (struct policy_grant){copy, 1u << op};
}

void policy_clean_up(struct policy *policy)
{
    for (size_t i = 0; i < policy->count; i++)
        free(policy->grants[i].resource);
    free(policy->grants);
    *policy = (struct policy){0};
}

static void policy_write_member(struct buf *out, unsigned depth, const char *name)
{
    buf_add_char(out, '\n');
    buf_add_repeated(out, ' ', (size_t)2 * depth);
    buf_printf(out, "\"%s\": ", name);
}

/* The operations' names, each behind BEFORE and before AFTER. */
static void policy_write_ops(struct buf *out, unsigned ops, const char *before, const char *after,
                             const char *between)
{
    bool first = true;
    for (unsigned op = 0; op < DYNAMO_OPS; op++) {
        if (!(ops & 1u << op))
            continue;
        buf_printf(out, "%s%s%s%s", first ? "" : between, before,
                   dynamo_op_name((enum dynamo_op)op), after);
        first = false;
    }
}

/* The statement for all resources that are granted OPS. */
static void policy_write_statement(const struct policy *policy, unsigned ops, struct buf *out)
{
    bool first = true;
    buf_add_text(out, "\n    {");
    policy_write_member(out, 3, "Sid");
    buf_add_char(out, '"');
    policy_write_ops(out, ops, "", "", "");
    buf_add_text(out, "\",");
    policy_write_member(out, 3, "Effect");
    buf_add_text(out, "\"Allow\",");
    policy_write_member(out, 3, "Action");
    buf_add_char(out, '[');
    policy_write_ops(out, ops, "\"dynamodb:", "\"", ", ");
    buf_add_text(out, "],");
    policy_write_member(out, 3, "Resource");
    buf_add_char(out, '[');
    for (size_t i = 0; i < policy->count; i++) {
        if (policy->grants[i].ops != ops)
            continue;
        buf_add_text(out, first ? "\n        " : ",\n        ");
        json_write_string(out, span_text(policy->grants[i].resource));
        first = false;
    }
    buf_add_text(out, "\n      ]\n    }");
}

/* What was granted first, of those that come behind; 0 when none does. */
static bool policy_is_first_of_its_kind(const struct policy *policy, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (policy->grants[i].ops == policy->grants[at].ops)
            return false;
    return true;
}

/* No name of a table, an index or an account holds a blank. */
static void policy_add_without_blanks(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] != ' ' && text.data[i] != '\n')
            buf_add_char(out, text.data[i]);
}

bool policy_write(const struct policy *policy, bool compact, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    bool first = true;
    buf_add_text(&text, "{\n  \"Version\": \"2012-10-17\",\n  \"Statement\": [");
    for (size_t i = 0; i < policy->count; i++) {
        if (!policy_is_first_of_its_kind(policy, i))
            continue;
        buf_add_text(&text, first ? "" : ",");
        policy_write_statement(policy, policy->grants[i].ops, &text);
        first = false;
    }
    buf_add_text(&text, "\n  ]\n}");
    if (compact)
        policy_add_without_blanks(out, buf_span(&text));
    else
        buf_add_span(out, buf_span(&text));
    buf_add_char(out, '\n');
    return !policy->failed && !text.failed && !out->failed;
}
