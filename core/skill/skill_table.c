#include "core/skill/skill_table.h"

#include "core/skill/example.h"
#include "core/skill/markdown.h"
#include "core/tree/route_words.h"

/* In one line. */
enum { MOST_KINDS = 5, MOST_SECRETS = 20 };

/* A section while it is written. */
struct section {
    const struct skill_of *of;
    const struct model *table;
    const struct skill_measure *measure;
    const struct place *place; /* the table's directory */
    struct buf *out;
    size_t paths, lines; /* shown so far */
    size_t left_out;     /* of whatever there is */
};

static void add_format(struct section *section, const struct format *format)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    format_write(format, &text);
    markdown_add_code(section->out, buf_span(&text));
    section->out->failed |= text.failed;
}

static void add_code(struct section *section, const char *text)
{
    markdown_add_code(section->out, span_text(text));
}

static void write_kinds(struct section *section)
{
    const struct model *table = section->table;
    size_t shown = 0;
    for (const struct map_kind *kind = table->kinds; kind; kind = kind->next) {
        if (shown++ >= section->measure->kinds) {
            section->left_out++;
            continue;
        }
        buf_add_text(section->out, "- record ");
        add_code(section, kind->name);
        buf_add_text(section->out, ", by its key: ");
        for (size_t i = 0; i < table->key_count; i++) {
            buf_add_text(section->out, i ? ", " : "");
            add_code(section, table->keys[i].attribute);
            buf_add_text(section->out, " = ");
            add_format(section, &kind->keys[i]);
        }
        buf_add_char(section->out, '\n');
    }
}

static bool is_secret(const struct section *section, const struct map_pattern *pattern)
{
    return pattern->attribute && model_is_secret(section->table, span_text(pattern->attribute));
}

/* What stands at the path. */
static void write_what(struct section *section, const struct route *route,
                       const struct map_pattern *pattern)
{
    if (pattern->attribute) {
        buf_add_text(section->out, ", the bare value of ");
        add_code(section, pattern->attribute);
        buf_add_text(section->out, is_secret(section, pattern) ? ", a secret" : "");
        return;
    }
    if (pattern->list && pattern->groups) {
        buf_add_text(section->out, ", lists directories");
        return;
    }
    if (pattern->kind_count == 1 && pattern->kinds[0] == section->table->any) {
        buf_add_text(section->out, pattern->list ? ", lists whatever is there" : ", one record");
        return;
    }
    buf_add_text(section->out, pattern->list ? ", lists " : ", one ");
    for (size_t i = 0; i < pattern->kind_count && i < MOST_KINDS; i++) {
        buf_add_text(section->out, i ? ", " : "");
        add_code(section, pattern->kinds[i]->name);
    }
    if (pattern->kind_count > MOST_KINDS)
        buf_printf(section->out, " and %zu more kinds", pattern->kind_count - MOST_KINDS);
    if (pattern->list && pattern->entry_count == 1 && route_of_entry(route, &pattern->entries[0])) {
        buf_add_text(section->out, " by the name ");
        add_format(section, &pattern->entries[0].name);
    }
}

static void write_words(struct section *section, const struct route *route,
                        const struct map_pattern *pattern)
{
    CLEAN_UP(buf_clean_up) struct buf cost = {0}, window = {0};
    struct cost told;
    bool ok = route_words_cost(section->place, route, pattern, section->of->names, &told);
    section->out->failed |= !ok;
    cost_write(&told, &cost);
    buf_add_text(&cost, "; ");
    cost_write_most(&told, &cost);
    buf_printf(section->out, ": %s", buf_text(&cost));
    if (pattern->list)
        route_words_window(route, pattern, &window);
    if (window.size) { /* which has names of parameters and attributes */
        buf_add_text(section->out, "; ");
        markdown_add_code(section->out, buf_span(&window));
    }
    buf_add_text(section->out, pattern->list && pattern->descending ? "; newest first" : "");
    section->out->failed |= cost.failed || window.failed;
}

static void write_path(struct section *section, const struct route *route,
                       const struct map_pattern *pattern)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (section->paths++ >= section->measure->paths) {
        section->left_out++;
        return;
    }
    route_words_path(route, &path);
    buf_add_text(&path, pattern->list ? "/" : pattern->attribute ? "" : section->of->names->suffix);
    buf_add_text(section->out, "- path ");
    markdown_add_code(section->out, buf_span(&path));
    write_what(section, route, pattern);
    write_words(section, route, pattern);
    buf_add_char(section->out, '\n');
    section->out->failed |= path.failed;
}

static void write_paths(struct section *section, const struct route *route)
{
    if (route->list)
        write_path(section, route, route->list);
    if (route->file && !route->entry)
        write_path(section, route, route->file);
    for (const struct route *child = route->children; child; child = child->next)
        if (!child->entry)
            write_paths(section, child);
}

static void write_values(struct section *section, const struct map_param *param)
{
    size_t shown = param->value_count < section->measure->values ? param->value_count
                                                                 : section->measure->values;
    if (shown == 0)
        return;
    buf_add_text(section->out, param->only ? "; it is one of " : "; known are ");
    for (size_t i = 0; i < shown; i++) {
        buf_add_text(section->out, i ? ", " : "");
        markdown_add_code(section->out, param->values[i]);
    }
    if (shown < param->value_count)
        buf_printf(section->out, " and %zu more", param->value_count - shown);
    buf_add_text(section->out,
                 param->only ? ", and no other finds anything" : ", and others may be typed");
}

