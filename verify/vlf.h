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

struct vlf_header {
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
uint8_t vlf_parity(uint32_t use_count); /* 0 when never used */
/* The 8 KiB header. */
void vlf_header_build(void *buf, const struct vlf_header *vlf);
/* 0, -EINVAL (no VLF header), -EBADMSG (fields contradict each other or the offset). */
int vlf_header_parse(const void *buf, uint64_t expected_offset, struct vlf_header *out)
    __attribute__((warn_unused_result));

#endif
