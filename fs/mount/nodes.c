#include "fs/mount/nodes.h"

#include <stdlib.h>

#include "core/base/crypto.h"
#include "core/base/dict.h"
#include "core/base/spool.h"

enum { ROOT_INO = 1, FIRST_CHAINS = 64 };

/* More nodes than this for each chain, and their number is doubled. */
enum { NODES_PER_CHAIN = 2 };

/* The allocator's own memory per allocation, roughly. */
enum { OVERHEAD = 16 };

/* The part of the digest that identifies bytes that were dropped. */
enum { DIGEST_KEPT = 16 };

/*
 *   state              the bytes of the file                                     may become
 *   CONTENT_NONE       of a directory, or of a file that grows                   -
 *   CONTENT_HERE       in BYTES; in the list from NEWEST to OLDEST, unless       any other below
 *                      they are kept or lent
 *   CONTENT_DROPPED    the node has their DIGEST                                 HERE
 *   CONTENT_LOST       the digest could not be computed: they equal no others    -
 *   CONTENT_SPOOLED    in the temporary file SPOOL                               -
 */
enum __attribute__((packed)) content_state {
    CONTENT_NONE,
    CONTENT_HERE,
    CONTENT_DROPPED,
    CONTENT_LOST,
    CONTENT_SPOOLED,
};

struct inode {
    struct node node;           /* first, so that a node is an inode */
    struct inode *next_by_ino;  /* in its chain */
    struct inode *next_by_name; /* in its chain, which has all versions of a name */
    uint64_t lookups;           /* by the kernel */
    uint32_t named_in; /* the epoch in which the kernel got its name; 0: it has not got it */
    uint32_t pins;     /* by this process, its children among them */
    union {
        struct {                 /* of a directory */
            struct place *place; /* owned; NULL except for a NODE_DIRECTORY */
            struct open_listing *listing;
        };
        struct {         /* of CONTENT_HERE */
            char *bytes; /* owned */
            struct inode *newer, *older;
        };
        uint8_t digest[DIGEST_KEPT]; /* of CONTENT_DROPPED */
        struct spool *spool;         /* of CONTENT_SPOOLED; holds a reference */
    };
    enum content_state content;
    bool keep;    /* its bytes are never dropped */
    bool is_lent; /* nor while they are lent */
    char name[];  /* a NUL follows */
};

_Static_assert(NAME_MAX_BYTES <= UINT8_MAX, "a node has one byte for the size of its name");

struct chains {
    struct inode *by_ino, *by_name; /* numbers are consecutive: their lowest bits spread evenly */
};

struct nodes {
    struct chains *chains; /* owned, the inodes too */
    size_t chain_count;    /* a power of two */
    struct dict_seed seed; /* of the hashes of names */
    struct inode *root;
    uint64_t next_ino;
    uint32_t epoch; /* one ends when the kernel drops all names */
    struct budget *budget;
    struct inode *newest, *oldest; /* of the inodes whose bytes may be dropped */
    struct nodes_stats stats;
};

bool node_is_directory(const struct node *node)
{
    return node->kind != NODE_FILE && node->kind != NODE_LINK && node->kind != NODE_CONTROL_FILE &&
           node->kind != NODE_CHANGES;
}

static struct inode *nodes_inode_of(struct node *node)
{
    return (struct inode *)node;
}

struct span node_name(const struct node *node)
{
    return span_of(((const struct inode *)node)->name, node->name_size);
}

struct place *node_place(const struct node *node)
{
    return node_is_directory(node) ? ((const struct inode *)node)->place : NULL;
}

struct open_listing *node_listing(const struct node *node)
{
    return node_is_directory(node) ? ((const struct inode *)node)->listing : NULL;
}

static size_t nodes_size_of(struct span name)
{
    size_t size = offsetof(struct inode, name) + name.size + 1;
    return size > sizeof(struct inode) ? size : sizeof(struct inode);
}