static void write_param(struct section *section, const struct map_param *param)
{
    buf_printf(section->out, "- parameter `{%s}`", param->name);
    if (param->hint) {
        buf_add_text(section->out, "; trap: ");
        add_code(section, param->hint);
    }
    write_values(section, param);
    if (param->match) {
        buf_add_text(section->out, "; it matches ");
        add_code(section, param->match);
    }
    buf_add_char(section->out, '\n');
}

/* Those first of which somebody has said what they are not. */
static void write_params(struct section *section)
{
    size_t shown = 0;
    for (int trap = 1; trap >= 0; trap--)
        for (const struct map_param *param = section->table->params; param; param = param->next) {
            bool told = param->value_count > 0 || param->match || param->hint;
            if (!told || (param->hint != NULL) != trap)
                continue;
            if (shown++ < section->measure->params)
                write_param(section, param);
            else
                section->left_out++;
        }
}

static void write_links(struct section *section)
{
    size_t shown = 0;
    for (const struct map_link *link = section->table->links; link; link = link->next) {
        if (shown++ >= section->measure->links) {
            section->left_out++;
            continue;
        }
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        buf_printf(&name, "@links/%s", link->name);
        buf_add_text(section->out, "- link ");
        markdown_add_code(section->out, buf_span(&name));
        buf_add_text(section->out, link->kind_count ? " of " : " of any record");
        for (size_t i = 0; i < link->kind_count; i++) {
            buf_add_text(section->out, i ? ", " : "");
            add_code(section, link->kinds[i]->name);
        }
        buf_add_text(section->out, ", leads to ");
        add_code(section, link->to);
        buf_add_char(section->out, '\n');
        section->out->failed |= name.failed;
    }
}

/* What dates records, and what is masked in them, in one line. */
static void write_marks(struct section *section)
{
    const struct model *table = section->table;
    if (!table->mtime && table->secret_count == 0)
        return;
    buf_add_text(section->out, "- ");
    if (table->mtime) {
        buf_add_text(section->out, "dated by ");
        add_code(section, table->mtime);
    }
    for (size_t i = 0; i < table->secret_count && i < MOST_SECRETS; i++) {
        buf_add_text(section->out, i              ? ", "
                                   : table->mtime ? "; secret, shown as `********`: "
                                                  : "secret, shown as `********`: ");
        add_code(section, table->secrets[i]);
    }
    if (table->secret_count > MOST_SECRETS)
        buf_printf(section->out, " and %zu more", table->secret_count - MOST_SECRETS);
    buf_add_char(section->out, '\n');
}

/* One worked line for a path, in the form that suits it. */
static void write_line(struct section *section, const struct route *route,
                       const struct map_pattern *pattern)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (section->lines >= section->measure->lines || (pattern->list && pattern->groups) ||
        is_secret(section, pattern))
        return;
    if (section->lines++ == 0)
        buf_add_text(section->out, "\n```sh\n");
    example_path(section->of->environment, section->table, route, section->of->names, &path);
    if (pattern->list)
        buf_add_text(&path, pattern->limit ? "@jsonl" : "@summary");
    buf_add_text(section->out, "ddbfs cat ");
    example_add_word(buf_span(&path), section->out);
    buf_add_char(section->out, '\n');
    section->out->failed |= path.failed;
}

static void write_lines_of(struct section *section, const struct route *route)
{
    if (route->list)
        write_line(section, route, route->list);
    if (route->file && !route->entry)
        write_line(section, route, route->file);
    for (const struct route *child = route->children; child; child = child->next)
        if (!child->entry)
            write_lines_of(section, child);
}

static void write_left_out(struct section *section, struct span directory)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (section->left_out == 0)
        return;
    buf_printf(section->out, "- left out: %zu more of these; all are in ", section->left_out);
    buf_add_span(&path, directory);
    buf_add_text(&path, "/" README_NAME);
    markdown_add_code(section->out, buf_span(&path));
    buf_add_char(section->out, '\n');
    section->out->failed |= path.failed;
}

bool skill_table_write(const struct skill_of *of, const struct model *table,
                       const struct skill_measure *measure, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf directory = {0};
    struct place *place = example_table(of->map, of->environment, table);
    struct section section = {
        .of = of, .table = table, .measure = measure, .place = place, .out = out};
    if (!place)
        return false;
    example_path(of->environment, table, table->root, of->names, &directory);
    buf_add_text(out, "\n### ");
    markdown_add_code(out, buf_span(&directory));
    buf_add_text(out, ", table ");
    add_code(&section, table->base_name);
    buf_add_text(out, "\n\n");
    write_kinds(&section);
    write_paths(&section, table->root);
    write_params(&section);
    write_links(&section);
    write_marks(&section);
    write_left_out(&section, buf_span(&directory));
    write_lines_of(&section, table->root);
    buf_add_text(out, section.lines ? "```\n" : "");
    place_destroy(place);
    out->failed = out->failed || directory.failed;
    return !out->failed;
}
