/* An intrusive doubly linked list. A member embeds a node; the list owns no member.
 *
 *     struct wait { struct list_node node; … };
 *     struct list waits = {0};
 *     list_append(&waits, &wait->node);
 *     LIST_EACH (struct wait, each, &waits, node)
 *         wait_print(each);
 */
#ifndef DDBFS_CORE_BASE_LIST_H
#define DDBFS_CORE_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* {0} is in no list. */
struct list_node {
    struct list *list; /* borrowed; NULL: the node is in no list */
    struct list_node *previous, *next;
};

/* {0} is an empty list. */
struct list {
    struct list_node *first, *last;
};

/* The struct TYPE whose member MEMBER is NODE; NULL for NULL. */
#define LIST_OF(node, type, member) ((type *)list_container((node), offsetof(type, member)))
#define LIST_FIRST(list, type, member) LIST_OF((list)->first, type, member)
#define LIST_LAST(list, type, member) LIST_OF((list)->last, type, member)
#define LIST_NEXT(each, type, member) LIST_OF((each)->member.next, type, member)
#define LIST_PREVIOUS(each, type, member) LIST_OF((each)->member.previous, type, member)

/* Visits each member. The body must not remove EACH; LIST_EACH_SAFE allows it, and forbids to
 * remove the member behind EACH. */
/* NOLINTBEGIN(bugprone-macro-parentheses): TYPE and EACH are declared */
#define LIST_EACH(type, each, list, member)                                                        \
    for (type *each = LIST_FIRST(list, type, member); each; each = LIST_NEXT(each, type, member))
#define LIST_EACH_SAFE(type, each, list, member)                                                   \
    for (type *each = LIST_FIRST(list, type, member),                                              \
              *each##_next = each ? LIST_NEXT(each, type, member) : NULL;                          \
         each; each = each##_next, each##_next = each ? LIST_NEXT(each, type, member) : NULL)
/* NOLINTEND(bugprone-macro-parentheses) */

static inline void *list_container(struct list_node *node, size_t offset)
{
    return node ? (char *)node - offset : NULL;
}

static inline bool list_is_empty(const struct list *list)
{
    return !list->first;
}

static inline bool list_has(const struct list_node *node)
{
    return node->list;
}

/* Puts NODE, which is in no list, behind BEFORE; NULL: in front of all. */
static inline void list_insert(struct list *list, struct list_node *before, struct list_node *node)
{
    struct list_node *after = before ? before->next : list->first;
    *node = (struct list_node){list, before, after};
    *(before ? &before->next : &list->first) = node;
    *(after ? &after->previous : &list->last) = node;
}

static inline void list_append(struct list *list, struct list_node *node)
{
    list_insert(list, list->last, node);
}

static inline void list_prepend(struct list *list, struct list_node *node)
{
    list_insert(list, NULL, node);
}

/* Removes NODE from its list; does nothing if the node is in none. */
static inline void list_remove(struct list_node *node)
{
    if (!node->list)
        return;
    *(node->previous ? &node->previous->next : &node->list->first) = node->next;
    *(node->next ? &node->next->previous : &node->list->last) = node->previous;
    *node = (struct list_node){0};
}

/* Moves all members of FROM to the end of TO. */
static inline void list_move(struct list *to, struct list *from)
{
    while (from->first) {
        struct list_node *node = from->first;
        list_remove(node);
        list_append(to, node);
    }
}

#endif
