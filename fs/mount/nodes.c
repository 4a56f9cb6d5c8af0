#include "fs/mount/nodes.h"

#include <stdlib.h>

#include "core/base/crypto.h"
#include "core/base/dict.h"

enum { ROOT_INO = 1, FIRST_CHAINS = 64 };

/* The part of the digest that identifies a file's bytes. */
enum { DIGEST_KEPT = 16 };

/* Differs between two nodes of one name in one directory. For a directory all but KIND is zero. */
struct identity {
    int64_t mtime_ms;
    uint8_t digest[DIGEST_KEPT]; /* of the bytes */
    uint8_t kind;
    bool secret, dated;
    char zero[5]; /* two identities are compared as bytes */
};

struct inode {
    struct node node;           /* first, so that a node is an inode */
    struct inode *next_by_ino;  /* in its chain */
    struct dict_node by_name;   /* in the dict: of the first version of a name */
    struct inode *next_version; /* of the same name; NULL for the last */
    uint64_t lookups;           /* by the kernel */
    uint32_t named_in; /* the epoch in which the kernel got its name; 0: it has not got it */
    uint32_t pins;     /* by this process, its children among them */
    bool keep;         /* its bytes are never dropped */
    bool is_lent;      /* nor while they are lent */
    char *bytes;       /* owned; NULL: dropped, or a directory */
    struct inode *newer, *older; /* among those whose bytes may be dropped */
    struct identity identity;
    uint64_t parent; /* the key of BY_NAME begins here */
    char name[];     /* and ends with the name; a NUL follows */
};

struct nodes {
    struct inode **by_ino; /* owned, the inodes too; chained. Numbers are consecutive, so their
                              lowest bits spread them evenly */
    size_t chain_count;    /* a power of two */
    struct dict by_name;
    struct inode *root;
    uint64_t next_ino;
    uint32_t epoch; /* one ends when the kernel drops all names */
    struct budget *budget;
    struct inode *newest, *oldest; /* of the inodes whose bytes may be dropped */
    struct nodes_stats stats;
};

bool node_is_directory(const struct node *node)
{
    return node->kind != NODE_FILE && node->kind != NODE_LINK && node->kind != NODE_CONTROL_FILE;
}

static struct inode *nodes_inode_of(struct node *node)
{
    return (struct inode *)node;
}

static struct inode *nodes_from_link(struct dict_node *link)
{
    return link ? (struct inode *)((char *)link - offsetof(struct inode, by_name)) : NULL;
}

/* The memory of a node without its bytes and its place. */
static size_t nodes_memory_of(const struct inode *inode)
{
    return sizeof *inode + inode->node.name.size + 1 + 2 * sizeof(void *);
}

/* Takes PLACE, which may be NULL. No memory is freed for it yet: a caller that visits all nodes
 * must not lose one. */
static void nodes_set_place(struct nodes *nodes, struct inode *inode, struct place *place)
{
    budget_remove(nodes->budget, BUDGET_NODES, place_memory(inode->node.place));
    place_destroy(inode->node.place);
    inode->node.place = place;
    nodes->budget->used[BUDGET_NODES] += place_memory(place);
}

static void nodes_unlink_content(struct nodes *nodes, struct inode *inode)
{
    *(inode->newer ? &inode->newer->older : &nodes->newest) = inode->older;
    *(inode->older ? &inode->older->newer : &nodes->oldest) = inode->newer;
    inode->newer = NULL;
    inode->older = NULL;
}

static void nodes_link_newest(struct nodes *nodes, struct inode *inode)
{
    inode->older = nodes->newest;
    *(nodes->newest ? &nodes->newest->newer : &nodes->oldest) = inode;
    nodes->newest = inode;
}

static void nodes_drop_content(struct nodes *nodes, struct inode *inode)
{
    if (!inode->bytes)
        return;
    if (!inode->keep && !inode->is_lent)
        nodes_unlink_content(nodes, inode);
    budget_remove(nodes->budget, inode->keep ? BUDGET_NODES : BUDGET_CONTENTS, inode->node.size);
    if (inode->node.secret)
        explicit_bzero(inode->bytes, inode->node.size);
    free(inode->bytes);
    inode->bytes = NULL;
}

static bool nodes_drop_oldest(void *arg)
{
    struct nodes *nodes = arg;
    if (!nodes->oldest)
        return false;
    nodes_drop_content(nodes, nodes->oldest);
    return true;
}

