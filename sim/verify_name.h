/*
 * verify_name.h - name the damage of a page when only its place is known, not its content.
 *
 * A page that a real database left behind, or a system page.  A wrong checksum is named by what it
 * can prove: a single flipped bit changes a single bit of it.  Pure.
 */
#ifndef SIM_VERIFY_NAME_H
#define SIM_VERIFY_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/findings.h"

/* m_type of pages that pagestorm does not write */
#define PAGE_TYPE_INDEX     2
#define PAGE_TYPE_TEXT_MIX  3
#define PAGE_TYPE_TEXT_TREE 4
#define PAGE_TYPE_SORT      7

/* A page of this place by number and type? */
bool verify_identity_is_right(const void *page, uint32_t page_no);
/* VERDICT_NONE when number, file id, type and protection are right; else detail is set. */
enum verdict verify_name_damage(const void *page, uint32_t page_no, uint16_t file_id,
                                char detail[FINDING_DETAIL_MAX]);

#endif
