/*
 * report_json.c - result.json (`pagestorm-result/1`): the whole frozen report for programs.
 *
 * Keys never change meaning.  Under the virtual clock equal seeds give equal bytes but for
 * environment, cpu, run.started and run.command: keys stand in the order in which they are put
 * here, lists in the order of the .def files, of the profile's tables and of the run.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "patterns/pattern.h"
#include "sim/actor.h"
#include "sim/backup_media.h"
#include "sim/finding_sql.h"
#include "sim/run_actor_rows.h"
#include "sim/report.h"
#include "sim/report_backups.h"
#include "sim/report_slots.h"
#include "sim/run_until.h"
#include "verify/verdict.h"

#define SCHEMA        "pagestorm-result/1"
#define REAL_DIGITS   12
#define TIME_TEXT_MAX 40
#define NS_PER_US     1e3
#define RUN_ID_TEXT   (2 * RUN_ID_BYTES + 1)

/* ---- small things ---- */

/* Without memory for the report there is no report: stop where it is seen. */
static void put(json_t *object, const char *key, json_t *value)
{
    int error = json_object_set_new(object, key, value);
    assert(error == 0);
}

static void push(json_t *array, json_t *value)
{
    int error = json_array_append_new(array, value);
    assert(error == 0);
}

/* Paths and command lines may hold bytes that are not UTF-8: those become '?'. */
static json_t *text_json(const char *text)
{
    json_t *value = json_string(text ? text : "");
    if (value)
        return value;
    char *copy = strdup(text);
    assert(copy);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    value = json_string(copy);
    free(copy);
    return value;
}

static void put_text(json_t *object, const char *key, const char *text)
{
    put(object, key, text_json(text));
}

static void put_count(json_t *object, const char *key, uint64_t value)
{
    put(object, key, json_integer((json_int_t)value));
}

static void put_real(json_t *object, const char *key, double value)
{
    put(object, key, json_real(value));
}

static void put_bool(json_t *object, const char *key, bool value)
{
    put(object, key, json_boolean(value));
}

/* "2026-01-01T00:00:00.123Z" */
static void put_time(json_t *object, const char *key, uint64_t realtime_ns)
{
    char text[TIME_TEXT_MAX], date[TIME_TEXT_MAX];
    time_t seconds = (time_t)(realtime_ns / NS_PER_S);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text, sizeof text, "%.20s.%03uZ", date,
             (unsigned)(realtime_ns % NS_PER_S / NS_PER_MS));
    put_text(object, key, text);
}

/* ---- run ---- */

static json_t *phases_json(const struct report *report)
{
    json_t *phases = json_array();
    for (unsigned p = 0; p < PHASE_COUNT; p++) {
        static const bool rated[] = {
#define PHASE(name, text, is_rated) is_rated,
#include "sim/phases.def"
#undef PHASE
        };
        json_t *phase = json_object();
        put_text(phase, "name", phase_name((enum phase)p));
        put_real(phase, "seconds", report->phase_seconds[p]);
        put_bool(phase, "rated", rated[p]);
        put_bool(phase, "complete", report->run->phases[p].complete);
        push(phases, phase);
    }
    return phases;
}

static json_t *plan_json(const struct report *report)
{
    const struct plan *plan = report->run->config.plan;
    json_t *object = json_object(), *notes = json_array();
    put_text(object, "engine", report->run->config.engine->name);
    put_bool(object, "virtual_clock", report->run->config.virtual_clock);
    put_count(object, "workers", plan->workers);
    put_count(object, "queue_depth", plan->queue_depth);
    put_count(object, "pool_bytes", plan->pool_bytes);
    put_bool(object, "seed_drawn", plan->seed_drawn);
    for (unsigned i = 0; i < plan->note_count; i++)
        push(notes, text_json(plan->notes[i]));
    put(object, "notes", notes);
    return object;
}

/* The ceiling of the run and what it held back. */
static json_t *limit_json(const struct report *report)
{
    const struct config_settings *settings = report->run->settings;
    const struct io_limit *limit = &report->run->limit;
    json_t *object = json_object();
    put_count(object, "max_iops", (uint64_t)settings->max_iops);
    put_count(object, "max_mb_per_s", (uint64_t)settings->max_mb_per_s);
    put_count(object, "requests_held", atomic_load(&((struct io_limit *)(uintptr_t)limit)->held));
    put_real(object, "seconds_held",
             (double)atomic_load(&((struct io_limit *)(uintptr_t)limit)->held_ns) / NS_PER_S);
    return object;
}

