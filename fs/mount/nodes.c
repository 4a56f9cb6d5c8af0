#include "fs/mount/nodes.h"

#include <stdlib.h>

#include "core/base/dict.h"
#include "core/base/digest.h"

enum { ROOT_INO = 1 };

/* A node as this file has it. IDENTITY is what two nodes never share: parent, kind, version, and
 * then the name. */
struct kept {
    struct node node; /* first, so that a node is a kept one */
    struct dict_node by_ino;
    struct dict_node by_identity;
    uint64_t lookups;             /* by the kernel */
    uint64_t pins;                /* by this process, its children among them */
    char *bytes;                  /* owned; NULL when dropped, or for a directory */
    struct kept *newer, *older;   /* of those with bytes */
    struct recent *recent;        /* owned; the latest first */
    struct kept *later, *earlier; /* of those with such names, by when they last got one */
    char identity[];
};

struct recent {
    struct recent *next;
    int64_t at_ms;
    bool directory;
    size_t size;
    char name[];
};

/* For how long a directory that can't be listed shows what was opened in it. */
enum { RECENT_MS = 3600 * 1000, MOST_REMEMBERING = 256 };

/* The parent's number, the version (zeros for a directory), and which of the two it is. */
enum { HEAD_SIZE = sizeof(uint64_t) + VERSION_SIZE + 1 };

struct nodes {
    struct dict by_ino;
    struct dict by_identity;
    struct kept *root;
    uint64_t next_ino;
    size_t content_limit;
    struct kept *newest, *oldest;
    struct kept *latest, *earliest; /* of the directories that remember names */
    size_t remembering;
    struct nodes_stats stats;
};

static struct kept *kept_of(struct node *node)
{
    return (struct kept *)node;
}

static struct kept *from_ino(struct dict_node *link)
{
    return (struct kept *)((char *)link - offsetof(struct kept, by_ino));
}

static struct kept *from_identity(struct dict_node *link)
{
    return (struct kept *)((char *)link - offsetof(struct kept, by_identity));
}

static void unlink_content(struct nodes *nodes, struct kept *kept)
{
    *(kept->newer ? &kept->newer->older : &nodes->newest) = kept->older;
    *(kept->older ? &kept->older->newer : &nodes->oldest) = kept->newer;
    kept->newer = NULL;
    kept->older = NULL;
}

static void link_newest(struct nodes *nodes, struct kept *kept)
{
    kept->older = nodes->newest;
    *(nodes->newest ? &nodes->newest->newer : &nodes->oldest) = kept;
    nodes->newest = kept;
}

static void drop_content(struct nodes *nodes, struct kept *kept)
{
    if (!kept->bytes)
        return;
    unlink_content(nodes, kept);
    nodes->stats.content_bytes -= kept->node.size;
    if (kept->node.secret)
        explicit_bzero(kept->bytes, kept->node.size);
    free(kept->bytes);
    kept->bytes = NULL;
}

/* Bytes are kept while there is room; the newest push out the oldest. */
static bool keep_content(struct nodes *nodes, struct kept *kept, struct span bytes)
{
    while (nodes->oldest && nodes->stats.content_bytes + bytes.size > nodes->content_limit)
        drop_content(nodes, nodes->oldest);
    kept->bytes = malloc(bytes.size + 1);
    if (!kept->bytes)
        return false;
    if (bytes.size)
        memcpy(kept->bytes, bytes.data, bytes.size);
    nodes->stats.content_bytes += bytes.size;
    link_newest(nodes, kept);
    return true;
}

static void write_identity(char *out, const struct node *parent, const struct version *version,
                           struct span name)
{
    uint64_t ino = parent ? parent->ino : 0;
    memcpy(out, &ino, sizeof ino);
    memset(out + sizeof ino, 0, VERSION_SIZE + 1);
    if (version) {
        memcpy(out + sizeof ino, version->bytes, VERSION_SIZE);
        out[HEAD_SIZE - 1] = 1;
    }
    if (name.size)
        memcpy(out + HEAD_SIZE, name.data, name.size);
}

