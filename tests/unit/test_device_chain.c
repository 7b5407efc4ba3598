/* test_device_chain.c - what lies below a file system, by sysfs trees put together by hand after
 * those of real machines. */
#include "fake_root.h"

#include "sim/device_chain.h"

static struct device_chain look(const struct fake_root *root, unsigned major_no, unsigned minor_no)
{
    struct device_chain chain;
    device_chain_look(&chain, root->sysfs, makedev(major_no, minor_no));
    return chain;
}

static void a_partition_leads_to_its_disk_and_has_its_queue(void **state)
{
    struct fake_root *root = *state;
    fake_device(root, "pci0/ata1/host0/sda", 8, 0);
    fake_device(root, "pci0/ata1/host0/sda/sda2", 8, 2);
    fake_put(root, "sys/devices/pci0/ata1/host0/sda/sda2/partition", "2\n");
    fake_put(root, "sys/devices/pci0/ata1/host0/sda/device/model", "ACME DISK 9   \n");
    fake_put(root, "sys/devices/pci0/ata1/host0/sda/queue/logical_block_size", "512\n");
    fake_put(root, "sys/devices/pci0/ata1/host0/sda/queue/physical_block_size", "4096\n");
    fake_put(root, "sys/devices/pci0/ata1/host0/sda/queue/fua", "1\n");
    fake_put(root, "sys/devices/pci0/ata1/host0/sda/queue/write_cache", "write back\n");
    fake_put(root, "sys/devices/pci0/ata1/host0/sda/queue/scheduler", "none [mq-deadline] bfq\n");
    struct device_chain chain = look(root, 8, 2);
    assert_int_equal(chain.count, 2);
    assert_string_equal(chain.links[0].name, "sda2");
    assert_int_equal(chain.links[0].kind, DEVICE_PARTITION);
    assert_int_equal(chain.links[0].physical_bytes, 4096);
    assert_int_equal(chain.links[0].fua, DRIVE_YES);
    assert_int_equal(chain.links[0].write_cache, DRIVE_YES);
    assert_string_equal(chain.links[0].scheduler, "mq-deadline");
    assert_false(chain.links[0].is_bottom);
    assert_string_equal(chain.links[1].name, "sda");
    assert_int_equal(chain.links[1].kind, DEVICE_SATA);
    assert_string_equal(chain.links[1].detail, "ACME DISK 9");
    assert_true(chain.links[1].is_bottom);
    assert_int_equal(chain.links[1].rotational, DRIVE_UNKNOWN);
}

/* LVM on LUKS on an MD of two disks */
static void a_stack_is_followed_to_each_disk_once(void **state)
{
    struct fake_root *root = *state;
    fake_device(root, "virtual/block/dm-1", 253, 1);
    fake_device(root, "virtual/block/dm-0", 253, 0);
    fake_device(root, "virtual/block/md127", 9, 127);
    fake_device(root, "pci0/nvme/nvme0/nvme0n1", 259, 0);
    fake_device(root, "fabrics/nvme1/nvme1n1", 259, 1);
    fake_put(root, "sys/devices/virtual/block/dm-1/dm/uuid", "LVM-abc\n");
    fake_put(root, "sys/devices/virtual/block/dm-1/dm/name", "vg-data\n");
    fake_put(root, "sys/devices/virtual/block/dm-0/dm/uuid", "CRYPT-LUKS2-x\n");
    fake_put(root, "sys/devices/virtual/block/md127/md/level", "raid1\n");
    fake_put(root, "sys/devices/pci0/nvme/nvme0/nvme0n1/device/transport", "pcie\n");
    fake_put(root, "sys/devices/fabrics/nvme1/nvme1n1/device/transport", "tcp\n");
    fake_do(root, "cd sys/devices/virtual/block && mkdir dm-1/slaves dm-0/slaves md127/slaves && "
                  "ln -s ../../dm-0 dm-1/slaves/ && ln -s ../../md127 dm-0/slaves/ && "
                  "ln -s ../../dm-0 md127/slaves/ && "
                  "ln -s ../../../../pci0/nvme/nvme0/nvme0n1 md127/slaves/ && "
                  "ln -s ../../../../fabrics/nvme1/nvme1n1 md127/slaves/");
    struct device_chain chain = look(root, 253, 1);
    static const enum device_kind kinds[] = {DEVICE_LVM, DEVICE_CRYPT, DEVICE_MD, DEVICE_NVME,
                                             DEVICE_NVME_FABRICS};
    assert_int_equal(chain.count, 5); /* dm-0 below md127 again is a loop and is not followed */
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(chain.links[i].kind, kinds[i]);
    assert_string_equal(chain.links[0].detail, "vg-data");
    assert_string_equal(chain.links[2].detail, "raid1");
    assert_int_equal(chain.links[4].depth, 3);
    assert_true(device_chain_is_remote(&chain));
    assert_ptr_equal(device_chain_find(&chain, DEVICE_MD), &chain.links[2]);
    assert_null(device_chain_find(&chain, DEVICE_LOOP));

    struct device_chain disk = look(root, 259, 0), other = look(root, 259, 7);
    assert_true(device_chain_share(&chain, &disk));
    assert_false(device_chain_is_remote(&disk));
    assert_int_equal(other.count, 0);
    assert_false(device_chain_share(&chain, &other));
}