static json_t *run_json(const struct report *report)
{
    const struct run *run = report->run;
    json_t *object = json_object();
    char id[RUN_ID_TEXT];
    for (unsigned i = 0; i < RUN_ID_BYTES; i++)
        snprintf(id + 2 * i, 3, "%02x", run->run_id[i]);
    put_text(object, "id", id);
    put_count(object, "seed", run->config.plan->seed);
    put_text(object, "command", report->command);
    put_text(object, "version", report->version);
    put_text(object, "label", report->label);
    put_time(object, "started", run->session_start_ns);
    put_bool(object, "complete", report->complete);
    put_count(object, "interrupted_by_signal", (uint64_t)report->interrupted);
    put_count(object, "cycles", run->cycles_done);
    put_text(object, "message", run->message);
    put(object, "phases", phases_json(report));
    put(object, "limit", limit_json(report));
    put(object, "plan", plan_json(report));
    return object;
}

/* ---- environment, cpu ---- */

static json_t *volume_json(const struct environment_volume *volume)
{
    json_t *object = json_object();
    put_text(object, "mount_point", volume->mount_point);
    put_text(object, "source", volume->source);
    put_text(object, "type", volume->type);
    put_text(object, "options", volume->options);
    put_count(object, "total_bytes", volume->total_bytes);
    put_count(object, "available_bytes", volume->available_bytes);
    return object;
}

static json_t *users_json(const struct device_users *users)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < users->count; i++) {
        const struct device_user *user = &users->list[i];
        json_t *object = json_object();
        put_text(object, "what", device_user_text(user->kind));
        put_text(object, "program", user->program);
        put_count(object, "pid", (uint64_t)user->pid);
        put_count(object, "files", user->files);
        put_text(object, "file", user->file);
        push(list, object);
    }
    return list;
}

static json_t *before_json(const struct device_before *volume)
{
    const struct device_chain *chain = &volume->place.chain;
    json_t *object = json_object(), *devices = json_array();
    put_text(object, "mount_point", volume->volume.mount_point);
    for (unsigned i = 0; i < chain->count; i++) {
        json_t *device = json_object();
        put_text(device, "name", chain->links[i].name);
        put_text(device, "kind", device_kind_text(chain->links[i].kind));
        put_text(device, "detail", chain->links[i].detail);
        push(devices, device);
    }
    put(object, "devices", devices);
    put(object, "busy_percent",
        volume->busy.known ? json_integer(volume->busy.percent) : json_null());
    put_real(object, "read_mb_per_s", volume->busy.read_mb_per_s);
    put_real(object, "write_mb_per_s", volume->busy.write_mb_per_s);
    return object;
}

/* Who and what was on the devices before the load. */
static void put_look(json_t *object, const struct device_look *look)
{
    json_t *before = json_array();
    for (unsigned i = 0; look && i < look->volume_count; i++)
        push(before, before_json(&look->volumes[i]));
    put(object, "devices_before", before);
    put(object, "device_users", look ? users_json(&look->users) : json_array());
    put_count(object, "processes_not_seen", look ? look->users.unseen : 0);
}

static json_t *environment_json(const struct report *report)
{
    const struct environment *environment = &report->environment;
    json_t *object = json_object(), *volumes = json_array();
    put_text(object, "host", environment->host);
    put_text(object, "kernel", environment->kernel);
    put_text(object, "distribution", environment->distribution);
    put_text(object, "cpu_model", environment->cpu_model);
    put_count(object, "cpus_online", environment->cpus_online);
    put_count(object, "cpus_allowed", environment->cpus_allowed);
    put_count(object, "memory_total_bytes", environment->memory_total_bytes);
    put_count(object, "memory_available_bytes", environment->memory_available_bytes);
    put_text(object, "version", report->version);
    for (unsigned i = 0; i < environment->volume_count; i++)
        push(volumes, volume_json(&environment->volumes[i]));
    put(object, "file_systems", volumes);
    put_look(object, report->look);
    return object;
}

