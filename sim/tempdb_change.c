/* tempdb_change.c - see tempdb_change.h. */
#include "sim/tempdb_change.h"

#include <errno.h>
#include <string.h>

#include "sim/database_syspage.h"
#include "sim/page_change.h"
#include "verify/ledger.h"

#define PFS_BYTE_FREE         0x00
#define PFS_BYTE_UNIFORM_IAM  0x54 /* allocated, IAM, 100 % full, in a uniform extent */
#define CHANGE_SYSTEM_RECORDS 2    /* PFS, GAM */

void tempdb_change_start(struct tempdb_change *change, const struct tempdb_stretch *stretch,
                         bool allocate)
{
    memset(change, 0, sizeof *change);
    change->stretch = *stretch;
    change->allocate = allocate;
}

static void edit_pfs(void *context, uint8_t *image)
{
    const struct tempdb_change *c = context;
    for (uint32_t i = 0; i < c->stretch.pages; i++) {
        uint8_t value = c->first_is_iam && i == 0 ? PFS_BYTE_UNIFORM_IAM : PFS_BYTE_FULL;
        pfs_set(image, c->stretch.first_page + i, c->allocate ? value : PFS_BYTE_FREE);
    }
}

static void edit_gam(void *context, uint8_t *image)
{
    const struct tempdb_change *c = context;
    uint32_t first = c->stretch.first_page / EXTENT_PAGES;
    uint32_t end = (c->stretch.first_page + c->stretch.pages + EXTENT_PAGES - 1) / EXTENT_PAGES;
    for (uint32_t extent = first; extent < end; extent++)
        bitmap_set(image, extent, !c->allocate); /* 1 = free */
}

static int edit(struct tempdb_change *c, uint32_t page_no, syspage_edit_fn fn, struct task *task)
{
    if (page_no == SYSPAGE_NO_PAGE)
        return 0; /* a PFS page stands there */
    return syspage_edit(c->stretch.file, page_no, fn, c, &c->xact, task);
}

static bool reserve(struct tempdb_change *c, struct wal *wal, struct task *task)
{
    uint64_t need =
        CHANGE_SYSTEM_RECORDS * log_record_cost(sizeof(struct syspage_change), wal->sector_bytes) +
        log_record_cost(LOG_MARK_BYTES, wal->sector_bytes);
    return wal_reserve(wal, &c->xact, need, task);
}

static void free_pages(const struct tempdb_change *c)
{
    const struct data_file *file = c->stretch.file;
    for (uint32_t i = 0; i < c->stretch.pages; i++)
        ledger_free(file->database->ledger, file->file.mark.file_uid, c->stretch.first_page + i, 0);
}

int tempdb_change_step(struct tempdb_change *c, struct task *task)
{
    struct wal *wal = &c->stretch.file->database->wal;
    uint32_t first = c->stretch.first_page;
    struct lsn lsn;
    int error = 0;
    if (c->step == TEMPDB_RESERVE && !reserve(c, wal, task))
        return -EAGAIN;
    if (c->step == TEMPDB_RESERVE)
        c->step = TEMPDB_PFS;
    if (c->step == TEMPDB_PFS && !(error = edit(c, syspage_pfs_of(first), edit_pfs, task)))
        c->step = TEMPDB_GAM;
    if (c->step == TEMPDB_GAM &&
        !(error = edit(c, syspage_interval_page(first, SYSPAGE_GAM), edit_gam, task)))
        c->step = TEMPDB_COMMIT;
    if (c->step == TEMPDB_COMMIT)
        error = log_mark(wal, &c->xact, LOG_OP_COMMIT_XACT, &lsn, task);
    if (error == -EAGAIN)
        return error;
    wal_end(wal, &c->xact);
    if (!error && !c->allocate)
        free_pages(c);
    return error;
}
