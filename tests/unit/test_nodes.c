/* Inodes: versions, references, and what is kept of their bytes. */
#include "fs/mount/nodes.h"

#include "core/base/spool.h"
#include "tests/unit/check.h"

/* Of the bytes that are kept; the nodes themselves count, too, but take little of it. */
enum { LIMIT = 100000 };

static const char map_text[] =
    "{\"environments\": {\"m\": {\"prefix\": \"m-\", \"region\": \"us-east-1\"}}, \"tables\": "
    "{\"things\": {\"table\": \"T\", \"records\": {\"thing\": {\"pk\": \"B#{box}\", \"sk\": "
    "\"T#{name}\"}}, \"paths\": {\"{box}/\": {\"list\": \"thing\"}}}}}";

static const char other_map_text[] =
    "{\"environments\": {\"m\": {\"prefix\": \"n-\", \"region\": \"us-east-1\"}}, \"tables\": "
    "{\"others\": {\"table\": \"T\", \"records\": {\"thing\": {\"pk\": \"B#{box}\", \"sk\": "
    "\"T#{name}\"}}, \"paths\": {\"{box}/\": {\"list\": \"thing\"}}}}}";

static const struct place_options names = {.suffix = ""};

struct scene {
    const struct map *map, *other_map;
    struct budget budget;
    struct nodes *nodes;
    struct node *root;
};

static void open_scene(struct scene *scene)
{
    struct error why = {0};
    scene->budget = (struct budget){.limit = LIMIT};
    scene->map = map_parse("test.json", span_text(map_text), NULL, &why);
    scene->other_map = map_parse("other.json", span_text(other_map_text), NULL, &why);
    CHECK_TEXT(why.text, "");
    scene->nodes = nodes_new(place_root(scene->map), &scene->budget);
    CHECK(scene->nodes);
    scene->root = nodes_root(scene->nodes);
}

static void close_scene(struct scene *scene)
{
    nodes_destroy(scene->nodes);
    map_unref(scene->map);
    map_unref(scene->other_map);
}

/* The directory NAME, pinned, with the place that the map has for it. */
static struct node *make_directory(struct scene *scene, struct node *parent, const char *name)
{
    struct error why;
    struct place *place = place_child(node_place(parent), span_text(name), &names, &why);
    CHECK(place);
    struct node *node =
        nodes_directory(scene->nodes, parent, span_text(name), NODE_DIRECTORY, place);
    CHECK(node);
    return node;
}

static struct node *make_file(struct scene *scene, struct node *parent, const char *name,
                              const char *bytes)
{
    struct node_file file = {.kind = NODE_FILE, .bytes = span_text(bytes)};
    struct node *node = nodes_file(scene->nodes, parent, span_text(name), &file);
    CHECK(node);
    return node;
}

static void the_root_is_number_one_and_stays(void)
{
    struct scene scene;
    open_scene(&scene);
    CHECK_INT(scene.root->ino, 1);
    nodes_forget(scene.nodes, 1, 7);
    CHECK(nodes_find(scene.nodes, 1) == scene.root);
    CHECK_INT(nodes_stats(scene.nodes).directories, 1);
    close_scene(&scene);
}

static void the_same_bytes_are_the_same_inode(void)
{
    struct scene scene;
    open_scene(&scene);
    struct node *first = make_file(&scene, scene.root, "a", "bytes");
    struct node *again = make_file(&scene, scene.root, "a", "bytes");
    CHECK(first == again);
    nodes_unpin(scene.nodes, first);
    nodes_unpin(scene.nodes, again);
    CHECK_INT(nodes_stats(scene.nodes).files, 0);
    close_scene(&scene);
}