/* The memory of a node without its bytes and its place. */
static size_t nodes_memory_of(const struct inode *inode)
{
    return nodes_size_of(node_name(&inode->node)) + OVERHEAD + sizeof(struct chains);
}

/* Takes PLACE, which may be NULL. No memory is freed for it yet: a caller that visits all nodes
 * must not lose one. */
static void nodes_set_place(struct nodes *nodes, struct inode *inode, struct place *place)
{
    budget_remove(nodes->budget, BUDGET_NODES, place_memory(inode->place));
    place_destroy(inode->place);
    inode->place = place;
    nodes->budget->used[BUDGET_NODES] += place_memory(place);
}

static void nodes_unlink_content(struct nodes *nodes, struct inode *inode)
{
    *(inode->newer ? &inode->newer->older : &nodes->newest) = inode->older;
    *(inode->older ? &inode->older->newer : &nodes->oldest) = inode->newer;
}

static void nodes_link_newest(struct nodes *nodes, struct inode *inode)
{
    inode->newer = NULL;
    inode->older = nodes->newest;
    *(nodes->newest ? &nodes->newest->newer : &nodes->oldest) = inode;
    nodes->newest = inode;
}

/* INODE has no longer its BYTES, but their digest. */
static void nodes_note_dropped(struct inode *inode, struct span bytes)
{
    uint8_t digest[DIGEST_SIZE];
    inode->content = digest_sha256(bytes, digest) ? CONTENT_DROPPED : CONTENT_LOST;
    if (inode->content == CONTENT_DROPPED)
        memcpy(inode->digest, digest, sizeof inode->digest);
}

static void nodes_free_content(struct nodes *nodes, struct inode *inode, char *bytes)
{
    budget_remove(nodes->budget, inode->keep ? BUDGET_NODES : BUDGET_CONTENTS, inode->node.size);
    if (inode->node.secret)
        explicit_bzero(bytes, inode->node.size);
    free(bytes);
}

