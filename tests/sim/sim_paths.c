/* Random paths: of items that are there, that were deleted or never existed, of listings, windows,
 * directories of the map, companions, probes. */
#include "tests/sim/sim_paths.h"

#include <stdio.h>
#include <string.h>

#include "tests/sim/sim_facts.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_model.h"
#include "tests/sim/sim_world.h"

enum { PATH_ROOM = 4096, PATH_ATTEMPTS = 12 };

struct path_draw {
    struct sim_dice *dice;
    const struct sim_model *model;
    const struct sim_model_table *table;
    const struct sim_pattern *pattern;
    const struct sim_version *version;
    struct sim_bindings parts;
    char values[4][64]; /* of parameters of windows */
    struct sim_text path;
};

static bool sim_path_chance(struct path_draw *draw, unsigned per_mille)
{
    return sim_dice_chance(draw->dice, per_mille);
}

static bool sim_path_draw_table(struct path_draw *draw)
{
    const struct sim_life_options *options = sim_life_options();
    bool may_be_generic =
        !options->allow_other || options->show_secrets || sim_path_chance(draw, 50);
    bool is_generic = !draw->model->table_count || (may_be_generic && sim_path_chance(draw, 300));
    unsigned count = is_generic ? draw->model->generic_count : draw->model->table_count;
    const struct sim_model_table *tables = is_generic ? draw->model->generic : draw->model->tables;
    if (!count)
        return false;
    draw->table = &tables[sim_dice_below(draw->dice, count)];
    if (is_generic && draw->model->environment && sim_path_chance(draw, 150) &&
        strncmp(draw->table->table->name, draw->model->prefix, strlen(draw->model->prefix)) == 0)
        sim_text_printf(&draw->path, "/%s/tables/%s", draw->model->environment,
                        draw->table->directory);
    else
        sim_text_printf(&draw->path, "/%s/%s", is_generic ? "tables" : draw->model->environment,
                        draw->table->directory);
    return true;
}

/* An item of the table, and a version of it: mostly the present one. */
static bool sim_path_draw_version(struct path_draw *draw)
{
    const struct sim_item *item = draw->table->table->first, *chosen = NULL;
    /* The last ones are the newest. */
    uint32_t count = 0;
    bool is_new = sim_path_chance(draw, 200);
    for (; item; item = item->next) {
        count++;
        if (is_new ? count % 8 == 0 || !item->next : sim_dice_below(draw->dice, count) == 0)
            chosen = item;
    }
    if (!chosen)
        return false;
    draw->version = chosen->newest;
    while (draw->version && (draw->version->is_deleted || sim_path_chance(draw, 50)) &&
           draw->version->older)
        draw->version = draw->version->older;
    return draw->version && !draw->version->is_deleted;
}

static void sim_path_bind(struct path_draw *draw, unsigned slot, const char *name, const char *text,
                          size_t size)
{
    if (size >= sizeof(draw->values[slot]))
        size = sizeof(draw->values[slot]) - 1;
    memcpy(draw->values[slot], text, size);
    draw->values[slot][size] = 0;
    sim_bindings_add(&draw->parts, name, (struct sim_slice){draw->values[slot], size});
}

/* The end of a text that may be cut to SIZE bytes: between two characters. */
static size_t sim_path_cut(struct sim_slice value, size_t size)
{
    if (size > value.size)
        size = value.size;
    while (size && size < value.size && ((unsigned char)value.bytes[size] & 0xc0) == 0x80)
        size--;
    return size;
}

static const char *sim_path_parameter_of(const struct sim_key_format *format)
{
    return format->count ? format->pieces[0].text : NULL;
}

/* Values for the parameters of a window, so that the version is in it, mostly. */
static bool sim_path_bind_window(struct path_draw *draw)
{
    const struct sim_pattern *pattern = draw->pattern;
    if (pattern->limit_part) {
        char number[16];
        snprintf(number, sizeof(number), "%u",
                 1 + sim_dice_below(draw->dice, sim_path_chance(draw, 500) ? 3 : 200));
        sim_path_bind(draw, 0, pattern->limit_part, number, strlen(number));
    }
    if (pattern->where == SIM_WHERE_NONE)
        return true;
    struct sim_slice value;
    bool is_text = true;
    if (pattern->where_is_attribute) {
        const struct sim_value *found = sim_version_get(draw->version, pattern->where_name);
        if (!found)
            return false;
        value = (struct sim_slice){found->bytes, found->size};
        is_text = found->type == SIM_S;
    } else {
        const struct sim_slice *part = sim_bindings_get(&draw->parts, pattern->where_name);
        if (!part)
            return false;
        value = *part;
    }
    size_t size =
        is_text && pattern->where != SIM_WHERE_AFTER
            ? sim_path_cut(value, 1 + sim_dice_below(draw->dice, (uint32_t)value.size + 1))
            : value.size;
    if (!size || size >= 64 || memmem(value.bytes, size, "..", 2))
        return false;
    sim_path_bind(draw, 1, sim_path_parameter_of(&pattern->low), value.bytes, size);
    if (pattern->where == SIM_WHERE_BETWEEN) {
        size_t other =
            is_text ? sim_path_cut(value, 1 + sim_dice_below(draw->dice, (uint32_t)size)) : size;
        sim_path_bind(draw, 2, sim_path_parameter_of(&pattern->high), value.bytes,
                      other ? other : size);
    }
    return true;
}