static struct kept *find_kept(struct nodes *nodes, const struct node *parent,
                              const struct version *version, struct span name)
{
    char identity[HEAD_SIZE + NAME_MAX_BYTES];
    if (name.size > NAME_MAX_BYTES)
        return NULL;
    write_identity(identity, parent, version, name);
    struct dict_node *link =
        dict_find(&nodes->by_identity, span_of(identity, HEAD_SIZE + name.size));
    return link ? from_identity(link) : NULL;
}

static struct kept *add_kept(struct nodes *nodes, struct node *parent,
                             const struct version *version, struct span name)
{
    struct kept *kept = calloc(1, sizeof *kept + HEAD_SIZE + name.size);
    if (!kept)
        return NULL;
    write_identity(kept->identity, parent, version, name);
    kept->node.ino = nodes->next_ino++;
    kept->node.parent = parent;
    kept->node.directory = !version;
    kept->node.name = span_of(kept->identity + HEAD_SIZE, name.size);
    kept->by_ino.key = span_of((const char *)&kept->node.ino, sizeof kept->node.ino);
    kept->by_identity.key = span_of(kept->identity, HEAD_SIZE + name.size);
    dict_add(&nodes->by_ino, &kept->by_ino);
    dict_add(&nodes->by_identity, &kept->by_identity);
    if (parent)
        nodes_pin(parent);
    nodes_pin(&kept->node);
    *(version ? &nodes->stats.files : &nodes->stats.directories) += 1;
    return kept;
}

static void unlink_recent(struct nodes *nodes, struct kept *kept)
{
    *(kept->later ? &kept->later->earlier : &nodes->latest) = kept->earlier;
    *(kept->earlier ? &kept->earlier->later : &nodes->earliest) = kept->later;
    kept->later = NULL;
    kept->earlier = NULL;
}

static void link_latest(struct nodes *nodes, struct kept *kept)
{
    kept->earlier = nodes->latest;
    *(nodes->latest ? &nodes->latest->later : &nodes->earliest) = kept;
    nodes->latest = kept;
}

static void free_recent(struct recent **at)
{
    struct recent *gone = *at;
    *at = gone->next;
    free(gone);
}

static void free_kept(struct nodes *nodes, struct kept *kept)
{
    *(kept->node.directory ? &nodes->stats.directories : &nodes->stats.files) -= 1;
    drop_content(nodes, kept);
    dict_remove(&nodes->by_ino, &kept->by_ino);
    dict_remove(&nodes->by_identity, &kept->by_identity);
    place_destroy(kept->node.place);
    if (kept->recent)
        unlink_recent(nodes, kept);
    while (kept->recent)
        free_recent(&kept->recent);
    free(kept);
}

/* Frees NODE when nobody knows it, and then its parents likewise. */
static void release(struct nodes *nodes, struct node *node)
{
    while (node && kept_of(node)->lookups == 0 && kept_of(node)->pins == 0) {
        struct node *parent = node->parent;
        free_kept(nodes, kept_of(node));
        if (parent)
            kept_of(parent)->pins--;
        node = parent;
    }
}

struct nodes *nodes_new(struct place *root_place, size_t content_limit)
{
    struct nodes *nodes = calloc(1, sizeof *nodes);
    if (nodes && dict_init(&nodes->by_ino) && dict_init(&nodes->by_identity)) {
        nodes->next_ino = ROOT_INO;
        nodes->content_limit = content_limit;
        nodes->root = add_kept(nodes, NULL, NULL, span_text(""));
    }
    if (nodes && nodes->root) {
        nodes->root->node.place = root_place;
        return nodes;
    }
    place_destroy(root_place);
    nodes_destroy(nodes);
    return NULL;
}