/* Each of two readings of a listing decides for itself whether its file is in memory. */
static void the_same_bytes_on_disk_are_the_same_inode(void)
{
    struct scene scene;
    struct error why;
    open_scene(&scene);
    struct spool *spools[2];
    for (size_t i = 0; i < 2; i++) {
        spools[i] = spool_new("/tmp", NULL, &why);
        CHECK(spools[i] && spool_add(spools[i], span_text(i ? "other" : "bytes"), &why));
        CHECK(spool_end(spools[i]));
    }
    struct node_file on_disk = {.kind = NODE_FILE, .spool = spools[0]};
    struct node_file other = {.kind = NODE_FILE, .spool = spools[1]};
    struct node_file here = {.kind = NODE_FILE, .bytes = span_text("bytes")};
    struct node *a = make_file(&scene, scene.root, "a", "bytes");
    CHECK(nodes_file(scene.nodes, scene.root, span_text("a"), &on_disk) == a);
    CHECK(!nodes_spool(a) && nodes_restore(scene.nodes, a, &on_disk));
    CHECK(!nodes_restore(scene.nodes, a, &other));
    struct node *b = nodes_file(scene.nodes, scene.root, span_text("b"), &on_disk);
    CHECK(nodes_spool(b) && make_file(&scene, scene.root, "b", "bytes") == b);
    CHECK(nodes_restore(scene.nodes, b, &here));
    CHECK(make_file(&scene, scene.root, "b", "other") != b);
    spool_unref(spools[0]);
    spool_unref(spools[1]);
    close_scene(&scene);
}

static void another_version_is_another_inode_and_the_old_one_keeps_its_bytes(void)
{
    struct scene scene;
    struct span bytes;
    open_scene(&scene);
    struct node *old = make_file(&scene, scene.root, "a", "old");
    struct node *new = make_file(&scene, scene.root, "a", "newer");
    CHECK(old->ino != new->ino);
    CHECK_INT(old->size, 3);
    CHECK_INT(new->size, 5);
    CHECK(nodes_content(scene.nodes, old, &bytes));
    CHECK_SPAN(bytes, span_text("old"));
    close_scene(&scene);
}

static void another_name_and_another_directory_are_other_inodes(void)
{
    struct scene scene;
    open_scene(&scene);
    struct node *m = make_directory(&scene, scene.root, "m");
    struct node *a = make_file(&scene, scene.root, "a", "x");
    struct node *b = make_file(&scene, scene.root, "b", "x");
    struct node *c = make_file(&scene, m, "a", "x");
    CHECK(a->ino != b->ino && a->ino != c->ino && b->ino != c->ino);
    close_scene(&scene);
}

static void a_number_is_never_given_twice(void)
{
    struct scene scene;
    open_scene(&scene);
    struct node *first = make_file(&scene, scene.root, "a", "x");
    uint64_t ino = first->ino;
    nodes_unpin(scene.nodes, first);
    CHECK(!nodes_find(scene.nodes, ino));
    CHECK(make_file(&scene, scene.root, "a", "x")->ino > ino);
    close_scene(&scene);
}

static void a_directory_is_made_once(void)
{
    struct scene scene;
    open_scene(&scene);
    struct node *first = make_directory(&scene, scene.root, "m");
    struct place *place = node_place(first);
    CHECK(make_directory(&scene, scene.root, "m") == first);
    CHECK(node_place(first) == place);
    CHECK_INT(nodes_stats(scene.nodes).directories, 2);
    close_scene(&scene);
}

static void a_directory_and_a_file_of_one_name_are_two(void)
{
    struct scene scene;
    open_scene(&scene);
    struct node *directory = make_directory(&scene, scene.root, "m");
    struct node *file = make_file(&scene, scene.root, "m", "");
    CHECK(directory != file && node_is_directory(directory) && !node_is_directory(file));
    close_scene(&scene);
}

static void what_the_kernel_knows_stays_until_it_has_forgotten_all(void)
{
    struct scene scene;
    open_scene(&scene);
    struct node *file = make_file(&scene, scene.root, "a", "x");
    uint64_t ino = file->ino;
    for (int i = 0; i < 5; i++)
        nodes_look_up(scene.nodes, file);
    nodes_unpin(scene.nodes, file);
    nodes_forget(scene.nodes, ino, 2);
    nodes_forget(scene.nodes, ino, 2);
    CHECK(nodes_find(scene.nodes, ino) == file);
    nodes_forget(scene.nodes, ino, 1);
    CHECK(!nodes_find(scene.nodes, ino));
    close_scene(&scene);
}

