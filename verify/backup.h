/*
 * backup.h - the backup file: pages and log of one database, in blocks that are known by their
 * place.
 *
 *   offset 0       page 0 with the mark that the file is ours (syspage.h, FILE_KIND_BACKUP)
 *   offset 8192    backups one behind the other: one full backup, or log backups of one chain
 *
 * A backup (all integers little-endian; a meta page is 8,192 bytes):
 *
 *   header page    which database, which files, from which LSN to which; complete or not
 *   blocks         up to MaxTransferSize bytes each: consecutive pages of one file, exactly as they
 *                  stood on the device, or whole log blocks of one VLF.  Each starts at a multiple
 *                  of block_bytes; what is left up to the next multiple is zero
 *   directory      after 126 blocks at most: for each block its offset, identity and XXH3-64
 *   ...
 *   trailer page   totals, and where the last directory stands (they are chained backwards)
 *
 * The identity of a block stands in the directory and not in the block, so that the pages go from
 * the device to the backup in one transfer of MaxTransferSize; each page and each log block has its
 * own identity besides.  The header is written first, as incomplete, and again at the end: a backup
 * that was stopped in the middle says so.
 *
 * Restore: every page as it is in the backup, then the changes of the log records up to
 * end_position that are newer (redo.h).
 *
 * Pure; nothing is believed before its XXH3-64 is right; nothing is allocated but by
 * backup_set_load.
 */
#ifndef VERIFY_BACKUP_H
#define VERIFY_BACKUP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verify/page.h"

#define BACKUP_META_BYTES         8192
#define BACKUP_MAGIC              0x31504B4350545350ull /* "PSTPCKP1" */
#define BACKUP_VERSION            1
#define BACKUP_FIRST_OFFSET       8192
#define BACKUP_TRANSFER_BYTES_MIN 65536 /* SQL Server: multiples of 64 KiB up to 4 MiB */
#define BACKUP_TRANSFER_BYTES_MAX (4 << 20)
#define BACKUP_DIRECTORY_BLOCKS   126
#define BACKUP_FILES_MAX          80
#define BACKUP_NAME_BYTES         72
#define BACKUP_BLOCKS_MAX         (1u << 28) /* 16 TiB in the smallest blocks */

enum backup_meta_type { BACKUP_HEADER = 1, BACKUP_DIRECTORY = 2, BACKUP_TRAILER = 3 };
enum backup_kind { BACKUP_FULL = 1, BACKUP_LOG = 2 };
enum backup_block_kind { BACKUP_BLOCK_PAGES = 1, BACKUP_BLOCK_LOG = 2 };

/* The start of every meta page. */
struct backup_meta {
    uint64_t magic;
    uint16_t version;
    uint16_t type;   /* enum backup_meta_type */
    uint32_t number; /* of the backup: rises with each backup of the run */
    uint8_t run_id[RUN_ID_BYTES];
    uint64_t offset;   /* of this page in the file */
    uint64_t sequence; /* blocks of this backup before it */
    uint16_t file_uid; /* of the backup file */
    uint16_t database_id;
    uint32_t count; /* files of a header, blocks of a directory */
    uint64_t xxh3;  /* of the 8,192 bytes with this field zero */
};
static_assert(sizeof(struct backup_meta) == 64, "64 bytes");
static_assert(offsetof(struct backup_meta, offset) == 32, "own place at 32");
static_assert(offsetof(struct backup_meta, xxh3) == 56, "XXH3-64 at 56");

struct backup_file_row {
    uint16_t uid, incarnation, file_id;
    uint16_t primary;
    uint32_t size_pages; /* when the backup ended */
    uint32_t sector_bytes;
    uint32_t sparse;
    uint32_t reserved;
    char name[BACKUP_NAME_BYTES]; /* last part of its path, zero-terminated */
};
static_assert(sizeof(struct backup_file_row) == 96, "96 bytes");

struct backup_header {
    struct backup_meta meta;
    uint32_t kind;     /* enum backup_kind */
    uint32_t complete; /* 0 until everything is durable */
    uint32_t transfer_bytes;
    uint32_t block_bytes;
    uint64_t seed; /* of the run: bodies are a function of it */
    uint32_t compressible;
    uint32_t base;                    /* log backups: number of the full backup they follow */
    uint64_t first_position;          /* of the log in it; lsn_position */
    uint64_t end_position;            /* behind its last log block */
    uint64_t started_ns, finished_ns; /* CLOCK_REALTIME, or virtual */
    uint64_t trailer_offset;
    uint32_t first_crc; /* chain value before the first log block, */
    uint32_t end_crc;   /* and after the last */
    uint16_t log_uid;   /* of the log file, whose chain it is */
    uint8_t reserved[14];
    char database[32];
    uint8_t reserved2[64];
    struct backup_file_row files[BACKUP_FILES_MAX];
    uint8_t reserved3[256];
};
static_assert(offsetof(struct backup_header, kind) == 64, "behind the meta start");
static_assert(offsetof(struct backup_header, files) == 256, "file table at 256");
static_assert(sizeof(struct backup_header) == BACKUP_META_BYTES, "one meta page");