void nodes_destroy(struct nodes *nodes)
{
    if (!nodes)
        return;
    size_t from = 0;
    for (struct dict_node *link; (link = dict_any(&nodes->by_ino, &from));)
        free_kept(nodes, from_ino(link));
    dict_clean_up(&nodes->by_ino);
    dict_clean_up(&nodes->by_identity);
    free(nodes);
}

struct node *nodes_root(struct nodes *nodes)
{
    return &nodes->root->node;
}

struct node *nodes_find(struct nodes *nodes, uint64_t ino)
{
    struct dict_node *link = dict_find(&nodes->by_ino, span_of((const char *)&ino, sizeof ino));
    return link ? &from_ino(link)->node : NULL;
}

struct node *nodes_directory(struct nodes *nodes, struct node *parent, struct span name,
                             struct place *place)
{
    struct kept *kept = find_kept(nodes, parent, NULL, name);
    if (kept) {
        place_destroy(place);
        nodes_pin(&kept->node);
        return &kept->node;
    }
    kept = add_kept(nodes, parent, NULL, name);
    if (!kept) {
        place_destroy(place);
        return NULL;
    }
    kept->node.place = place;
    return &kept->node;
}

static bool digest_of(struct span bytes, struct version *out)
{
    uint8_t digest[DIGEST_SIZE];
    if (!digest_sha256(bytes, digest))
        return false;
    memcpy(out->bytes, digest, VERSION_SIZE);
    return true;
}

struct node *nodes_file(struct nodes *nodes, struct node *parent, struct span name,
                        const struct node_file *file)
{
    struct version version;
    if (!digest_of(file->bytes, &version))
        return NULL;
    struct kept *kept = find_kept(nodes, parent, &version, name);
    if (kept) {
        nodes_pin(&kept->node);
        if (!kept->bytes)
            keep_content(nodes, kept, file->bytes);
        return &kept->node;
    }
    kept = add_kept(nodes, parent, &version, name);
    if (!kept)
        return NULL;
    kept->node.version = version;
    kept->node.secret = file->secret;
    kept->node.size = file->bytes.size;
    kept->node.mtime_ms = file->mtime_ms;
    keep_content(nodes, kept, file->bytes); /* without memory it is read again when asked for */
    return &kept->node;
}

void nodes_pin(struct node *node)
{
    kept_of(node)->pins++;
}

void nodes_unpin(struct nodes *nodes, struct node *node)
{
    if (!node)
        return;
    kept_of(node)->pins--;
    release(nodes, node);
}

void nodes_look_up(struct node *node)
{
    kept_of(node)->lookups++;
}

void nodes_forget(struct nodes *nodes, uint64_t ino, uint64_t lookups)
{
    struct node *node = nodes_find(nodes, ino);
    if (!node)
        return;
    struct kept *kept = kept_of(node);
    kept->lookups -= lookups < kept->lookups ? lookups : kept->lookups;
    release(nodes, node);
}

bool nodes_content(struct nodes *nodes, struct node *node, struct span *out)
{
    struct kept *kept = kept_of(node);
    if (!kept->bytes)
        return false;
    unlink_content(nodes, kept);
    link_newest(nodes, kept);
    *out = span_of(kept->bytes, node->size);
    return true;
}

bool nodes_restore(struct nodes *nodes, struct node *node, struct span bytes)
{
    struct version version;
    struct kept *kept = kept_of(node);
    if (!digest_of(bytes, &version) ||
        memcmp(version.bytes, node->version.bytes, VERSION_SIZE) != 0)
        return false;
    if (!kept->bytes)
        keep_content(nodes, kept, bytes);
    return true;
}

void nodes_path(const struct node *node, struct span name, struct buf *out)
{
    if (node->parent)
        nodes_path(node->parent, node->name, out);
    if (name.size || !node->parent) {
        if (out->size == 0 || out->data[out->size - 1] != '/')
            buf_add_char(out, '/');
        buf_add_span(out, name);
    }
}

