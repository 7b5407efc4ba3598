/*
 * page_identity.c - what is derived from the run id: body key, run tag, first FSeqNo, chain start.
 *
 * Invariants: pure functions of their arguments, frozen with the format version (golden vectors in
 * tests/golden/page_format.py).  Each value is XXH3-64 of the 16 bytes of the run id under a seed
 * of its own, so that one of them tells nothing about another.
 */
#include "verify/page.h"

#include <string.h>

#include "verify/checksum.h"

/* Seeds: ASCII names, little-endian.  The body key's is the seed of the run. */
#define SEED_RUN_TAG     0x4741544E55525350ull /* "PSRUNTAG" */
#define SEED_FIRST_FSEQ  0x5145534654535350ull /* "PSSTFSEQ" */
#define SEED_CHAIN_START 0x4E49414843535350ull /* "PSSCHAIN" */

#define FSEQ_FIRST_MIN   2u /* 0 means never used, 1 is left to SQL Server's model database */
#define FSEQ_SPREAD      65536u

struct run_identity run_identity_make(const uint8_t run_id[RUN_ID_BYTES], uint64_t seed,
                                      uint16_t compressible)
{
    struct run_identity run = {0};

    assert(compressible <= PAGE_COMPRESSIBLE_MAX);
    memcpy(run.run_id, run_id, RUN_ID_BYTES);
    run.body_key = xxh3_64_seeded(run_id, RUN_ID_BYTES, seed);
    run.run_tag = (uint16_t)xxh3_64_seeded(run_id, RUN_ID_BYTES, SEED_RUN_TAG);
    run.compressible = compressible;
    return run;
}

uint32_t run_first_fseq(const uint8_t run_id[RUN_ID_BYTES])
{
    uint64_t hash = xxh3_64_seeded(run_id, RUN_ID_BYTES, SEED_FIRST_FSEQ);
    return FSEQ_FIRST_MIN + (uint32_t)(hash % FSEQ_SPREAD);
}

uint32_t run_chain_start(const uint8_t run_id[RUN_ID_BYTES], uint16_t log_file_uid)
{
    return (uint32_t)xxh3_64_seeded(run_id, RUN_ID_BYTES, SEED_CHAIN_START + log_file_uid);
}
