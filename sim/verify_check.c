/* verify_check.c - see verify_check.h. */
#include "sim/verify_check.h"

#include "sim/verify_data.h"
#include "sim/verify_log.h"

int verify_check(struct verify_set *set)
{
    int error = 0;
    for (size_t i = 0; i < set->count && !error; i++)
        if (set->files[i].is_log)
            error = verify_log_check(set, &set->files[i]);
    for (size_t i = 0; i < set->count && !error; i++)
        if (!set->files[i].is_log)
            error = verify_data_check(set, &set->files[i]);
    return error;
}