/* Frees other bytes first. When memory runs out, the bytes count as dropped. */
static void nodes_store_content(struct nodes *nodes, struct inode *inode, struct span bytes)
{
    enum budget_use use = inode->keep ? BUDGET_NODES : BUDGET_CONTENTS;
    budget_add(nodes->budget, use, bytes.size);
    inode->bytes = malloc(bytes.size + 1);
    if (!inode->bytes) {
        budget_remove(nodes->budget, use, bytes.size);
        return;
    }
    if (bytes.size)
        memcpy(inode->bytes, bytes.data, bytes.size);
    inode->bytes[bytes.size] = '\0';
    if (!inode->keep)
        nodes_link_newest(nodes, inode);
}

/* False when the digest could not be computed. */
static bool nodes_identify_file(const struct node_file *file, struct identity *out)
{
    uint8_t digest[DIGEST_SIZE];
    if (!digest_sha256(file->bytes, digest))
        return false;
    *out = (struct identity){.mtime_ms = file->mtime.known ? file->mtime.ms : 0,
                             .kind = (uint8_t)file->kind,
                             .secret = file->secret,
                             .dated = file->mtime.known};
    memcpy(out->digest, digest, sizeof out->digest);
    return true;
}

/* The first version of that name; NULL: none. */
static struct inode *nodes_find_name(const struct nodes *nodes, const struct node *parent,
                                     struct span name)
{
    char key[sizeof parent->ino + NAME_MAX_BYTES];
    if (name.size > NAME_MAX_BYTES)
        return NULL;
    memcpy(key, &parent->ino, sizeof parent->ino);
    if (name.size)
        memcpy(key + sizeof parent->ino, name.data, name.size);
    return nodes_from_link(
        dict_find(&nodes->by_name, span_of(key, sizeof parent->ino + name.size)));
}

static struct inode *nodes_find_inode(const struct nodes *nodes, const struct node *parent,
                                      const struct identity *identity, struct span name)
{
    struct inode *inode = nodes_find_name(nodes, parent, name);
    while (inode && memcmp(&inode->identity, identity, sizeof *identity) != 0)
        inode = inode->next_version;
    return inode;
}

static void nodes_add_by_name(struct nodes *nodes, struct inode *inode)
{
    struct span key = span_of((const char *)&inode->parent, offsetof(struct inode, name) -
                                                                offsetof(struct inode, parent) +
                                                                inode->node.name.size);
    struct inode *first = nodes_from_link(dict_find(&nodes->by_name, key));
    inode->by_name.key = key;
    if (first) {
        inode->next_version = first->next_version;
        first->next_version = inode;
    } else {
        dict_add(&nodes->by_name, &inode->by_name);
    }
}

static void nodes_remove_by_name(struct nodes *nodes, struct inode *inode)
{
    struct inode *at = nodes_from_link(dict_find(&nodes->by_name, inode->by_name.key));
    if (at == inode) {
        dict_remove(&nodes->by_name, &inode->by_name);
        if (inode->next_version)
            dict_add(&nodes->by_name, &inode->next_version->by_name);
        return;
    }
    while (at->next_version != inode)
        at = at->next_version;
    at->next_version = inode->next_version;
}

static struct inode **nodes_chain_of(const struct nodes *nodes, uint64_t ino)
{
    return &nodes->by_ino[ino & (nodes->chain_count - 1)];
}

/* When memory runs out, the existing chains grow longer. */
static void nodes_double_chains(struct nodes *nodes)
{
    size_t old_count = nodes->chain_count;
    struct inode **old = nodes->by_ino, **grown = calloc(old_count * 2, sizeof(struct inode *));
    if (!grown)
        return;
    nodes->by_ino = grown;
    nodes->chain_count = old_count * 2;
    for (size_t i = 0; i < old_count; i++) {
        for (struct inode *inode = old[i], *next; inode; inode = next) {
            struct inode **chain = nodes_chain_of(nodes, inode->node.ino);
            next = inode->next_by_ino;
            inode->next_by_ino = *chain;
            *chain = inode;
        }
    }
    free(old);
}

