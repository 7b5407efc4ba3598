/* page_use.c - see page_use.h. */
#include "sim/page_use.h"

#include "sim/database_extents.h"
#include "verify/ledger.h"

bool page_may_be_used(const struct data_file *file, uint32_t page_no)
{
    if (page_no >= file->file.size_pages || !extent_is_used(file, page_no / EXTENT_PAGES) ||
        syspage_kind(page_no, file->primary) != SYSPAGE_NONE)
        return false;
    struct ledger_view view =
        ledger_view(file->database->ledger, file->file.mark.file_uid, page_no);
    return view.state == LEDGER_QUIET || view.state == LEDGER_IN_FLIGHT;
}

bool page_is_newest(const struct data_file *file, uint32_t page_no, uint64_t generation)
{
    struct ledger_view view =
        ledger_view(file->database->ledger, file->file.mark.file_uid, page_no);
    return view.state == LEDGER_QUIET && view.acked == generation;
}
