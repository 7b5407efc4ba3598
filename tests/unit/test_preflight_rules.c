/* test_preflight_rules.c - each rule: a sound path, one fact changed, the grade that follows and
 * the words that name it.  Facts after Microsoft's documentation. */
#include "fake_root.h"

#include "sim/exit_code.h"
#include "sim/preflight_rules.h"

/* XFS on an NVMe disk with FUA on a new kernel, tuned as recommended. */
static void make_sound(struct path_facts *f, struct host_facts *host)
{
    memset(f, 0, sizeof *f);
    snprintf(f->path, sizeof f->path, "/data");
    snprintf(f->directory, sizeof f->directory, "/data");
    f->writable = true;
    f->direct = (struct file_direct){true, true, 512, 512};
    snprintf(f->volume.type, sizeof f->volume.type, "xfs");
    snprintf(f->volume.source, sizeof f->volume.source, "/dev/nvme0n1");
    snprintf(f->volume.mount_point, sizeof f->volume.mount_point, "/data");
    snprintf(f->volume.options, sizeof f->volume.options, "rw,noatime,rw,attr2");
    f->volume.total_bytes = 1000;
    f->volume.available_bytes = 500;
    f->place.chain.count = 1;
    f->place.chain.links[0] = (struct device_link){
        .name = "nvme0n1",
        .kind = DEVICE_NVME,
        .logical_bytes = 512,
        .physical_bytes = 512,
        .read_ahead_kib = 2048,
        .fua = DRIVE_YES,
        .write_cache = DRIVE_YES,
        .rotational = DRIVE_NO,
        .scheduler = "none",
    };
    *host = (struct host_facts){
        .numbers = {1, 3, 80, 500, 100, 1600000, 0, 65536, 10},
        .kernel = "5.14.0",
        .kernel_major = 5,
        .kernel_minor = 14,
        .huge_pages = "always",
        .governor = "performance",
        .has_mssql_conf = true,
        .write_through = 1,
        .alternate_write_through = 0,
        .traces = {3979},
        .trace_count = 1,
    };
}

static const struct preflight_line *line_of(const struct preflight_result *result, const char *key)
{
    for (unsigned i = 0; i < result->count; i++)
        if (strcmp(result->lines[i].key, key) == 0)
            return &result->lines[i];
    return NULL;
}

static void a_sound_path_on_a_tuned_machine_is_accepted(void **state)
{
    static struct path_facts f;
    static struct preflight_result result;
    struct host_facts host;
    (void)state;
    make_sound(&f, &host);
    preflight_judge_path(&result, &f, &host);
    for (unsigned i = 0; i < result.count; i++)
        assert_int_equal(result.lines[i].grade, PREFLIGHT_OK);
    assert_int_equal(result.worst, PREFLIGHT_OK);
    assert_true(result.count >= 10);
    preflight_judge_host(&result, &host, &f, 1);
    assert_int_equal(result.worst, PREFLIGHT_OK);
    assert_int_equal(preflight_exit_code(PREFLIGHT_OK), EXIT_CODE_OK);
    assert_int_equal(preflight_exit_code(PREFLIGHT_NOTE), EXIT_CODE_OK);
    assert_int_equal(preflight_exit_code(PREFLIGHT_ADVICE), EXIT_CODE_SPEED);
    assert_int_equal(preflight_exit_code(PREFLIGHT_REFUSED), EXIT_CODE_INCOMPLETE);
}

typedef void change(struct path_facts *f);
#define CHANGE(name, ...)                                                                          \
    static void name(struct path_facts *f)                                                         \
    {                                                                                              \
        struct device_link *disk = f->place.chain.links;                                           \
        (void)disk;                                                                                \
        __VA_ARGS__;                                                                               \
    }
#define TYPE(name)    snprintf(f->volume.type, sizeof f->volume.type, name)
#define OPTIONS(text) snprintf(f->volume.options, sizeof f->volume.options, text)

