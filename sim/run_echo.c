/* run_echo.c - see run_echo.h. */
#include "sim/run_echo.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/run.h"

#define USER  "System"
#define HEX_2 3 /* two digits and the end */

struct row {
    char text[EVENT_TEXT_MAX];
    size_t used;
};

static void __attribute__((format(printf, 2, 3))) add(struct row *row, const char *format, ...)
{
    va_list arguments;
    size_t left = sizeof row->text - row->used;
    va_start(arguments, format);
    int length = vsnprintf(row->text + row->used, left, format, arguments);
    va_end(arguments);
    if (length > 0)
        row->used += (size_t)length < left ? (size_t)length : left - 1;
}

static const char *yes_no(bool value)
{
    return value ? "Yes" : "No";
}

/* As SQLIOSim writes it, where it could. */
static void cpus_text(const struct cpu_list *cpus, char *out, size_t out_size_bytes)
{
    uint64_t mask;
    if (cpu_list_is_mask(cpus, &mask))
        snprintf(out, out_size_bytes, "%" PRIu64, mask);
    else
        cpu_list_write(cpus, out, out_size_bytes);
}

static void echo_first(const struct run *run)
{
    char cpus[CPU_LIST_TEXT_MAX], io_cpus[CPU_LIST_TEXT_MAX];
    const struct config_settings *config = run->settings;
    const struct plan *plan = run->config.plan;
    cpus_text(&config->affinity, cpus, sizeof cpus);
    cpus_text(&config->io_affinity, io_cpus, sizeof io_cpus);
    run_log(run, USER, EVENT_HERE,
            "CPUCount = %u, Affinity = %s, IOAffinity = %s, MaxMemory = %zu MB, "
            "StopOnError = %s, TestCycles = %" PRId64 ", TestCycleDuration = %" PRIu64
            " s, CacheHitRatio = %.2f%%",
            plan->workers, cpus, io_cpus, plan->pool_bytes >> 20, yes_no(config->stop_on_error),
            config->test_cycles, (uint64_t)(plan->test_cycle_ns / NS_PER_S),
            (double)config->cache_hit_ratio / 100);
}

static void echo_run(const struct run *run)
{
    char id[2 * RUN_ID_BYTES + 1];
    for (unsigned i = 0; i < RUN_ID_BYTES; i++)
        snprintf(id + (size_t)2 * i, HEX_2, "%02x", run->run_id[i]);
    run_log(run, USER, EVENT_HERE, "Run id = %s, seed = %" PRIu64 ", engine = %s, queue depth = %u",
            id, run->config.plan->seed, run->config.engine->name, run->config.plan->queue_depth);
}

static void echo_section(const struct run *run, const struct opt_section *section,
                         const void *settings)
{
    struct row row = {.used = 0};
    char value[OPT_TEXT_MAX];
    add(&row, "[%s]", section->name);
    for (size_t i = 0; i < section->count; i++) {
        opt_get(&section->opts[i], settings, value, sizeof value);
        add(&row, "%s %s = %s", i ? "," : "", section->opts[i].name, value);
    }
    run_log(run, USER, EVENT_HERE, "%s", row.text);
}

static void echo_files(const struct run *run)
{
    const struct plan *plan = run->config.plan;
    for (unsigned i = 0; i < plan->file_count; i++) {
        const struct plan_file *file = &plan->files[i];
        run_log(run, USER, EVENT_HERE,
                "[File%u] FileName = %s, InitialSize = %" PRIu64 " MB, MaxSize = %" PRIu64
                " MB, LogFile = %s, database %u",
                i + 1, file->path, file->size_bytes >> 20, file->max_bytes >> 20,
                yes_no(file->is_log), file->database + 1);
    }
}

/* What the settings were warned of, and what the machine reduced. */
static void echo_notes(const struct run *run)
{
    const struct profile *profile = run->config.profile;
    const struct plan *plan = run->config.plan;
    for (size_t i = 0; i < profile_diag_count(profile); i++) {
        const struct diag *diag = profile_diag_at(profile, i);
        char text[EVENT_TEXT_MAX];
        snprintf(text, sizeof text, "%s:%u: %s", diag->where.source, diag->where.line, diag->text);
        const struct event event = {
            .type = EVENT_WARNING, .user = USER, .place = EVENT_HERE, .text = text};
        run_event(run, &event);
    }
    /* They tell the machine's free space: not the same in every run of a seed. */
    for (unsigned i = 0; i < plan->note_count && !run->config.virtual_clock; i++)
        run_log(run, USER, EVENT_HERE, "%s", plan->notes[i]);
}

static void echo_rules(const struct run *run)
{
    char text[PROFILE_RULES_MAX];
    profile_rules_text(run->config.profile, text, sizeof text);
    run_log(run, USER, EVENT_HERE, "Rules of SQL Server: %s", text);
}

void run_echo(const struct run *run)
{
    const struct profile *profile = run->config.profile;
    if (!run->config.event)
        return;
    echo_first(run);
    echo_run(run);
    for (size_t i = 0; i < profile_section_count(profile); i++) {
        const void *settings;
        const struct opt_section *section = profile_section_at(profile, i, &settings);
        echo_section(run, section, settings);
    }
    echo_rules(run);
    echo_files(run);
    echo_notes(run);
}
