/*
 * syspage_hash.h - XXH3 of what a system page says, for the log record of its change.
 *
 * m_lsn, m_flagBits and the checksum count as zero, since they are set when the page is sealed,
 * after its record was logged.  Pure; any thread.
 */
#ifndef VERIFY_SYSPAGE_HASH_H
#define VERIFY_SYSPAGE_HASH_H

#include <stdint.h>

uint64_t syspage_content_xxh3(const void *page);

#endif
