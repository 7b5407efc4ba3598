/*
 * bench_page.c - nanoseconds per page: fill, seal, check, fold, CRC.  By hand; not a test.
 *
 *   bench_page [ROUNDS]     median of nine passes, each over ROUNDS pages of a 256-page ring
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "verify/checksum.h"
#include "verify/page.h"

#define RING_PAGES 256 /* 2 MiB: larger than L1 and about L2, as frames that were just read are */
#define PASSES     9

struct bench {
    uint8_t *ring;
    struct run_identity run;
    uint64_t sink; /* keeps the compiler from dropping what is measured */
};

static uint8_t *ring_page(const struct bench *b, unsigned i)
{
    return b->ring + (size_t)(i % RING_PAGES) * PAGE_BYTES;
}

static struct page_identity identity(unsigned i)
{
    return (struct page_identity){1, 1, 1, 16 + i % RING_PAGES, 1 + i};
}

static void do_fill(struct bench *b, unsigned i)
{
    struct page_identity id = identity(i);
    page_fill(ring_page(b, i), &b->run, &id, 1);
}

static void do_seal(struct bench *b, unsigned i)
{
    page_seal(ring_page(b, i), (struct lsn){50, 16 + i, 1}, i);
}

static void do_check(struct bench *b, unsigned i)
{
    b->sink += page_check(ring_page(b, i)) == PAGE_OK;
}

static void do_fold(struct bench *b, unsigned i)
{
    b->sink += sector_fold(ring_page(b, i), PAGE_BYTES, PAGE_OFFSET_TORN_BITS);
}

static void do_xxh3(struct bench *b, unsigned i)
{
    b->sink += xxh3_64(ring_page(b, i), PAGE_BYTES);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure(struct bench *b, const char *name, void (*step)(struct bench *, unsigned),
                    unsigned rounds)
{
    double ns[PASSES];

    for (unsigned pass = 0; pass < PASSES; pass++) {
        uint64_t start = now_ns();
        for (unsigned i = 0; i < rounds; i++)
            step(b, i);
        ns[pass] = (double)(now_ns() - start) / rounds;
    }
    qsort(ns, PASSES, sizeof(ns[0]), by_value);
    printf("%-14s %8.0f ns a page (%.0f .. %.0f)\n", name, ns[PASSES / 2], ns[0], ns[PASSES - 1]);
}

int main(int argc, char **argv)
{
    static const uint8_t run_id[RUN_ID_BYTES] = "bench_page";
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 50000;
    struct bench b = {
        .ring = aligned_alloc(4096, (size_t)RING_PAGES * PAGE_BYTES),
        .run = run_identity_make(run_id, 1, 0),
    };

    if (b.ring == NULL || rounds < RING_PAGES) {
        fprintf(stderr, "bench_page: needs memory for %d pages and at least %d rounds\n",
                RING_PAGES, RING_PAGES);
        return 2;
    }
    measure(&b, "page_fill", do_fill, rounds);
    measure(&b, "page_seal", do_seal, rounds);
    measure(&b, "page_check", do_check, rounds);
    measure(&b, "sector_fold", do_fold, rounds);
    measure(&b, "xxh3_64", do_xxh3, rounds);
    free(b.ring);
    return b.sink == 0;
}