static json_t *cpu_json(const struct report *report)
{
    json_t *object = json_object();
    put_real(object, "user_seconds", report->cpu_user_seconds);
    put_real(object, "system_seconds", report->cpu_system_seconds);
    return object;
}

/* ---- config ---- */

static json_t *section_json(const struct opt_section *section, const void *settings)
{
    char text[OPT_STRING_MAX + 1];
    json_t *object = json_object();
    for (size_t i = 0; i < section->count; i++) {
        opt_get(&section->opts[i], settings, text, sizeof text);
        put_text(object, section->opts[i].name, text);
    }
    return object;
}

/* Its own keys, and those of other sections that it sets. */
static void phase_put(json_t *config, const struct profile *profile, size_t index)
{
    const struct profile *own = profile_phase_profile(profile, index);
    const struct phase_settings *phase = profile_phase(profile, index);
    json_t *object = section_json(&phase_section, phase);
    char name[64], text[OPT_STRING_MAX + 1];
    for (size_t i = 0; i < profile_section_count(own); i++) {
        const void *settings;
        const struct opt_section *section = profile_section_at(own, i, &settings);
        for (size_t k = 0; k < section->count; k++) {
            const struct opt *opt = &section->opts[k];
            if (!profile_is_set(own, section->name, opt->name))
                continue;
            snprintf(name, sizeof name, "%s.%s", section->name, opt->name);
            opt_get(opt, settings, text, sizeof text);
            put_text(object, name, text);
        }
    }
    snprintf(name, sizeof name, "%s%u", phase_section.name, phase->number);
    put(config, name, object);
}

/* Values as the text that a configuration file takes. */
static json_t *config_json(const struct report *report)
{
    const struct profile *profile = report->run->config.profile;
    json_t *object = json_object();
    for (size_t i = 0; i < profile_section_count(profile); i++) {
        const void *settings;
        const struct opt_section *section = profile_section_at(profile, i, &settings);
        put(object, section->name, section_json(section, settings));
    }
    for (size_t i = 0; i < profile_file_count(profile); i++) {
        const struct file_settings *file = profile_file(profile, i);
        char name[32];
        snprintf(name, sizeof name, "%s%u", file_section.name, file->number);
        put(object, name, section_json(&file_section, file));
    }
    for (size_t i = 0; i < profile_phase_count(profile); i++)
        phase_put(object, profile, i);
    return object;
}

/* ---- verdict ---- */

static json_t *axis_json(const struct axis *axis)
{
    json_t *object = json_object(), *reasons = json_array();
    put_text(object, "grade", grade_name(axis->grade));
    push(reasons, text_json(axis->reason));
    put(object, "reasons", reasons);
    return object;
}

static json_t *verdict_json(const struct report *report)
{
    json_t *object = json_object();
    put(object, "overall", axis_json(&report->overall));
    put(object, "integrity", axis_json(&report->integrity));
    put(object, "durability", axis_json(&report->durability));
    put(object, "speed", axis_json(&report->speed));
    put_text(object, "result", report->result);
    put_count(object, "exit_code", (uint64_t)report->exit_code);
    return object;
}

/* ---- rated phase ---- */

/* Times in us, shares and numbers as they are. */
static json_t *speed_line_json(const struct speed_line *line)
{
    double unit = line->is_time ? NS_PER_US : 1;
    json_t *object = json_object();
    put_text(object, "key", line->key);
    put_text(object, "what", line->what);
    put_text(object, "figure", line->figure);
    put_real(object, line->is_time ? "value_us" : "value", line->value / unit);
    put_text(object, "grade", grade_name(line->grade));
    put_bool(object, "limit_of_user", line->limit.users);
    if (strcmp(line->figure, "mean") == 0)
        put_text(object, "word", speed_word(line->value));
    return object;
}

static json_t *rated_json(const struct report *report)
{
    const struct speed_facts *facts = &report->speed_facts;
    json_t *object = json_object(), *lines = json_array();
    put_real(object, "seconds", facts->seconds);
    put_bool(object, "stated_rate", facts->arrivals);
    put_real(object, "asked_data_iops", facts->asked_ios);
    put_real(object, "asked_transactions_per_s", facts->asked_logs);
    put_real(object, "held", facts->held);
    put_count(object, "stalls", facts->stalls);
    put_real(object, "tool_share", facts->tool_share);
    put_real(object, "cpu_share", facts->cpu_share);
    put_real(object, "steal_share", facts->steal_share);
    put_count(object, "host_pauses", facts->host_pauses);
    for (unsigned i = 0; i < report->speed_result.count; i++)
        push(lines, speed_line_json(&report->speed_result.lines[i]));
    put(object, "lines", lines);
    return object;
}

