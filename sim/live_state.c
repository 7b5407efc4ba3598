/*
 * live_state.c - see live_state.h.
 *
 * What it does not do: lay anything out (live_view.c), or touch what workers own but by relaxed
 * loads, atomics and the locks of the objects.
 */
#include "sim/live_state.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/live_time.h"
#include "sim/run_slots.h"
#include "verify/verdict.h"

#define BYTES_MB         1048576.0
#define PHASE_WORDS_LONG 24 /* a longer text of a phase is not shown, but its name */
#define CHOICES_MAX      3
#define SPEED_SECONDS    0.5 /* of a phase, before its speed is believed */

/* A row shows the first of its kinds that this phase has had; streams that do not exist (yet) are
 * passed over. */
struct row_kind {
    const char *label;
    const char *streams; /* names, " log_write " */
};
static const struct row_kind row_kinds[LIVE_ROWS][CHOICES_MAX] = {
    {{"log write", " log_write tempdb_log_write "}, {"log read", " log_read "}},
    {{"page read", " page_read tempdb_read "},
     {"audit read", " audit_read "},
     {"search read", " pairing_read "}},
    {{"read-ahead", " read_ahead check_read dbcc_read backup_read sort_read snapshot_read "},
     {"audit read", " audit_read "}},
    {{"page write",
      " checkpoint_write lazy_write eager_write tempdb_write sort_write snapshot_write "},
     {"page write", " prepare_write "},
     {"page write", " create_write growth_write backup_write restore_write "}},
};

static bool is_of(const struct row_kind *kind, enum stream stream)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", stream_name(stream));
    return kind->streams && strstr(kind->streams, word) != NULL;
}

static bool is_write(enum stream stream)
{
    const char *name = stream_name(stream);
    size_t length = strlen(name);
    return length > 6 && strcmp(name + length - 6, "_write") == 0;
}

void live_state_init(struct live_state *state)
{
    memset(state, 0, sizeof *state);
    state->scan.oldest_s = state->scan.oldest_write_s = UINT64_MAX;
    state->write_bytes_per_s = state->read_bytes_per_s = LIVE_TIME_ASSUMED_BYTES_PER_S;
    for (unsigned i = 0; i < LIVE_ROWS; i++)
        state->live.rows[i].label = row_kinds[i][0].label;
}

/* ---- rows ---- */

static bool phase_has(const struct sampler *sampler, enum phase phase, const struct row_kind *kind)
{
    for (unsigned s = 0; s < STREAM_COUNT; s++)
        if (sampler_sums(sampler)->streams[phase][s].ops && is_of(kind, (enum stream)s))
            return true;
    return false;
}

static bool is_shown_above(const struct live_state *state, unsigned row, const char *label)
{
    for (unsigned i = 0; i < row; i++)
        if (strcmp(state->live.rows[i].label, label) == 0)
            return true;
    return false;
}

static const struct row_kind *kind_for(const struct live_state *state, unsigned row,
                                       const struct sampler *sampler, enum phase phase)
{
    for (unsigned i = 0; i < CHOICES_MAX; i++) {
        const struct row_kind *kind = &row_kinds[row][i];
        if (kind->label && phase_has(sampler, phase, kind) &&
            !is_shown_above(state, row, kind->label))
            return kind;
    }
    return &row_kinds[row][0];
}

static void history_add(struct live_row *row, uint64_t p99_ns)
{
    if (row->history_count == LIVE_HISTORY_S)
        memmove(row->p99_history_ns, row->p99_history_ns + 1,
                (LIVE_HISTORY_S - 1) * sizeof row->p99_history_ns[0]);
    else
        row->history_count++;
    row->p99_history_ns[row->history_count - 1] = p99_ns;
}

/* Several streams: the mean of all requests, the worst p99. */
static void row_sample(struct live_row *row, const struct row_kind *kind,
                       const struct sampler *sampler)
{
    double seconds = (double)(sampler->end_ns - sampler->start_ns) / (double)NS_PER_S;
    uint64_t ops = 0, bytes = 0, sum_ns = 0, p99_ns = 0;
    for (unsigned i = 0; i < sampler->row_count; i++) {
        const struct sample_row *part = &sampler->rows[i];
        if (!is_of(kind, part->stream))
            continue;
        ops += part->ops;
        bytes += part->bytes;
        sum_ns += part->latency_sum_ns;
        p99_ns = part->p99_ns > p99_ns ? part->p99_ns : p99_ns;
    }
    if (seconds <= 0)
        return;
    row->known = true;
    row->iops = (double)ops / seconds;
    row->mb_per_s = (double)bytes / seconds / BYTES_MB;
    row->in_flight = (double)sum_ns / (double)NS_PER_S / seconds;
    row->mean_ns = ops ? sum_ns / ops : 0;
    row->p99_ns = p99_ns;
    history_add(row, p99_ns);
}

