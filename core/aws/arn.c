/* ARNs of tables and indexes, the account in an ARN, and partitions. */
#include "core/aws/arn.h"

#include <ctype.h>
#include <string.h>

/* As in botocore's partitions.json of 2026; all other regions are of "aws". */
static const struct {
    const char *prefix; /* of its regions' names: prefix-word-number */
    const char *global; /* its pseudo-region for global services; NULL: none */
    struct aws_partition partition;
} partitions[] = {
    {"cn-", "aws-cn-global", {"aws-cn", "amazonaws.com.cn", "api.amazonwebservices.com.cn"}},
    {"us-gov-", "aws-us-gov-global", {"aws-us-gov", "amazonaws.com", "api.aws"}},
    {"us-iso-", "aws-iso-global", {"aws-iso", "c2s.ic.gov", "api.aws.ic.gov"}},
    {"us-isob-", "aws-iso-b-global", {"aws-iso-b", "sc2s.sgov.gov", "api.aws.scloud"}},
    {"eu-isoe-", "aws-iso-e-global", {"aws-iso-e", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"}},
    {"us-isof-", "aws-iso-f-global", {"aws-iso-f", "csp.hci.ic.gov", "api.aws.hci.ic.gov"}},
    {"eusc-de-", NULL, {"aws-eusc", "amazonaws.eu", "api.amazonwebservices.eu"}},
};

/* "north-1", "gov-west-12": a word and a number. */
static bool arn_is_place(const char *text)
{
    size_t word = 0, digits = 0;
    while (isalnum((unsigned char)text[word]) || text[word] == '_')
        word++;
    if (word == 0 || text[word] != '-')
        return false;
    text += word + 1;
    while (isdigit((unsigned char)text[digits]))
        digits++;
    return digits > 0 && text[digits] == '\0';
}

const struct aws_partition *aws_partition_of(const char *region)
{
    static const struct aws_partition aws = {"aws", "amazonaws.com", "api.aws"};
    for (size_t i = 0; i < sizeof partitions / sizeof partitions[0]; i++) {
        const char *prefix = partitions[i].prefix, *global = partitions[i].global;
        size_t size = strlen(prefix);
        if ((strncmp(region, prefix, size) == 0 && arn_is_place(region + size)) ||
            (global && strcmp(region, global) == 0))
            return &partitions[i].partition;
    }
    return &aws;
}

void arn_write(struct buf *out, const char *region, const char *account, const char *table,
               const char *index)
{
    if (!table) {
        buf_add_char(out, '*'); /* ListTables is allowed for all tables, or not at all */
        return;
    }
    buf_printf(out, "arn:%s:dynamodb:%s:%s:table/%s", aws_partition_of(region)->name, region,
               account ? account : "*", table);
    if (index)
        buf_printf(out, "/index/%s", index);
}

struct span arn_account(struct span arn)
{
    for (int colons = 0; colons < 4; colons++) {
        const char *colon = arn.size ? memchr(arn.data, ':', arn.size) : NULL;
        arn = colon ? span_from(arn, (size_t)(colon - arn.data) + 1) : span_text("");
    }
    const char *end = arn.size ? memchr(arn.data, ':', arn.size) : NULL;
    return span_of(arn.data, end ? (size_t)(end - arn.data) : 0);
}
