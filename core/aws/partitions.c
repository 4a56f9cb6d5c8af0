/* Which regions belong together. */
#include "core/aws/partitions.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct row {
    const char *prefix; /* of its regions' names: prefix-word-number */
    const char *global; /* the name of what is in none of its regions; NULL for none */
    struct aws_partition partition;
};

/* As botocore's partitions.json of 2026 has them; "aws" is what is left. */
static const struct row rows[] = {
    {"cn-", "aws-cn-global", {"aws-cn", "amazonaws.com.cn", "api.amazonwebservices.com.cn"}},
    {"us-gov-", "aws-us-gov-global", {"aws-us-gov", "amazonaws.com", "api.aws"}},
    {"us-iso-", "aws-iso-global", {"aws-iso", "c2s.ic.gov", "api.aws.ic.gov"}},
    {"us-isob-", "aws-iso-b-global", {"aws-iso-b", "sc2s.sgov.gov", "api.aws.scloud"}},
    {"eu-isoe-", "aws-iso-e-global", {"aws-iso-e", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"}},
    {"us-isof-", "aws-iso-f-global", {"aws-iso-f", "csp.hci.ic.gov", "api.aws.hci.ic.gov"}},
    {"eusc-de-", NULL, {"aws-eusc", "amazonaws.eu", "api.amazonwebservices.eu"}},
};

/* "north-1", "gov-west-12": a word and a number. */
static bool partitions_is_place(const char *text)
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
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t size = strlen(rows[i].prefix);
        if ((strncmp(region, rows[i].prefix, size) == 0 && partitions_is_place(region + size)) ||
            (rows[i].global && strcmp(region, rows[i].global) == 0))
            return &rows[i].partition;
    }
    return &aws;
}