static void nodes_drop_content(struct nodes *nodes, struct inode *inode)
{
    char *bytes = inode->bytes;
    nodes_unlink_content(nodes, inode);
    nodes_note_dropped(inode, span_of(bytes, inode->node.size));
    nodes_free_content(nodes, inode, bytes);
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
static void nodes_store_content(struct nodes *nodes, struct inode *inode,
                                const struct node_file *file)
{
    enum budget_use use = inode->keep ? BUDGET_NODES : BUDGET_CONTENTS;
    struct span bytes = file->bytes;
    if (file->spool) {
        inode->spool = spool_ref(file->spool);
        inode->content = CONTENT_SPOOLED;
        nodes->stats.spooled++;
        nodes->stats.spooled_bytes += inode->node.size;
        return;
    }
    budget_add(nodes->budget, use, bytes.size);
    char *copy = malloc(bytes.size + 1);
    if (!copy) {
        budget_remove(nodes->budget, use, bytes.size);
        nodes_note_dropped(inode, bytes);
        return;
    }
    if (bytes.size)
        memcpy(copy, bytes.data, bytes.size);
    copy[bytes.size] = '\0';
    inode->bytes = copy;
    inode->content = CONTENT_HERE;
    if (!inode->keep)
        nodes_link_newest(nodes, inode);
}

static uint64_t nodes_size_of_file(const struct node_file *file)
{
    return file->spool ? spool_size(file->spool) : file->bytes.size;
}

/* False when it could not be computed. */
static bool nodes_digest_file(const struct node_file *file, uint8_t out[DIGEST_SIZE])
{
    if (file->spool)
        memcpy(out, spool_digest(file->spool), DIGEST_SIZE);
    return file->spool || digest_sha256(file->bytes, out);
}

/* Equal bytes may be in memory once and in a temporary file once: other files decide, too. */
static bool nodes_has_bytes_of(const struct inode *inode, const struct node_file *file)
{
    uint8_t digest[DIGEST_SIZE];
    struct span bytes;
    switch (inode->content) {
    case CONTENT_HERE:
        bytes = span_of(inode->bytes, inode->node.size);
        if (!file->spool)
            return span_equal(bytes, file->bytes);
        return digest_sha256(bytes, digest) &&
               memcmp(digest, spool_digest(file->spool), sizeof digest) == 0;
    case CONTENT_DROPPED:
        return nodes_digest_file(file, digest) &&
               memcmp(digest, inode->digest, sizeof inode->digest) == 0;
    case CONTENT_SPOOLED:
        return nodes_digest_file(file, digest) &&
               memcmp(digest, spool_digest(inode->spool), sizeof digest) == 0;
    case CONTENT_NONE:
    case CONTENT_LOST:
        break;
    }
    return false;
}

/* Whether INODE, of the same name, is the version FILE: its bytes, date and mode are equal. */
static bool nodes_is_version(const struct inode *inode, const struct node_file *file)
{
    const struct node *node = &inode->node;
    if (node->kind != file->kind || node->secret != file->secret ||
        node->dated != file->mtime.known || (node->dated && node->mtime_ms != file->mtime.ms) ||
        node->size != nodes_size_of_file(file))
        return false;
    return nodes_has_bytes_of(inode, file);
}

/* Chains. */

static struct inode **nodes_chain_by_ino(const struct nodes *nodes, uint64_t ino)
{
    return &nodes->chains[ino & (nodes->chain_count - 1)].by_ino;
}

static struct inode **nodes_chain_by_name(const struct nodes *nodes, uint32_t hash)
{
    return &nodes->chains[hash & (nodes->chain_count - 1)].by_name;
}

/* Of NAME in PARENT, which is NULL for the root. */
static uint32_t nodes_hash_name(const struct nodes *nodes, const struct node *parent,
                                struct span name)
{
    struct dict_seed seed = nodes->seed;
    seed.a ^= parent ? parent->ino : 0;
    return (uint32_t)dict_hash(seed, name);
}

/* The first in the chain from INODE on that has that name; NULL: none. */
static struct inode *nodes_next_named(struct inode *inode, uint32_t hash, const struct node *parent,
                                      struct span name)
{
    while (inode && (inode->node.hash != hash || inode->node.parent != parent ||
                     !span_equal(node_name(&inode->node), name)))
        inode = inode->next_by_name;
    return inode;
}

static void nodes_link_inode(struct nodes *nodes, struct inode *inode)
{
    struct inode **by_ino = nodes_chain_by_ino(nodes, inode->node.ino);
    struct inode **by_name = nodes_chain_by_name(nodes, inode->node.hash);
    inode->next_by_ino = *by_ino;
    *by_ino = inode;
    inode->next_by_name = *by_name;
    *by_name = inode;
}

static void nodes_unlink_inode(struct nodes *nodes, struct inode *inode)
{
    struct inode **by_ino = nodes_chain_by_ino(nodes, inode->node.ino);
    struct inode **by_name = nodes_chain_by_name(nodes, inode->node.hash);
    while (*by_ino != inode)
        by_ino = &(*by_ino)->next_by_ino;
    *by_ino = inode->next_by_ino;
    while (*by_name != inode)
        by_name = &(*by_name)->next_by_name;
    *by_name = inode->next_by_name;
}

/* When memory runs out, the existing chains grow longer. */
static void nodes_double_chains(struct nodes *nodes)
{
    size_t old_count = nodes->chain_count;
    struct chains *old = nodes->chains, *grown = calloc(old_count * 2, sizeof *grown);
    if (!grown)
        return;
    nodes->chains = grown;
    nodes->chain_count = old_count * 2;
    for (size_t i = 0; i < old_count; i++) {
        for (struct inode *inode = old[i].by_ino, *next; inode; inode = next) {
            next = inode->next_by_ino;
            nodes_link_inode(nodes, inode);
        }
    }
    free(old);
}

/* A node without bytes and place, which the caller gets with a pin. NULL when memory ran out. */
static struct inode *nodes_add_inode(struct nodes *nodes, struct node *parent, uint32_t hash,
                                     struct span name, enum node_kind kind)
{
    struct inode *inode = calloc(1, nodes_size_of(name));
    if (!inode)
        return NULL;
    if (name.size)
        memcpy(inode->name, name.data, name.size);
    inode->node = (struct node){.ino = nodes->next_ino++,
                                .parent = parent,
                                .hash = hash,
                                .kind = kind,
                                .name_size = (uint8_t)name.size};
    if (nodes->stats.directories + nodes->stats.files >= NODES_PER_CHAIN * nodes->chain_count)
        nodes_double_chains(nodes);
    nodes_link_inode(nodes, inode);
    if (parent)
        nodes_pin(parent);
    nodes_pin(&inode->node);
    *(node_is_directory(&inode->node) ? &nodes->stats.directories : &nodes->stats.files) += 1;
    budget_add(nodes->budget, BUDGET_NODES, nodes_memory_of(inode));
    return inode;
}

static void nodes_free_inode(struct nodes *nodes, struct inode *inode)
{
    bool is_directory = node_is_directory(&inode->node);
    *(is_directory ? &nodes->stats.directories : &nodes->stats.files) -= 1;
    if (is_directory)
        nodes_set_place(nodes, inode, NULL);
    if (inode->content == CONTENT_HERE) {
        if (!inode->keep && !inode->is_lent)
            nodes_unlink_content(nodes, inode);
        nodes_free_content(nodes, inode, inode->bytes);
    } else if (inode->content == CONTENT_SPOOLED) {
        nodes->stats.spooled--;
        nodes->stats.spooled_bytes -= inode->node.size;
        spool_unref(inode->spool);
    }
    budget_remove(nodes->budget, BUDGET_NODES, nodes_memory_of(inode));
    nodes_unlink_inode(nodes, inode);
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
    if (nodes) {
        nodes->next_ino = ROOT_INO;
        nodes->epoch = 1;
        nodes->budget = budget;
        nodes->seed = dict_seed_new();
        nodes->chains = calloc(FIRST_CHAINS, sizeof *nodes->chains);
        nodes->chain_count = nodes->chains ? FIRST_CHAINS : 0;
        if (nodes->chains)
            nodes->root = nodes_add_inode(nodes, NULL, 0, span_text(""), NODE_DIRECTORY);
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
        while (nodes->chains[i].by_ino)
            nodes_free_inode(nodes, nodes->chains[i].by_ino);
    nodes->budget->spare[BUDGET_CONTENTS] = NULL;
    free(nodes->chains);
    free(nodes);
}

struct node *nodes_root(struct nodes *nodes)
{
    return &nodes->root->node;
}

struct node *nodes_find(struct nodes *nodes, uint64_t ino)
{
    struct inode *inode = *nodes_chain_by_ino(nodes, ino);
    while (inode && inode->node.ino != ino)
        inode = inode->next_by_ino;
    return inode ? &inode->node : NULL;
}

struct node *nodes_directory(struct nodes *nodes, struct node *parent, struct span name,
                             enum node_kind kind, struct place *place)
{
    uint32_t hash = nodes_hash_name(nodes, parent, name);
    struct inode *inode = nodes_next_named(*nodes_chain_by_name(nodes, hash), hash, parent, name);
    while (inode && inode->node.kind != kind)
        inode = nodes_next_named(inode->next_by_name, hash, parent, name);
    if (inode)
        nodes_pin(&inode->node);
    else
        inode = nodes_add_inode(nodes, parent, hash, name, kind);
    /* A table without a map may have a new description since the directory was looked up. A place
     * of another map comes from a request that began before the map was read again. */
    const struct place *old = inode ? inode->place : NULL;
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
    uint32_t hash = nodes_hash_name(nodes, parent, name);
    struct inode *inode = nodes_next_named(*nodes_chain_by_name(nodes, hash), hash, parent, name);
    while (inode && !nodes_is_version(inode, file))
        inode = nodes_next_named(inode->next_by_name, hash, parent, name);
    if (inode) {
        nodes_pin(&inode->node);
    } else {
        inode = nodes_add_inode(nodes, parent, hash, name, file->kind);
        if (!inode)
            return NULL;
        inode->node.size = nodes_size_of_file(file);
        inode->node.secret = file->secret;
        inode->node.dated = file->mtime.known;
        inode->node.mtime_ms = file->mtime.known ? file->mtime.ms : 0;
        inode->keep = file->keep;
    }
    if (inode->content != CONTENT_HERE && inode->content != CONTENT_SPOOLED)
        nodes_store_content(nodes, inode, file);
    return &inode->node;
}

struct node *nodes_growing(struct nodes *nodes, struct node *parent, struct span name)
{
    uint32_t hash = nodes_hash_name(nodes, parent, name);
    struct inode *inode = nodes_add_inode(nodes, parent, hash, name, NODE_CHANGES);
    return inode ? &inode->node : NULL;
}

void nodes_set_size(struct node *node, uint64_t size)
{
    node->size = size;
}

bool nodes_lose_name(struct nodes *nodes, const struct node *parent, struct span name)
{
    bool had = false;
    uint32_t hash = nodes_hash_name(nodes, parent, name);
    struct inode *inode = nodes_next_named(*nodes_chain_by_name(nodes, hash), hash, parent, name);
    for (; inode; inode = nodes_next_named(inode->next_by_name, hash, parent, name)) {
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
    nodes_inode_of(node)->listing = listing;
}

const struct spool *nodes_spool(const struct node *node)
{
    const struct inode *inode = (const struct inode *)node;
    return inode->content == CONTENT_SPOOLED ? inode->spool : NULL;
}

bool nodes_content(struct nodes *nodes, struct node *node, struct span *out)
{
    struct inode *inode = nodes_inode_of(node);
    if (inode->content != CONTENT_HERE)
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
    if (inode->content != CONTENT_HERE || inode->is_lent)
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
    struct inode *inode = nodes_inode_of(node);
    if (!nodes_is_version(inode, file))
        return false;
    if (inode->content != CONTENT_HERE && inode->content != CONTENT_SPOOLED)
        nodes_store_content(nodes, inode, file);
    return true;
}

/* Without recursion: below /.ddbfs/refresh a path may be arbitrarily deep. Slashes are written
 * first, and then the names over them, from the last to the first. */
void nodes_path(const struct node *node, struct span name, struct buf *out)
{
    size_t size = name.size ? name.size + 1 : 0;
    for (const struct node *each = node; each->parent; each = each->parent)
        size += (size_t)each->name_size + 1;
    buf_add_repeated(out, '/', size ? size : 1);
    if (out->failed)
        return;
    char *end = out->data + out->size;
    if (name.size) {
        end -= name.size + 1;
        memcpy(end + 1, name.data, name.size);
    }
    for (const struct node *each = node; each->parent; each = each->parent) {
        end -= (size_t)each->name_size + 1;
        memcpy(end + 1, node_name(each).data, each->name_size);
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
        for (struct inode *inode = nodes->chains[i].by_ino; inode; inode = inode->next_by_ino)
            if (inode != nodes->root)
                fn(arg, &inode->node);
}

/* The place of NODE in the new map; NULL: the map does not have it. */
static struct place *nodes_find_new_place(const struct node *node, const struct place *root,
                                          const struct place_options *names)
{
    struct error ignored;
    const struct place *own = node_place(node);
    if (!node->parent->parent)
        return place_child(root, node_name(node), names, &ignored);
    struct place *parent = nodes_find_new_place(node->parent, root, names);
    if (parent && parent->kind == PLACE_TABLE && own && own->table) {
        struct place *described = place_table(parent, own->table);
        place_destroy(parent);
        parent = described;
    }
    struct place *place = parent && place_is_directory(parent)
                              ? place_child(parent, node_name(node), names, &ignored)
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
    if (!node_place(node))
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
