/* engine_memory.c - see engine_memory.h. */
#include "sim/engine_memory.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GRAIN_BYTES 65536ull /* of a cut: an extent, so that no page stands in two pieces */

static bool may_lock_anything(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capget, &header, data) != 0)
        return false;
    return data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK);
}

uint64_t engine_memory_budget(unsigned engine_count)
{
    struct rlimit limit;
    if (may_lock_anything())
        return UINT64_MAX;
    if (getrlimit(RLIMIT_MEMLOCK, &limit))
        return 0;
    if (limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur / (engine_count ? engine_count : 1);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

unsigned engine_memory_cut(struct iovec pieces[ENGINE_PIECES_MAX], const struct iovec *regions,
                           unsigned region_count, uint64_t budget_bytes)
{
    unsigned count = 0;
    for (unsigned i = 0; i < region_count; i++) {
        char *at = regions[i].iov_base;
        uint64_t left = regions[i].iov_len;
        while (left > 0 && count < ENGINE_PIECES_MAX) {
            uint64_t take = smaller(left, ENGINE_PIECE_BYTES);
            if (take > budget_bytes)
                take = budget_bytes & ~(GRAIN_BYTES - 1);
            if (take == 0)
                return count;
            pieces[count++] = (struct iovec){at, take};
            at += take;
            left -= take;
            budget_bytes -= take;
        }
    }
    return count;
}

unsigned engine_memory_pieces(struct iovec pieces[ENGINE_PIECES_MAX],
                              const struct io_engine_config *config)
{
    uint64_t budget = engine_memory_budget(config->memory_engines);
    return engine_memory_cut(pieces, config->memory, config->memory_count, budget);
}

unsigned engine_memory_halve(struct iovec *pieces, unsigned count)
{
    if (count > 1)
        return count / 2;
    if (count == 1)
        pieces[0].iov_len = pieces[0].iov_len / 2 & ~(GRAIN_BYTES - 1);
    return count == 1 && pieces[0].iov_len > 0 ? 1 : 0;
}
