#include "tests/sim/sim_pages.h"

#include <errno.h>
#include <string.h>

#include "tests/sim/sim_numbers.h"
#include "tests/sim/sim_world.h"

/* The first window of a reader in order; per mille: other programs need the memory of a file's
 * pages before it is read. */
enum { FIRST_WINDOW = 4, IS_RECLAIMED = 40 };

struct sim_page {
    bool is_locked;  /* it is being read */
    bool is_current; /* it has its bytes */
    bool is_dropped; /* it is no longer its inode's */
    unsigned uses;   /* readers that wait, and the request */
    unsigned char bytes[SIM_PAGE];
};

/* A READ of the background: which pages it fills. */
struct sim_filling {
    struct sim_inode *inode;
    uint64_t first, version;
    size_t count;
    struct sim_page *pages[];
};

static void sim_page_release(struct sim_page *page)
{
    if (--page->uses == 0 && page->is_dropped)
        sim_free(page);
}

static void sim_page_drop(struct sim_inode *inode, uint64_t index)
{
    struct sim_page *page = inode->pages[index];
    inode->pages[index] = NULL;
    inode->page_count--;
    page->is_dropped = true;
    page->uses++;
    sim_page_release(page);
}

void sim_inode_drop_pages(struct sim_inode *inode, uint64_t from)
{
    for (uint64_t i = from; inode->page_count > 0 && i < inode->page_room; i++)
        if (inode->pages[i])
            sim_page_drop(inode, i);
}

static struct sim_page *sim_page_find(const struct sim_inode *inode, uint64_t index)
{
    return index < inode->page_room ? inode->pages[index] : NULL;
}

static struct sim_page *sim_page_add(struct sim_inode *inode, uint64_t index)
{
    if (index >= inode->page_room) {
        size_t room = inode->page_room ? inode->page_room : 1;
        while (room <= index)
            room *= 2;
        inode->pages = sim_grow(inode->pages, room * sizeof(struct sim_page *));
        memset(inode->pages + inode->page_room, 0,
               (room - inode->page_room) * sizeof(struct sim_page *));
        inode->page_room = room;
    }
    struct sim_page *page = sim_alloc(sizeof *page);
    inode->pages[index] = page;
    inode->page_count++;
    return page;
}

static void sim_call_for_read(struct sim_call *call, struct sim_process *process,
                              const struct sim_inode *inode, uint64_t fh, uint64_t offset,
                              uint32_t size)
{
    struct fuse_read_in read = {.fh = fh, .offset = offset, .size = size};
    *call = (struct sim_call){
        .opcode = FUSE_READ, .node = inode->number, .process = process, .reply_most = size};
    sim_call_add(call, &read, sizeof read);
}

/* The bytes behind the end of a file are zeros. */
static void sim_page_fill(struct sim_page *page, const struct sim_call *call, size_t at)
{
    size_t left = at < call->reply_size ? call->reply_size - at : 0;
    size_t size = left < SIM_PAGE ? left : SIM_PAGE;
    if (call->error == 0) {
        if (size > 0)
            memcpy(page->bytes, call->reply + at, size);
        memset(page->bytes + size, 0, SIM_PAGE - size);
        page->is_current = true;
    }
    page->is_locked = false;
}

/* A short reply is the end of the file. */
static void sim_pages_note_end(struct sim_inode *inode, const struct sim_call *call,
                               uint64_t version)
{
    struct fuse_read_in read;
    memcpy(&read, call->body, sizeof read);
    uint64_t end = read.offset + call->reply_size;
    if (call->error == 0 && call->reply_size < read.size && end < inode->attr.size &&
        inode->attr_version == version) {
        inode->attr.size = end;
        inode->attr_version = ++sim_connection.attr_version;
    }
}

static void sim_pages_on_filled(struct sim_call *call)
{
    struct sim_filling *filling = call->arg;
    sim_pages_note_end(filling->inode, call, filling->version);
    for (size_t i = 0; i < filling->count; i++) {
        sim_page_fill(filling->pages[i], call, i * SIM_PAGE);
        sim_page_release(filling->pages[i]);
    }
    sim_inode_release(filling->inode);
    sim_free(filling);
}

