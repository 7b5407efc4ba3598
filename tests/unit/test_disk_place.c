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

/* The file behind a loop device is the file system's, too; a range in two pieces is not followed.
 */
static void a_loop_file_is_followed_only_where_the_range_is_in_one_piece(void **state)
{
    struct fake_root *root = *state;
    char path[128], backing[192];
    struct stat st;
    snprintf(path, sizeof path, "%s/image", root->path);
    fake_do(root, "dd if=/dev/zero of=image bs=64k count=1 seek=1 status=none conv=fsync");
    fake_device(root, "virtual/block/loop0", 7, 0);
    snprintf(backing, sizeof backing, "%s\n", path);
    fake_put(root, "sys/devices/virtual/block/loop0/loop/backing_file", backing);
    fake_put(root, "sys/devices/virtual/block/loop0/loop/offset", "65536\n");
    assert_int_equal(stat(path, &st), 0);
    struct disk_extent extents[2];
    bool cut;
    int known = disk_extents_read(path, 65536, 8192, extents, 2, &cut);
    if (known != 1 || !extents[0].placed || major(st.st_dev) == 0)
        skip(); /* no FIEMAP under this file's folder */
    fake_device(root, "pci0/host0/sdc", major(st.st_dev), minor(st.st_dev));
    const struct disk_extent one[] = {{.size_bytes = 65536, .placed = true}};
    struct disk_place place;
    disk_place_of_extents(&place, root->sysfs, makedev(7, 0), one, 1, 8192, 8192);
    assert_int_equal(place.step_count, 2);
    assert_string_equal(place.steps[1].name, "sdc");
    assert_int_equal(place.steps[1].offset,
                     extents[0].fs_offset + (65536 + 8192 - extents[0].file_offset));
    const struct disk_extent halves[] = {
        {.size_bytes = 12288, .placed = true},
        {.file_offset = 12288, .fs_offset = 40960, .size_bytes = 8192, .placed = true}};
    disk_place_of_extents(&place, root->sysfs, makedev(7, 0), halves, 2, 8192, 8192);
    assert_int_equal(place.step_count, 1);
    disk_place_of_extents(&place, root->sysfs, makedev(7, 0), one, 1, 0, 131072); /* past the end */
    assert_int_equal(place.step_count, 1);
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
        OF_A_ROOT(a_loop_file_is_followed_only_where_the_range_is_in_one_piece),
        OF_A_ROOT(what_is_not_known_is_said_and_not_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