CHANGE(is_ext4, TYPE("ext4"))
CHANGE(is_tmpfs, TYPE("tmpfs"); f->place.chain.count = 0)
CHANGE(is_overlay, TYPE("overlay"))
CHANGE(is_btrfs, TYPE("btrfs"))
CHANGE(is_btrfs_without_cow, TYPE("btrfs"); f->no_cow = true)
CHANGE(is_zfs, TYPE("zfs"))
CHANGE(is_cifs, TYPE("cifs"))
CHANGE(is_nfs_3, TYPE("nfs"); OPTIONS("rw,vers=3,nolock"))
CHANGE(is_nfs_41, TYPE("nfs4"); OPTIONS("rw,vers=4.1,nolock"))
CHANGE(is_nfs_42, TYPE("nfs4"); OPTIONS("rw,vers=4.2,nolock"))
CHANGE(is_nfs_42_locking, TYPE("nfs4"); OPTIONS("rw,vers=4.2"))
CHANGE(type_unknown, f->volume.type[0] = 0)
CHANGE(has_relatime, OPTIONS("rw,relatime"))
CHANGE(is_read_only, OPTIONS("ro,noatime"); f->read_only = true)
CHANGE(has_no_barrier, OPTIONS("rw,noatime,nobarrier"))
CHANGE(has_dax, OPTIONS("rw,noatime,dax=always"))
CHANGE(is_compressed, TYPE("btrfs"); OPTIONS("rw,noatime,compress=zstd"))
CHANGE(is_encrypted, f->encrypted = true)
CHANGE(sectors_8k, disk->physical_bytes = 8192)
CHANGE(sectors_logical_8k, disk->logical_bytes = disk->physical_bytes = 8192)
CHANGE(sectors_4k, disk->logical_bytes = disk->physical_bytes = 4096)
CHANGE(sectors_unknown, disk->logical_bytes = 0)
CHANGE(file_of_512_on_4k, f->kind = PATH_FILE; f->file_sector_bytes = 512;
       disk->physical_bytes = 4096)
CHANGE(file_of_4k_on_512, f->kind = PATH_FILE; f->file_sector_bytes = 4096)
CHANGE(no_direct, f->direct.works = false)
CHANGE(direct_fails, f->direct_error = -5)
CHANGE(direct_lies, f->direct.came_back = false)
CHANGE(direct_wide, f->direct.offset_bytes = 16384)
CHANGE(device_closed, f->kind = PATH_BLOCK_DEVICE; f->direct_error = -1)
CHANGE(not_writable, f->writable = false)
CHANGE(cache_unknown, disk->write_cache = DRIVE_UNKNOWN)
CHANGE(no_disk, f->place.chain.count = 0)
CHANGE(is_loop, disk->kind = DEVICE_LOOP)
CHANGE(is_memory, disk->kind = DEVICE_MEMORY)
CHANGE(is_iscsi, disk->kind = DEVICE_ISCSI)
CHANGE(is_usb, disk->kind = DEVICE_USB)
CHANGE(has_bfq, snprintf(disk->scheduler, sizeof disk->scheduler, "bfq"))
CHANGE(small_read_ahead, disk->read_ahead_kib = 128)
CHANGE(nearly_full, f->volume.available_bytes = 50)
CHANGE(has_sql_server, f->users.count = 1; f->users.list[0].files = 2;
       snprintf(f->users.list[0].program, 32, "sqlservr"))
CHANGE(unseen_sql_server, f->users.unseen = 9; f->users.unseen_sql_server = 4711)
CHANGE(unseen_others, f->users.unseen = 9)
CHANGE(is_busy, f->busy = (struct device_busy){true, 6, 1, 1})
CHANGE(is_idle, f->busy = (struct device_busy){true, 5, 1, 1})
CHANGE(is_locked, f->kind = PATH_FILE; f->lock_pid = 4712)
CHANGE(is_raw, f->kind = PATH_BLOCK_DEVICE; f->volume.type[0] = 0; f->volume.options[0] = 0)

