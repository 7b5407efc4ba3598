/*
 * explain.h - name the fault: from one bad image and what was owed, to a class and a sector map.
 *
 * Procedure of reference "faults", section 1.4, steps 2 to 5: poison, zero, header CRC, identity,
 * sector map with regenerated candidates.  The result is the name at once; what further reads and
 * the other end of a misdirection add is explain_after_rereads() and the pairing of the run.
 *
 * Pure; the caller holds the images.  Nothing is allocated.
 */
#ifndef VERIFY_EXPLAIN_H
#define VERIFY_EXPLAIN_H

#include "verify/ledger.h"
#include "verify/page.h"
#include "verify/syspage.h"
#include "verify/verdict.h"

/* What the place owed. */
struct expectation {
    const struct run_identity *run;
    uint16_t file_uid, incarnation, file_id;
    uint32_t page_no;
    struct ledger_view owed;
    bool created_by_us; /* never-written space must read as zeros */
    /* System pages are compared byte by byte with what the run holds. */
    enum syspage_kind kind;
    const void *system_image;  /* acknowledged image, or NULL when it is not known */
    const void *system_issued; /* image of the write that is indeterminate, or NULL */
};

enum sector_state {
    SECTOR_NEW = 'n', /* newest generation that the place may show */
    SECTOR_OLD = 'o', /* an older generation of this page, byte-equal to its regenerated form */
    SECTOR_ZERO = 'z',
    SECTOR_OTHER = 'm',   /* another page of this run */
    SECTOR_DAMAGED = 'c', /* right stamp, wrong bytes */
    SECTOR_FOREIGN = '?',
    SECTOR_POISON = 'p',     /* the read did not fill it */
    SECTOR_UNREADABLE = 'u', /* no read of it succeeded; explain() does not say this */
};

struct explanation {
    enum verdict verdict; /* VERDICT_NONE: the image is what was owed */
    char sectors[PAGE_SECTORS + 1];
    uint64_t generation_expected;
    uint64_t generation_found; /* 0 when none could be read */
    /* origin of strange content */
    bool has_origin;
    uint16_t origin_file_uid;
    uint32_t origin_page_no;
    uint64_t origin_generation;
    bool origin_other_run;
    /* The same content stands so many bytes behind (negative: before) its own place in the same
     * file; a distance that is no multiple of a page: the storage works by sectors. */
    bool has_shift;
    int64_t shift_bytes;
    /* It is a log block; has_origin is not set. */
    bool origin_is_log;
    uint32_t origin_fseq, origin_block;
    unsigned damaged_bits;     /* differing bits, when few and countable */
    int first_bad_offset;      /* in the page, -1 if unknown */
    uint64_t found_written_ns; /* realtime: when an older image of the page was built; 0 unknown */
};

/* Read buffers get this at both ends of each sector before each read (poison_fill), so that a read
 * which reports success without transferring data shows. io_serial makes each read's poison its
 * own. */
void poison_fill(void *buf, size_t size_bytes, uint64_t io_serial);
bool poison_sector(const void *sector_buf, uint64_t io_serial);

/* Is the image what the place owes (fast path: no sector work when it is right)? */
bool explain_is_right(const void *page, const struct expectation *expect);
/* Name the fault of an image that is not right. */
void explain(const void *page, uint64_t io_serial, const struct expectation *expect,
             struct explanation *out);

/* Re-reads decide between persistent and transient (1.4, step 6): first is the explanation of the
 * first bad image, healed tells that a later read was right.
 *   lost_write -> stale_read, misdirected_write -> misdirected_read, damage -> transient_damage */
enum verdict explain_after_rereads(const struct explanation *first, bool healed);
const char *sector_state_text(enum sector_state state);

#endif