static void the_way_to_a_scsi_disk_names_its_kind(void **state)
{
    struct fake_root *root = *state;
    static const struct {
        const char *place;
        enum device_kind kind;
    } rows[] = {
        {"platform/host3/session1/target3/3:0:0:0/block/sdb", DEVICE_ISCSI},
        {"pci0/host4/rport-4:0-1/target4/block/sdc", DEVICE_FC},
        {"pci0/usb2/2-1/host5/block/sdd", DEVICE_USB},
        {"pci0/virtio1/host6/block/sde", DEVICE_VIRTIO},
        {"LNXSYSTM/vmbus_1/host7/block/sdf", DEVICE_HYPERV},
        {"pci0/host8/target8/block/sdg", DEVICE_SCSI},
        {"pci0/virtio2/block/vda", DEVICE_VIRTIO},
        {"virtual/block/nbd3", DEVICE_NBD},
        {"virtual/block/zram0", DEVICE_MEMORY},
        {"virtual/block/rbd0", DEVICE_RBD},
        {"odd/block/qqq", DEVICE_OTHER},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fake_device(root, rows[i].place, 100, i);
        struct device_chain chain = look(root, 100, i);
        assert_int_equal(chain.count, 1);
        assert_int_equal(chain.links[0].kind, rows[i].kind);
    }
}

/* The file lies on the test's own file system, whose number stands in the tree as a disk. */
static void a_loop_device_leads_to_the_disk_of_its_file(void **state)
{
    struct fake_root *root = *state;
    struct stat st;
    char name[128];
    fake_put(root, "image", "x");
    snprintf(name, sizeof name, "%s/image", root->path);
    assert_int_equal(stat(name, &st), 0);
    fake_device(root, "virtual/block/loop0", 7, 0);
    fake_put(root, "sys/devices/virtual/block/loop0/loop/backing_file", name);
    struct device_chain chain = look(root, 7, 0);
    assert_int_equal(chain.count, 1);
    assert_true(chain.links[0].is_bottom); /* nothing is known of it yet */
    fake_device(root, "pci0/virtio2/block/vda", major(st.st_dev), minor(st.st_dev));
    chain = look(root, 7, 0);
    assert_int_equal(chain.count, 2);
    assert_string_equal(chain.links[0].detail, name);
    assert_int_equal(chain.links[1].kind, DEVICE_VIRTIO);
    assert_false(chain.links[0].is_bottom);
}

static void a_btrfs_has_all_its_devices(void **state)
{
    struct fake_root *root = *state;
    struct device_chain chain;
    fake_device(root, "pci0/host1/block/sdx", 8, 16);
    fake_device(root, "pci0/host2/block/sdy", 8, 32);
    fake_do(root, "mkdir -p sys/fs/btrfs/1234/devices sys/fs/btrfs/features && "
                  "ln -s ../../../../devices/pci0/host1/block/sdx sys/fs/btrfs/1234/devices/ && "
                  "ln -s ../../../../devices/pci0/host2/block/sdy sys/fs/btrfs/1234/devices/");
    device_chain_look_btrfs(&chain, root->sysfs, "/dev/sdy");
    assert_int_equal(chain.count, 2);
    assert_string_equal(chain.links[0].name, "sdx");
    assert_string_equal(chain.links[1].name, "sdy");
    device_chain_look_btrfs(&chain, root->sysfs, "/dev/sdz");
    assert_int_equal(chain.count, 0);
}

static void a_stack_that_is_too_wide_is_cut_and_says_so(void **state)
{
    struct fake_root *root = *state;
    fake_device(root, "virtual/block/md0", 9, 0);
    fake_do(root, "mkdir sys/devices/virtual/block/md0/slaves");
    for (unsigned i = 0; i < DEVICE_CHAIN_MAX + 5; i++) {
        char text[256];
        snprintf(text, sizeof text, "pci0/block/sda%02u", i);
        fake_device(root, text, 8, i);
        snprintf(text, sizeof text,
                 "ln -s ../../../../pci0/block/sda%02u sys/devices/virtual/block/md0/slaves/", i);
        fake_do(root, text);
    }
    struct device_chain chain = look(root, 9, 0);
    assert_int_equal(chain.count, DEVICE_CHAIN_MAX);
    assert_true(chain.cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FAKE_ROOT(a_partition_leads_to_its_disk_and_has_its_queue),
        IN_FAKE_ROOT(a_stack_is_followed_to_each_disk_once),
        IN_FAKE_ROOT(the_way_to_a_scsi_disk_names_its_kind),
        IN_FAKE_ROOT(a_loop_device_leads_to_the_disk_of_its_file),
        IN_FAKE_ROOT(a_btrfs_has_all_its_devices),
        IN_FAKE_ROOT(a_stack_that_is_too_wide_is_cut_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