static void nodes_add_by_ino(struct nodes *nodes, struct inode *inode)
{
    if (nodes->stats.directories + nodes->stats.files > nodes->chain_count)
        nodes_double_chains(nodes);
    struct inode **chain = nodes_chain_of(nodes, inode->node.ino);
    inode->next_by_ino = *chain;
    *chain = inode;
}

static void nodes_remove_by_ino(struct nodes *nodes, struct inode *inode)
{
    struct inode **at = nodes_chain_of(nodes, inode->node.ino);
    while (*at != inode)
        at = &(*at)->next_by_ino;
    *at = inode->next_by_ino;
}

static struct inode *nodes_add_inode(struct nodes *nodes, struct node *parent,
                                     const struct identity *identity, struct span name)
{
    struct inode *inode = calloc(1, sizeof *inode + name.size + 1);
    if (!inode)
        return NULL;
    inode->identity = *identity;
    if (name.size)
        memcpy(inode->name, name.data, name.size);
    inode->node = (struct node){
        .ino = nodes->next_ino++,
        .parent = parent,
        .name = span_of(inode->name, name.size),
        .kind = (enum node_kind)identity->kind,
        .secret = identity->secret,
        .mtime_ms = identity->mtime_ms,
        .dated = identity->dated,
    };
    inode->parent = parent ? parent->ino : 0;
    nodes_add_by_name(nodes, inode);
    nodes_add_by_ino(nodes, inode);
    if (parent)
        nodes_pin(parent);
    nodes_pin(&inode->node);
    *(node_is_directory(&inode->node) ? &nodes->stats.directories : &nodes->stats.files) += 1;
    budget_add(nodes->budget, BUDGET_NODES, nodes_memory_of(inode));
    return inode;
}

static void nodes_free_inode(struct nodes *nodes, struct inode *inode)
{
    *(node_is_directory(&inode->node) ? &nodes->stats.directories : &nodes->stats.files) -= 1;
    nodes_drop_content(nodes, inode);
    budget_remove(nodes->budget, BUDGET_NODES, nodes_memory_of(inode));
    nodes_remove_by_ino(nodes, inode);
    nodes_remove_by_name(nodes, inode);
    nodes_set_place(nodes, inode, NULL);
    free(inode);
}

/* Frees NODE when it is neither looked up nor pinned, and then its parents likewise. */
static void nodes_release(struct nodes *nodes, struct node *node)
{
    while (node && nodes_inode_of(node)->lookups == 0 && nodes_inode_of(node)->pins == 0) {
        struct node *parent = node->parent;
        nodes_free_inode(nodes, nodes_inode_of(node));
        if (parent)
            nodes_inode_of(parent)->pins--;
        node = parent;
    }
}

struct nodes *nodes_new(struct place *root_place, struct budget *budget)
{
    struct nodes *nodes = calloc(1, sizeof *nodes);
    struct identity identity = {.kind = NODE_DIRECTORY};
    if (nodes) {
        nodes->next_ino = ROOT_INO;
        nodes->epoch = 1;
        nodes->budget = budget;
        nodes->by_ino = calloc(FIRST_CHAINS, sizeof(struct inode *));
        nodes->chain_count = nodes->by_ino ? FIRST_CHAINS : 0;
        if (nodes->by_ino && dict_init(&nodes->by_name))
            nodes->root = nodes_add_inode(nodes, NULL, &identity, span_text(""));
    }
    if (!nodes || !nodes->root) {
        place_destroy(root_place);
        nodes_destroy(nodes);
        return NULL;
    }
    nodes_set_place(nodes, nodes->root, root_place);
    budget->spare[BUDGET_CONTENTS] = nodes_drop_oldest;
    budget->arg[BUDGET_CONTENTS] = nodes;
    return nodes;
}

void nodes_destroy(struct nodes *nodes)
{
    if (!nodes)
        return;
    for (size_t i = 0; i < nodes->chain_count; i++)
        while (nodes->by_ino[i])
            nodes_free_inode(nodes, nodes->by_ino[i]);
    nodes->budget->spare[BUDGET_CONTENTS] = NULL;
    free(nodes->by_ino);
    dict_clean_up(&nodes->by_name);
    free(nodes);
}

struct node *nodes_root(struct nodes *nodes)
{
    return &nodes->root->node;
}

struct node *nodes_find(struct nodes *nodes, uint64_t ino)
{
    struct inode *inode = *nodes_chain_of(nodes, ino);
    while (inode && inode->node.ino != ino)
        inode = inode->next_by_ino;
    return inode ? &inode->node : NULL;
}