/* ---- integrity ---- */

static double percent_read_back(uint64_t written, uint64_t seen)
{
    return written ? (double)seen * 100.0 / (double)written : 0.0;
}

/* From the write of a page to the first right read of it. */
static void put_first_checks(json_t *object, const struct coverage_sums *coverage)
{
    put_count(object, "first_checks", coverage->first_checks);
    put_real(object, "first_check_mean_ms", coverage_mean_ms(coverage));
    put_real(object, "first_check_longest_ms", coverage_longest_ms(coverage));
    put_count(object, "late_checks", coverage->late_checks);
}

static json_t *log_coverage_json(const struct counters *counters)
{
    json_t *object = json_object();
    put_count(object, "blocks_written", counters->log_blocks_written);
    put_count(object, "blocks_verified", counters->log_blocks_verified);
    put_count(object, "blocks_read_back", counters->log_blocks_read_back);
    put_count(object, "blocks_overwritten_unread", counters->log_blocks_overwritten_unread);
    return object;
}

static json_t *coverage_json(const struct report *report)
{
    json_t *object = json_object();
    double share = percent_read_back(report->pages_written, report->pages_seen);
    put_count(object, "pages_written", report->pages_written);
    put_count(object, "pages_read_back", report->pages_seen);
    put_real(object, "percent_read_back", share);
    put_count(object, "pages_indeterminate", report->pages_indeterminate);
    put_count(object, "pages_quarantined", report->pages_quarantined);
    put_count(object, "overwritten_unread", report->stats->counters.overwritten_unread);
    put_first_checks(object, &report->coverage);
    if (report->run->config.plan->verify_within_ns)
        put_real(object, "verify_within_ms",
                 (double)report->run->config.plan->verify_within_ns / NS_PER_MS);
    put(object, "log", log_coverage_json(&report->stats->counters));
    return object;
}

static void put_origin(json_t *object, const struct explanation *why)
{
    if (why->has_shift)
        put(object, "shift_bytes", json_integer((json_int_t)why->shift_bytes));
    if (why->origin_is_log) {
        json_t *block = json_object();
        put_count(block, "vlf_sequence", why->origin_fseq);
        put_count(block, "block", why->origin_block);
        put(object, "origin_log_block", block);
    }
    if (!why->has_origin)
        return;
    json_t *origin = json_object();
    put_count(origin, "file_uid", why->origin_file_uid);
    put_count(origin, "page", why->origin_page_no);
    put_count(origin, "generation", why->origin_generation);
    put_bool(origin, "other_run", why->origin_other_run);
    put(object, "origin", origin);
}

static void put_sql_message(json_t *object, const struct finding *finding)
{
    char text[FINDING_SQL_TEXT_MAX];
    finding_sql_text(finding, text);
    put_text(object, "sql_message", text);
}

/* Null where nobody knows. */
static void put_device(json_t *object, const struct finding *finding)
{
    json_t *device = json_null();
    if (finding->device[0]) {
        device = json_object();
        put_text(device, "name", finding->device);
        put_count(device, "offset", finding->device_offset);
        put_count(device, "lba", finding->device_offset / finding->device_sector_bytes);
        put_count(device, "sector_bytes", finding->device_sector_bytes);
    }
    put(object, "device", device);
}

static void put_other_end(json_t *object, const struct finding *finding)
{
    if (!finding->paired)
        return;
    json_t *other = json_object();
    put_text(other, "file", finding->other_file);
    put_count(other, "page", finding->other_page_no);
    put_count(other, "generation", finding->other_generation);
    put(object, "other_end", other);
}