/* Appends the steps of the pattern. */
static bool sim_path_write_steps(struct path_draw *draw, unsigned until)
{
    for (unsigned i = 0; i < until; i++) {
        sim_text_puts(&draw->path, "/");
        if (!sim_step_write(&draw->path, &draw->pattern->steps[i], &draw->parts))
            return false;
    }
    return true;
}

/* A pattern for the version, with all parts bound. WANTS_LISTING: a directory. */
static bool sim_path_draw_pattern(struct path_draw *draw, bool wants_listing)
{
    if (!draw->table->pattern_count)
        return false;
    draw->pattern = &draw->table->patterns[sim_dice_below(draw->dice, draw->table->pattern_count)];
    struct sim_bindings none = {0};
    if ((wants_listing && !draw->pattern->is_listing) ||
        (!wants_listing && draw->pattern->is_groups))
        return false;
    return sim_pattern_takes_apart(draw->table, draw->pattern, ~0u, &none, draw->version,
                                   &draw->parts) == SIM_FIT_YES &&
           sim_path_bind_window(draw) && sim_path_write_steps(draw, draw->pattern->step_count);
}

static bool sim_path_add_entry(struct path_draw *draw)
{
    int kind = sim_kind_of(draw->table, draw->version, draw->pattern->kinds);
    if (draw->pattern->is_listing) {
        sim_text_puts(&draw->path, "/");
        if (draw->pattern->has_rank)
            sim_text_printf(&draw->path, "%u_", 1 + sim_dice_below(draw->dice, 20));
        return kind >= 0 &&
               sim_name_write(&draw->path, draw->table, draw->pattern, kind, &draw->parts);
    }
    if (!draw->pattern->attribute)
        sim_text_puts(&draw->path, sim_life_options()->suffix);
    return true;
}

static bool sim_path_draw_listing(struct path_draw *draw)
{
    return sim_path_draw_table(draw) && sim_path_draw_version(draw) &&
           sim_path_draw_pattern(draw, true);
}

static bool sim_path_draw_item(struct path_draw *draw)
{
    return sim_path_draw_table(draw) && sim_path_draw_version(draw) &&
           sim_path_draw_pattern(draw, false) && sim_path_add_entry(draw);
}

static bool sim_path_draw_structure(struct path_draw *draw)
{
    uint32_t form = sim_dice_below(draw->dice, 8);
    if (form == 0)
        sim_text_puts(&draw->path, "/");
    else if (form == 1 && draw->model->environment)
        sim_text_printf(&draw->path, "/%s", draw->model->environment);
    else if (form == 2)
        sim_text_puts(&draw->path, "/tables");
    else if (form <= 4)
        return sim_path_draw_table(draw);
    else if (!sim_path_draw_table(draw) || !sim_path_draw_version(draw) ||
             !draw->table->pattern_count)
        return false;
    if (form <= 4)
        return true;
    draw->pattern = &draw->table->patterns[sim_dice_below(draw->dice, draw->table->pattern_count)];
    struct sim_bindings none = {0};
    unsigned depth = sim_dice_below(draw->dice, draw->pattern->step_count);
    if (sim_pattern_takes_apart(draw->table, draw->pattern, ~0u, &none, draw->version,
                                &draw->parts) != SIM_FIT_YES ||
        !sim_path_bind_window(draw) || !sim_path_write_steps(draw, depth))
        return false;
    struct sim_node node;
    sim_model_resolve(draw->model, draw->path.bytes, &node);
    bool is_structure = node.kind == SIM_NODE_STRUCTURE;
    sim_node_clean_up(&node);
    return is_structure;
}

/* What the service states about a table (docs/semantics.md, "Facts and partition keys"). */
static bool sim_path_draw_fact(struct path_draw *draw)
{
    unsigned count = 0;
    while (sim_fact_names[count])
        count++;
    if (sim_life_options()->is_snapshot || sim_life_options()->is_replay ||
        !sim_path_draw_table(draw) || !draw->table->is_generic)
        return false;
    sim_text_printf(&draw->path, "/%s", sim_fact_names[sim_dice_below(draw->dice, count)]);
    return true;
}