static void forgetting_more_than_was_known_is_harmless(void)
{
    struct scene scene;
    open_scene(&scene);
    struct node *file = make_file(&scene, scene.root, "a", "x");
    uint64_t ino = file->ino;
    nodes_look_up(scene.nodes, file);
    nodes_unpin(scene.nodes, file);
    nodes_forget(scene.nodes, ino, UINT64_MAX);
    nodes_forget(scene.nodes, ino, 1);
    nodes_forget(scene.nodes, 12345, 1);
    CHECK_INT(nodes_stats(scene.nodes).files, 0);
    close_scene(&scene);
}

static void a_pinned_node_outlives_its_forgetting(void)
{
    struct scene scene;
    struct span bytes;
    open_scene(&scene);
    struct node *file = make_file(&scene, scene.root, "a", "x");
    nodes_look_up(scene.nodes, file);
    nodes_forget(scene.nodes, file->ino, 1);
    CHECK(nodes_content(scene.nodes, file, &bytes));
    nodes_unpin(scene.nodes, file);
    CHECK_INT(nodes_stats(scene.nodes).files, 0);
    CHECK_INT(scene.budget.used[BUDGET_CONTENTS], 0);
    close_scene(&scene);
}

static void a_child_keeps_the_directories_above_it_and_lets_them_go(void)
{
    struct scene scene;
    open_scene(&scene);
    struct node *m = make_directory(&scene, scene.root, "m");
    struct node *things = make_directory(&scene, m, "things");
    struct node *file = make_file(&scene, things, "a", "x");
    uint64_t ino = m->ino;
    nodes_unpin(scene.nodes, m);
    nodes_unpin(scene.nodes, things);
    CHECK(nodes_find(scene.nodes, ino) == m);
    CHECK_INT(nodes_stats(scene.nodes).directories, 3);
    nodes_unpin(scene.nodes, file);
    CHECK(!nodes_find(scene.nodes, ino));
    CHECK_INT(nodes_stats(scene.nodes).directories, 1);
    close_scene(&scene);
}

static void many_nodes_leave_nothing(void)
{
    struct scene scene;
    struct node *made[1000];
    char name[32];
    open_scene(&scene);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%d", i);
        made[i] = make_file(&scene, scene.root, name, name);
    }
    CHECK_INT(nodes_stats(scene.nodes).files, 1000);
    for (int i = 999; i >= 0; i--)
        nodes_unpin(scene.nodes, made[i]);
    CHECK_INT(nodes_stats(scene.nodes).files, 0);
    CHECK_INT(scene.budget.used[BUDGET_CONTENTS], 0);
    close_scene(&scene);
}

/* Bytes of which two fit into LIMIT, and a third drives one out. */
enum { FORTY = 40000 };

static const char *forty_of(char letter)
{
    static char text[FORTY + 1];
    memset(text, letter, FORTY);
    return text;
}

static const char *forty(void)
{
    return forty_of('x');
}

static void the_least_recently_used_bytes_go_first(void)
{
    struct scene scene;
    struct span bytes;
    open_scene(&scene);
    struct node *a = make_file(&scene, scene.root, "a", forty());
    struct node *b = make_file(&scene, scene.root, "b", forty());
    CHECK(nodes_content(scene.nodes, a, &bytes)); /* so that b is the oldest */
    struct node *c = make_file(&scene, scene.root, "c", forty());
    CHECK(nodes_content(scene.nodes, a, &bytes));
    CHECK(!nodes_content(scene.nodes, b, &bytes));
    CHECK(nodes_content(scene.nodes, c, &bytes));
    CHECK_INT(scene.budget.used[BUDGET_CONTENTS], 2 * FORTY);
    CHECK_INT(b->size, FORTY);
    close_scene(&scene);
}