/* An event of many pages. */
static void put_ranges(json_t *object, const struct finding *finding)
{
    if (!finding->pages)
        return;
    json_t *list = json_array();
    for (unsigned i = 0; i < finding->range_count; i++) {
        json_t *range = json_object();
        put_count(range, "first", finding->ranges[i].first);
        put_count(range, "count", finding->ranges[i].count);
        push(list, range);
    }
    put_count(object, "pages", finding->pages);
    put_count(object, "ranges_all", finding->ranges_all);
    put(object, "ranges", list);
}

static json_t *finding_json(const struct report *report, const struct finding *finding)
{
    const struct verdict_info *info = verdict_info(finding->verdict);
    json_t *object = json_object();
    put_count(object, "number", finding->number);
    put_text(object, "class", info->name);
    put_text(object, "severity", severity_name(info->severity));
    put_text(object, "blame", blame_name(info->blame));
    put_count(object, "sql_error", (uint64_t)info->sql_error);
    put_sql_message(object, finding);
    put_text(object, "meaning", info->sentence);
    put_text(object, "file", finding->file);
    put_count(object, "file_uid", finding->file_uid);
    put(object, "page", finding->has_page ? json_integer(finding->page_no) : json_null());
    put_count(object, "offset", finding->offset);
    put_count(object, "size_bytes", finding->size_bytes);
    put_count(object, "generation_expected", finding->why.generation_expected);
    put_count(object, "generation_found", finding->why.generation_found);
    put_text(object, "sectors", finding->why.sectors);
    put_count(object, "retries", finding->retries);
    put_count(object, "retries_agreed", finding->agreed);
    put_bool(object, "healed", finding->healed);
    put_count(object, "healed_after_us", finding->heal_ns / NS_PER_US);
    put_count(object, "errno", (uint64_t)(finding->error < 0 ? -finding->error : finding->error));
    put_count(object, "times", finding->times);
    put_text(object, "actor", finding->actor);
    put_count(object, "writer", finding->writer);
    put_time(object, "written", report->run->session_start_ns + finding->written_s * NS_PER_S);
    put_time(object, "time", finding->found_ns);
    put_text(object, "detail", finding->detail);
    put_text(object, "evidence", finding->evidence);
    put_device(object, finding);
    put_origin(object, &finding->why);
    put_other_end(object, finding);
    put_ranges(object, finding);
    return object;
}

static json_t *classes_json(const struct findings *findings)
{
    json_t *object = json_object();
    for (int i = VERDICT_NONE + 1; i < VERDICT_COUNT; i++)
        if (findings->by_verdict[i])
            put_count(object, verdict_info((enum verdict)i)->name, findings->by_verdict[i]);
    return object;
}

static json_t *integrity_json(const struct report *report)
{
    const struct counters *counters = &report->stats->counters;
    const struct findings *findings = &report->run->findings;
    json_t *object = json_object(), *list = json_array();
    put_count(object, "pages_verified", counters->pages_verified);
    put_count(object, "log_blocks_verified", counters->log_blocks_verified);
    put_count(object, "overlapped_reads", counters->overlapped_reads);
    put_count(object, "read_retries", counters->read_retries);
    put(object, "coverage", coverage_json(report));
    put(object, "findings_by_class", classes_json(findings));
    for (unsigned i = 0; i < findings->count; i++)
        if (!findings->list[i].amended)
            push(list, finding_json(report, &findings->list[i]));
    put(object, "findings", list);
    return object;
}

/* ---- streams ---- */

static json_t *hist_json(const struct hist *hist)
{
    static const struct {
        const char *key;
        double quantile;
    } quantiles[] = {{"p50", 0.5},  {"p90", 0.9},    {"p95", 0.95},
                     {"p99", 0.99}, {"p999", 0.999}, {"p9999", 0.9999}};
    json_t *object = json_object(), *buckets = json_array();
    put_real(object, "min", (double)hist->min_ns / NS_PER_US);
    put_real(object, "mean", hist_mean_ns(hist) / NS_PER_US);
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++)
        put_real(object, quantiles[i].key,
                 (double)hist_quantile_ns(hist, quantiles[i].quantile) / NS_PER_US);
    put_real(object, "max", (double)hist->max_ns / NS_PER_US);
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        if (!hist->buckets[i])
            continue;
        json_t *bucket = json_array();
        push(bucket, json_real((double)hist_bucket_low_ns(i) / NS_PER_US));
        push(bucket, json_real((double)hist_bucket_high_ns(i) / NS_PER_US));
        push(bucket, json_integer((json_int_t)hist->buckets[i]));
        push(buckets, bucket);
    }
    put(object, "buckets", buckets); /* [from, below, operations] */
    return object;
}