void live_state_sample(struct live_state *state, const struct sampler *sampler,
                       const struct run *run)
{
    for (unsigned i = 0; i < LIVE_ROWS; i++) {
        struct live_row *row = &state->live.rows[i];
        const struct row_kind *kind = kind_for(state, i, sampler, run->phase);
        if (strcmp(row->label, kind->label) != 0)
            *row = (struct live_row){.label = kind->label};
        row_sample(row, kind, sampler);
    }
    state->live.written_bytes = 0;
    for (unsigned p = 0; p < PHASE_COUNT; p++)
        for (unsigned s = 0; s < STREAM_COUNT; s++)
            if (is_write((enum stream)s))
                state->live.written_bytes += sampler_sums(sampler)->streams[p][s].bytes;
    state->live.throttled = sampler->throttled_in_all;
    state->live.stalled = sampler->stalled_in_all;
    state->live.verified = sampler_sums(sampler)->counters.pages_verified;
}

/* ---- coverage ---- */

static void scan_page(struct live_scan *scan, const struct run *run, const struct data_file *file)
{
    struct ledger_view view = ledger_view(run->ledger, file->file.mark.file_uid, scan->page_no);
    if (view.acked == 0 || view.state == LEDGER_FREED)
        return;
    scan->written++;
    if (view.seen)
        scan->seen++;
    else if (view.time_s < scan->oldest_s)
        scan->oldest_s = view.time_s;
}

static void scan_ended(struct live_scan *scan)
{
    scan->known = scan->written > 0;
    scan->covered_percent =
        scan->written ? (unsigned)(scan->seen * 100 / scan->written) : 0; /* 100: all of them */
    scan->oldest_write_s = scan->oldest_s;
    scan->written = scan->seen = 0;
    scan->oldest_s = UINT64_MAX;
    scan->file = 0;
    scan->page_no = 0;
}

static void scan_slice(struct live_scan *scan, const struct run *run)
{
    for (unsigned left = LIVE_SCAN_PAGES; left && run->ledger && run->file_count; left--) {
        const struct data_file *file = run->files[scan->file];
        if (scan->page_no < file->file.size_pages) {
            scan_page(scan, run, file);
            scan->page_no++;
        } else if (scan->file + 1 < run->file_count) {
            scan->file++;
            scan->page_no = 0;
        } else {
            scan_ended(scan);
            return;
        }
    }
}

static void coverage_now(struct live_state *state, const struct run *run)
{
    struct live *live = &state->live;
    uint64_t now_s = (clock_realtime_ns(run->clock) - run->session_start_ns) / NS_PER_S;
    scan_slice(&state->scan, run);
    live->coverage_known = state->scan.known;
    live->covered_percent = state->scan.covered_percent;
    live->oldest_unread_s =
        state->scan.oldest_write_s < now_s ? now_s - state->scan.oldest_write_s : 0;
    struct coverage_sums sums = {.first_checks = 0};
    for (unsigned i = 0; i < run->file_count; i++)
        coverage_add(&run->files[i]->coverage, &sums);
    live->overwritten_unread = sums.overwritten_unread;
    live->check_mean_s = coverage_mean_ms(&sums) / 1000.0;
    live->check_longest_s = coverage_longest_ms(&sums) / 1000.0;
}

/* ---- findings ---- */

static void add_words(char *out, size_t size, uint64_t count, const char *name)
{
    size_t used = strlen(out);
    int n = snprintf(out + used, size - used, "%s%" PRIu64 " ", used ? ", " : "", count);
    for (used += n > 0 ? (size_t)n : 0; *name && used + 1 < size; name++)
        out[used++] = *name == '_' ? ' ' : (char)toupper((unsigned char)*name);
    out[used < size ? used : size - 1] = '\0';
}

