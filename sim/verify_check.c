/* verify_check.c - see verify_check.h. */
#include "sim/verify_check.h"

#include "sim/database.h"
#include "sim/verify_backup.h"
#include "sim/verify_data.h"
#include "sim/verify_log.h"
#include "sim/verify_many.h"

/* The checkpoint that the boot page names tells the log scan what must be on the device. */
static void read_boot_page(struct verify_set *set, struct verify_file *data)
{
    struct verify_file *log = verify_log_of(set, data);
    if (!log || !data->primary || data->page_count <= BOOT_PAGE ||
        verify_read(set, data, (uint64_t)BOOT_PAGE * PAGE_BYTES, set->buffer, PAGE_BYTES))
        return; /* the data check meets it again */
    if (syspage_check(set->buffer, SYSPAGE_BOOT, BOOT_PAGE, data->file_id))
        log->log.boot_checkpoint = boot_get_checkpoint(set->buffer);
}

static bool is_data(const struct verify_file *file)
{
    return !file->is_log && !file->is_backup;
}

int verify_check(struct verify_set *set)
{
    int error = 0;
    for (size_t i = 0; i < set->count; i++)
        if (is_data(&set->files[i]) && set->files[i].ours)
            read_boot_page(set, &set->files[i]);
    for (size_t i = 0; i < set->count && !error; i++)
        if (set->files[i].is_log)
            error = verify_log_check(set, &set->files[i]);
    for (size_t i = 0; i < set->count && !error; i++)
        if (is_data(&set->files[i]))
            error = verify_data_check(set, &set->files[i]);
    for (size_t i = 0; i < set->count && !error; i++)
        if (set->files[i].is_backup)
            error = verify_backup_check(set, &set->files[i]);
    return error ? error : verify_many(set);
}
