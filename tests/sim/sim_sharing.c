/* The laws of shared results: a program that has the mount for itself reads twice, and the service
 * sees the second time nothing. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/sim/sim_actors.h"
#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_fiber.h"
#include "tests/sim/sim_model.h"
#include "tests/sim/sim_service.h"
#include "tests/sim/sim_world.h"

/* Whether the newest map is in use. If it could not be read, "the map or the settings of a profile
 * stay as they were" (docs/errors.md), and so do the ttls. */
static bool sharing_knows_map(void)
{
    enum { READ_MS = 2000 };
    const struct sim_model *older = sim_model_now()->older;
    return !older || !sim_causes_any(older->until_ms, older->until_ms + READ_MS);
}

/* The laws hold without faults, with room for all results, without limits, with a known map, and
 * while no stream is polled. */
static bool sharing_holds(int64_t from_ms)
{
    const struct sim_life_options *options = sim_life_options();
    return !options->live && options->cache_bytes >= 8 << 20 && options->max_rcu == 0 &&
           options->max_rcu_per_process == 0 && options->max_entries >= 1000000 &&
           sharing_knows_map() && !sim_causes_any(from_ms, sim_now_ms()) &&
           sim_transport_count() == 0;
}

/* What a law allows: the requests since BEFORE. */
static void sharing_require(const char *law, const char *path, uint64_t before, uint64_t most,
                            int64_t from_ms)
{
    uint64_t sent = sim_transport_sent() - before;
    if (sent > most && sharing_holds(from_ms))
        sim_defect("sharing", "%s of %s sent %llu requests instead of %llu", law, path,
                   (unsigned long long)sent, (unsigned long long)most);
}

/* Requests since an action began to listen. */
enum { SHARING_MOST_REQUESTS = 500 };

static struct {
    bool listens;
    char *requests[SHARING_MOST_REQUESTS]; /* owned */
    unsigned count;
    char *repeated; /* owned; NULL: each request was sent once */
} sharing;

static void sharing_listen(void)
{
    for (unsigned i = 0; i < sharing.count; i++)
        sim_free(sharing.requests[i]);
    sim_free(sharing.repeated);
    sharing.repeated = NULL;
    sharing.count = 0;
    sharing.listens = true;
}

/* An item whose response is late may be requested twice. */
void sim_sharing_note_request(const char *operation, const char *body)
{
    bool counts = strcmp(operation, "Query") == 0 || strcmp(operation, "BatchGetItem") == 0 ||
                  (strcmp(operation, "GetItem") == 0 && sim_life_options()->no_hedge);
    if (!sharing.listens || !counts || sharing.count == SHARING_MOST_REQUESTS)
        return;
    char *request = sim_printf("%s %s", operation, body);
    for (unsigned i = 0; i < sharing.count && !sharing.repeated; i++)
        if (strcmp(sharing.requests[i], request) == 0)
            sharing.repeated = sim_copy(request);
    sharing.requests[sharing.count++] = request;
}

/* Within the ttl, no request is sent twice. */
static void sharing_require_once(const char *path, int64_t from_ms, int64_t ttl_ms)
{
    sharing.listens = false;
    if (sharing.repeated && sim_now_ms() - from_ms < ttl_ms && sharing_holds(from_ms))
        sim_defect("sharing", "while %s was read, a request was sent twice: %.600s", path,
                   sharing.repeated);
}