static void findings_now(struct live *live, const struct run *run)
{
    uint64_t counts[VERDICT_COUNT];
    findings_counts((struct findings *)(uintptr_t)&run->findings, counts);
    live->findings = live->wrong = 0;
    live->findings_words[0] = '\0';
    for (int i = VERDICT_NONE + 1; i < VERDICT_COUNT; i++) {
        const struct verdict_info *info = verdict_info((enum verdict)i);
        bool warning = info->severity != SEVERITY_INTEGRITY && info->severity != SEVERITY_IO_ERROR;
        if (counts[i] == 0 || warning)
            continue;
        live->findings += counts[i];
        live->wrong += info->severity == SEVERITY_INTEGRITY ? counts[i] : 0;
        add_words(live->findings_words, sizeof live->findings_words, counts[i], info->name);
    }
}

/* ---- phase and time ---- */

static bool is_in_main_part(const struct run *run)
{
    return atomic_load(&run->slots->now) >= run->slots->main_first;
}

/* "STRESS 3 of 24: noon", "STRESS (not judged)", "AUDIT: reading the log back" */
static void phase_words(struct live *live, const struct run *run)
{
    bool text_fits = strlen(phase_text(run->phase)) < PHASE_WORDS_LONG;
    const char *from = text_fits ? phase_text(run->phase) : phase_name(run->phase);
    size_t used = 0;
    bool raise = true;
    for (; *from && used + 1 < sizeof live->phase; from++) {
        raise = raise && *from != '(';
        live->phase[used++] =
            *from == '_' ? ' ' : (char)(raise ? toupper((unsigned char)*from) : *from);
    }
    live->phase[used] = '\0';
    const struct run_slot *slot = run_slot_now(run);
    if (slot) {
        unsigned now = atomic_load(&run->slots->now), first = run->slots->main_first;
        bool main_part = is_in_main_part(run);
        snprintf(live->phase + used, sizeof live->phase - used, " %u of %u: %s",
                 main_part ? now - first + 1 : now + 1,
                 main_part ? run->slots->count - first : first, slot->name);
    } else if (run->step)
        snprintf(live->phase + used, sizeof live->phase - used, ": %s", run->step);
}

static bool counts_dirty_pages(const struct run *run)
{
    return run->phase == PHASE_final_checkpoint && atomic_load(&run->progress_total) > 0;
}

/* Does the slot at work wait for users, so that it may end earlier? */
static bool is_awaiting(const struct run *run)
{
    const struct run_slots *slots = run->slots;
    return slots && slots->going && run->phase != PHASE_rated_warm_up &&
           slots->list[atomic_load(&run->slots->now)].awaits;
}

/* May any of the slots to come, or at work, end earlier? */
static bool may_end_early(const struct run *run)
{
    const struct run_slots *slots = run->slots;
    bool last_cycle = run->main_part_done && !(slots && slots->going);
    unsigned from = slots && slots->going ? atomic_load(&run->slots->now) : 0;
    bool any = false;
    for (unsigned i = from; slots && !last_cycle && i < slots->count; i++)
        any |= slots->list[i].awaits;
    return any;
}

/* All slots have one deadline: the actors go through. */
static uint64_t deadline_of(const struct run *run)
{
    const struct run_slots *slots = run->slots;
    if (!slots || !slots->going)
        return run->phase_deadline_ns;
    const struct run_slot *slot = &slots->list[atomic_load(&run->slots->now)];
    if (run->phase == PHASE_rated_warm_up)
        return slots->begun_ns + slot->warm_up_ns;
    return slots->end_ns;
}

static void work_now(struct live *live, const struct run *run)
{
    struct run_phase_time time = run->phases[run->phase];
    uint64_t now = clock_now_ns(run->clock);
    live->elapsed_ns = time.start_ns && now + 1 > time.start_ns ? now + 1 - time.start_ns : 0;
    live->total = atomic_load(&run->progress_total);
    live->done = atomic_load(&run->progress_done);
    if (counts_dirty_pages(run)) {
        uint64_t dirty = atomic_load(&((struct run *)(uintptr_t)run)->pool.dirty_count);
        live->done = dirty < live->total ? live->total - dirty : 0;
    }
    if (live->done > live->total)
        live->done = live->total;
    live->ends_early = is_awaiting(run);
    live->length_ns = LIVE_UNKNOWN;
    live->left_ns = LIVE_UNKNOWN;
    uint64_t end = deadline_of(run);
    if (end != UINT64_MAX && end + 1 >= time.start_ns) {
        live->length_ns = end + 1 - time.start_ns;
        live->left_ns = end > now ? end - now : 0;
    } else if (live->total && live->done && !run->step) {
        live->left_ns = (uint64_t)((double)live->elapsed_ns / (double)live->done *
                                   (double)(live->total - live->done));
    }
}

