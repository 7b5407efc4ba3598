/* fake_root.h - a folder that looks like /: files of /proc and /sys put together by hand. */
#ifndef TESTS_UNIT_FAKE_ROOT_H
#define TESTS_UNIT_FAKE_ROOT_H

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

struct fake_root {
    char path[64];
    char sysfs[80], proc[80];
};

/* A shell command in the root: folders, links. */
static void fake_do(const struct fake_root *root, const char *command)
{
    char text[2048];
    snprintf(text, sizeof text, "cd %s && { %s; }", root->path, command);
    assert_int_equal(system(text), 0);
}

static int fake_root_make(void **state)
{
    struct fake_root *root = calloc(1, sizeof *root);
    assert_non_null(root);
    snprintf(root->path, sizeof root->path, "/tmp/pagestorm-root-XXXXXX");
    assert_non_null(mkdtemp(root->path));
    snprintf(root->sysfs, sizeof root->sysfs, "%s/sys", root->path);
    snprintf(root->proc, sizeof root->proc, "%s/proc", root->path);
    fake_do(root, "mkdir -p sys/dev/block proc");
    *state = root;
    return 0;
}

static int fake_root_free(void **state)
{
    struct fake_root *root = *state;
    char text[128];
    snprintf(text, sizeof text, "rm -rf %s", root->path);
    assert_int_equal(system(text), 0);
    free(root);
    return 0;
}

/* Text into a file below the root; its folder is made. */
static inline void fake_put(const struct fake_root *root, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "mkdir -p \"$(dirname '%s')\"", name);
    fake_do(root, path);
    snprintf(path, sizeof path, "%s/%s", root->path, name);
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* A block device of sysfs: where it stands below sys/devices, its number. */
static inline void fake_device(const struct fake_root *root, const char *place, unsigned major_no,
                               unsigned minor_no)
{
    char text[512];
    snprintf(text, sizeof text,
             "mkdir -p sys/devices/%s && echo %u:%u >sys/devices/%s/dev && "
             "ln -sfn ../../devices/%s sys/dev/block/%u:%u",
             place, major_no, minor_no, place, place, major_no, minor_no);
    fake_do(root, text);
}

#define IN_FAKE_ROOT(test) cmocka_unit_test_setup_teardown(test, fake_root_make, fake_root_free)

#endif