static json_t *stream_json(const struct report_stream *stream, unsigned phase)
{
    json_t *object = json_object();
    put_text(object, "phase", report_phase_name(phase));
    put_text(object, "name", stream_name(stream->stream));
    put_text(object, "what", stream_text(stream->stream));
    put_count(object, "ops", stream->stats.ops);
    put_count(object, "bytes", stream->stats.bytes);
    put_real(object, "iops", stream->iops);
    put_real(object, "mb_per_s", stream->mb_per_s);
    put_real(object, "in_flight", stream->in_flight);
    put(object, "latency_us", hist_json(&stream->stats.latency));
    put(object, "response_us", hist_json(&stream->stats.response));
    return object;
}

static json_t *streams_json(const struct report *report)
{
    json_t *streams = json_array();
    struct report_stream *stream = malloc(sizeof *stream);
    assert(stream);
    for (unsigned p = 0; p <= PHASE_COUNT; p++)
        for (unsigned s = 0; s < STREAM_COUNT; s++)
            if (report_stream(report, p, (enum stream)s, stream))
                push(streams, stream_json(stream, p));
    free(stream);
    return streams;
}

/* ---- parts under load ---- */

static json_t *rates_json(const struct slot_facts *facts)
{
    json_t *rates = json_array();
    for (unsigned i = 0; i < facts->rate_count; i++) {
        const struct slot_rate *rate = &facts->rates[i];
        json_t *object = json_object();
        put_text(object, "pattern", rate->pattern);
        put_real(object, "per_second", rate->per_second);
        put_count(object, "asked", rate->asked);
        put_count(object, "done", rate->done);
        push(rates, object);
    }
    return rates;
}

static json_t *slot_streams_json(const struct slot_facts *facts)
{
    json_t *streams = json_array();
    struct report_stream *stream = malloc(sizeof *stream);
    assert(stream);
    for (unsigned s = 0; s < STREAM_COUNT; s++) {
        if (!facts->streams[s])
            continue;
        report_stream_of(facts->streams[s], (enum stream)s, facts->seconds, stream);
        json_t *object = stream_json(stream, PHASE_COUNT);
        json_object_del(object, "phase");
        push(streams, object);
    }
    free(stream);
    return streams;
}

static json_t *slot_json(const struct report_slot *slot)
{
    const struct run_slot *of = slot->slot;
    json_t *object = json_object(), *lines = json_array();
    put_text(object, "name", of->name);
    put_text(object, "part", slot->of_main_part ? "main" : "rated");
    put_bool(object, "rated", of->rated);
    put_bool(object, "closed_loop", of->closed);
    put_count(object, "times", of->facts.times);
    put_bool(object, "complete", of->facts.complete);
    put_text(object, "ended_by", report_slot_ended_by(slot));
    put_text(object, "until", run_until_names(of));
    put_real(object, "seconds", of->facts.seconds);
    put_real(object, "warm_up_seconds", (double)of->warm_up_ns / (double)NS_PER_S);
    put_real(object, "load", of->scale);
    put_count(object, "database", of->database < 0 ? 0 : (uint64_t)of->database + 1);
    put_real(object, "asked_data_iops", slot->facts.asked_ios);
    put_real(object, "done_data_iops", report_slot_iops(slot));
    put_real(object, "held", slot->facts.held);
    put_text(object, "grade", report_slot_grade(slot));
    put_text(object, "reason", slot->facts.rated ? slot->result.axis.reason : "");
    for (unsigned i = 0; i < slot->result.count; i++)
        push(lines, speed_line_json(&slot->result.lines[i]));
    put(object, "lines", lines);
    put(object, "rates", rates_json(&of->facts));
    put(object, "streams", slot_streams_json(&of->facts));
    return object;
}

/* Those with a name; [] when the rated phase is one step and the main part one piece. */
static json_t *slots_json(const struct report *report)
{
    json_t *slots = json_array();
    for (unsigned i = 0; i < report->slot_count; i++)
        if (report->slots[i].slot->name[0])
            push(slots, slot_json(&report->slots[i]));
    return slots;
}

