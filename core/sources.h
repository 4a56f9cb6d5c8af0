/* The sources of maps' environments, opened when first asked for. This is where the parts that
 * reach the service are put together. Environments whose settings come to the same share one
 * source. */
#ifndef DDBFS_CORE_SOURCES_H
#define DDBFS_CORE_SOURCES_H

#include "core/aws/role_plan.h"
#include "core/aws/session.h"
#include "core/aws/settings.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/read/place.h"
#include "core/source/source.h"

struct sources;

struct sources_options {
    struct loop *loop;
    const struct log *log;   /* may be NULL */
    int64_t deadline_ms;     /* for each answer, retries included */
    struct aws_options over; /* what was said on the command line goes before the map */
    const char *user_agent;
    bool may_scan;        /* see struct dynamo_options */
    int64_t slow_page_ms; /* queries whose pages take as long are read from both ends by who wants
                           * all of them; -1: none are */
    /* Whom to ask for codes of MFA devices when an environment is asked for that needs some; NULL:
     * nobody. It may wait, and so may whoever asks for an environment the first time. */
    mfa_prompt_fn *ask_code;
};

/* OPTIONS and what it points to are borrowed, but for itself. NULL when memory ran out. */
struct sources *sources_new(const struct sources_options *options);
void sources_destroy(struct sources *sources); /* NULL is fine */

/* Nobody is asked for codes any more: from here on nothing may wait. */
void sources_go_offline(struct sources *sources);

/* Those that are opened from now on ask once more for a record whose answer is late: where many are
 * asked for over a long time. */
void sources_hedge(struct sources *sources);

/* What has been asked of all sources together. Operations that nobody used yet are there too. */
struct source_stats sources_stats(const struct sources *sources);

/* Does now what must not wait for the time when a mount is served. */
void sources_prepare(void);

/* Appends the region of ENVIRONMENT's tables, and the account that profile or environment name;
 * "*" for what is not known, or where the settings are wrong. */
void sources_locate(struct sources *sources, const struct map_environment *environment,
                    struct buf *region, struct buf *account);

/* What options, the map, variables and files say of ENVIRONMENT (NULL: of none), each with who said
 * it. SETTINGS are to be cleaned up in either case; with ERR filled (false) they are as far as it
 * came. */
bool sources_resolve(struct sources *sources, const struct map_environment *environment,
                     struct aws_settings *settings, struct error *err);

/* The session of whoever reads in ENVIRONMENT (NULL: in none); borrowed. NULL with ERR filled. */
struct aws_session *sources_session(struct sources *sources,
                                    const struct map_environment *environment, struct error *err);

/* Reads the settings of all environments in use again. Who asks later goes by the new ones, in a
 * source of its own where they come to something else; the old source is closed, later, when its
 * last user is gone. Those that can't be read stay, and the log says why. */
void sources_reload(struct sources *sources);

/* Both take the struct sources as ARG, as core/read/tree.h wants them. */
struct source *sources_for(void *arg, const struct place *place, struct error *err);
const struct source_ops *sources_describe(void *arg, const struct place *place,
                                          struct buf *options);

#endif
