#include "tests/sim/sim_numbers.h"

#include <string.h>
#include <sys/stat.h>

#include "tests/sim/sim_device.h"
#include "tests/sim/sim_world.h"

/* Of all bytes that were seen, for comparison; beyond it new pages are not compared. */
enum { BYTES_MOST = 64 << 20 };

/* What a program saw of one page of a file. */
struct sim_seen_page {
    struct sim_dict_link link;
    uint64_t index;
    size_t size;
    unsigned char *bytes; /* owned */
};

struct sim_number {
    struct sim_dict_link link;
    uint64_t number, generation, parent;
    char *name; /* owned */
    struct fuse_attr attr;
    uint64_t lookups; /* that the program counts */
    bool grows;       /* changes.jsonl */
    struct sim_dict pages;
};

static struct sim_numbers {
    struct sim_dict all;
    uint64_t lookups;
    size_t bytes;
} sim_numbers;

static struct sim_number *sim_number_find(uint64_t number)
{
    struct sim_dict_link *link = sim_dict_first(&sim_numbers.all, number);
    return link ? SIM_OF(link, struct sim_number, link) : NULL;
}

static struct sim_number *sim_number_add(uint64_t number, uint64_t parent, const char *name,
                                         size_t size)
{
    struct sim_number *added = sim_alloc(sizeof *added);
    added->number = number;
    added->parent = parent;
    added->name = sim_printf("%.*s", (int)size, name);
    sim_dict_add(&sim_numbers.all, &added->link, number);
    return added;
}

static void sim_number_grow(struct sim_number *number, const struct fuse_attr *attr)
{
    if (attr->size < number->attr.size)
        sim_defect("kernel", "the growing file %llu shrinks from %llu to %llu bytes",
                   (unsigned long long)number->number, (unsigned long long)number->attr.size,
                   (unsigned long long)attr->size);
    number->attr.size = attr->size;
}

/* An inode never changes. */
static void sim_number_compare(struct sim_number *number, const struct fuse_attr *attr)
{
    const struct fuse_attr *before = &number->attr;
    if (before->mode != attr->mode || before->uid != attr->uid || before->gid != attr->gid)
        sim_defect("kernel", "inode %llu (%s) has the mode %o of %u:%u, and had %o of %u:%u",
                   (unsigned long long)number->number, number->name, attr->mode, attr->uid,
                   attr->gid, before->mode, before->uid, before->gid);
    if (number->grows) {
        sim_number_grow(number, attr);
        return;
    }
    if (before->size != attr->size || before->mtime != attr->mtime ||
        before->mtimensec != attr->mtimensec)
        sim_defect(
            "kernel", "inode %llu (%s) has %llu bytes of %llu.%u, and had %llu bytes of %llu.%u",
            (unsigned long long)number->number, number->name, (unsigned long long)attr->size,
            (unsigned long long)attr->mtime, attr->mtimensec, (unsigned long long)before->size,
            (unsigned long long)before->mtime, before->mtimensec);
}

static void sim_number_check_form(uint64_t number, const struct fuse_attr *attr)
{
    unsigned type = attr->mode & S_IFMT;
    if (attr->ino != number || attr->nlink != 1 || attr->size > INT64_MAX ||
        attr->blocks != (attr->size + 511) / 512 ||
        (type != S_IFREG && type != S_IFDIR && type != S_IFLNK))
        sim_defect("kernel",
                   "inode %llu has the number %llu, %u links, %llu bytes in %llu blocks, mode %o",
                   (unsigned long long)number, (unsigned long long)attr->ino, attr->nlink,
                   (unsigned long long)attr->size, (unsigned long long)attr->blocks, attr->mode);
    if (type != S_IFLNK && attr->mode & (S_IWUSR | S_IWGRP | S_IWOTH | S_ISUID | S_ISGID))
        sim_defect("kernel", "inode %llu has the mode %o", (unsigned long long)number, attr->mode);
}

void sim_numbers_grant(uint64_t parent, const char *name, size_t size,
                       const struct fuse_entry_out *entry)
{
    struct sim_number *number = sim_number_find(entry->nodeid);
    if (entry->nodeid == FUSE_ROOT_ID)
        sim_defect("kernel", "%.*s in %llu is the root", (int)size, name,
                   (unsigned long long)parent);
    sim_number_check_form(entry->nodeid, &entry->attr);
    if (!number) {
        number = sim_number_add(entry->nodeid, parent, name, size);
        number->generation = entry->generation;
        number->attr = entry->attr;
        number->grows = strcmp(number->name, "changes.jsonl") == 0 && S_ISREG(entry->attr.mode);
    }
    if (number->generation != entry->generation)
        sim_defect("kernel", "inode %llu has the generation %llu, and had %llu",
                   (unsigned long long)entry->nodeid, (unsigned long long)entry->generation,
                   (unsigned long long)number->generation);
    if (number->parent != parent || strlen(number->name) != size ||
        memcmp(number->name, name, size) != 0)
        sim_defect("kernel", "inode %llu is %.*s in %llu, and was %s in %llu",
                   (unsigned long long)entry->nodeid, (int)size, name, (unsigned long long)parent,
                   number->name, (unsigned long long)number->parent);
    sim_number_compare(number, &entry->attr);
    number->lookups++;
    sim_numbers.lookups++;
}

