/* test_drive_level.c - sysfs of several disks, put together by hand; geometry of a real log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/drive_level.h"

struct sysfs {
    char root[64];
};

static void command(const char *format, const char *root)
{
    char text[1024];
    snprintf(text, sizeof text, format, root);
    assert_int_equal(system(text), 0);
}

static int sysfs_make(void **state)
{
    struct sysfs *s = calloc(1, sizeof *s);
    assert_non_null(s);
    snprintf(s->root, sizeof s->root, "/tmp/pagestorm-sysfs-XXXXXX");
    assert_non_null(mkdtemp(s->root));
    command("cd %s && mkdir -p dev/block devices/sda/queue devices/sda/sda1 "
            "devices/sda/device/scsi_disk/0:0:0:0 && "
            "ln -s ../../devices/sda dev/block/8:0 && "
            "ln -s ../../devices/sda/sda1 dev/block/8:1",
            s->root);
    *state = s;
    return 0;
}

static int sysfs_free(void **state)
{
    struct sysfs *s = *state;
    command("rm -rf %s", s->root);
    free(s);
    return 0;
}

static void put(const struct sysfs *s, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/devices/sda/%s", s->root, name);
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* LOG-3's disk: "Sector size = 512, Cylinders = 31130, ... Sectors per track = 63, Tracks per
 * Cylinders = 255": 31130 x 255 x 63 = 500,103,450 sectors and less than a cylinder more. */
static void the_geometry_is_the_one_of_a_real_log(void **state)
{
    struct sysfs *s = *state;
    struct drive_level drive;
    put(s, "size", "500118192\n"); /* a disk of 256 GB */
    put(s, "queue/logical_block_size", "512\n");
    put(s, "removable", "0\n");
    drive_level_look(&drive, s->root, makedev(8, 0));
    assert_true(drive.has_geometry);
    assert_int_equal(drive.sector_bytes, 512);
    assert_int_equal(drive.cylinders, 31130);
    assert_int_equal(drive.sectors_per_track, 63);
    assert_int_equal(drive.tracks_per_cylinder, 255);
    assert_int_equal(drive.media, 12);
    assert_string_equal(drive.name, "sda");
    assert_int_equal(drive.storage_number, 0);
}

static void sectors_of_4096_bytes_give_fewer_cylinders(void **state)
{
    struct sysfs *s = *state;
    struct drive_level drive;
    put(s, "size", "500118192\n"); /* in units of 512 bytes: / 8 / 63 / 255 = 3891.3 */
    put(s, "queue/logical_block_size", "4096\n");
    put(s, "removable", "1\n");
    drive_level_look(&drive, s->root, makedev(8, 0));
    assert_int_equal(drive.sector_bytes, 4096);
    assert_int_equal(drive.cylinders, 3891);
    assert_int_equal(drive.media, 11);
}

static void a_partition_has_its_disks_queue_and_its_own_counters(void **state)
{
    struct sysfs *s = *state;
    struct drive_level drive;
    put(s, "size", "500118192\n");
    put(s, "queue/logical_block_size", "512\n");
    put(s, "queue/write_cache", "write back\n");
    put(s, "stat", "9 9 9 9 9 9 9 9 9 9 9\n");
    put(s, "sda1/partition", "1\n");
    put(s, "sda1/stat", "  100 1 2048 30  200 2 4096 50 0 70 80 0 0 0 0 1 2\n");
    drive_level_look(&drive, s->root, makedev(8, 1));
    assert_string_equal(drive.name, "sda1");
    assert_int_equal(drive.cylinders, 31130);
    assert_int_equal(drive.write_cache, DRIVE_YES);
    assert_true(drive.has_counters);
    assert_int_equal(drive.counters.reads, 100);
    assert_int_equal(drive.counters.bytes_read, 2048 * 512);
    assert_int_equal(drive.counters.read_ms, 30);
    assert_int_equal(drive.counters.writes, 200);
    assert_int_equal(drive.counters.bytes_written, 4096 * 512);
    assert_int_equal(drive.counters.write_ms, 50);
    assert_int_equal(drive.counters.busy_ms, 70);
    assert_int_equal(drive.storage_number, 1);
}