/* Has the names above PATH looked up: a table of tables/ is described. */
static void sharing_look_above(struct sim_actor *actor, const char *path)
{
    char above[SIM_PATH_ROOM];
    struct stat stat;
    snprintf(above, sizeof above, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (above[0])
        sim_program_stat(actor, above, &stat);
}

static void sharing_check_probe(struct sim_actor *actor)
{
    char path[SIM_PATH_ROOM];
    struct stat stat;
    uint64_t before;
    int64_t from_ms = sim_now_ms();
    if (sim_actor_draw_path(actor, SIM_PATH_PROBE, path) != SIM_PATH_PROBE)
        return;
    sharing_look_above(actor, path);
    before = sim_transport_sent();
    sim_program_stat(actor, path, &stat);
    sharing_require("a probe", path, before, 0, from_ms);
}

static void sharing_check_structure(struct sim_actor *actor)
{
    char path[SIM_PATH_ROOM];
    struct stat stat;
    uint64_t before;
    int64_t from_ms = sim_now_ms();
    if (sim_actor_draw_path(actor, SIM_PATH_STRUCTURE, path) != SIM_PATH_STRUCTURE)
        return;
    if (strstr(path, "/tables")) /* a table is described */
        return;
    before = sim_transport_sent();
    sim_program_stat(actor, path, &stat);
    sharing_require("stat", path, before, 0, from_ms);
}

/* Waits for a part of what is left of the ttl of a result, which is as old as FROM_MS at most.
 * Below tables/, the description of the table may end before. */
static void sharing_grow_old(struct sim_actor *actor, const char *path, int64_t from_ms,
                             int64_t ttl_ms)
{
    int64_t left_ms = from_ms + ttl_ms - sim_now_ms() - 100;
    if (left_ms > 0 && !strstr(path, "/tables/") && sim_dice_chance(&actor->dice, 600))
        sim_fiber_sleep_ms(sim_dice_between(&actor->dice, 0, left_ms));
}

/* A second cat within the ttl. */
static void sharing_check_cat(struct sim_actor *actor)
{
    char path[SIM_PATH_ROOM];
    int64_t from_ms = sim_now_ms(), ttl_ms;
    struct stat stat;
    uint64_t before;
    if (sim_actor_draw_path(actor, SIM_PATH_ITEM, path) != SIM_PATH_ITEM)
        return;
    if (!sim_program_refresh(actor, path)) /* the ttl begins now */
        return;
    from_ms = sim_now_ms();
    sharing_listen();
    if (!sim_program_stat(actor, path, &stat) || !S_ISREG(stat.st_mode))
        return;
    sim_program_cat(actor, path);
    ttl_ms = sim_paths_ttl_ms(path);
    sharing_require_once(path, from_ms, ttl_ms);
    sharing_grow_old(actor, path, from_ms, ttl_ms);
    before = sim_transport_sent();
    sim_program_cat(actor, path);
    if (sim_now_ms() - from_ms < ttl_ms)
        sharing_require("a second cat", path, before, 0, from_ms);
}

/* ls -l and grep after a listing. */
static void sharing_check_listing(struct sim_actor *actor)
{
    char path[SIM_PATH_ROOM], child[SIM_PATH_ROOM];
    struct sim_names names;
    struct stat stat;
    int64_t ttl_ms;
    if (sim_actor_draw_path(actor, SIM_PATH_LISTING, path) != SIM_PATH_LISTING)
        return;
    if (!sim_program_refresh(actor, path))
        return;
    sharing_listen();
    sim_program_list(actor, path, &names, 500);
    ttl_ms = sim_paths_ttl_ms(path);
    sharing_require_once(path, names.from_ms, ttl_ms);
    sharing_grow_old(actor, path, names.from_ms, ttl_ms);
    for (size_t i = 0; names.is_whole && i < names.count; i++) {
        uint64_t before = sim_transport_sent();
        if (names.entries[i].type != DT_REG || !sim_paths_is_item(path, names.entries[i].name) ||
            snprintf(child, sizeof child, "%s/%s", path, names.entries[i].name) >= SIM_PATH_ROOM)
            continue;
        if (sim_program_stat(actor, child, &stat))
            sim_program_cat(actor, child);
        if (sim_now_ms() - names.from_ms < ttl_ms)
            sharing_require("reading an entry after its listing", child, before, 0, names.from_ms);
    }
    sim_names_free(&names);
}

/* Reads PATH. False: it is a listing that did not come to its end. "Errors are never reused"
 * (docs/semantics.md), so a listing that ends in one is read anew. */
static bool sharing_look(struct sim_actor *actor, const char *path, bool is_listing)
{
    struct sim_names names;
    if (!is_listing) {
        sim_program_look(actor, path);
        return true;
    }
    sim_program_list(actor, path, &names, 500);
    bool is_whole = names.is_whole;
    sim_names_free(&names);
    return is_whole;
}

/* The forms of a listing, twice: the second time within the ttl sends nothing. */
static void sharing_check_forms(struct sim_actor *actor)
{
    static const char *const forms[] = {"@jsonl", "@count", "@csv", "@info", ""};
    char path[SIM_PATH_ROOM];
    int64_t from_ms = sim_now_ms(), ttl_ms;
    const char *form = forms[sim_dice_below(&actor->dice, 5)];
    struct stat stat;
    uint64_t before;
    if (sim_actor_draw_path(actor, SIM_PATH_LISTING, path) != SIM_PATH_LISTING)
        return;
    ttl_ms = sim_paths_ttl_ms(path);
    /* A refresh of a directory drops what is below it, not the file beside it. */
    strncat(path, form, SIM_PATH_ROOM - strlen(path) - 1);
    if (!sim_program_refresh(actor, path))
        return;
    from_ms = sim_now_ms();
    sharing_listen();
    if (!sim_program_stat(actor, path, &stat))
        return;
    if (!sharing_look(actor, path, S_ISDIR(stat.st_mode)))
        return;
    sharing_require_once(path, from_ms, ttl_ms);
    sharing_grow_old(actor, path, from_ms, ttl_ms);
    before = sim_transport_sent();
    sharing_look(actor, path, S_ISDIR(stat.st_mode));
    if (sim_now_ms() - from_ms < ttl_ms)
        sharing_require("a second read", path, before, 0, from_ms);
}

/* An item, as itself, as typed JSON, and with its origin. */
static const char *const sharing_forms[] = {"", "@typed", "@info"};

/* Programs that read one cold item in several forms at the same time send the requests that one of
 * them sends: equal requests under way are merged. An error is not shared. */
static void sharing_check_merge(struct sim_actor *actor)
{
    enum { READERS = 6 };
    char path[SIM_PATH_ROOM];
    struct sim_actor *readers[READERS];
    int64_t from_ms = sim_now_ms();
    uint64_t before, together;
    struct stat stat;
    if (sim_actor_draw_path(actor, SIM_PATH_ITEM, path) != SIM_PATH_ITEM ||
        sim_paths_ttl_ms(path) <= 1000 || !sim_program_refresh(actor, path))
        return;
    sim_fiber_sleep_ms(2000); /* "not found" ends */
    before = sim_transport_sent();
    for (unsigned i = 0; i < READERS; i++) {
        char *form = sim_printf("%s%s", path, sharing_forms[i % 3]);
        readers[i] = sim_actor_spawn(actor, sim_program_look, form);
        sim_free(form);
    }
    for (unsigned i = 0; i < READERS; i++)
        sim_actor_wait(readers[i]);
    together = sim_transport_sent() - before;
    if (!sim_program_refresh(actor, path))
        return;
    sim_fiber_sleep_ms(2000);
    before = sim_transport_sent();
    if (!sim_program_stat(actor, path, &stat))
        return;
    /* A GetItem whose response is late is sent twice: docs/internals/hedging.md. */
    unsigned times = sim_life_options()->no_hedge ? 1 : 2;
    if (together > times * (sim_transport_sent() - before) && sharing_holds(from_ms) &&
        !sim_causes_any_page(from_ms, sim_now_ms()))
        sim_defect("sharing", "%u readers of %s sent %llu requests together, and one sends %llu",
                   READERS, path, (unsigned long long)together,
                   (unsigned long long)(sim_transport_sent() - before));
}

void sim_sharing_check(struct sim_actor *actor)
{
    static void (*const checks[])(struct sim_actor *) = {
        sharing_check_probe, sharing_check_structure, sharing_check_cat,   sharing_check_cat,
        sharing_check_merge, sharing_check_listing,   sharing_check_forms, sharing_check_listing,
    };
    checks[sim_dice_below(&actor->dice, sizeof checks / sizeof checks[0])](actor);
}
