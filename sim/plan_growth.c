/*
 * plan_growth.c - how data files may grow and shrink: SQLIOSim's rules for Increment, and who
 * changes sizes at all.
 *
 * Source: reference "SQLIOSim", section 1.8.  What one shrink moves must fit into the file's share
 * of the pool: Increment * MaxExtends < MaxMemoryMB / number of data files, else the increment is
 * cut; what is cut to less than an extent makes the file not shrinkable.
 */
#include <inttypes.h>

#include "sim/plan_growth.h"

static unsigned data_files(const struct plan *plan)
{
    unsigned count = 0;
    for (unsigned i = 0; i < plan->file_count; i++)
        count += !plan->files[i].is_log;
    return count;
}

static bool has_shrinkable(const struct plan *plan)
{
    for (unsigned i = 0; i < plan->file_count; i++)
        if (plan->files[i].shrinkable)
            return true;
    return false;
}

int64_t plan_users(const struct plan *plan, const struct pattern *pattern, const void *settings)
{
    if (pattern->resizes && !has_shrinkable(plan))
        return 0;
    return pattern->user_count(settings, plan->workers);
}

/* Largest step of which `steps` are below the share. */
static uint64_t increment_below(uint64_t share_bytes, uint64_t steps)
{
    uint64_t grain = (uint64_t)EXTENT_PAGES * PAGE_BYTES;
    uint64_t below = share_bytes ? (share_bytes - 1) / steps : 0;
    return below / grain * grain;
}

static void cut(struct plan *plan, struct plan_file *file, uint64_t limit, struct plan_notes *notes)
{
    uint64_t wanted = file->increment_bytes;
    if (wanted <= limit)
        return;
    file->increment_bytes = limit;
    if (limit) {
        plan_note(notes,
                  "%.100s: Increment %" PRIu64 " KB instead of %" PRIu64
                  " KB: MaxExtends of them must fit in its share of MaxMemoryMB",
                  file->path, limit >> 10, wanted >> 10);
        return;
    }
    file->shrinkable = false;
    plan_note(notes,
              "%.100s keeps its size: MaxExtends increments of an extent do not fit in its share "
              "of MaxMemoryMB (%zu MB for %u files); lower MaxExtends",
              file->path, plan->pool_bytes >> 20, data_files(plan));
}

void plan_growth(struct plan *plan, int64_t steps_max, struct plan_notes *notes)
{
    uint64_t limit = increment_below(plan->pool_bytes / data_files(plan),
                                     steps_max > 0 ? (uint64_t)steps_max : 1);
    for (unsigned i = 0; i < plan->file_count; i++) {
        struct plan_file *file = &plan->files[i];
        if (file->shrinkable)
            cut(plan, file, limit, notes);
        if (file->shrinkable && (!file->increment_bytes || file->max_bytes <= file->size_bytes)) {
            plan_note(notes, "%.100s is Shrinkable and keeps its size all the same: %s", file->path,
                      file->increment_bytes ? "MaxSize is not above InitialSize"
                                            : "it has no Increment");
            file->shrinkable = false;
        }
    }
}