/* The bytes that a thread may read are neither dropped nor freed. */
static void lent_bytes_stay(void)
{
    struct scene scene;
    struct span lent, bytes;
    open_scene(&scene);
    struct node *a = make_file(&scene, scene.root, "a", forty());
    nodes_look_up(scene.nodes, a);
    uint64_t ino = a->ino;
    CHECK(nodes_lend_content(scene.nodes, a, &lent));
    CHECK(!nodes_lend_content(scene.nodes, a, &bytes));
    nodes_unpin(scene.nodes, a);
    nodes_forget(scene.nodes, ino, 1);
    struct node *b = make_file(&scene, scene.root, "b", forty());
    struct node *c = make_file(&scene, scene.root, "c", forty());
    struct node *d = make_file(&scene, scene.root, "d", forty());
    CHECK(nodes_find(scene.nodes, ino) == a && nodes_content(scene.nodes, a, &bytes));
    CHECK(bytes.data == lent.data && span_starts(lent, SPAN_LITERAL("xxxx")));
    nodes_return_content(scene.nodes, a);
    CHECK(!nodes_find(scene.nodes, ino));
    nodes_unpin(scene.nodes, b);
    nodes_unpin(scene.nodes, c);
    nodes_unpin(scene.nodes, d);
    CHECK_INT(scene.budget.used[BUDGET_CONTENTS], 0);
    close_scene(&scene);
}

static bool restore(struct scene *scene, struct node *node, const char *bytes, int64_t mtime_ms,
                    bool secret)
{
    struct node_file file = {NODE_FILE, span_text(bytes), NULL,
                             false,     secret,           {mtime_ms, mtime_ms != 0}};
    return nodes_restore(scene->nodes, node, &file);
}

static void dropped_bytes_come_back_if_they_are_the_same(void)
{
    struct scene scene;
    struct span bytes;
    open_scene(&scene);
    struct node *a = make_file(&scene, scene.root, "a", forty());
    make_file(&scene, scene.root, "b", forty());
    make_file(&scene, scene.root, "c", forty());
    CHECK(!nodes_content(scene.nodes, a, &bytes));
    CHECK(!restore(&scene, a, "another version", 0, false));
    CHECK(!restore(&scene, a, forty_of('y'), 0, false));
    CHECK(!restore(&scene, a, forty(), 1, false));
    CHECK(!restore(&scene, a, forty(), 0, true));
    CHECK(!nodes_content(scene.nodes, a, &bytes));
    CHECK(restore(&scene, a, forty(), 0, false));
    CHECK(nodes_content(scene.nodes, a, &bytes));
    CHECK_SPAN(bytes, span_text(forty()));
    close_scene(&scene);
}

/* It has the size, the date and the mode of the version whose bytes were dropped. */
static void another_version_is_another_inode_after_bytes_were_dropped(void)
{
    struct scene scene;
    struct span bytes;
    open_scene(&scene);
    struct node *a = make_file(&scene, scene.root, "a", forty());
    make_file(&scene, scene.root, "b", forty());
    make_file(&scene, scene.root, "c", forty());
    CHECK(!nodes_content(scene.nodes, a, &bytes));
    CHECK(make_file(&scene, scene.root, "a", forty_of('y')) != a);
    CHECK(make_file(&scene, scene.root, "a", forty()) == a);
    close_scene(&scene);
}

static void a_look_up_of_the_same_version_brings_dropped_bytes_back(void)
{
    struct scene scene;
    struct span bytes;
    open_scene(&scene);
    struct node *a = make_file(&scene, scene.root, "a", forty());
    make_file(&scene, scene.root, "b", forty());
    make_file(&scene, scene.root, "c", forty());
    CHECK(make_file(&scene, scene.root, "a", forty()) == a);
    CHECK(nodes_content(scene.nodes, a, &bytes));
    CHECK_INT(scene.budget.used[BUDGET_CONTENTS], 2 * FORTY);
    close_scene(&scene);
}