static const struct {
    const char *key; /* the line that shows it */
    change *make;
    enum preflight_grade grade;
    const char *word; /* in value or advice */
} rows[] = {
    {"file_system", is_ext4, PREFLIGHT_OK, "ext4"},
    {"file_system", is_tmpfs, PREFLIGHT_REFUSED, "memory"},
    {"file_system", is_overlay, PREFLIGHT_REFUSED, "container"},
    {"file_system", is_btrfs, PREFLIGHT_REFUSED, "XFS and ext4"},
    {"attributes", is_btrfs, PREFLIGHT_ADVICE, "chattr +C"},
    {"attributes", is_btrfs_without_cow, PREFLIGHT_OK, "no copy-on-write"},
    {"file_system", is_zfs, PREFLIGHT_REFUSED, "O_DIRECT"},
    {"file_system", is_cifs, PREFLIGHT_REFUSED, "XFS and ext4"},
    {"file_system", is_nfs_3, PREFLIGHT_REFUSED, "4.2"},
    {"file_system", is_nfs_41, PREFLIGHT_REFUSED, "4.2"},
    {"file_system", is_nfs_42, PREFLIGHT_OK, "nfs4"},
    {"file_system", is_nfs_42_locking, PREFLIGHT_ADVICE, "nolock"},
    {"file_system", type_unknown, PREFLIGHT_NOTE, "unknown"},
    {"mount_options", has_relatime, PREFLIGHT_ADVICE, "noatime"},
    {"mount_options", is_read_only, PREFLIGHT_REFUSED, "read-only"},
    {"mount_options", has_no_barrier, PREFLIGHT_ADVICE, "barriers"},
    {"mount_options", has_dax, PREFLIGHT_ADVICE, "log files may not"},
    {"attributes", is_compressed, PREFLIGHT_REFUSED, "compressed"},
    {"attributes", is_encrypted, PREFLIGHT_ADVICE, "encrypted"},
    {"sectors", sectors_8k, PREFLIGHT_REFUSED, "5179"},
    {"sectors", sectors_logical_8k, PREFLIGHT_REFUSED, "5179"},
    {"sectors", sectors_4k, PREFLIGHT_OK, "4,096"},
    {"sectors", sectors_unknown, PREFLIGHT_NOTE, "unknown"},
    {"sectors", file_of_512_on_4k, PREFLIGHT_REFUSED, "5178"},
    {"sectors", file_of_4k_on_512, PREFLIGHT_OK, "1800"},
    {"o_direct", no_direct, PREFLIGHT_REFUSED, "O_DIRECT"},
    {"o_direct", direct_fails, PREFLIGHT_REFUSED, "Input/output error"},
    {"o_direct", direct_lies, PREFLIGHT_REFUSED, "otherwise"},
    {"o_direct", direct_wide, PREFLIGHT_REFUSED, "9012"},
    {"o_direct", not_writable, PREFLIGHT_ADVICE, "not writable"},
    {"o_direct", device_closed, PREFLIGHT_NOTE, "root"},
    {"write_cache", cache_unknown, PREFLIGHT_NOTE, "unknown"},
    {"device", no_disk, PREFLIGHT_NOTE, "No disk"},
    {"device", is_loop, PREFLIGHT_ADVICE, "loop"},
    {"device", is_memory, PREFLIGHT_REFUSED, "memory"},
    {"device", is_iscsi, PREFLIGHT_NOTE, "network"},
    {"device", is_usb, PREFLIGHT_ADVICE, "flushes"},
    {"queue", has_bfq, PREFLIGHT_NOTE, "bfq"},
    {"read_ahead", small_read_ahead, PREFLIGHT_ADVICE, "--setra 4096 /dev/nvme0n1"},
    {"space", nearly_full, PREFLIGHT_ADVICE, "10 %"},
    {"users", has_sql_server, PREFLIGHT_ADVICE, "--beside-others"},
    {"users", unseen_sql_server, PREFLIGHT_ADVICE, "4711"},
    {"users", unseen_others, PREFLIGHT_NOTE, "9 processes"},
    {"busy", is_busy, PREFLIGHT_ADVICE, "6 %"},
    {"busy", is_idle, PREFLIGHT_OK, "5 %"},
    {"locks", is_locked, PREFLIGHT_ADVICE, "4712"},
    {"file_system", is_raw, PREFLIGHT_NOTE, "needs a file system"},
};

