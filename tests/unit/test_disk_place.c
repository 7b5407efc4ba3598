/* test_disk_place.c - from a byte of a file to a disk and its LBA, by sysfs trees put together by
 * hand; real file systems are for tests/cli/test_evidence.sh. */
#include "fake_root.h"

#include <linux/fiemap.h>

#include "sim/disk_place.h"

/* Two extents: file bytes 0..1 MiB at 8 MiB, 1..2 MiB at 64 MiB of the file system's device. */
static const struct disk_extent two[] = {
    {.file_offset = 0, .fs_offset = 8 << 20, .size_bytes = 1 << 20, .placed = true},
    {.file_offset = 1 << 20, .fs_offset = 64 << 20, .size_bytes = 1 << 20, .placed = true},
};

static struct disk_place place_of(const struct fake_root *root, unsigned major_no,
                                  unsigned minor_no, uint64_t offset, uint64_t size_bytes)
{
    struct disk_place place;
    disk_place_of_extents(&place, root->sysfs, makedev(major_no, minor_no), two, 2, offset,
                          size_bytes);
    return place;
}

/* The partition begins at sector 2,048 of 512 bytes, also on a disk of 4,096-byte sectors:
 * byte 8 MiB + 8,192 of it is byte 1 MiB + 8 MiB + 8,192 = 9,445,376 of the disk, LBA 2,306. */
static void a_partition_is_added_to_the_place_in_it(void **state)
{
    struct fake_root *root = *state;
    fake_device(root, "pci0/host0/sda", 8, 0);
    fake_device(root, "pci0/host0/sda/sda2", 8, 2);
    fake_put(root, "sys/devices/pci0/host0/sda/sda2/partition", "2\n");
    fake_put(root, "sys/devices/pci0/host0/sda/sda2/start", "2048\n");
    fake_put(root, "sys/devices/pci0/host0/sda/queue/logical_block_size", "4096\n");
    struct disk_place place = place_of(root, 8, 2, 8192, 8192);
    assert_int_equal(place.step_count, 2);
    assert_string_equal(place.steps[0].name, "sda2");
    assert_int_equal(place.steps[0].offset, (8 << 20) + 8192);
    assert_int_equal(place.steps[0].sector_bytes, 4096);
    assert_string_equal(place.steps[1].name, "sda");
    assert_int_equal(place.steps[1].offset, 9445376);
    assert_int_equal(place.steps[1].offset / place.steps[1].sector_bytes, 2306);
    assert_ptr_equal(disk_place_bottom(&place), &place.steps[1]);
}

static void each_sector_is_found_in_its_own_extent(void **state)
{
    struct fake_root *root = *state;
    fake_device(root, "pci0/host0/sdb", 8, 16);
    fake_put(root, "sys/devices/pci0/host0/sdb/queue/logical_block_size", "512\n");
    struct disk_place place = place_of(root, 8, 16, (1 << 20) - 4096, 8192);
    const struct disk_step *disk = disk_place_bottom(&place);
    uint64_t at;
    assert_int_equal(place.extent_count, 2);
    assert_true(disk_place_find(&place, disk, (1 << 20) - 512, &at));
    assert_int_equal(at, (9 << 20) - 512);
    assert_true(disk_place_find(&place, disk, 1 << 20, &at));
    assert_int_equal(at, 64 << 20);
    assert_false(disk_place_find(&place, disk, 3 << 20, &at));
}

static void a_device_of_which_sysfs_tells_no_more_is_the_last_step(void **state)
{
    struct fake_root *root = *state;
    fake_device(root, "virtual/block/dm-0", 253, 0);
    fake_put(root, "sys/devices/virtual/block/dm-0/dm/uuid", "LVM-abc\n");
    struct disk_place place = place_of(root, 253, 0, 0, 8192);
    assert_int_equal(place.step_count, 1);
    assert_string_equal(place.steps[0].name, "dm-0");
    assert_int_equal(place.steps[0].sector_bytes, 512);
}

static void what_is_not_known_is_said_and_not_guessed(void **state)
{
    struct fake_root *root = *state;
    struct disk_place place = place_of(root, 8, 99, 0, 8192);
    assert_int_equal(place.step_count, 0);
    assert_non_null(strstr(place.why_not, "sysfs does not know"));
    place = place_of(root, 0, 45, 0, 8192); /* btrfs, overlay, NFS: no device of their own */
    assert_int_equal(place.step_count, 0);
    assert_non_null(strstr(place.why_not, "no block device"));
    place = place_of(root, 8, 0, 5 << 20, 8192);
    assert_non_null(strstr(place.why_not, "hole"));
    const struct disk_extent packed = {.size_bytes = 8192, .flags = FIEMAP_EXTENT_ENCODED};
    disk_place_of_extents(&place, root->sysfs, makedev(8, 0), &packed, 1, 0, 8192);
    assert_int_equal(place.step_count, 0);
    assert_non_null(strstr(place.why_not, "does not say"));
    disk_place_look(&place, root->sysfs, "/no/such/file", 0, 8192);
    assert_int_equal(place.step_count, 0);
    assert_non_null(strstr(place.why_not, "No such file"));
    assert_null(disk_place_bottom(&place));
}

int main(void)
{
#define OF_A_ROOT(test) cmocka_unit_test_setup_teardown(test, fake_root_make, fake_root_free)
    const struct CMUnitTest tests[] = {
        OF_A_ROOT(a_partition_is_added_to_the_place_in_it),
        OF_A_ROOT(each_sector_is_found_in_its_own_extent),
        OF_A_ROOT(a_device_of_which_sysfs_tells_no_more_is_the_last_step),
        OF_A_ROOT(what_is_not_known_is_said_and_not_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