struct node *nodes_directory(struct nodes *nodes, struct node *parent, struct span name,
                             enum node_kind kind, struct place *place)
{
    struct identity identity = {.kind = (uint8_t)kind};
    struct inode *inode = nodes_find_inode(nodes, parent, &identity, name);
    if (inode)
        nodes_pin(&inode->node);
    else
        inode = nodes_add_inode(nodes, parent, &identity, name);
    /* A table without a map may have a new description since the directory was looked up. A place
     * of another map comes from a request that began before the map was read again. */
    const struct place *old = inode ? inode->node.place : NULL;
    if (!inode || (old && (!place || place->map != old->map || place->table == old->table))) {
        place_destroy(place);
        return inode ? &inode->node : NULL;
    }
    nodes_set_place(nodes, inode, place);
    budget_add(nodes->budget, BUDGET_NODES, 0); /* frees memory if necessary */
    return &inode->node;
}

struct node *nodes_file(struct nodes *nodes, struct node *parent, struct span name,
                        const struct node_file *file)
{
    struct identity identity;
    if (!nodes_identify_file(file, &identity))
        return NULL;
    struct inode *inode = nodes_find_inode(nodes, parent, &identity, name);
    if (inode) {
        nodes_pin(&inode->node);
    } else {
        inode = nodes_add_inode(nodes, parent, &identity, name);
        if (!inode)
            return NULL;
        inode->node.size = file->bytes.size;
        inode->keep = file->keep;
    }
    if (!inode->bytes)
        nodes_store_content(nodes, inode, file->bytes);
    return &inode->node;
}

bool nodes_lose_name(struct nodes *nodes, const struct node *parent, struct span name)
{
    bool had = false;
    for (struct inode *inode = nodes_find_name(nodes, parent, name); inode;
         inode = inode->next_version) {
        had = had || inode->named_in == nodes->epoch;
        inode->named_in = 0;
    }
    return had;
}

void nodes_lose_all_names(struct nodes *nodes)
{
    nodes->epoch++;
}

void nodes_pin(struct node *node)
{
    nodes_inode_of(node)->pins++;
}

void nodes_unpin(struct nodes *nodes, struct node *node)
{
    if (!node)
        return;
    nodes_inode_of(node)->pins--;
    nodes_release(nodes, node);
}

void nodes_look_up(struct nodes *nodes, struct node *node)
{
    nodes_inode_of(node)->lookups++;
    nodes_inode_of(node)->named_in = nodes->epoch;
}

void nodes_forget(struct nodes *nodes, uint64_t ino, uint64_t lookups)
{
    struct node *node = nodes_find(nodes, ino);
    if (!node)
        return;
    struct inode *inode = nodes_inode_of(node);
    inode->lookups -= lookups < inode->lookups ? lookups : inode->lookups;
    if (inode->lookups == 0)
        inode->named_in = 0;
    nodes_release(nodes, node);
}

void nodes_set_listing(struct node *node, struct open_listing *listing)
{
    node->listing = listing;
}

bool nodes_content(struct nodes *nodes, struct node *node, struct span *out)
{
    struct inode *inode = nodes_inode_of(node);
    if (!inode->bytes)
        return false;
    if (!inode->keep && !inode->is_lent) {
        nodes_unlink_content(nodes, inode);
        nodes_link_newest(nodes, inode);
    }
    *out = span_of(inode->bytes, node->size);
    return true;
}

bool nodes_lend_content(struct nodes *nodes, struct node *node, struct span *out)
{
    struct inode *inode = nodes_inode_of(node);
    if (!inode->bytes || inode->is_lent)
        return false;
    if (!inode->keep)
        nodes_unlink_content(nodes, inode);
    inode->is_lent = true;
    nodes_pin(node);
    *out = span_of(inode->bytes, node->size);
    return true;
}

void nodes_return_content(struct nodes *nodes, struct node *node)
{
    struct inode *inode = nodes_inode_of(node);
    inode->is_lent = false;
    if (!inode->keep)
        nodes_link_newest(nodes, inode);
    nodes_unpin(nodes, node);
}

