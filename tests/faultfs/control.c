/* control.c - see control.h. */
#include "tests/faultfs/control.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/faultfs/memory.h"
#include "tests/faultfs/power.h"
#include "tests/faultfs/snapshot.h"
#include "tests/faultfs/trace.h"

#define WORDS_MAX 4u

struct answer {
    FILE *out;
    char *rest;            /* of the line, behind the command */
    char *word[WORDS_MAX]; /* the same, cut; "" where there is none */
};

static void command_add(struct fs *fs, struct answer *answer)
{
    char why[200];
    struct rule *rule = memory_zeroed(sizeof *rule);
    int rc = rule_parse(answer->rest, rule, why, sizeof why);
    if (rc == 0 && fs->rules.count == sizeof fs->rules.list / sizeof *fs->rules.list) {
        snprintf(why, sizeof why, "too many rules");
        rc = -ENOSPC;
    }
    if (rc) {
        fprintf(answer->out, "error %s\n", why);
        free(rule);
        return;
    }
    rule->id = ++fs->rules.last_id;
    fs->rules.list[fs->rules.count++] = rule;
    fprintf(answer->out, "ok %u\n", rule->id);
}

/* Without a number all of them; what they did stays. */
static void command_clear(struct fs *fs, struct answer *answer)
{
    unsigned id = (unsigned)strtoul(answer->word[0], NULL, 10), kept = 0;
    for (unsigned i = 0; i < fs->rules.count; i++) {
        if (id && fs->rules.list[i]->id != id)
            fs->rules.list[kept++] = fs->rules.list[i];
        else
            free(fs->rules.list[i]);
    }
    fprintf(answer->out, "ok %u\n", fs->rules.count - kept);
    fs->rules.count = kept;
}

static void command_rules(struct fs *fs, struct answer *answer)
{
    fprintf(answer->out, "ok");
    for (unsigned i = 0; i < fs->rules.count; i++)
        fprintf(answer->out, " %u:%" PRIu64 "/%" PRIu64, fs->rules.list[i]->id,
                fs->rules.list[i]->fired, fs->rules.list[i]->matched);
    fprintf(answer->out, "\n");
}

static void reply(struct answer *answer, int rc)
{
    if (rc < 0)
        fprintf(answer->out, "error %s\n", strerror(-rc));
    else
        fprintf(answer->out, "ok %d\n", rc);
}

static void command_cut(struct fs *fs, struct answer *answer)
{
    struct cut_counts counts;
    int rc = power_cut(fs, answer->word[0], strtoull(answer->word[1], NULL, 10), &counts);
    if (rc)
        fprintf(answer->out, "error cut all|prefix|random|torn|keepall|reorder SEED\n");
    else
        fprintf(answer->out,
                "ok pending=%" PRIu64 " kept=%" PRIu64 " dropped=%" PRIu64 " torn=%" PRIu64 "\n",
                counts.pending, counts.kept, counts.dropped, counts.torn);
}

static void command_on(struct fs *fs, struct answer *answer)
{
    fs->powered = true;
    reply(answer, 0);
}

/* A word that is 1 or 0, on or off. */
static void set_flag(bool *flag, struct answer *answer)
{
    const char *word = answer->word[0];
    bool on = strcmp(word, "1") == 0 || strcmp(word, "on") == 0;
    if (!on && strcmp(word, "0") != 0 && strcmp(word, "off") != 0) {
        reply(answer, -EINVAL);
        return;
    }
    *flag = on;
    reply(answer, 0);
}

static void command_liefsync(struct fs *fs, struct answer *answer)
{
    set_flag(&fs->lie, answer);
}

/* Switched off, everything is durable that was not. */
static void command_volatile(struct fs *fs, struct answer *answer)
{
    set_flag(&fs->volatile_cache, answer);
    for (unsigned i = 0; !fs->volatile_cache && i < NODE_BUCKETS; i++)
        for (struct node *node = fs->nodes.buckets[i]; node; node = node->next)
            power_flush(fs, node);
}

static void command_overlay(struct fs *fs, struct answer *answer)
{
    bool on = !fs->overlays_off;
    set_flag(&on, answer);
    fs->overlays_off = !on;
}

static void command_truth(struct fs *fs, struct answer *answer)
{
    FILE *out = fopen(answer->rest, "we");
    if (!out) {
        reply(answer, -errno);
        return;
    }
    truth_print(&fs->truth, out);
    reply(answer, fclose(out) ? -errno : (int)fs->truth.count);
}

static void command_snapshot(struct fs *fs, struct answer *answer)
{
    reply(answer, snapshot_take(fs, answer->word[0]));
}

static void command_rollback(struct fs *fs, struct answer *answer)
{
    const char *glob = *answer->word[1] ? answer->word[1] : "*";
    reply(answer, snapshot_restore(fs, answer->word[0], glob));
}