static void each_fact_has_its_grade_and_its_words(void **state)
{
    static struct path_facts f;
    static struct preflight_result result;
    struct host_facts host;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        make_sound(&f, &host);
        rows[i].make(&f);
        preflight_judge_path(&result, &f, &host);
        const struct preflight_line *line = line_of(&result, rows[i].key);
        if (!line || line->grade != rows[i].grade ||
            (!strstr(line->value, rows[i].word) && !strstr(line->advice, rows[i].word)))
            fail_msg("row %zu, %s: grade %d, \"%s\", \"%s\"", i, rows[i].key,
                     line ? (int)line->grade : -1, line ? line->value : "",
                     line ? line->advice : "");
        assert_true(result.worst >= rows[i].grade);
        /* What is not right says what to do. */
        assert_true(line->grade == PREFLIGHT_OK || line->advice[0]);
    }
}

/* XFS from 4.18, ext4 from 5.6, and a device that has it. */
static void fua_needs_kernel_file_system_and_device(void **state)
{
    static struct path_facts f;
    struct host_facts host;
    (void)state;
    make_sound(&f, &host);
    assert_true(preflight_fua_usable(&f, &host));
    host.kernel_major = 4;
    host.kernel_minor = 18;
    assert_true(preflight_fua_usable(&f, &host));
    host.kernel_minor = 17;
    assert_false(preflight_fua_usable(&f, &host));
    snprintf(f.volume.type, sizeof f.volume.type, "ext4");
    host.kernel_major = 5;
    host.kernel_minor = 5;
    assert_false(preflight_fua_usable(&f, &host));
    host.kernel_minor = 6;
    assert_true(preflight_fua_usable(&f, &host));
    f.place.chain.links[0].fua = DRIVE_NO;
    assert_false(preflight_fua_usable(&f, &host));
}

static enum preflight_grade flush_grade(struct host_facts *host, const struct path_facts *f)
{
    static struct preflight_result result;
    preflight_judge_host(&result, host, f, 1);
    return line_of(&result, "mssql_conf")->grade;
}

/* With FUA: 3979, 1, 0.  Without: neither, 1, 1, which are the defaults. */
static void flush_settings_follow_from_fua(void **state)
{
    static struct path_facts f;
    struct host_facts host;
    (void)state;
    make_sound(&f, &host);
    assert_int_equal(flush_grade(&host, &f), PREFLIGHT_OK);
    f.place.chain.links[0].fua = DRIVE_NO; /* 3979 and no flush: acknowledged data may be lost */
    assert_int_equal(flush_grade(&host, &f), PREFLIGHT_ADVICE);
    host.trace_count = 0;
    host.write_through = host.alternate_write_through = HOST_NUMBER_NONE;
    assert_int_equal(flush_grade(&host, &f), PREFLIGHT_OK);
    host.write_through = 0;
    assert_int_equal(flush_grade(&host, &f), PREFLIGHT_ADVICE);
    host.has_mssql_conf = false;
    host.write_through = HOST_NUMBER_NONE;
    assert_int_equal(flush_grade(&host, &f), PREFLIGHT_NOTE);
}

