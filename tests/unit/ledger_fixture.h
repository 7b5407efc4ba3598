/*
 * ledger_fixture.h - a ledger in a temporary folder, for the ledger tests.
 */
#ifndef TESTS_LEDGER_FIXTURE_H
#define TESTS_LEDGER_FIXTURE_H

#include "page_fixture.h"

#include "verify/ledger.h"
#include "verify/syspage.h"

#define FIXTURE_PAGES 64
#define DATA_UID      1

struct ledger_fixture {
    char folder[40];
    char path[64];
    struct ledger *ledger;
};

static const uint8_t fixture_boot[16] = {1, 2, 3};

static inline int fixture_create(struct ledger **out, const char *path)
{
    struct run_identity run = fixture_run(7, 2500);
    struct ledger_file_spec specs[] = {
        {1, 1, 1, FILE_KIND_DATA, FIXTURE_PAGES, "/data/sqliosim.mdx"},
        {1, 2, 1, FILE_KIND_LOG, 0, "/log/sqliosim.ldx"},
        {1, 3, 1, FILE_KIND_DATA, 300, "/data/second.ndx"},
    };
    return ledger_create(out, path, &run, 7, 1000, fixture_boot, specs, 3);
}

static inline void fixture_folder(struct ledger_fixture *f)
{
    *f = (struct ledger_fixture){.folder = "/tmp/pagestorm-ledger-XXXXXX"};
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof(f->path), "%s/ledger", f->folder);
}

static inline int fixture_setup(void **state)
{
    struct ledger_fixture *f = malloc(sizeof(*f));

    assert_non_null(f);
    fixture_folder(f);
    assert_int_equal(fixture_create(&f->ledger, f->path), 0);
    *state = f;
    return 0;
}

static inline int fixture_teardown(void **state)
{
    struct ledger_fixture *f = *state;

    ledger_close(f->ledger, false);
    unlink(f->path);
    rmdir(f->folder);
    free(f);
    return 0;
}

#endif