static void command_truncate(struct fs *fs, struct answer *answer)
{
    reply(answer, snapshot_truncate(fs, answer->word[0], strtoull(answer->word[1], NULL, 10)));
}

static void command_stat(struct fs *fs, struct answer *answer)
{
    pthread_mutex_lock(&fs->freeze_lock);
    unsigned waiting = fs->waiting;
    pthread_mutex_unlock(&fs->freeze_lock);
    uint64_t pending = 0, damaged = 0;
    for (unsigned i = 0; i < NODE_BUCKETS; i++)
        for (struct node *node = fs->nodes.buckets[i]; node; node = node->next) {
            pending += node->pending_count;
            damaged += node->damage.used;
        }
    fprintf(answer->out,
            "ok rules=%u events=%zu damaged=%" PRIu64 " pending=%" PRIu64 " fua=%" PRIu64
            " power=%d waiting=%u\n",
            fs->rules.count, fs->truth.count, damaged, pending,
            __atomic_load_n(&fs->fua_count, __ATOMIC_RELAXED), fs->powered, waiting);
}

/* These have locks of their own. */
static void command_freeze(struct fs *fs, struct answer *answer)
{
    pthread_mutex_lock(&fs->freeze_lock);
    snprintf(fs->frozen, sizeof fs->frozen, "%s", *answer->rest ? answer->rest : "*");
    pthread_mutex_unlock(&fs->freeze_lock);
    reply(answer, 0);
}

static void command_thaw(struct fs *fs, struct answer *answer)
{
    pthread_mutex_lock(&fs->freeze_lock);
    fs->frozen[0] = 0;
    pthread_cond_broadcast(&fs->thawed);
    pthread_mutex_unlock(&fs->freeze_lock);
    reply(answer, 0);
}

static void command_trace(struct fs *fs, struct answer *answer)
{
    bool on = strcmp(answer->word[0], "on") == 0;
    reply(answer, on || strcmp(answer->word[0], "off") == 0
                      ? trace_to(fs, on ? answer->word[1] : NULL)
                      : -EINVAL);
}

static const struct command {
    const char *name;
    void (*run)(struct fs *fs, struct answer *answer);
    bool gate;
} commands[] = {
    {"add", command_add, true},
    {"clear", command_clear, true},
    {"rules", command_rules, true},
    {"cut", command_cut, true},
    {"on", command_on, true},
    {"liefsync", command_liefsync, true},
    {"volatile", command_volatile, true},
    {"overlay", command_overlay, true},
    {"truth", command_truth, true},
    {"snapshot", command_snapshot, true},
    {"rollback", command_rollback, true},
    {"truncate", command_truncate, true},
    {"stat", command_stat, true},
    {"freeze", command_freeze, false},
    {"thaw", command_thaw, false},
    {"trace", command_trace, false},
};

static void run_command(struct fs *fs, const struct command *command, struct answer *answer)
{
    char *line = memory_text("%s", answer->rest), *rest = line;
    for (unsigned i = 0; i < WORDS_MAX; i++) {
        char *word = strtok_r(rest, " ", &rest);
        answer->word[i] = word ? word : line + strlen(answer->rest);
    }
    if (command->gate)
        pthread_rwlock_wrlock(&fs->gate);
    command->run(fs, answer);
    if (command->gate)
        pthread_rwlock_unlock(&fs->gate);
    free(line);
}

static void serve_line(struct fs *fs, char *line, FILE *out)
{
    line[strcspn(line, "\r\n")] = 0;
    size_t length = strcspn(line, " ");
    struct answer answer = {.out = out, .rest = line + length + (line[length] == ' ')};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strlen(commands[i].name) == length && strncmp(commands[i].name, line, length) == 0) {
            run_command(fs, &commands[i], &answer);
            fflush(out);
            return;
        }
    fprintf(out, "error no such command: %s\n", line);
    fflush(out);
}

struct service {
    struct fs *fs;
    int listening;
};

static void *serve(void *argument)
{
    struct service service = *(struct service *)argument;
    free(argument);
    for (int fd; (fd = accept(service.listening, NULL, NULL)) >= 0;) {
        FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
        char *line = NULL;
        size_t room = 0;
        while (in && out && getline(&line, &room, in) > 0)
            serve_line(service.fs, line, out);
        free(line);
        if (in)
            fclose(in);
        if (out)
            fclose(out);
    }
    return NULL;
}

int control_listen(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if ((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s", path) >=
        sizeof address.sun_path)
        return -ENAMETOOLONG;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
        listen(fd, 8) < 0)
        return -errno;
    return fd;
}

int control_start(struct fs *fs, int listening)
{
    pthread_t thread;
    struct service *service = memory_zeroed(sizeof *service);
    *service = (struct service){fs, listening};
    int rc = pthread_create(&thread, NULL, serve, service);
    if (rc == 0)
        pthread_detach(thread);
    return -rc;
}
