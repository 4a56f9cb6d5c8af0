/* The item writer as a filter, for the comparison with another implementation: one typed item a
 * line in; out, its plain bytes behind a line with their count, or the line "error".
 * Usage: render [--compact] [--first NAME,NAME…] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/item/item.h"

enum { MAX_FIRST = 8 };

struct options {
    struct record_view view;
    const char *first[MAX_FIRST];
};

static void free_line(char **line)
{
    free(*line);
}

static void split_names(char *names, struct options *options)
{
    char *rest = names, *name;
    while (options->view.first_count < MAX_FIRST && (name = strsep(&rest, ",")))
        options->first[options->view.first_count++] = name;
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    options->view.first = options->first;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--compact") == 0)
            options->view.compact = true;
        else if (strcmp(argv[i], "--first") == 0 && i + 1 < argc)
            split_names(argv[++i], options);
        else
            return false;
    }
    return true;
}

static void render(struct span line, const struct record_view *view)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    if (!json_parse(&doc, line, JSON_STRICT, NULL) || !item_write(json_root(&doc), view, &out)) {
        puts("error");
        return;
    }
    printf("%zu\n", out.size);
    fwrite(out.data, 1, out.size, stdout);
}

int main(int argc, char **argv)
{
    CLEAN_UP(free_line) char *line = NULL;
    struct options options = {0};
    size_t capacity = 0;
    ssize_t size;
    if (!parse_options(argc, argv, &options)) {
        fputs("usage: render [--compact] [--first NAME,NAME...]\n", stderr);
        return 2;
    }
    while ((size = getline(&line, &capacity, stdin)) >= 0)
        render(span_of(line, (size_t)size), &options.view);
    return 0;
}