static void expect_caches(struct sysfs *s, const char *queue, const char *scsi,
                          enum drive_answer write_cache, enum drive_answer read_cache)
{
    struct drive_level drive;
    put(s, "queue/write_cache", queue);
    put(s, "device/scsi_disk/0:0:0:0/cache_type", scsi);
    drive_level_look(&drive, s->root, makedev(8, 0));
    assert_int_equal(drive.write_cache, write_cache);
    assert_int_equal(drive.read_cache, read_cache);
}

static void caches_are_what_the_kernel_says(void **state)
{
    expect_caches(*state, "write back\n", "write back\n", DRIVE_YES, DRIVE_YES);
    expect_caches(*state, "write through\n", "none\n", DRIVE_NO, DRIVE_NO);
    expect_caches(*state, "write back\n", "write back, no read (daft)\n", DRIVE_YES, DRIVE_NO);
    expect_caches(*state, "odd\n", "write through\n", DRIVE_UNKNOWN, DRIVE_YES);
}

static void a_disk_that_says_nothing_is_unknown(void **state)
{
    struct sysfs *s = *state;
    struct drive_level drive;
    drive_level_look(&drive, s->root, makedev(8, 0));
    assert_false(drive.has_geometry);
    assert_false(drive.has_counters);
    assert_string_equal(drive_answer_text(drive.read_cache), "Unknown");
    assert_string_equal(drive_answer_text(drive.write_cache), "Unknown");
    drive_level_look(&drive, s->root, makedev(0, 42)); /* tmpfs, NFS: no disk at all */
    assert_false(drive.has_geometry);
    assert_string_equal(drive.name, "");
}

static void a_cut_counter_line_is_no_counter(void **state)
{
    struct sysfs *s = *state;
    struct drive_level drive;
    put(s, "stat", "1 2 3 4\n");
    drive_level_look(&drive, s->root, makedev(8, 0));
    assert_false(drive.has_counters);
    assert_int_equal(drive.counters.reads, 0);
}

static void the_counters_of_a_run_are_differences(void **state)
{
    struct sysfs *s = *state;
    struct drive_level start, now;
    struct drive_counters run;
    put(s, "stat", "100 1 2048 30 200 2 4096 50 0 70 80\n");
    drive_level_look(&start, s->root, makedev(8, 0));
    put(s, "stat", "150 1 3048 36 260 2 6096 57 0 78 90\n");
    drive_level_look(&now, s->root, makedev(8, 0));
    assert_true(drive_level_since(&start, &now, &run));
    assert_int_equal(run.reads, 50);
    assert_int_equal(run.bytes_read, 1000 * 512);
    assert_int_equal(run.read_ms, 6);
    assert_int_equal(run.writes, 60);
    assert_int_equal(run.bytes_written, 2000 * 512);
    assert_int_equal(run.write_ms, 7);
    assert_int_equal(run.busy_ms, 8);
    assert_false(drive_level_since(&now, &start, &run)); /* went back: another device */
}

int main(void)
{
#define IN_SYSFS(test) cmocka_unit_test_setup_teardown(test, sysfs_make, sysfs_free)
    const struct CMUnitTest tests[] = {
        IN_SYSFS(the_geometry_is_the_one_of_a_real_log),
        IN_SYSFS(sectors_of_4096_bytes_give_fewer_cylinders),
        IN_SYSFS(a_partition_has_its_disks_queue_and_its_own_counters),
        IN_SYSFS(caches_are_what_the_kernel_says),
        IN_SYSFS(a_disk_that_says_nothing_is_unknown),
        IN_SYSFS(a_cut_counter_line_is_no_counter),
        IN_SYSFS(the_counters_of_a_run_are_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