/* Requests COUNT pages from FIRST on, none of which is in the cache. */
static void sim_pages_request(struct sim_process *process, struct sim_inode *inode, uint64_t fh,
                              uint64_t first, size_t count)
{
    struct sim_call call;
    struct sim_filling *filling = sim_alloc(sizeof *filling + count * sizeof(struct sim_page *));
    filling->inode = inode;
    filling->first = first;
    filling->version = inode->attr_version;
    filling->count = count;
    sim_inode_use(inode);
    for (size_t i = 0; i < count; i++) {
        filling->pages[i] = sim_page_add(inode, first + i);
        filling->pages[i]->is_locked = true;
        filling->pages[i]->uses++;
    }
    sim_call_for_read(&call, process, inode, fh, first * SIM_PAGE, (uint32_t)count * SIM_PAGE);
    call.end = sim_pages_on_filled;
    call.arg = filling;
    sim_call_post(&call);
}

static uint64_t sim_pages_of(const struct sim_inode *inode)
{
    return (inode->attr.size + SIM_PAGE - 1) / SIM_PAGE;
}

/* Requests what is missing of the pages FROM to END. */
static void sim_pages_request_window(struct sim_process *process, struct sim_inode *inode,
                                     uint64_t fh, uint64_t from, uint64_t end)
{
    uint64_t last = sim_pages_of(inode);
    end = end < last ? end : last;
    while (from < end) {
        size_t count = 0;
        while (from + count < end && count < sim_connection.most_pages &&
               !sim_page_find(inode, from + count))
            count++;
        if (count > 0)
            sim_pages_request(process, inode, fh, from, count);
        from += count ? count : 1;
    }
}

/* The page INDEX of WANTED is not in the cache. */
static void sim_pages_read_ahead(struct sim_process *process, struct sim_inode *inode, uint64_t fh,
                                 struct sim_read_ahead *ahead, uint64_t index, size_t wanted)
{
    unsigned most = sim_connection.read_ahead_pages;
    bool in_order = index == 0 || index == ahead->next;
    size_t pages = wanted;
    if (in_order) {
        ahead->pages = ahead->pages ? ahead->pages * 2 : FIRST_WINDOW;
        ahead->pages = ahead->pages < most ? ahead->pages : most;
        pages = pages > ahead->pages ? pages : ahead->pages;
    } else {
        ahead->pages = 0;
    }
    pages = pages < most ? pages : most;
    if (pages == 0)
        return;
    ahead->end = index + pages;
    ahead->marker = in_order ? index + (pages + 1) / 2 : UINT64_MAX;
    sim_pages_request_window(process, inode, fh, index, ahead->end);
}

/* A reader in order has come to the marker: the next window is requested early. */
static void sim_pages_continue(struct sim_process *process, struct sim_inode *inode, uint64_t fh,
                               struct sim_read_ahead *ahead, uint64_t index)
{
    if (index != ahead->marker || ahead->pages == 0)
        return;
    unsigned most = sim_connection.read_ahead_pages;
    uint64_t from = ahead->end;
    ahead->pages = ahead->pages * 2 < most ? ahead->pages * 2 : most;
    ahead->end += ahead->pages;
    ahead->marker = from;
    sim_pages_request_window(process, inode, fh, from, ahead->end);
}

struct sim_page_wait {
    const struct sim_page *page;
    const struct sim_process *process;
};

static bool sim_page_is_unlocked(void *arg)
{
    const struct sim_page_wait *wait = arg;
    return !wait->page->is_locked || (wait->process && wait->process->is_signalled);
}

/* Waits until PAGE is not being read; hears deadly signals alone. */
static int sim_page_wait(struct sim_process *process, struct sim_page *page)
{
    struct sim_page_wait wait = {page, process};
    if (!page->is_locked)
        return 0;
    sim_device_sleep(process, true, sim_page_is_unlocked, &wait, "waits for a page");
    return page->is_locked ? -EINTR : 0;
}

/* The read-ahead has failed for this page: it is read again, alone, and an error is the reader's.
 */
static int sim_page_read_again(struct sim_process *process, struct sim_inode *inode, uint64_t fh,
                               struct sim_page *page, uint64_t index)
{
    struct sim_call call;
    uint64_t version = inode->attr_version;
    page->is_locked = true;
    sim_call_for_read(&call, process, inode, fh, index * SIM_PAGE, SIM_PAGE);
    int error = sim_call_wait(&call);
    call.error = error;
    sim_pages_note_end(inode, &call, version);
    sim_page_fill(page, &call, 0);
    sim_call_clean_up(&call);
    return error;
}

