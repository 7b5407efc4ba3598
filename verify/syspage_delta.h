/*
 * syspage_delta.h - which bytes a change of a system page changed: what its log record carries so
 * that it can be redone.
 *
 * A delta is a row of runs: u16 offset, u16 length, the bytes; a length of 0 ends it, so that the
 * zero bytes behind a record that was padded end it, too.  m_lsn, m_flagBits and the checksum are
 * set when the page is sealed and are no part of it (syspage_hash.h).  Pure; any thread.
 */
#ifndef VERIFY_SYSPAGE_DELTA_H
#define VERIFY_SYSPAGE_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most that one logged change may change: the PFS bytes of 128 pages and a second run. */
#define SYSPAGE_DELTA_MAX 160

/* Bytes of the delta in out, or SIZE_MAX when it takes more than max_bytes. */
size_t syspage_delta_make(const void *before, const void *after, uint8_t *out, size_t max_bytes);
/* False, and an unspecified page, when the delta makes no sense. */
bool syspage_delta_apply(void *page, const uint8_t *delta, size_t delta_bytes)
    __attribute__((warn_unused_result));

#endif
