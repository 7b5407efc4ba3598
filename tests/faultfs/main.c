/*
 * main.c - faultfs: a file system over a directory that does what bad storage does, on command.
 *
 *   faultfs --socket PATH [--align 512|4096] [--attr-timeout SECONDS] [--threads N] [--volatile]
 *           BACKING MOUNT_POINT
 *
 * Stays in the foreground; prints `ready` when the mount answers; ends when it is unmounted, or by
 * SIGTERM or SIGINT.  README.md says what it can do.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/faultfs/control.h"
#include "tests/faultfs/memory.h"
#include "tests/faultfs/ops.h"
#include "tests/faultfs/power.h"
#include "tests/faultfs/trace.h"

#define TRANSFER_BYTES_MAX (1u << 20) /* what the kernel sends in one request, at most */
#define BACKGROUND_MAX     512u
#define THREADS            128u /* a delayed request holds one: at least the depth of a test */

struct settings {
    const char *socket, *backing, *mount_point;
    unsigned threads;
};

static void op_init(void *userdata, struct fuse_conn_info *connection)
{
    (void)userdata;
    connection->max_write = TRANSFER_BYTES_MAX;
    connection->max_background = BACKGROUND_MAX;
    connection->congestion_threshold = BACKGROUND_MAX;
    connection->want |= connection->capable & (FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS);
    connection->want &= ~(unsigned)FUSE_CAP_WRITEBACK_CACHE;
    printf("ready\n");
    fflush(stdout);
}

static int usage(void)
{
    fprintf(stderr, "usage: faultfs --socket PATH [--align 512|4096] [--attr-timeout SECONDS] "
                    "[--threads N] [--volatile] BACKING MOUNT_POINT\n");
    return 2;
}

static int parse(int argc, char **argv, struct fs *fs, struct settings *settings)
{
    static const struct option options[] = {
        {"socket", required_argument, NULL, 's'},       {"align", required_argument, NULL, 'a'},
        {"attr-timeout", required_argument, NULL, 't'}, {"threads", required_argument, NULL, 'n'},
        {"volatile", no_argument, NULL, 'v'},           {0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 's')
            settings->socket = optarg;
        else if (option == 'a')
            fs->align_bytes = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 't')
            fs->attr_timeout_s = strtod(optarg, NULL);
        else if (option == 'n')
            settings->threads = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'v')
            fs->volatile_cache = true;
        else
            return usage();
    }
    if (!settings->socket || argc - optind != 2 || settings->threads == 0 ||
        (fs->align_bytes && fs->align_bytes != 512 && fs->align_bytes != 4096))
        return usage();
    settings->backing = argv[optind];
    settings->mount_point = argv[optind + 1];
    return 0;
}

static int loop(struct fuse_session *session, unsigned threads)
{
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    fuse_loop_cfg_set_max_threads(config, threads);
    fuse_loop_cfg_set_idle_threads(config, threads);
    int rc = fuse_session_loop_mt(session, config);
    fuse_loop_cfg_destroy(config);
    return rc < 0 ? 1 : 0;
}

static int serve(struct fs *fs, const struct settings *settings)
{
    struct fuse_lowlevel_ops ops = {.init = op_init};
    ops_add_meta(&ops);
    ops_add_data(&ops);
    char name[] = "faultfs", mount_options[] = "-ofsname=faultfs,subtype=faultfs,allow_other";
    char *words[] = {name, mount_options};
    struct fuse_args args = FUSE_ARGS_INIT(2, words);
    struct fuse_session *session = fuse_session_new(&args, &ops, sizeof ops, fs);
    int listening = session ? control_listen(settings->socket) : -EIO, rc = 1;
    if (listening < 0 || control_start(fs, listening) < 0)
        fprintf(stderr, "faultfs: %s: no control socket: %s\n", settings->socket,
                strerror(listening < 0 ? -listening : EAGAIN));
    else if (fuse_set_signal_handlers(session) == 0 &&
             fuse_session_mount(session, settings->mount_point) == 0) {
        rc = loop(session, settings->threads);
        fuse_session_unmount(session);
        fuse_remove_signal_handlers(session);
    }
    unlink(settings->socket);
    if (session)
        fuse_session_destroy(session);
    fuse_opt_free_args(&args);
    return rc;
}

int main(int argc, char **argv)
{
    struct settings settings = {.threads = THREADS};
    struct fs *fs = memory_zeroed(sizeof *fs);
    fs->powered = true;
    pthread_rwlock_init(&fs->gate, NULL);
    pthread_mutex_init(&fs->freeze_lock, NULL);
    pthread_cond_init(&fs->thawed, NULL);
    pthread_mutex_init(&fs->trace_lock, NULL);
    int rc = parse(argc, argv, fs, &settings);
    if (rc)
        return rc;
    rc = nodes_open(&fs->nodes, settings.backing);
    if (rc) {
        fprintf(stderr, "faultfs: %s: %s\n", settings.backing, strerror(-rc));
        return 1;
    }
    rc = serve(fs, &settings);
    return trace_to(fs, NULL) < 0 ? 1 : rc;
}
