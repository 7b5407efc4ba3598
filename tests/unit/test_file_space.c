/* test_file_space.c - StampFiles and Sparse: what the file system has given a new file. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/file.h"

#define PAGES 512u

struct space {
    uint64_t size_bytes, allocated_bytes, first_hole;
    bool zero_behind_mark;
};

static void build_path(char path[300], char folder[280])
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, 280, "%s/pagestorm-space-XXXXXX", base ? base : "/var/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(path, 300, "%s/a.mdx", folder);
}

static bool is_zero_behind_mark(int fd)
{
    static unsigned char page[PAGE_BYTES];
    for (uint32_t i = 1; i < PAGES; i++) {
        assert_int_equal(pread(fd, page, sizeof page, (off_t)i * PAGE_BYTES), sizeof page);
        if (page[0] != 0 || memcmp(page, page + 1, sizeof page - 1) != 0)
            return false;
    }
    return true;
}

static void space_of(struct file_open how, enum file_kind kind, struct space *space)
{
    char folder[280], path[300], message[FILE_MESSAGE_MAX];
    struct file file;
    struct stat st;
    struct file_mark mark = {.file_uid = 1, .incarnation = 1, .file_id = 1, .kind = kind};
    build_path(path, folder);
    how.path = path;
    assert_int_equal(file_create(&file, &how, &mark, PAGES, message), 0);
    int fd = open(path, O_RDONLY);
    assert_int_equal(fstat(fd, &st), 0);
    space->size_bytes = (uint64_t)st.st_size;
    space->allocated_bytes = (uint64_t)st.st_blocks * 512;
    space->first_hole = (uint64_t)lseek(fd, 0, SEEK_HOLE);
    space->zero_behind_mark = is_zero_behind_mark(fd);
    close(fd);
    file_close(&file);
    unlink(path);
    rmdir(folder);
}

/* Unwritten extents count as a hole on ext4 and XFS; elsewhere the two cannot be told apart. */
static void stamped_space_is_written_and_other_space_is_not(void **state)
{
    struct space reserved, stamped;
    (void)state;
    space_of((struct file_open){0}, FILE_KIND_DATA, &reserved);
    space_of((struct file_open){.stamp = true}, FILE_KIND_DATA, &stamped);
    assert_int_equal(stamped.first_hole, PAGES * PAGE_BYTES);
    assert_true(stamped.zero_behind_mark);
    assert_true(reserved.zero_behind_mark);
    assert_in_range(reserved.allocated_bytes, PAGES * PAGE_BYTES, UINT64_MAX);
    if (reserved.first_hole == PAGES * PAGE_BYTES) {
        print_message("SKIP: this file system shows reserved space as written\n");
        skip();
    }
    assert_in_range(reserved.first_hole, PAGE_BYTES, PAGES * PAGE_BYTES - 1);
}

static void a_sparse_file_has_its_size_and_no_space(void **state)
{
    struct space sparse;
    (void)state;
    space_of((struct file_open){.sparse = true}, FILE_KIND_DATA, &sparse);
    assert_int_equal(sparse.size_bytes, PAGES * PAGE_BYTES);
    assert_in_range(sparse.allocated_bytes, PAGE_BYTES, PAGES * PAGE_BYTES / 4);
    assert_true(sparse.zero_behind_mark);
}

static void sparse_goes_before_stamp(void **state)
{
    struct space sparse;
    (void)state;
    space_of((struct file_open){.sparse = true, .stamp = true}, FILE_KIND_DATA, &sparse);
    assert_in_range(sparse.allocated_bytes, PAGE_BYTES, PAGES * PAGE_BYTES / 4);
}

static void a_log_is_never_sparse(void **state)
{
    struct space log;
    (void)state;
    space_of((struct file_open){.sparse = true}, FILE_KIND_LOG, &log);
    assert_in_range(log.allocated_bytes, PAGES * PAGE_BYTES, UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamped_space_is_written_and_other_space_is_not),
        cmocka_unit_test(a_sparse_file_has_its_size_and_no_space),
        cmocka_unit_test(sparse_goes_before_stamp),
        cmocka_unit_test(a_log_is_never_sparse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