/* It could never be read otherwise; the excess is one file, and only while it is the newest. */
static void one_file_beyond_the_limit_is_kept_alone(void)
{
    struct scene scene;
    struct span bytes;
    open_scene(&scene);
    char huge[3 * FORTY + 1];
    memset(huge, 'y', sizeof huge);
    huge[3 * FORTY] = '\0';
    make_file(&scene, scene.root, "a", forty());
    struct node *big = make_file(&scene, scene.root, "big", huge);
    CHECK(nodes_content(scene.nodes, big, &bytes));
    CHECK_INT(scene.budget.used[BUDGET_CONTENTS], 3 * FORTY);
    make_file(&scene, scene.root, "b", forty());
    CHECK(!nodes_content(scene.nodes, big, &bytes));
    CHECK_INT(scene.budget.used[BUDGET_CONTENTS], FORTY);
    close_scene(&scene);
}

static void an_empty_file_has_no_bytes_and_they_are_never_dropped_wrongly(void)
{
    struct scene scene;
    struct span bytes;
    open_scene(&scene);
    struct node *empty = make_file(&scene, scene.root, "a", "");
    CHECK(nodes_content(scene.nodes, empty, &bytes));
    CHECK_INT(bytes.size, 0);
    CHECK_INT(empty->size, 0);
    CHECK(restore(&scene, empty, "", 0, false));
    close_scene(&scene);
}

static void a_path_is_written_from_the_root(void)
{
    struct scene scene;
    CLEAN_UP(buf_clean_up) struct buf root = {0}, below = {0}, deep = {0};
    open_scene(&scene);
    struct node *m = make_directory(&scene, scene.root, "m");
    struct node *things = make_directory(&scene, m, "things");
    nodes_path(scene.root, span_text(""), &root);
    nodes_path(scene.root, span_text("x"), &below);
    nodes_path(things, span_text("a%2Fb"), &deep);
    CHECK_TEXT(buf_text(&root), "/");
    CHECK_TEXT(buf_text(&below), "/x");
    CHECK_TEXT(buf_text(&deep), "/m/things/a%2Fb");
    close_scene(&scene);
}

static void below_means_below_and_not_merely_alike(void)
{
    CHECK(nodes_is_below(span_text("/a/b"), span_text("/a")));
    CHECK(nodes_is_below(span_text("/a"), span_text("/a")));
    CHECK(nodes_is_below(span_text("/a"), span_text("/")));
    CHECK(!nodes_is_below(span_text("/ab"), span_text("/a")));
    CHECK(!nodes_is_below(span_text("/"), span_text("/a")));
}

static void date_and_mode_are_part_of_a_version(void)
{
    struct scene scene;
    open_scene(&scene);
    struct node_file file = {NODE_FILE, span_text("x"), NULL, false, false, {0}};
    struct node *first = nodes_file(scene.nodes, scene.root, span_text("a"), &file);
    file.mtime = instant_of(5);
    struct node *dated = nodes_file(scene.nodes, scene.root, span_text("a"), &file);
    file.secret = true;
    struct node *secret = nodes_file(scene.nodes, scene.root, span_text("a"), &file);
    CHECK(first != dated && dated != secret && first != secret);
    CHECK_INT(dated->mtime_ms, 5);
    CHECK(secret->secret && !dated->secret);
    close_scene(&scene);
}

static void bytes_that_can_t_be_read_again_are_kept(void)
{
    struct scene scene;
    struct span bytes;
    open_scene(&scene);
    struct node_file file = {NODE_FILE, span_text("age 3 s"), NULL, true, false, {0}};
    struct node *info = nodes_file(scene.nodes, scene.root, span_text("a@info"), &file);
    for (int i = 0; i < 10; i++) {
        char name[] = {(char)('a' + i), '\0'};
        make_file(&scene, scene.root, name, forty());
    }
    CHECK(nodes_content(scene.nodes, info, &bytes));
    CHECK_SPAN(bytes, span_text("age 3 s"));
    close_scene(&scene);
}