static bool sim_path_draw_companion(struct path_draw *draw)
{
    if (sim_path_chance(draw, 60))
        return sim_path_draw_fact(draw);
    static const char *const of_items[] = {"@typed", "@info", "@", "@typed", "@info", "@/"};
    static const char *const of_listings[] = {"@jsonl", "@count", "@info",    "@jsonl",
                                              "@count", "@csv",   "@summary", "@sqlite"};
    if (sim_path_chance(draw, 500)) {
        if (!sim_path_draw_listing(draw))
            return false;
        sim_text_puts(&draw->path, of_listings[sim_dice_below(draw->dice, 8)]);
        return true;
    }
    if (!sim_path_draw_item(draw))
        return false;
    const char *companion = of_items[sim_dice_below(draw->dice, 6)];
    if (draw->pattern->attribute && strcmp(companion, "@info") != 0)
        return false;
    sim_text_puts(&draw->path, companion);
    if (strcmp(companion, "@/") != 0)
        return true;
    const struct sim_version *version = draw->version;
    const char *name =
        version->attributes[sim_dice_below(draw->dice, (uint32_t)version->attribute_count)].name;
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (strlen(name) > 200 || strspn(name, plain) != strlen(name))
        return false;
    sim_text_puts(&draw->path, sim_path_chance(draw, 900) ? name : "nosuch");
    return true;
}

static bool sim_path_draw_absent(struct path_draw *draw)
{
    if (sim_path_chance(draw, 700) && !sim_path_draw_table(draw))
        return false;
    sim_text_puts(&draw->path, "/nothing");
    return true;
}

/* A last step that no item has. */
static bool sim_path_draw_neighbour(struct path_draw *draw)
{
    if (!sim_path_draw_item(draw))
        return false;
    const struct sim_key_schema *key = &draw->table->table->key;
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++)
        if (key->types[i] != SIM_S)
            return false;
    if (draw->pattern->index >= 0) {
        const struct sim_key_schema *other = &draw->table->table->indexes[draw->pattern->index].key;
        for (unsigned i = 0; i < other->hash_count + other->range_count; i++)
            if (other->types[i] != SIM_S)
                return false;
    }
    size_t suffix = draw->pattern->attribute ? 0 : strlen(sim_life_options()->suffix);
    draw->path.size -= suffix;
    sim_text_puts(&draw->path, "x0y");
    if (suffix)
        sim_text_puts(&draw->path, sim_life_options()->suffix);
    return true;
}

static bool sim_path_draw_probe(struct path_draw *draw)
{
    static const char *const names[] = {"/.git",   "/HEAD", "/.hidden",     "/autorun.inf",
                                        "/.x.swp", "/x~",   "/package.json"};
    if (!(sim_path_chance(draw, 500) ? sim_path_draw_structure(draw) : sim_path_draw_listing(draw)))
        return false;
    if (draw->path.size == 1)
        draw->path.size = 0;
    sim_text_puts(&draw->path, names[sim_dice_below(draw->dice, 7)]);
    return true;
}

static bool sim_path_draw_control(struct path_draw *draw)
{
    static const char *const names[] = {"errors",   "ledger.jsonl", "log",
                                        "map.json", "metrics",      "mount.json",
                                        "recent",   "stats.json",   ""};
    const char *name = names[sim_dice_below(draw->dice, 9)];
    sim_text_printf(&draw->path, "/.ddbfs%s%s", *name ? "/" : "", name);
    return true;
}

static bool sim_path_draw_once(struct path_draw *draw, enum sim_path_kind kind)
{
    switch (kind) {
    case SIM_PATH_ITEM:
        return sim_path_draw_item(draw);
    case SIM_PATH_LISTING:
        return sim_path_draw_listing(draw);
    case SIM_PATH_COMPANION:
        return sim_path_draw_companion(draw);
    case SIM_PATH_ABSENT:
        return sim_path_chance(draw, 700) ? sim_path_draw_neighbour(draw)
                                          : sim_path_draw_absent(draw);
    case SIM_PATH_PROBE:
        return sim_path_draw_probe(draw);
    case SIM_PATH_CONTROL:
        return sim_path_draw_control(draw);
    default:
        return sim_path_draw_structure(draw);
    }
}

enum sim_path_kind sim_paths_draw(struct sim_dice *dice, enum sim_path_kind kind, char *out)
{
    for (unsigned attempt = 0; attempt < PATH_ATTEMPTS; attempt++) {
        struct path_draw draw = {.dice = dice, .model = sim_model_now()};
        bool is_drawn = sim_path_draw_once(&draw, kind) && draw.path.size < PATH_ROOM - 1;
        if (is_drawn)
            memcpy(out, draw.path.bytes, draw.path.size + 1);
        sim_text_free(&draw.path);
        if (is_drawn)
            return kind;
    }
    strcpy(out, "/");
    return SIM_PATH_STRUCTURE;
}