/* What this phase has shown is believed for the phases to come. */
static void speed_now(struct live_state *state, const struct run *run)
{
    const struct live *live = &state->live;
    double seconds = (double)live->elapsed_ns / (double)NS_PER_S;
    if (seconds < SPEED_SECONDS || live->total == 0 || live->done == 0 || run->step)
        return;
    double share = (double)live->done / (double)live->total;
    double rate =
        share * (double)live_time_bytes(run->config.plan, run->phase, run->settings) / seconds;
    if (run->phase == PHASE_audit && rate > 0)
        state->read_bytes_per_s = rate;
    else if (run->phase == PHASE_initial_update && rate > 0)
        state->write_bytes_per_s = state->read_bytes_per_s = rate;
}

static void time_now(struct live_state *state, const struct run *run)
{
    struct live *live = &state->live;
    live->all_left_ns = LIVE_UNKNOWN;
    if (!run->config.plan || !run->settings || run->settings->test_cycles == 0)
        return; /* until somebody ends it */
    speed_now(state, run);
    struct work_speed speed = {state->write_bytes_per_s, state->read_bytes_per_s};
    uint64_t cycles = (uint64_t)run->settings->test_cycles, done = run->cycles_done + 1ull;
    uint64_t own = live->left_ns;
    enum phase phase = run->phase;
    if (run->slots && run->slots->going) { /* all of the part's slots, whatever they are */
        uint64_t now = clock_now_ns(run->clock), end = run->phase_deadline_ns;
        own = end > now ? end - now : 0;
        phase = is_in_main_part(run) ? PHASE_stress : PHASE_rated;
    }
    if (own == LIVE_UNKNOWN) {
        uint64_t whole = live_time_ns(run->config.plan, phase, run->settings, &speed);
        own = whole > live->elapsed_ns ? whole - live->elapsed_ns : 0;
    }
    live->all_at_most = may_end_early(run);
    live->all_left_ns = own + live_time_behind_ns(run->config.plan, phase, run->settings, &speed,
                                                  cycles > done ? cycles - done : 0);
}

/* ---- the rest ---- */

static void pool_and_log_now(struct live *live, const struct run *run)
{
    struct run *mutable = (struct run *)(uintptr_t)run; /* their locks */
    size_t frames = run->pool.frame_count;
    size_t dirty = atomic_load(&mutable->pool.dirty_count);
    live->dirty_percent = frames ? (unsigned)(dirty * 100 / frames) : 0;
    live->log_percent = 0;
    live->rows[LIVE_ROWS - 1].checkpoint_percent = 0;
    for (unsigned i = 0; i < run->database_count; i++) {
        struct database *database = &mutable->databases[i];
        unsigned permille = atomic_load(&database->checkpoint_permille);
        if (permille)
            live->rows[LIVE_ROWS - 1].checkpoint_percent = permille < 10 ? 1 : permille / 10;
        if (database->wal.vlf_count == 0) /* not open yet */
            continue;
        unsigned used = wal_used_permille(&database->wal) / 10;
        live->log_percent = used > live->log_percent ? used : live->log_percent;
    }
}

static void folders_once(struct live *live, const struct run *run)
{
    const struct plan *plan = run->config.plan;
    if (live->folders[0] || !plan)
        return;
    for (unsigned i = 0; i < plan->file_count; i++) {
        const char *path = plan->files[i].path, *slash = strrchr(path, '/');
        char folder[LIVE_FOLDERS_MAX];
        size_t used = strlen(live->folders);
        snprintf(folder, sizeof folder, "%.*s", slash > path ? (int)(slash - path) : 1,
                 slash ? path : ".");
        if (!strstr(live->folders, folder))
            snprintf(live->folders + used, sizeof live->folders - used, "%s%s", used ? " " : "",
                     folder);
    }
}

void live_state_now(struct live_state *state, const struct run *run)
{
    struct live *live = &state->live;
    phase_words(live, run);
    live->stopping = run_interrupted(run);
    live->result = run->config.out_dir;
    work_now(live, run);
    time_now(state, run);
    findings_now(live, run);
    coverage_now(state, run);
    pool_and_log_now(live, run);
    folders_once(live, run);
}
