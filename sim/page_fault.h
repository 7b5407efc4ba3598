/*
 * page_fault.h - from a failed page read to the finding: class, consequence, evidence.
 *
 * Used by page_read.c and by who reads several pages at once, and by the tests of the names.
 */
#ifndef SIM_PAGE_FAULT_H
#define SIM_PAGE_FAULT_H

#include "sim/page_read.h"

/* The first read was wrong or failed, nothing was read again: for the user's command.  A number for
 * finding_sight_told(), or 0. */
unsigned page_fault_sighted(struct page_reader *reader);
/* The ladder ended: healed by a re-read, or not. */
void page_fault_report(struct page_reader *reader, bool healed);
/* A read of several pages failed with error, each page alone could be read: SQL Server's 825. */
void page_fault_report_retry(struct page_reader *reader, struct data_file *file,
                             uint32_t first_page, unsigned count, int error);
/* No re-read can change it: the file was cut. */
bool page_fault_is_final(const struct page_reader *reader);
/* What page_read.c judges by. */
struct expectation page_expectation(struct page_reader *reader, struct data_file *file,
                                    uint32_t page_no, struct ledger_view owed);

#endif
