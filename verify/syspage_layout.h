/*
 * syspage_layout.h - layout of the file header page; for syspage_header.c and syspage_mark.c only.
 *
 * Source: reference "SQL Server storage I/O", section 2.3.  Pure.
 */
#ifndef VERIFY_SYSPAGE_LAYOUT_H
#define VERIFY_SYSPAGE_LAYOUT_H

#include "verify/syspage.h"

/* Write the mark as the second row of a file header page. */
void file_mark_build(void *page0, const struct file_mark *mark);
/* In an own page 0 that has its mark. */
void file_mark_set_size(void *page0, uint32_t size_pages);
/* Does the protection that m_flagBits names hold?  An unprotected page passes. */
bool file_header_sound(const void *page0);

#endif