/* The kernel knows bytes, date and mode of this version: all three must agree. */
bool nodes_restore(struct nodes *nodes, struct node *node, const struct node_file *file)
{
    struct identity identity;
    struct inode *inode = nodes_inode_of(node);
    if (!nodes_identify_file(file, &identity) ||
        memcmp(&identity, &inode->identity, sizeof identity) != 0)
        return false;
    if (!inode->bytes)
        nodes_store_content(nodes, inode, file->bytes);
    return true;
}

/* Without recursion: below /.ddbfs/refresh a path may be arbitrarily deep. Slashes are written
 * first, and then the names over them, from the last to the first. */
void nodes_path(const struct node *node, struct span name, struct buf *out)
{
    size_t size = name.size ? name.size + 1 : 0;
    for (const struct node *each = node; each->parent; each = each->parent)
        size += each->name.size + 1;
    buf_add_repeated(out, '/', size ? size : 1);
    if (out->failed)
        return;
    char *end = out->data + out->size;
    if (name.size) {
        end -= name.size + 1;
        memcpy(end + 1, name.data, name.size);
    }
    for (const struct node *each = node; each->parent; each = each->parent) {
        end -= each->name.size + 1;
        memcpy(end + 1, each->name.data, each->name.size);
    }
}

bool nodes_is_below(struct span path, struct span top)
{
    return span_starts(path, top) &&
           (path.size == top.size || top.size <= 1 || path.data[top.size] == '/');
}

void nodes_each(struct nodes *nodes, void (*fn)(void *arg, struct node *node), void *arg)
{
    for (size_t i = 0; i < nodes->chain_count; i++)
        for (struct inode *inode = nodes->by_ino[i]; inode; inode = inode->next_by_ino)
            if (inode != nodes->root)
                fn(arg, &inode->node);
}

/* The place of NODE in the new map; NULL: the map does not have it. */
static struct place *nodes_find_new_place(const struct node *node, const struct place *root,
                                          const struct place_options *names)
{
    struct error ignored;
    if (!node->parent->parent)
        return place_child(root, node->name, names, &ignored);
    struct place *parent = nodes_find_new_place(node->parent, root, names);
    if (parent && parent->kind == PLACE_TABLE && node->place && node->place->table) {
        struct place *described = place_table(parent, node->place->table);
        place_destroy(parent);
        parent = described;
    }
    struct place *place = parent && place_is_directory(parent)
                              ? place_child(parent, node->name, names, &ignored)
                              : NULL;
    place_destroy(parent);
    return place;
}

struct relocation {
    struct nodes *nodes;
    const struct place *root;
    const struct place_options *names;
};

static void nodes_relocate_node(void *arg, struct node *node)
{
    const struct relocation *relocation = arg;
    if (!node->place)
        return;
    struct place *place = nodes_find_new_place(node, relocation->root, relocation->names);
    if (place && place_is_directory(place))
        nodes_set_place(relocation->nodes, nodes_inode_of(node), place);
    else
        place_destroy(place);
}

void nodes_relocate(struct nodes *nodes, struct place *root_place,
                    const struct place_options *names)
{
    struct relocation relocation = {nodes, root_place, names};
    nodes_each(nodes, nodes_relocate_node, &relocation);
    nodes_set_place(nodes, nodes->root, root_place);
}

struct nodes_stats nodes_stats(const struct nodes *nodes)
{
    return nodes->stats;
}

/* A quarter of the budget is left to contents, even if the kernel knows very many names.
 * Otherwise each look-up would drop the bytes of the look-up before it. */
enum { LEAST_SHARE = 4 };

static bool budget_spare(struct budget *budget, enum budget_use use)
{
    return budget->spare[use] && budget->spare[use](budget->arg[use]);
}

void budget_add(struct budget *budget, enum budget_use use, size_t bytes)
{
    const size_t *used = budget->used;
    budget->used[use] += bytes;
    while (used[BUDGET_NODES] + used[BUDGET_LISTINGS] + used[BUDGET_CONTENTS] > budget->limit) {
        if (budget_spare(budget, BUDGET_LISTINGS))
            continue;
        if (used[BUDGET_CONTENTS] <= budget->limit / LEAST_SHARE ||
            !budget_spare(budget, BUDGET_CONTENTS))
            return;
    }
}

void budget_remove(struct budget *budget, enum budget_use use, size_t bytes)
{
    budget->used[use] -= bytes;
}
