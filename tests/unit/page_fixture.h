/*
 * page_fixture.h - what the page tests share: random bytes from a printed seed, and the SHA-256 of
 * an image by coreutils (the golden vectors of tests/golden/page_format.py are SHA-256).
 */
#ifndef TESTS_PAGE_FIXTURE_H
#define TESTS_PAGE_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "verify/page.h"

#define SHA256_TEXT 65

/* splitmix64: the tests' own, so that they share no generator with the product. */
static inline uint64_t fixture_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline void fixture_random_bytes(uint64_t *state, void *buf, size_t size_bytes)
{
    uint8_t *bytes = buf;
    for (size_t i = 0; i < size_bytes; i++)
        bytes[i] = (uint8_t)fixture_random(state);
}

/* TEST_SEED repeats a run; otherwise a fixed seed, printed all the same. */
static inline uint64_t fixture_seed(const char *test)
{
    const char *text = getenv("TEST_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 20240607;
    print_message("%s: TEST_SEED=%llu\n", test, (unsigned long long)seed);
    return seed;
}

static inline void fixture_sha256(const void *page, char out[SHA256_TEXT])
{
    char path[] = "/tmp/pagestorm-sha-XXXXXX";
    char command[80];
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, page, PAGE_BYTES), PAGE_BYTES);
    close(fd);
    snprintf(command, sizeof(command), "sha256sum %s", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(out, SHA256_TEXT, pipe));
    assert_int_equal(pclose(pipe), 0);
    unlink(path);
}

static inline void assert_golden(const void *page, const char *sha256)
{
    char found[SHA256_TEXT];
    fixture_sha256(page, found);
    assert_string_equal(found, sha256);
}

/* Bytes 00 01 .. 0F: the run id of most vectors. */
static inline struct run_identity fixture_run(uint64_t seed, uint16_t compressible)
{
    uint8_t run_id[RUN_ID_BYTES];
    for (unsigned i = 0; i < RUN_ID_BYTES; i++)
        run_id[i] = (uint8_t)i;
    return run_identity_make(run_id, seed, compressible);
}

static inline void fixture_flip(void *page, size_t offset, unsigned bit)
{
    ((uint8_t *)page)[offset] ^= (uint8_t)(1u << bit);
}

#endif
