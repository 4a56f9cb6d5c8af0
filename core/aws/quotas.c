/* Retry quotas by name. */
#include "core/aws/quotas.h"

#include <stdlib.h>

/* So many that are not full are remembered while nobody uses them. Who makes up names of tables
 * must not fill the memory with them; a quota that is forgotten is a full one again. */
enum { MOST_REMEMBERED = 1000 };

struct quota {
    struct retry retry;    /* first: a retry that was taken is a quota */
    struct dict_node node; /* by name */
    unsigned users;
    char name[];
};

bool quotas_init(struct quotas *quotas, unsigned attempts, unsigned seed)
{
    *quotas = (struct quotas){.attempts = attempts, .seed = seed};
    return dict_init(&quotas->names);
}

static struct quota *quotas_quota_of(struct dict_node *node)
{
    return (struct quota *)((char *)node - offsetof(struct quota, node));
}

void quotas_clean_up(struct quotas *quotas)
{
    size_t from = 0;
    for (struct dict_node *node; (node = dict_any(&quotas->names, &from));) {
        dict_remove(&quotas->names, node);
        free(quotas_quota_of(node));
    }
    dict_clean_up(&quotas->names);
}

struct retry *quotas_take(struct quotas *quotas, const char *name)
{
    size_t size = strlen(name);
    struct dict_node *node = dict_find(&quotas->names, span_of(name, size));
    struct quota *quota = node ? quotas_quota_of(node) : calloc(1, sizeof *quota + size + 1);
    if (!quota)
        return NULL;
    if (!node) {
        memcpy(quota->name, name, size);
        quota->node.key = span_of(quota->name, size);
        /* No two of them make their callers come back at the same moments. */
        quotas->seed += 0x9e3779b9u;
        quota->retry = (struct retry){RETRY_TOKENS, quotas->seed, quotas->attempts};
        dict_add(&quotas->names, &quota->node);
    }
    quota->users++;
    return &quota->retry;
}

void quotas_refund(struct quotas *quotas, struct retry *retry)
{
    struct quota *quota = (struct quota *)retry;
    if (!quota || --quota->users > 0 ||
        (retry->tokens < RETRY_TOKENS && quotas->names.count <= MOST_REMEMBERED))
        return;
    dict_remove(&quotas->names, &quota->node);
    free(quota);
}
