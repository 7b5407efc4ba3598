/*
 * vlf.h - virtual log files: layout of a log file and the VLF header (reference, 4.1, 4.2, 4.5).
 *
 * Page 0 of the log file is a file header; VLFs follow from 0x2000 back to back to the end of the
 * file.  A VLF header takes 8 KiB, log blocks start at VLF offset 0x2000 (block number 16).  Pure.
 */
#ifndef VERIFY_VLF_H
#define VERIFY_VLF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verify/lsn.h"

#define VLF_HEADER_BYTES   8192
#define VLF_BYTES_MIN      253952 /* 248 KiB */
#define VLF_FORMAT         5      /* 2012+ */
#define VLF_MAX            16     /* of one creation */
#define LOG_FILE_BYTES_MIN (8192 + 2 * VLF_BYTES_MIN)

/* What versions of SQL Server do when a log grows: reference 4.5. */
enum vlf_rule {
    VLF_RULE_CLASSIC, /* to 2012: by the size of the growth alone */
    VLF_RULE_2014,    /* one VLF if the growth is less than 1/8 of the log */
    VLF_RULE_2022,    /* one VLF up to 64 MiB, too */
};

struct vlf_header {
    unsigned file;       /* which of the log's files, 0 = the first; not on disk */
    uint64_t offset;     /* of the VLF in the file */
    uint64_t size_bytes; /* header included */
    uint32_t fseq;       /* 0 = never used */
    uint32_t use_count;  /* odd -> parity 0x40, even -> 0x80 */
    struct lsn create_lsn;
    uint16_t format; /* as read; written as VLF_FORMAT */
    uint8_t parity;  /* as read (old files have uses that were not counted); written as
                        vlf_parity(use_count) */
};

/* VLFs of a new log file of file_bytes, never used; returns their number (0 if the file is too
 * small for two).  4 up to 64 MiB, 8 up to 1 GiB, then 16. */
size_t vlf_layout(uint64_t file_bytes, struct vlf_header out[VLF_MAX]);
/* VLFs that a growth adds behind the end of a log file, never used; returns their number (0 if it
 * is too small for one). */
struct vlf_growth {
    enum vlf_rule rule;
    uint64_t file_bytes; /* before; multiple of 8 KiB */
    uint64_t log_bytes;  /* of the whole log, before */
    uint64_t growth_bytes;
    struct lsn create_lsn; /* where the log was when it grew */
};
size_t vlf_layout_growth(const struct vlf_growth *growth, struct vlf_header out[VLF_MAX]);
uint8_t vlf_parity(uint32_t use_count); /* 0 when never used */
/* The 8 KiB header. */
void vlf_header_build(void *buf, const struct vlf_header *vlf);
/* 0, -EINVAL (no VLF header), -EBADMSG (fields contradict each other or the offset). */
int vlf_header_parse(const void *buf, uint64_t expected_offset, struct vlf_header *out)
    __attribute__((warn_unused_result));

#endif