static void the_versions_of_a_name_come_and_go_in_any_order(void)
{
    struct scene scene;
    struct node *versions[4];
    static const char *const texts[] = {"1", "2", "3", "4"};
    static const int order[] = {1, 3, 0, 2};
    open_scene(&scene);
    for (int i = 0; i < 4; i++)
        versions[i] = make_file(&scene, scene.root, "a", texts[i]);
    for (int i = 0; i < 4; i++) {
        nodes_unpin(scene.nodes, versions[order[i]]);
        for (int left = i + 1; left < 4; left++) {
            struct node *again = make_file(&scene, scene.root, "a", texts[order[left]]);
            CHECK(again == versions[order[left]]);
            nodes_unpin(scene.nodes, again);
        }
    }
    CHECK_INT(nodes_stats(scene.nodes).files, 0);
    close_scene(&scene);
}

static bool lose(struct scene *scene, const char *name)
{
    return nodes_lose_name(scene->nodes, scene->root, span_text(name));
}

static void the_kernel_has_a_name_until_it_drops_it_or_the_last_version(void)
{
    struct scene scene;
    open_scene(&scene);
    struct node *old = make_file(&scene, scene.root, "a", "old");
    struct node *new = make_file(&scene, scene.root, "a", "new");
    CHECK(!lose(&scene, "a"));
    nodes_look_up(scene.nodes, old);
    CHECK(!lose(&scene, "b"));
    CHECK(lose(&scene, "a"));
    CHECK(!lose(&scene, "a")); /* it is the kernel's no more, though the inode is */

    nodes_look_up(scene.nodes, old);
    nodes_look_up(scene.nodes, new);
    nodes_forget(scene.nodes, old->ino, 2);
    CHECK(lose(&scene, "a"));

    nodes_look_up(scene.nodes, new);
    nodes_lose_all_names(scene.nodes);
    CHECK(!lose(&scene, "a"));

    nodes_look_up(scene.nodes, new);
    nodes_forget(scene.nodes, new->ino, 3);
    CHECK(!lose(&scene, "a"));
    close_scene(&scene);
}

static void a_deep_path_is_written_without_recursion(void)
{
    struct scene scene;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    open_scene(&scene);
    struct node *node = scene.root;
    for (int i = 0; i < 200000; i++)
        node = nodes_directory(scene.nodes, node, span_text("a"), NODE_REFRESH, NULL);
    nodes_path(node, span_text("b"), &path);
    CHECK_INT(path.size, 400002);
    CHECK_SPAN(span_from(buf_span(&path), 399998), span_text("/a/b"));
    close_scene(&scene);
}

static void a_new_map_gives_new_places(void)
{
    struct scene scene;
    open_scene(&scene);
    struct node *m = make_directory(&scene, scene.root, "m");
    struct node *things = make_directory(&scene, m, "things");
    struct node *file = make_file(&scene, things, "a", "x");
    nodes_relocate(scene.nodes, place_root(scene.other_map), &names);
    CHECK(node_place(scene.root)->map == scene.other_map);
    CHECK(node_place(m)->map == scene.other_map);
    CHECK_TEXT(node_place(m)->table_prefix, "n-");
    CHECK(node_place(things)->map == scene.map); /* it is no more, and keeps what it was */
    CHECK(!node_place(file));
    close_scene(&scene);
}

static void places_are_of_no_use_to_control_directories(void)
{
    struct scene scene;
    open_scene(&scene);
    struct node *control =
        nodes_directory(scene.nodes, scene.root, span_text(".ddbfs"), NODE_CONTROL, NULL);
    CHECK(control && !node_place(control));
    nodes_relocate(scene.nodes, place_root(scene.other_map), &names);
    CHECK(!node_place(control));
    close_scene(&scene);
}

static void count_one(void *arg, struct node *node)
{
    (void)node;
    ++*(int *)arg;
}

static void each_gives_all_but_the_root(void)
{
    struct scene scene;
    int count = 0;
    open_scene(&scene);
    make_file(&scene, make_directory(&scene, scene.root, "m"), "a", "x");
    nodes_each(scene.nodes, count_one, &count);
    CHECK_INT(count, 2);
    close_scene(&scene);
}

