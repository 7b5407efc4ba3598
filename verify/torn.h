/*
 * torn.h - TORN_PAGE_DETECTION of real SQL Server files (reference, section 3.2).
 *
 * pagestorm writes checksum pages only; these serve `pagestorm verify` on real .mdf files. Pure.
 */
#ifndef VERIFY_TORN_H
#define VERIFY_TORN_H

#include <stdbool.h>

#include "verify/page.h"

/* The pattern of all sectors agrees with m_tornBits and is 01 or 10. */
bool torn_check(const void *page);
/* Put the displaced bit pairs back. */
void torn_restore(void *page);
/* Protect as SQL Server does: the other pattern than previous_pattern (1 or 2). */
void torn_protect(void *page, unsigned previous_pattern);

#endif