void sim_numbers_check_attr(uint64_t number, const struct fuse_attr *attr)
{
    struct sim_number *known = sim_number_find(number);
    sim_number_check_form(number, attr);
    if (!known) {
        known = sim_number_add(number, 0, "/", 1);
        known->attr = *attr;
    }
    sim_number_compare(known, attr);
}

void sim_numbers_forget(uint64_t number, uint64_t count)
{
    struct sim_number *known = sim_number_find(number);
    if (!known || known->lookups < count)
        sim_broken("the simulated kernel forgets more look-ups of %llu than it had",
                   (unsigned long long)number);
    known->lookups -= count;
    sim_numbers.lookups -= count;
}

void sim_numbers_check_use(uint64_t number)
{
    const struct sim_number *known = sim_number_find(number);
    if (number != FUSE_ROOT_ID && (!known || known->lookups == 0))
        sim_broken("the simulated kernel uses the node %llu after it has forgotten it",
                   (unsigned long long)number);
}

/* The page INDEX, whose first SIZE bytes are known; NULL: too many bytes were seen. */
static struct sim_seen_page *sim_number_page(struct sim_number *number, uint64_t index, size_t size)
{
    struct sim_dict_link *link = sim_dict_first(&number->pages, index);
    struct sim_seen_page *page = link ? SIM_OF(link, struct sim_seen_page, link) : NULL;
    if (page || sim_numbers.bytes + size > BYTES_MOST)
        return page;
    page = sim_alloc(sizeof *page);
    page->index = index;
    sim_dict_add(&number->pages, &page->link, index);
    return page;
}

static void sim_number_compare_page(struct sim_number *number, uint64_t index,
                                    const unsigned char *bytes, size_t size, const char *how)
{
    struct sim_seen_page *page = sim_number_page(number, index, size);
    if (!page)
        return;
    size_t common = size < page->size ? size : page->size;
    if (common > 0 && memcmp(page->bytes, bytes, common) != 0)
        sim_defect("kernel", "%s: page %llu of the inode %llu (%s) has other bytes than before",
                   how, (unsigned long long)index, (unsigned long long)number->number,
                   number->name);
    if (size <= page->size)
        return;
    page->bytes = sim_grow(page->bytes, size);
    memcpy(page->bytes, bytes, size);
    sim_numbers.bytes += size - page->size;
    page->size = size;
}

/* OFFSET is that of a page: the kernel reads whole pages. */
void sim_numbers_check_bytes(uint64_t number, uint64_t offset, const void *bytes, size_t size,
                             const char *how)
{
    struct sim_number *known = sim_number_find(number);
    const unsigned char *at = bytes;
    if (!known || offset % SIM_PAGE)
        return;
    if (offset + size > known->attr.size && !known->grows)
        sim_defect("kernel", "%s: the inode %llu (%s) of %llu bytes has %zu bytes at %llu", how,
                   (unsigned long long)number, known->name, (unsigned long long)known->attr.size,
                   size, (unsigned long long)offset);
    for (size_t done = 0; done < size; done += SIM_PAGE)
        sim_number_compare_page(known, (offset + done) / SIM_PAGE, at + done,
                                size - done < SIM_PAGE ? size - done : SIM_PAGE, how);
}

void sim_numbers_check_read(uint64_t number, uint64_t offset, const void *bytes, size_t size,
                            size_t wanted)
{
    const struct sim_number *known = sim_number_find(number);
    if (!known)
        return;
    uint64_t left = offset < known->attr.size ? known->attr.size - offset : 0;
    if (size < wanted && size < left)
        sim_defect("kernel", "READ of the inode %llu (%s) has %zu bytes of %zu at %llu of %llu",
                   (unsigned long long)number, known->name, size, wanted,
                   (unsigned long long)offset, (unsigned long long)known->attr.size);
    sim_numbers_check_bytes(number, offset, bytes, size, "READ");
}

void sim_numbers_check_target(uint64_t number, const void *bytes, size_t size)
{
    struct sim_number *known = sim_number_find(number);
    if (!known || !S_ISLNK(known->attr.mode) || size == 0 || size != known->attr.size ||
        memchr(bytes, '\0', size))
        sim_defect("kernel", "the link %llu has a target of %zu bytes", (unsigned long long)number,
                   size);
    sim_number_compare_page(known, 0, bytes, size, "READLINK");
}

const char *sim_numbers_name(uint64_t number)
{
    const struct sim_number *known = sim_number_find(number);
    return known ? known->name : "";
}

uint64_t sim_numbers_lookups(void)
{
    return sim_numbers.lookups;
}