struct backup_block {
    uint64_t offset;   /* in the backup file */
    uint64_t sequence; /* from 0 */
    uint32_t bytes;    /* of content */
    uint16_t kind;     /* enum backup_block_kind */
    uint16_t file_uid; /* whose content */
    uint32_t first;    /* page number; log: FSeqNo */
    uint32_t count;    /* pages; log: block number in the VLF */
    uint64_t xxh3;     /* of the content */
    uint32_t crc;      /* log: chain value before the first log block */
    uint8_t parity;    /* log: of the VLF */
    uint8_t reserved[19];
};
static_assert(sizeof(struct backup_block) == 64, "64 bytes");

struct backup_directory {
    struct backup_meta meta;
    uint64_t previous; /* offset of the directory before it; 0 = the first */
    uint8_t reserved[56];
    struct backup_block blocks[BACKUP_DIRECTORY_BLOCKS];
};
static_assert(offsetof(struct backup_directory, blocks) == 128, "rows at 128");
static_assert(sizeof(struct backup_directory) == BACKUP_META_BYTES, "one meta page");

struct backup_trailer {
    struct backup_meta meta;
    uint64_t last_directory; /* 0: there are no blocks */
    uint64_t blocks, pages, log_bytes;
    uint64_t end_position;
    uint8_t reserved[BACKUP_META_BYTES - 104];
};
static_assert(sizeof(struct backup_trailer) == BACKUP_META_BYTES, "one meta page");

/* Set the XXH3-64: last step before I/O. */
void backup_meta_seal(void *meta_page);

enum backup_check {
    BACKUP_OK,
    BACKUP_ZERO,    /* nothing was written here */
    BACKUP_DAMAGED, /* its XXH3-64 is wrong, or it contradicts itself */
    BACKUP_FOREIGN, /* no meta page of any backup */
    BACKUP_OTHER,   /* a whole one of another place, backup or run */
};
/* Is the page at offset a meta page of this type?  of: the header it must belong to, or NULL. */
enum backup_check backup_meta_check(const void *meta_page, enum backup_meta_type type,
                                    uint64_t offset, const struct backup_header *of);
/* Is the content of a block what its row says? */
bool backup_block_is_right(const struct backup_block *block, const void *content);
/* Where the next thing may stand. */
static inline uint64_t backup_next_offset(const struct backup_header *header, uint64_t offset,
                                          uint64_t bytes)
{
    uint64_t end = offset + bytes + header->block_bytes - 1;
    return end / header->block_bytes * header->block_bytes;
}

struct backup_reader {
    /* Read size_bytes at offset into aligned memory; 0 or -errno.  Multiples of 4,096 bytes from
     * multiples of block_bytes. */
    int (*read)(void *context, uint64_t offset, void *buf, size_t size_bytes);
    void *context;
    uint64_t file_bytes;
};

/* A backup as its meta pages describe it. */
struct backup_set {
    struct backup_header header;
    struct backup_trailer trailer;
    struct backup_block *blocks; /* in order of sequence */
    size_t count;
    /* What is wrong when it could not be loaded. */
    uint64_t bad_offset;
    enum backup_check bad;
};

/* Read the meta pages of the backup at offset.  0; -ENOENT (there is none: zeros, or the rest of an
 * earlier use of the file, see previous); -EINPROGRESS (incomplete); -EBADMSG (bad_offset and bad
 * say what); -ENOMEM; or of the reader.  previous: the number of the backup before it in the file,
 * 0 for the first; what does not follow it is no backup of this use.  memory: BACKUP_META_BYTES,
 * aligned to 4,096. */
int backup_set_load(struct backup_set *set, const struct backup_reader *reader, uint64_t offset,
                    uint32_t previous, void *memory) __attribute__((warn_unused_result));
void backup_set_free(struct backup_set *set);
/* Where the next backup in the file begins. */
uint64_t backup_set_end(const struct backup_set *set);

#endif
