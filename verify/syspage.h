/*
 * syspage.h - system pages: where they stand, how they look, how they change.
 *
 * File header (0), PFS (1 and every 8,088), GAM, SGAM, DIFF, ML (2, 3, 6, 7 and every 511,232), one
 * IAM an interval (8 and interval start + 8), boot (9, primary file).  They carry SQL Server's
 * header and page checksum only; pages 4 and 5 are reserved and never allocated.  Where a PFS page
 * would fall on an interval page (first on the IAM of interval 896 at 3.75 TB, then on the GAM of
 * interval 1,011 at 4.23 TB) the PFS page stands and that map does not exist: syspage_interval_page
 * says so.
 *
 * Source: reference "SQL Server storage I/O", sections 2.2 to 2.4.  The mark that a file is ours is
 * a second row of page 0.  Pure; any thread.
 */
#ifndef VERIFY_SYSPAGE_H
#define VERIFY_SYSPAGE_H

#include "verify/page.h"

#define PFS_INTERVAL_PAGES   8088u
#define GAM_INTERVAL_PAGES   511232u /* 63,904 extents */
#define GAM_INTERVAL_EXTENTS 63904u
#define PFS_BYTE_FULL        0x44 /* allocated, 95-100 % full */
#define PFS_BYTE_IAM         0x74 /* mixed extent, IAM page */
#define MARK_TEXT            "PAGESTORM/1"
#define SYSPAGE_NO_PAGE      UINT32_MAX

enum syspage_kind {
    SYSPAGE_NONE, /* an ordinary data page */
    SYSPAGE_FILE_HEADER,
    SYSPAGE_PFS,
    SYSPAGE_GAM,
    SYSPAGE_SGAM,
    SYSPAGE_DIFF,
    SYSPAGE_ML,
    SYSPAGE_IAM,
    SYSPAGE_BOOT,
    SYSPAGE_RESERVED, /* 4, 5: never allocated, must stay zero */
};

#define DATABASE_ID_TEMPDB 2 /* SQL Server's; 5 and more are users' */

enum file_kind {
    FILE_KIND_DATA = 0,
    FILE_KIND_LOG = 1,
    FILE_KIND_BACKUP = 2,
    /* Pages of a data file as they were at one moment, under that file's identity, at the same
     * places; page 0 is its own.  Worth nothing after the run. */
    FILE_KIND_SNAPSHOT = 3,
};

/* What page 0 says. */
struct file_mark {
    uint8_t run_id[RUN_ID_BYTES];
    uint16_t file_uid;
    uint16_t incarnation;
    uint16_t file_id; /* within its database: 1 = primary data, 2 = log, 3.. further files */
    uint16_t database_id;
    enum file_kind kind;
    uint32_t size_pages;
    uint32_t sector_bytes; /* 512 or 4096 */
    uint64_t seed;         /* of the run, so that bodies can be regenerated from the files alone */
    uint16_t compressible;
    uint16_t log_count; /* log files of its database; 0 is written as 1 */
};

/* primary: file with the boot page. */
enum syspage_kind syspage_kind(uint32_t page_no, bool primary);
uint32_t syspage_pfs_of(uint32_t page_no); /* PFS page that covers page_no */
/* GAM, SGAM, DIFF, ML or IAM page of the interval of page_no; SYSPAGE_NO_PAGE if the interval has
 * none because a PFS page stands there (or kind is not a map of intervals). */
uint32_t syspage_interval_page(uint32_t page_no, enum syspage_kind kind);

/* Fresh images (not sealed). */
void syspage_build_file_header(void *page, const struct file_mark *mark);
void syspage_build_boot(void *page, const struct file_mark *mark, const char *database_name);
/* PFS, GAM, SGAM, DIFF, ML, IAM at page_no: nothing allocated. */
void syspage_build_map(void *page, enum syspage_kind kind, uint32_t page_no, uint16_t file_id);

void pfs_set(void *pfs_page, uint32_t page_no, uint8_t value);
uint8_t pfs_get(const void *pfs_page, uint32_t page_no);
/* extent_no is file-wide; the map page must cover it. */
void bitmap_set(void *map_page, uint32_t extent_no, bool value);
bool bitmap_get(const void *map_page, uint32_t extent_no);
void boot_set_checkpoint(void *boot_page, struct lsn lsn);
struct lsn boot_get_checkpoint(const void *boot_page);

/* The file of an own file header has another size now; its smallest one stays what it was. */
void file_header_set_size(void *page0, uint32_t size_pages);

/* Set m_lsn and protect. */
void syspage_seal(void *page, struct lsn lsn);
/* Own page number, file id, type and checksum right?  (SYSPAGE_RESERVED: all zero?) */
bool syspage_check(const void *page, enum syspage_kind kind, uint32_t page_no, uint16_t file_id);

/* Read the mark of page 0: 0, or -ENOENT (a sound file header of a database that is not ours),
 * -EINVAL (not a file header, or a foreign one that is damaged), -EBADMSG (ours, but damaged). */
int file_mark_read(const void *page0, struct file_mark *out) __attribute__((warn_unused_result));
/* Of any real or own file header page (torn bits restored): false if it is none.  Reads the row and
 * does not ask whether the protection of the page holds.  page0 may be any 8 KiB. */
struct file_header_info {
    uint16_t file_id;
    uint32_t size_pages;
    uint32_t sector_bytes;
};
bool file_header_read(const void *page0, struct file_header_info *out);

#endif
