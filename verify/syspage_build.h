/*
 * syspage_build.h - what the builders of system pages share; for the verify/syspage*.c files only.
 *
 * Sources as in syspage.h.  Pure; any thread.
 */
#ifndef VERIFY_SYSPAGE_BUILD_H
#define VERIFY_SYSPAGE_BUILD_H

#include "verify/syspage.h"

#define SYSPAGE_OBJECT_ID 99 /* of every system page in real files */
#define SLOT_BYTES        2

/* m_type of a kind that has a page (not SYSPAGE_RESERVED). */
enum page_type syspage_type(enum syspage_kind kind);
/* A zeroed page with the header of its place; no rows yet. */
void syspage_begin(void *page, enum page_type type, uint32_t page_no, uint16_t file_id);
/* Claim the next row of row_bytes behind the last one and enter it in the slot array. */
uint8_t *syspage_add_row(void *page, size_t row_bytes);

void syspage_put_u16(uint8_t *at, uint16_t value);
void syspage_put_u32(uint8_t *at, uint32_t value);

#endif
