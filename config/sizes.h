/*
 * sizes.h - [Sizes]: how large the files are that --dir makes, and the buffer pool over them.
 *
 * The defaults are those of a run with --dir and nothing else: data min(4 GiB, 25 % of the free
 * space beyond the reserve), at least 256 MiB, may grow to twice that; log a quarter of the data,
 * at most 512 MiB; tempdb, where it is used, a fifth of the data; pool a quarter of the data, at
 * most 4 GiB.  Presets have figures of their own. [FileN] sections and --size come before all of
 * this; MaxMemoryMB before the pool's part.
 *
 * Threads: const data.
 */
#ifndef CONFIG_SIZES_H
#define CONFIG_SIZES_H

#include "config/opt.h"

extern const struct opt_section sizes_section; /* [Sizes] */

struct sizes_settings {
    int64_t data_bytes, data_bytes_min;
    int64_t data_share;       /* of the free space beyond the reserve, hundredths of a percent */
    int64_t data_start_bytes; /* InitialSize; 0 = all of it */
    int64_t data_growth;      /* beyond that, hundredths of a percent of it */
    int64_t increment_bytes;  /* 0 = does not grow */
    bool shrinkable;
    int64_t log_share, log_bytes_min, log_bytes_max; /* of the data */
    int64_t tempdb_share;                            /* of the data of all user databases */
    int64_t pool_share, pool_bytes_max;              /* of the data */
};

#define SIZES_WHOLE 10000 /* 100 % */

/* hundredths of a percent of bytes, exactly, rounded down */
static inline int64_t sizes_share(int64_t bytes, int64_t hundredths)
{
    return bytes / SIZES_WHOLE * hundredths + bytes % SIZES_WHOLE * hundredths / SIZES_WHOLE;
}

#endif
