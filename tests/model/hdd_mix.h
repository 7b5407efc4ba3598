/*
 * hdd_mix.h - SQLIOSim's default run on a modelled disk: the mix of I/O that real runs of it had.
 *
 * The real runs (on single disks and small arrays, 2007 to 2025) counted on the data file: reads to
 * writes 1.5, 2.1 and 2.8 to 1; 93 to 97 % of the writes gathered several pages, 33 to 34 of them
 * on average as far as that could be worked out from bytes of the whole disk.
 */
#ifndef TESTS_MODEL_HDD_MIX_H
#define TESTS_MODEL_HDD_MIX_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/sim_fixture.h"

#define HDD_MIB (UINT64_C(1) << 20)

/* Two CPUs; sqliosim.default.cfg.ini where it is not pagestorm's own default. */
static inline void hdd_mix_run(struct sim *sim, uint64_t data_bytes, uint64_t pool_bytes,
                               uint64_t duration_ns, const char *directory)
{
    struct sim_options options = {.seed = 20,
                                  .data_bytes = data_bytes,
                                  .log_bytes = 50 * HDD_MIB,
                                  .pool_bytes = pool_bytes,
                                  .duration_ns = duration_ns,
                                  .device = {.model = MEM_HDD},
                                  .directory = directory,
                                  .settings = {{"RandomUser", "MinIOChainLength", "50"},
                                               {"AuditUser", "UserCount", "2"},
                                               {"ReadAheadUser", "UserCount", "2"},
                                               {NULL, NULL, NULL}}};
    sim_begin(sim, &options);
    sim_run(sim);
    assert_int_equal(sim->result, 0);
    assert_int_equal(sim->run->findings.count, 0);
}

/* The account of the data file, and pages a gather write in the main part. */
static inline void hdd_mix_check(const struct sim *sim)
{
    const struct io_account *account = &sim->run->files[0]->file.target.account;
    static const enum stream gathering[] = {STREAM_eager_write, STREAM_checkpoint_write,
                                            STREAM_lazy_write};
    double reads = (double)(account->reads + account->scatter_reads);
    double writes = (double)(account->writes + account->gather_writes);
    double pages = 0, requests = 0;
    struct stats *stats = calloc(1, sizeof *stats);
    run_stats(sim->run, stats);
    for (unsigned i = 0; i < sizeof gathering / sizeof *gathering; i++) {
        const struct stream_stats *stream = &stats->streams[PHASE_stress][gathering[i]];
        pages += (double)stream->bytes / PAGE_BYTES;
        requests += (double)stream->ops;
    }
    free(stats);
    print_message("reads to writes %.2f, gathered %.1f %% of writes, %.1f pages a write, "
                  "single to multi-page reads %.2f\n",
                  reads / writes, 100.0 * (double)account->gather_writes / writes, pages / requests,
                  (double)account->reads / (double)account->scatter_reads);
    assert_in_range((unsigned)(100 * reads / writes), 150, 280);
    assert_in_range((unsigned)(1000.0 * (double)account->gather_writes / writes), 930, 970);
    assert_in_range((unsigned)(10.0 * pages / requests), 300, 370); /* 33 to 34, a tenth around */
}

#endif