/* The page INDEX with its bytes, used by the caller. */
static int sim_page_get(struct sim_process *process, struct sim_inode *inode, uint64_t fh,
                        struct sim_read_ahead *ahead, uint64_t index, size_t wanted,
                        struct sim_page **out)
{
    for (;;) {
        if (!sim_page_find(inode, index))
            sim_pages_read_ahead(process, inode, fh, ahead, index, wanted);
        else
            sim_pages_continue(process, inode, fh, ahead, index);
        struct sim_page *page = sim_page_find(inode, index);
        if (!page && index >= sim_pages_of(inode)) {
            *out = NULL;
            return 0;
        }
        if (!page)
            page = sim_page_add(inode, index);
        page->uses++;
        int error = sim_page_wait(process, page);
        if (!error && !page->is_current && !page->is_dropped)
            error = sim_page_read_again(process, inode, fh, page, index);
        if (error || (page->is_current && !page->is_dropped)) {
            *out = page;
            return error;
        }
        sim_page_release(page);
    }
}

ssize_t sim_pages_read(struct sim_process *process, struct sim_inode *inode, uint64_t fh,
                       struct sim_read_ahead *ahead, void *bytes, size_t size, uint64_t offset)
{
    size_t done = 0;
    struct sim_dice dice = sim_dice_for("pages", sim_device_count_requests() ^ inode->number << 32);
    if (inode->page_count > 0 && sim_dice_chance(&dice, IS_RECLAIMED))
        sim_inode_drop_pages(inode, 0);
    while (done < size && offset + done < inode->attr.size) {
        struct sim_page *page;
        uint64_t at = offset + done, index = at / SIM_PAGE;
        size_t wanted = (size_t)((offset + size + SIM_PAGE - 1) / SIM_PAGE - index);
        int error = sim_page_get(process, inode, fh, ahead, index, wanted, &page);
        /* it may have become shorter meanwhile */
        uint64_t left = at < inode->attr.size ? inode->attr.size - at : 0;
        size_t part = SIM_PAGE - at % SIM_PAGE;
        part = part < size - done ? part : size - done;
        part = part < left ? part : (size_t)left;
        if (!error && page && part > 0)
            memcpy((char *)bytes + done, page->bytes + at % SIM_PAGE, part);
        if (page)
            sim_page_release(page);
        if (error)
            return done > 0 ? (ssize_t)done : error;
        if (!page || part == 0)
            break;
        done += part;
        ahead->next = (at + part + SIM_PAGE - 1) / SIM_PAGE;
    }
    return (ssize_t)done;
}

int sim_pages_store(struct sim_inode *inode, uint64_t offset, const unsigned char *bytes,
                    size_t size)
{
    sim_inode_use(inode);
    if (offset + size > inode->attr.size) {
        inode->attr.size = offset + size;
        inode->attr_version = ++sim_connection.attr_version;
    }
    for (size_t done = 0; done < size;) {
        uint64_t index = (offset + done) / SIM_PAGE;
        size_t in_page = (size_t)((offset + done) % SIM_PAGE), part = SIM_PAGE - in_page;
        part = part < size - done ? part : size - done;
        struct sim_page *page = sim_page_find(inode, index);
        if (!page)
            page = sim_page_add(inode, index);
        page->uses++;
        sim_page_wait(NULL, page);
        memcpy(page->bytes + in_page, bytes + done, part);
        bool is_whole = part == SIM_PAGE || offset + done + part >= inode->attr.size;
        if (!page->is_current && in_page == 0 && is_whole) {
            memset(page->bytes + part, 0, SIM_PAGE - part);
            page->is_current = true;
        }
        sim_page_release(page);
        done += part;
    }
    sim_inode_release(inode);
    return 0;
}

void sim_pages_invalidate(struct sim_inode *inode, uint64_t from)
{
    sim_inode_use(inode);
    for (uint64_t i = from; i < inode->page_room; i++) {
        struct sim_page *page = inode->pages[i];
        if (!page)
            continue;
        page->uses++;
        sim_page_wait(NULL, page);
        sim_page_release(page);
        if (sim_page_find(inode, i) == page)
            sim_page_drop(inode, i);
    }
    sim_inode_release(inode);
}
