/* test_environment.c - the report's environment from texts as the kernel and distributions write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "sim/environment.h"

static void the_distribution_is_its_pretty_name(void **state)
{
    char out[ENVIRONMENT_TEXT_MAX];
    (void)state;
    environment_distribution("NAME=\"Debian GNU/Linux\"\n"
                             "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n",
                             out, sizeof out);
    assert_string_equal(out, "Debian GNU/Linux 12 (bookworm)");
}

static void a_distribution_without_quotes_or_name(void **state)
{
    char out[ENVIRONMENT_TEXT_MAX];
    (void)state;
    environment_distribution("PRETTY_NAME=Alpine", out, sizeof out);
    assert_string_equal(out, "Alpine");
    environment_distribution("NAME=x\n", out, sizeof out);
    assert_string_equal(out, "");
}

static void the_cpu_is_its_first_model_name(void **state)
{
    char out[ENVIRONMENT_TEXT_MAX];
    (void)state;
    environment_cpu_model("processor\t: 0\nmodel name\t: First CPU @ 2GHz\n"
                          "processor\t: 1\nmodel name\t: Second\n",
                          out, sizeof out);
    assert_string_equal(out, "First CPU @ 2GHz");
}

/* The example of proc(5), and a mount point with a blank. */
static const char mounts[] =
    "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
    "37 35 253:7 / /my\\040data rw - xfs /dev/mapper/vg-data rw,attr2\n";

static void a_mount_is_found_by_its_device(void **state)
{
    struct environment_volume volume = {0};
    (void)state;
    environment_mount(mounts, makedev(98, 0), &volume);
    assert_string_equal(volume.mount_point, "/mnt2");
    assert_string_equal(volume.type, "ext3");
    assert_string_equal(volume.source, "/dev/root");
    assert_string_equal(volume.options, "rw,noatime,rw,errors=continue");
}

static void a_mount_without_optional_fields_and_with_a_blank(void **state)
{
    struct environment_volume volume = {0};
    (void)state;
    environment_mount(mounts, makedev(253, 7), &volume);
    assert_string_equal(volume.mount_point, "/my data");
    assert_string_equal(volume.type, "xfs");
}

static void a_device_without_a_mount_stays_empty(void **state)
{
    struct environment_volume volume = {0};
    (void)state;
    environment_mount(mounts, makedev(1, 1), &volume);
    assert_string_equal(volume.mount_point, "");
}

static void each_device_is_listed_once(void **state)
{
    static const char *const paths[] = {"/", "/", "/no/such/path"};
    struct environment environment;
    (void)state;
    assert_int_equal(environment_look(&environment, paths, 3), 0);
    assert_int_equal(environment.volume_count, 1);
    assert_true(environment.memory_total_bytes > 0);
    assert_int_equal(strncmp(environment.kernel, "Linux ", 6), 0);
    environment_free(&environment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distribution_is_its_pretty_name),
        cmocka_unit_test(a_distribution_without_quotes_or_name),
        cmocka_unit_test(the_cpu_is_its_first_model_name),
        cmocka_unit_test(a_mount_is_found_by_its_device),
        cmocka_unit_test(a_mount_without_optional_fields_and_with_a_blank),
        cmocka_unit_test(a_device_without_a_mount_stays_empty),
        cmocka_unit_test(each_device_is_listed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
