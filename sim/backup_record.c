/* backup_record.c - see backup_record.h. */
#include "sim/backup_record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int backup_records_make(struct backup_records *records)
{
    records->list = calloc(BACKUP_RECORDS_MAX, sizeof *records->list);
    return records->list ? 0 : -ENOMEM;
}

void backup_records_free(struct backup_records *records)
{
    free(records->list);
    *records = (struct backup_records){0};
}

void backup_records_add(struct backup_records *records, const struct backup_record *record)
{
    records->list[records->made++ % BACKUP_RECORDS_MAX] = *record;
}

size_t backup_records_count(const struct backup_records *records)
{
    return records->made < BACKUP_RECORDS_MAX ? (size_t)records->made : BACKUP_RECORDS_MAX;
}

static struct backup_record *record_at(const struct backup_records *records, size_t index)
{
    uint64_t first = records->made - backup_records_count(records);
    return &records->list[(first + index) % BACKUP_RECORDS_MAX];
}

const struct backup_record *backup_record_at(const struct backup_records *records, size_t index)
{
    return record_at(records, index);
}

void backup_records_overwritten(struct backup_records *records, const struct backup_file *file)
{
    for (size_t i = 0; i < backup_records_count(records); i++)
        if (record_at(records, i)->file == file)
            record_at(records, i)->in_file = false;
}

void backup_records_verified(struct backup_records *records, const struct backup_file *file,
                             bool right)
{
    for (size_t i = 0; i < backup_records_count(records); i++) {
        struct backup_record *record = record_at(records, i);
        if (record->file == file && record->in_file)
            record->verified = right ? BACKUP_LOOK_RIGHT : BACKUP_LOOK_WRONG;
    }
}

void backup_records_restored(struct backup_records *records, const struct backup_file *file,
                             bool right, uint64_t pages_compared)
{
    for (size_t i = 0; i < backup_records_count(records); i++) {
        struct backup_record *record = record_at(records, i);
        if (record->file != file || !record->in_file)
            continue;
        record->restored = right ? BACKUP_LOOK_RIGHT : BACKUP_LOOK_WRONG;
        record->pages_compared = pages_compared;
    }
}

void backup_lsn_text(uint64_t position, char out[BACKUP_LSN_MAX])
{
    snprintf(out, BACKUP_LSN_MAX, "%08x:%08x:0001", (unsigned)(position >> 32),
             (unsigned)(position & UINT32_MAX));
}
