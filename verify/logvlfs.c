/*
 * logvlfs.c - walk the VLF headers of a log's files and put the used VLFs in order (see logvlfs.h).
 *
 * A header of our own log must equal, byte for byte, what its fields build: so every flipped bit of
 * the 8 KiB is seen, and those in the fields show as a gap or as blocks of another use.
 */
#include "verify/logvlfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void log_damage_add(struct log_scan *scan, const struct log_damage *damage)
{
    if (scan->damage_count < LOG_SCAN_DAMAGE_MAX)
        scan->damage[scan->damage_count] = *damage;
    scan->damage_count++;
}

static void add_vlf_damage(struct log_scan *scan, const struct vlf_header *vlf,
                           enum log_block_check what)
{
    log_damage_add(scan,
                   &(struct log_damage){
                       .file = vlf->file, .offset = vlf->offset, .fseq = vlf->fseq, .what = what});
}

static bool header_is_exact(const uint8_t *buf, const struct vlf_header *vlf)
{
    uint8_t built[VLF_HEADER_BYTES];
    vlf_header_build(built, vlf);
    return memcmp(buf, built, sizeof(built)) == 0;
}

/* Offset of the next header that fits its place, or the end of the file; 0 after a read error. */
static uint64_t find_header(struct log_window *window, uint64_t offset)
{
    struct vlf_header ignored;
    while (window->file_bytes - offset >= VLF_HEADER_BYTES) {
        const uint8_t *buf = log_window_get(window, offset, VLF_HEADER_BYTES, LOG_WINDOW_BYTES);
        if (buf == NULL)
            return 0;
        if (vlf_header_parse(buf, offset, &ignored) == 0)
            return offset;
        offset += VLF_HEADER_BYTES;
    }
    return window->file_bytes;
}

/* Take the header at buf; returns where the next one should be, 0 if this one is unusable. */
static uint64_t take_header(struct log_vlfs *vlfs, struct log_scan *scan, const uint8_t *buf,
                            uint64_t offset, uint64_t file_bytes)
{
    struct vlf_header vlf;
    if (vlf_header_parse(buf, offset, &vlf) != 0) {
        vlf = (struct vlf_header){.file = scan->file, .offset = offset};
        add_vlf_damage(scan, &vlf, LOG_BLOCK_BAD_VLF);
        vlfs->lost_count++;
        return 0;
    }
    vlf.file = scan->file;
    bool whole = vlf.size_bytes <= file_bytes - offset;
    if (!whole || (scan->chained && !header_is_exact(buf, &vlf)))
        add_vlf_damage(scan, &vlf, LOG_BLOCK_BAD_VLF);
    uint64_t next = whole ? offset + vlf.size_bytes : file_bytes;
    vlf.size_bytes = next - offset;
    vlfs->headers[vlfs->count++] = vlf;
    return next;
}

void log_vlfs_turn(struct log_window *window, struct log_scan *scan, unsigned file)
{
    const struct log_scan_file *more = file ? &scan->more[file - 1] : NULL;
    scan->file = file;
    log_window_turn(window, more ? &more->reader : &scan->reader,
                    more ? more->file_bytes : scan->file_bytes);
}

static int walk_file(struct log_vlfs *vlfs, struct log_window *window, struct log_scan *scan)
{
    uint64_t offset = VLF_HEADER_BYTES;
    size_t before = vlfs->count;
    while (offset < window->file_bytes && window->file_bytes - offset >= VLF_HEADER_BYTES) {
        if (vlfs->count == LOG_SCAN_VLF_MAX)
            return -EFBIG;
        const uint8_t *buf = log_window_get(window, offset, VLF_HEADER_BYTES, 0);
        if (buf == NULL)
            return window->error;
        uint64_t next = take_header(vlfs, scan, buf, offset, window->file_bytes);
        if (next == 0)
            next = find_header(window, offset + VLF_HEADER_BYTES);
        if (next == 0)
            return window->error;
        offset = next;
    }
    return vlfs->count == before ? -EINVAL : 0;
}

int log_vlfs_walk(struct log_vlfs *vlfs, struct log_window *window, struct log_scan *scan)
{
    int error = 0;
    for (unsigned file = 0; file <= scan->more_count && !error; file++) {
        log_vlfs_turn(window, scan, file);
        size_t before = vlfs->count;
        error = walk_file(vlfs, window, scan);
        if (file)
            scan->more[file - 1].vlf_count = vlfs->count - before;
    }
    return error;
}

static int compare_use(const void *left, const void *right)
{
    const struct vlf_header *a = left;
    const struct vlf_header *b = right;
    if ((a->fseq == 0) != (b->fseq == 0))
        return a->fseq == 0 ? 1 : -1;
    if (a->fseq != b->fseq)
        return a->fseq < b->fseq ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

void log_vlfs_order(struct log_vlfs *vlfs, struct log_scan *scan)
{
    qsort(vlfs->headers, vlfs->count, sizeof(vlfs->headers[0]), compare_use);
    size_t kept = 0;
    for (size_t i = 0; i < vlfs->count; i++) {
        const struct vlf_header *vlf = &vlfs->headers[i];
        bool again = kept != 0 && vlf->fseq != 0 && vlfs->headers[kept - 1].fseq == vlf->fseq;
        if (again)
            add_vlf_damage(scan, vlf, LOG_BLOCK_BAD_VLF);
        else
            vlfs->headers[kept++] = *vlf;
        if (!again && vlf->fseq != 0)
            vlfs->used_count = kept;
    }
    vlfs->count = kept;
}

bool log_vlfs_gap(const struct log_vlfs *vlfs, size_t index, struct log_scan *scan)
{
    const struct vlf_header *vlf = &vlfs->headers[index];
    uint32_t missing = index == 0 ? 0 : vlf->fseq - vlfs->headers[index - 1].fseq - 1;
    /* The VLF of a damaged header may be the missing one: one fault is reported once. */
    if (missing > vlfs->lost_count && !scan->gaps_allowed)
        add_vlf_damage(scan, vlf, LOG_BLOCK_GAP);
    return missing != 0;
}