static void each_setting_of_the_machine_is_advised(void **state)
{
    static struct path_facts f;
    static struct preflight_result result;
    struct host_facts host;
    static const struct {
        const char *key;
        enum host_number number;
        int64_t value;
    } settings[] = {
        {"vm.swappiness", HOST_SWAPPINESS, 60},
        {"vm.dirty_background_ratio", HOST_DIRTY_BACKGROUND_RATIO, 10},
        {"vm.dirty_ratio", HOST_DIRTY_RATIO, 20},
        {"vm.dirty_expire_centisecs", HOST_DIRTY_EXPIRE_CENTISECS, 3000},
        {"vm.dirty_writeback_centisecs", HOST_DIRTY_WRITEBACK_CENTISECS, 501},
        {"vm.max_map_count", HOST_MAX_MAP_COUNT, 65530},
        {"kernel.numa_balancing", HOST_NUMA_BALANCING, 1},
        {"fs.aio-nr", HOST_AIO_NR, 65000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        make_sound(&f, &host);
        host.numbers[settings[i].number] = settings[i].value;
        preflight_judge_host(&result, &host, &f, 1);
        assert_int_equal(line_of(&result, settings[i].key)->grade, PREFLIGHT_ADVICE);
        host.numbers[settings[i].number] = HOST_NUMBER_NONE; /* unknown: nothing is said */
        preflight_judge_host(&result, &host, &f, 1);
        assert_null(line_of(&result, settings[i].key));
    }
    make_sound(&f, &host);
    host.numbers[HOST_MAX_MAP_COUNT] = 2000000; /* at least */
    snprintf(host.huge_pages, sizeof host.huge_pages, "never");
    snprintf(host.governor, sizeof host.governor, "powersave");
    preflight_judge_host(&result, &host, &f, 1);
    assert_int_equal(line_of(&result, "vm.max_map_count")->grade, PREFLIGHT_OK);
    assert_int_equal(line_of(&result, "transparent_hugepage")->grade, PREFLIGHT_ADVICE);
    assert_int_equal(line_of(&result, "cpu_governor")->grade, PREFLIGHT_ADVICE);
}

static void the_machine_is_read_from_its_files(void **state)
{
    struct fake_root *root = *state;
    struct host_facts host;
    fake_put(root, "proc/sys/vm/swappiness", "60\n");
    fake_put(root, "proc/sys/fs/aio-max-nr", "1048576\n");
    fake_put(root, "proc/sys/kernel/osrelease", "4.18.0-513.el8.x86_64\n");
    fake_put(root, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    fake_put(root, "var/opt/mssql/mssql.conf",
             "# a comment\n[sqlagent]\nenabled = false\n[control]\nwritethrough = 1\r\n"
             "  alternatewritethrough=0\n[traceflag]\ntraceflag0 = 3979\ntraceflag1 = 1222\n");
    host_facts_look(&host, root->path);
    assert_int_equal(host.numbers[HOST_SWAPPINESS], 60);
    assert_int_equal(host.numbers[HOST_AIO_MAX_NR], 1048576);
    assert_true(host.numbers[HOST_DIRTY_RATIO] == HOST_NUMBER_NONE);
    assert_true(host_facts_kernel_is(&host, 4, 18));
    assert_false(host_facts_kernel_is(&host, 5, 6));
    assert_string_equal(host.huge_pages, "madvise");
    assert_string_equal(host.governor, "");
    assert_true(host.has_mssql_conf);
    assert_int_equal(host.write_through, 1);
    assert_int_equal(host.alternate_write_through, 0);
    assert_true(host_facts_has_trace(&host, 3979));
    assert_true(host_facts_has_trace(&host, 1222));
    assert_false(host_facts_has_trace(&host, 3982));
    fake_do(root, "rm var/opt/mssql/mssql.conf");
    host_facts_look(&host, root->path);
    assert_false(host.has_mssql_conf);
    assert_true(host.write_through == HOST_NUMBER_NONE);
}

static void options_are_found_whole(void **state)
{
    (void)state;
    assert_true(device_facts_option("rw,noatime", "noatime"));
    assert_true(device_facts_option("rw,compress=zstd:1,x", "compress"));
    assert_false(device_facts_option("rw,compress-force=zstd", "compress"));
    assert_false(device_facts_option("rw,nodiratime", "noatime"));
    assert_false(device_facts_option("errors=remount-ro", "ro"));
    assert_false(device_facts_option("", "ro"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_path_on_a_tuned_machine_is_accepted),
        cmocka_unit_test(each_fact_has_its_grade_and_its_words),
        cmocka_unit_test(fua_needs_kernel_file_system_and_device),
        cmocka_unit_test(flush_settings_follow_from_fua),
        cmocka_unit_test(each_setting_of_the_machine_is_advised),
        IN_FAKE_ROOT(the_machine_is_read_from_its_files),
        cmocka_unit_test(options_are_found_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