bool nodes_is_below(struct span path, struct span top)
{
    return span_starts(path, top) &&
           (path.size == top.size || top.size <= 1 || path.data[top.size] == '/');
}

/* Takes NAME out of the list, and what stands behind as many as are kept. */
static void make_room_for(struct kept *kept, struct span name)
{
    struct recent **at = &kept->recent;
    for (size_t count = 1; *at;) {
        bool same = (*at)->size == name.size && memcmp((*at)->name, name.data, name.size) == 0;
        if (same || count == NODES_RECENT) {
            free_recent(at);
            continue;
        }
        count++;
        at = &(*at)->next;
    }
}

/* So many directories are kept for what was opened in them; then the earliest goes. */
static void forget_earliest(struct nodes *nodes)
{
    struct kept *kept = nodes->earliest;
    if (nodes->remembering <= MOST_REMEMBERING)
        return;
    nodes->remembering--;
    unlink_recent(nodes, kept);
    while (kept->recent)
        free_recent(&kept->recent);
    nodes_unpin(nodes, &kept->node);
}

void nodes_remember(struct nodes *nodes, struct node *directory, struct span name,
                    bool is_directory, int64_t now_ms)
{
    struct kept *kept = kept_of(directory);
    struct recent *new = malloc(sizeof *new + name.size);
    if (!new)
        return; /* it is a courtesy */
    if (kept->recent) {
        unlink_recent(nodes, kept);
    } else {
        nodes_pin(directory);
        nodes->remembering++;
    }
    make_room_for(kept, name);
    *new = (struct recent){kept->recent, now_ms, is_directory, name.size};
    memcpy(new->name, name.data, name.size);
    kept->recent = new;
    link_latest(nodes, kept);
    forget_earliest(nodes);
}

size_t nodes_recent(const struct node *directory, int64_t now_ms,
                    struct node_recent out[NODES_RECENT])
{
    size_t count = 0;
    const struct kept *kept = (const struct kept *)directory;
    for (const struct recent *each = kept->recent; each && count < NODES_RECENT; each = each->next)
        if (now_ms - each->at_ms < RECENT_MS)
            out[count++] = (struct node_recent){span_of(each->name, each->size), each->directory};
    return count;
}

void nodes_each(struct nodes *nodes, void (*fn)(void *arg, struct node *node), void *arg)
{
    for (size_t i = 0; i < nodes->by_ino.chain_count; i++)
        for (struct dict_node *link = nodes->by_ino.chains[i]; link; link = link->next)
            if (from_ino(link) != nodes->root)
                fn(arg, &from_ino(link)->node);
}

/* NODE's place by way of its parents' new ones; NULL when the map has none. */
static struct place *place_anew(const struct node *node, const struct place *root,
                                const struct place_options *names)
{
    struct error ignored;
    if (!node->parent->parent)
        return place_child(root, node->name, names, &ignored);
    struct place *parent = place_anew(node->parent, root, names);
    struct place *place = parent && place_is_directory(parent)
                              ? place_child(parent, node->name, names, &ignored)
                              : NULL;
    place_destroy(parent);
    return place;
}

struct relocation {
    const struct place *root;
    const struct place_options *names;
};

static void relocate(void *arg, struct node *node)
{
    const struct relocation *relocation = arg;
    if (!node->place)
        return;
    struct place *place = place_anew(node, relocation->root, relocation->names);
    if (place && place_is_directory(place)) {
        place_destroy(node->place);
        node->place = place;
    } else {
        place_destroy(place);
    }
}

void nodes_relocate(struct nodes *nodes, struct place *root_place,
                    const struct place_options *names)
{
    struct relocation relocation = {root_place, names};
    nodes_each(nodes, relocate, &relocation);
    place_destroy(nodes->root->node.place);
    nodes->root->node.place = root_place;
}

struct nodes_stats nodes_stats(const struct nodes *nodes)
{
    return nodes->stats;
}