/* ---- files, databases, actors, counters ---- */

static json_t *file_io_json(const struct report_io *io)
{
    json_t *object = json_object(), *latency = json_object();
    uint64_t ops = io->reads + io->scatter_reads + io->writes + io->gather_writes;
    put_count(object, "reads", io->reads);
    put_count(object, "scatter_reads", io->scatter_reads);
    put_count(object, "writes", io->writes);
    put_count(object, "gather_writes", io->gather_writes);
    put_real(object, "total_io_ms", (double)io->total_io_ns / (double)NS_PER_MS);
    put_count(object, "target_io_duration_ms", io->target_ms);
    put_count(object, "running_average_ms", io->running_average_ms);
    put_count(object, "throttled", io->throttled);
    put_count(object, "request_blocks", io->request_blocks);
    put_real(latency, "mean", ops ? (double)io->total_io_ns / NS_PER_US / (double)ops : 0);
    put_real(latency, "p50", (double)io->p50_ns / NS_PER_US);
    put_real(latency, "p90", (double)io->p90_ns / NS_PER_US);
    put_real(latency, "p99", (double)io->p99_ns / NS_PER_US);
    put_real(latency, "p999", (double)io->p999_ns / NS_PER_US);
    put_real(latency, "max", (double)io->max_ns / NS_PER_US);
    put(object, "latency_us", latency);
    return object;
}

static json_t *file_json(const struct report_file *file)
{
    json_t *object = json_object();
    put_text(object, "path", file->path);
    put_count(object, "uid", file->uid);
    put_count(object, "database", file->database + 1);
    put_text(object, "kind", file->is_log ? "log" : "data");
    put_count(object, "size_bytes", file->size_bytes);
    put_bool(object, "direct", file->direct);
    put_bool(object, "write_through", file->dsync);
    put(object, "io", file_io_json(&file->io));
    if (file->is_log) {
        put_count(object, "log_blocks_live", file->live_log_blocks);
        return object;
    }
    put_count(object, "allocated_pages", file->allocated_pages);
    put_count(object, "pages_written", file->count.written);
    put_count(object, "pages_read_back", file->count.seen);
    put_real(object, "percent_read_back", percent_read_back(file->count.written, file->count.seen));
    put_count(object, "overwritten_unread", file->coverage.overwritten_unread);
    put_first_checks(object, &file->coverage);
    put_count(object, "pages_indeterminate", file->count.indeterminate);
    put_count(object, "pages_quarantined", file->count.quarantined);
    return object;
}

static json_t *files_json(const struct report *report)
{
    json_t *files = json_array();
    for (unsigned i = 0; i < report->file_count; i++)
        push(files, file_json(&report->files[i]));
    return files;
}

/* The complete ones, by what asked for them. */
static json_t *checkpoints_json(const struct checkpoint_desk *desk)
{
    json_t *kinds = json_object();
    for (enum checkpoint_kind kind = 0; kind < CHECKPOINT_KINDS; kind++) {
        const struct checkpoint_account *account = &desk->accounts[kind];
        json_t *object = json_object();
        put_count(object, "count", account->count);
        put_count(object, "pages", account->pages);
        put_count(object, "writes", account->writes);
        put(object, "seconds", json_real((double)account->ns / NS_PER_S));
        put(object, "longest_seconds", json_real((double)account->ns_max / NS_PER_S));
        put(kinds, checkpoint_kind_name(kind), object);
    }
    return kinds;
}

static json_t *databases_json(const struct report *report)
{
    json_t *databases = json_array();
    for (unsigned d = 0; d < report->run->database_count; d++) {
        const struct database *database = &report->run->databases[d];
        json_t *object = json_object(), *uids = json_array();
        put_count(object, "id", d + 1);
        put_text(object, "name", database->name);
        for (unsigned i = 0; i < report->file_count; i++)
            if (report->files[i].database == d)
                push(uids, json_integer(report->files[i].uid));
        put(object, "files", uids);
        put_count(object, "checkpoints", atomic_load(&database->checkpoints));
        put(object, "checkpoint_kinds", checkpoints_json(&database->desk));
        put_count(object, "log_records", database->wal.records);
        put_bool(object, "log_failed", wal_failed(&database->wal));
        push(databases, object);
    }
    return databases;
}

