/* The intrusive list: order, removal in any place, and walks that remove. */
#include "core/base/list.h"

#include "core/base/buf.h"
#include "tests/unit/check.h"

struct letter {
    char name;
    struct list_node node;
};

static void check_letters(struct list *list, const char *expected)
{
    CLEAN_UP(buf_clean_up) struct buf onward = {0}, back = {0};
    LIST_EACH (struct letter, each, list, node)
        buf_add_char(&onward, each->name);
    for (struct letter *each = LIST_LAST(list, struct letter, node); each;
         each = LIST_PREVIOUS(each, struct letter, node))
        buf_add_char(&back, each->name);
    CHECK_TEXT(buf_text(&onward), expected);
    CHECK_INT(back.size, strlen(expected));
    for (size_t i = 0; i < back.size; i++)
        CHECK_INT(back.data[i], expected[back.size - 1 - i]);
    CHECK_INT(list_is_empty(list), !*expected);
}

static void test_members_come_in_order(void)
{
    struct list list = {0};
    struct letter a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'}, d = {.name = 'd'};
    check_letters(&list, "");
    list_append(&list, &b.node);
    list_append(&list, &d.node);
    list_prepend(&list, &a.node);
    list_insert(&list, &b.node, &c.node);
    check_letters(&list, "abcd");
    CHECK(list_has(&a.node));
}

static void test_each_place_can_be_removed(void)
{
    static const char *const left[] = {"bc", "ac", "ab"};
    for (size_t i = 0; i < 3; i++) {
        struct list list = {0};
        struct letter letters[] = {{.name = 'a'}, {.name = 'b'}, {.name = 'c'}};
        for (size_t k = 0; k < 3; k++)
            list_append(&list, &letters[k].node);
        list_remove(&letters[i].node);
        check_letters(&list, left[i]);
        CHECK(!list_has(&letters[i].node));
        list_remove(&letters[i].node);
        check_letters(&list, left[i]);
    }
}

static void test_a_walk_may_remove_where_it_stands(void)
{
    struct list list = {0};
    struct letter letters[] = {{.name = 'a'}, {.name = 'b'}, {.name = 'c'}, {.name = 'd'}};
    for (size_t i = 0; i < 4; i++)
        list_append(&list, &letters[i].node);
    LIST_EACH_SAFE (struct letter, each, &list, node)
        if (each->name != 'b')
            list_remove(&each->node);
    check_letters(&list, "b");
    LIST_EACH_SAFE (struct letter, each, &list, node)
        list_remove(&each->node);
    check_letters(&list, "");
}

static void test_one_list_moves_behind_another(void)
{
    struct list to = {0}, from = {0};
    struct letter a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'};
    list_append(&to, &a.node);
    list_append(&from, &b.node);
    list_append(&from, &c.node);
    list_move(&to, &from);
    check_letters(&to, "abc");
    check_letters(&from, "");
    list_remove(&c.node);
    check_letters(&to, "ab");
}

static const struct check_test tests[] = {
    {"members_come_in_order", test_members_come_in_order},
    {"each_place_can_be_removed", test_each_place_can_be_removed},
    {"a_walk_may_remove_where_it_stands", test_a_walk_may_remove_where_it_stands},
    {"one_list_moves_behind_another", test_one_list_moves_behind_another},
};

CHECK_MAIN(tests)