static void a_copied_place_outlives_its_original(void)
{
    struct scene scene;
    struct error why;
    open_scene(&scene);
    struct place *place = place_resolve(scene.map, span_text("/m/things/a box"), &names, &why);
    CHECK(place);
    struct place *copy = place_copy(place);
    place_destroy(place);
    CHECK_SPAN(copy->environment_name, span_text("m"));
    CHECK_SPAN(copy->bindings.items[0].value, span_text("a box"));
    place_destroy(copy);
    close_scene(&scene);
}

static const struct check_test tests[] = {
    {"date_and_mode_are_part_of_a_version", date_and_mode_are_part_of_a_version},
    {"bytes_that_can_t_be_read_again_are_kept", bytes_that_can_t_be_read_again_are_kept},
    {"the_versions_of_a_name_come_and_go_in_any_order",
     the_versions_of_a_name_come_and_go_in_any_order},
    {"the_kernel_has_a_name_until_it_drops_it_or_the_last_version",
     the_kernel_has_a_name_until_it_drops_it_or_the_last_version},
    {"a_deep_path_is_written_without_recursion", a_deep_path_is_written_without_recursion},
    {"the_root_is_number_one_and_stays", the_root_is_number_one_and_stays},
    {"the_same_bytes_are_the_same_inode", the_same_bytes_are_the_same_inode},
    {"the_same_bytes_on_disk_are_the_same_inode", the_same_bytes_on_disk_are_the_same_inode},
    {"another_version_is_another_inode_and_the_old_one_keeps_its_bytes",
     another_version_is_another_inode_and_the_old_one_keeps_its_bytes},
    {"another_name_and_another_directory_are_other_inodes",
     another_name_and_another_directory_are_other_inodes},
    {"a_number_is_never_given_twice", a_number_is_never_given_twice},
    {"a_directory_is_made_once", a_directory_is_made_once},
    {"a_directory_and_a_file_of_one_name_are_two", a_directory_and_a_file_of_one_name_are_two},
    {"what_the_kernel_knows_stays_until_it_has_forgotten_all",
     what_the_kernel_knows_stays_until_it_has_forgotten_all},
    {"forgetting_more_than_was_known_is_harmless", forgetting_more_than_was_known_is_harmless},
    {"a_pinned_node_outlives_its_forgetting", a_pinned_node_outlives_its_forgetting},
    {"a_child_keeps_the_directories_above_it_and_lets_them_go",
     a_child_keeps_the_directories_above_it_and_lets_them_go},
    {"many_nodes_leave_nothing", many_nodes_leave_nothing},
    {"the_least_recently_used_bytes_go_first", the_least_recently_used_bytes_go_first},
    {"lent bytes stay", lent_bytes_stay},
    {"dropped_bytes_come_back_if_they_are_the_same", dropped_bytes_come_back_if_they_are_the_same},
    {"another_version_is_another_inode_after_bytes_were_dropped",
     another_version_is_another_inode_after_bytes_were_dropped},
    {"a_look_up_of_the_same_version_brings_dropped_bytes_back",
     a_look_up_of_the_same_version_brings_dropped_bytes_back},
    {"one_file_beyond_the_limit_is_kept_alone", one_file_beyond_the_limit_is_kept_alone},
    {"an_empty_file_has_no_bytes_and_they_are_never_dropped_wrongly",
     an_empty_file_has_no_bytes_and_they_are_never_dropped_wrongly},
    {"a_path_is_written_from_the_root", a_path_is_written_from_the_root},
    {"below_means_below_and_not_merely_alike", below_means_below_and_not_merely_alike},
    {"a_new_map_gives_new_places", a_new_map_gives_new_places},
    {"places_are_of_no_use_to_control_directories", places_are_of_no_use_to_control_directories},
    {"each_gives_all_but_the_root", each_gives_all_but_the_root},
    {"a_copied_place_outlives_its_original", a_copied_place_outlives_its_original},
};

CHECK_MAIN(tests)