/* By name alone: what they hold they say themselves, and `clean` removes them. */
static json_t *backup_files_json(const struct report *report)
{
    json_t *files = json_array();
    const struct plan *plan = report->run->config.plan;
    for (unsigned i = 0; i < plan->backup_count; i++)
        push(files, text_json(plan->backups[i].path));
    return files;
}

/* null: nobody looked. */
static void put_look_at(json_t *object, const char *key, enum backup_look look)
{
    put(object, key,
        look == BACKUP_LOOK_NONE ? json_null() : json_boolean(look == BACKUP_LOOK_RIGHT));
}

static void put_lsn(json_t *object, const char *key, uint64_t position)
{
    char text[BACKUP_LSN_MAX];
    backup_lsn_text(position, text);
    put(object, key, position ? text_json(text) : json_null());
}

static json_t *backup_json(const struct backup_record *record, unsigned database)
{
    json_t *object = json_object();
    put_count(object, "database", database + 1);
    put_count(object, "number", record->number);
    put_text(object, "kind", record->log ? "log" : "full");
    put(object, "file", record->file ? text_json(record->file->file.path) : json_null());
    put_bool(object, "in_file", record->in_file);
    put_bool(object, "complete", record->complete);
    put_text(object, "reason", record->why);
    put_count(object, "pages", record->pages);
    put_count(object, "log_bytes", record->log_bytes);
    put_count(object, "bytes", record->bytes);
    put_lsn(object, "first_lsn", record->first_position);
    put_lsn(object, "last_lsn", record->end_position);
    put_real(object, "seconds", (double)record->took_ns / (double)NS_PER_S);
    put_real(object, "mb_per_s", report_backup_mb_per_s(record));
    put_look_at(object, "verified", record->verified);
    put_look_at(object, "restored", record->restored);
    put_count(object, "pages_compared", record->pages_compared);
    return object;
}

/* The newest of each database (backup_record.h), the oldest first. */
static json_t *backups_json(const struct report *report)
{
    json_t *backups = json_array();
    const struct run *run = report->run;
    for (unsigned d = 0; run->backups && d < run->user_database_count; d++) {
        const struct backup_records *records = &run->backups[d].records;
        for (size_t i = 0; i < backup_records_count(records); i++)
            push(backups, backup_json(backup_record_at(records, i), d));
    }
    return backups;
}

static json_t *actors_json(const struct report *report)
{
    json_t *actors = json_array();
    const struct run *run = report->run;
    for (unsigned i = 0; run->actor_rows && i < run->actor_rows->count; i++) {
        const struct actor_row *row = &run->actor_rows->list[i];
        json_t *object = json_object();
        put_count(object, "number", i);
        put_text(object, "name", row->name);
        put_count(object, "ops", row->ops);
        push(actors, object);
    }
    return actors;
}

static json_t *counters_json(const struct report *report)
{
    json_t *object = json_object();
#define COUNTER(name, text) put_count(object, #name, report->stats->counters.name);
#include "sim/counters.def"
#undef COUNTER
    return object;
}

static int write_json(const struct report *report, FILE *out)
{
    json_t *root = json_object();
    put_text(root, "schema", SCHEMA);
    put(root, "run", run_json(report));
    put(root, "environment", environment_json(report));
    put(root, "config", config_json(report));
    put(root, "verdict", verdict_json(report));
    put(root, "rated", rated_json(report));
    put(root, "integrity", integrity_json(report));
    put(root, "streams", streams_json(report));
    put(root, "phases", slots_json(report));
    put(root, "files", files_json(report));
    put(root, "backups", backups_json(report));
    put(root, "backup_files", backup_files_json(report));
    put(root, "databases", databases_json(report));
    put(root, "actors", actors_json(report));
    put(root, "counters", counters_json(report));
    put(root, "cpu", cpu_json(report));
    errno = 0; /* jansson has no error code of its own: the stream's tells why */
    bool failed = json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(REAL_DIGITS)) != 0 ||
                  fputc('\n', out) == EOF;
    int error = errno ? -errno : -EIO;
    json_decref(root);
    return failed ? error : 0;
}

const struct report_writer report_writer_json = {
    .name = "json",
    .file_name = "result.json",
    .write = write_json,
};
