/*
 * logscan.h - read a log file from end to end and say where the log ends and whether it is whole.
 *
 * A log may have several files, used one after the other: FSeqNos rise over all of them.  Works on
 * real .ldf files (chained = false) and on pagestorm's (chained = true: the CRC chain is
 * demanded from block to block and over VLF borders in order of FSeqNo).  A torn or missing last
 * block ends the log; the same followed by a valid newer block is damage.
 *
 * Pure: the bytes come through a callback.  One thread per scan.
 */
#ifndef VERIFY_LOGSCAN_H
#define VERIFY_LOGSCAN_H

#include "verify/logblk.h"
#include "verify/vlf.h"

#define LOG_READ_ALIGN_BYTES 4096

struct log_reader {
    /* Read size_bytes at offset; 0 or -errno.  Offsets, memory and, but for the last piece of a
     * file of an odd size, sizes are multiples of LOG_READ_ALIGN_BYTES, so that O_DIRECT can serve
     * it. */
    int (*read)(void *context, uint64_t offset, void *buf, size_t size_bytes);
    void *context;
};

struct log_scan_file {
    struct log_reader reader;
    uint64_t file_bytes;
    size_t vlf_count; /* out */
};

enum log_end {
    LOG_END_NONE,      /* VLF full: the log goes on in the next one */
    LOG_END_FRESH,     /* zero fill or 0xC0 stamp */
    LOG_END_OLD_USE,   /* a block of the previous use */
    LOG_END_TORN_TAIL, /* a torn block with nothing valid behind it */
    LOG_END_MID_BLOCK, /* the middle of an old block */
};

struct log_damage {
    unsigned file;   /* which of the log's files */
    uint64_t offset; /* in the file */
    uint32_t fseq;
    uint32_t block;
    enum log_block_check what;
    bool newer_follows; /* a valid block of the same use follows */
};

#define LOG_SCAN_DAMAGE_MAX 64
#define LOG_SCAN_VLF_MAX    16384

struct log_scan {
    /* in */
    struct log_reader reader; /* of the first file */
    uint64_t file_bytes;
    struct log_scan_file *more; /* the log's other files: its VLFs are in all of them */
    size_t more_count;
    bool chained;
    uint32_t chain_start; /* run_chain_start */
    uint32_t first_fseq;  /* run_first_fseq: a chain that starts here starts with chain_start */
    bool gaps_allowed;    /* FSeqNos may be missing: they are in other log files of the database, or
                             a real file was shrunk.  The chain is not demanded over a gap. */
    /* called for every record of every valid block in FSeqNo order; may be NULL */
    void (*on_record)(void *context, const struct log_record_view *record);
    void (*on_block)(void *context, const struct log_block_info *info, uint64_t file_offset);
    void *context;
    /* out */
    unsigned file; /* while a callback runs: the file of its block */
    size_t vlf_count;
    uint64_t blocks;         /* live blocks: of each VLF's present use */
    uint64_t blocks_chained; /* of them verified by their chained CRC: all of a sound own log */
    uint64_t records;
    struct lsn last_record; /* newest, zero if none */
    uint64_t end_position;  /* lsn_position behind the last block */
    uint32_t end_crc;       /* chain value of the last block */
    enum log_end end;
    struct log_damage damage[LOG_SCAN_DAMAGE_MAX];
    size_t damage_count; /* may exceed the array */
};

/* 0 (see damage_count), -errno of a reader, -EINVAL (no VLF header in a file), -EFBIG (more
 * than LOG_SCAN_VLF_MAX VLFs) or -ENOMEM.  Page 0 is not looked at.  Allocates about 2 MiB at the
 * start. */
int log_scan_run(struct log_scan *scan) __attribute__((warn_unused_result));
const char *log_block_check_text(enum log_block_check what);

#endif
