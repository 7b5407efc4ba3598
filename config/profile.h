/*
 * profile.h - everything the user decided, as plain values.
 *
 * Order of use: profile_create, profile_set_strict, the front ends (file, --set, named options),
 * paths_apply, profile_add_file for each --dir, profile_finish, profile_check_files.
 *
 * A profile holds the settings of [CONFIG], of every [FileN] and of every pattern section.  Front
 * ends (source.h) write it only through profile_set(); after profile_finish() it is const.
 *
 * Ownership: the profile owns all its settings.  Threads: see opt.h.  Errors: 0 or -errno; messages
 * go to the diagnostics list, so that all mistakes of a file are reported at once.
 */
#ifndef CONFIG_PROFILE_H
#define CONFIG_PROFILE_H

#include "config/cpu_list.h"
#include "config/opt.h"

#define PROFILE_DIAGS_MAX 100 /* of each level; what follows is counted, not kept */
#define PROFILE_FILES_MAX                                                                          \
    1024 /* [FileN] sections in use; SQL Server allows 32,767 files a database,                    \
            a run that needs more than this is a typing error */
#define PROFILE_PHASES_MAX 1000 /* [PhaseN] sections: a day in slots of a minute and a half */

enum config_arrivals { CONFIG_ARRIVALS_POISSON, CONFIG_ARRIVALS_FIXED };
enum config_read_back { CONFIG_READ_BACK_LATER, CONFIG_READ_BACK_IMMEDIATE };
enum config_fail_on { CONFIG_FAIL_ON_FAIL, CONFIG_FAIL_ON_WARN };
enum config_engine {
    CONFIG_ENGINE_AUTO,
    CONFIG_ENGINE_URING,
    CONFIG_ENGINE_AIO,
    CONFIG_ENGINE_SYNC,
    CONFIG_ENGINE_MEM,
};

enum config_fresh_log { CONFIG_FRESH_LOG_00, CONFIG_FRESH_LOG_C0 };
enum config_device { CONFIG_DEVICE_SSD, CONFIG_DEVICE_HDD };

/* [CONFIG]: SQLIOSim's keys first, pagestorm's own after them. */
struct config_settings {
    char *error_file;
    int64_t cpu_count;        /* 0 = CPUs allowed */
    struct cpu_list affinity; /* empty = any */
    struct cpu_list io_affinity;
    int64_t max_memory_bytes; /* 0 = by the rule of the run */
    bool stop_on_error;
    int64_t test_cycles; /* 0 = for ever */
    int64_t test_cycle_duration_ns;
    int64_t cache_hit_ratio; /* 0..10000 */
    int64_t max_outstanding_io;
    int64_t target_io_duration_ns;
    int64_t max_iops, max_mb_per_s; /* of the whole run; 0 = no limit */
    bool allow_io_bursts;
    bool no_buffering;
    bool write_through;
    bool alternate_write_through;
    bool forced_flush;
    bool use_scatter_gather;
    bool force_read_ahead;
    bool delete_files_at_startup;
    bool delete_files_at_shutdown;
    bool stamp_files;
    /* ours */
    int64_t seed;                 /* 0 = drawn at start and reported */
    int64_t engine;               /* enum config_engine */
    int64_t device_model;         /* enum config_device, for the engine mem */
    int64_t sql_server_version;   /* index into sql_server_versions */
    int64_t sector_size_bytes;    /* 512 or 4096; 0 = what the file system reports */
    int64_t compressibility;      /* 0..10000 */
    int64_t recovery_interval_ns; /* an automatic checkpoint at least this often */
    int64_t target_recovery_ns;   /* indirect checkpoints; 0 = automatic ones */
    int64_t log_used_checkpoint;  /* of the log, 1..10000: then a checkpoint begins */
    int64_t checkpoint_slow_ns;   /* mean write latency at which a checkpoint backs off */
    int64_t log_writes_max;       /* of a database under way, and their bytes */
    int64_t log_bytes_max;
    int64_t fresh_log_byte; /* enum config_fresh_log */
    int64_t vlf_rule;       /* index into SQL_SERVER_VLF_RULES */
    int64_t
        gather_pages_max; /* pages of one gather write: 32 (to 2014), 128 (2016+), 64 (SQLIOSim) */
    int64_t delayed_durability; /* share of commits that do not wait for the log, 0..10000 */
    int64_t read_back;          /* enum config_read_back */
    int64_t log_read_back;      /* share of VLFs read and verified before reuse, 0..10000 */
    bool verify_before_overwrite;
    bool buffer_sums;          /* memory of writes is checked at submission and completion */
    bool watch_files;          /* fanotify: other processes at the files of the run */
    int64_t queue_depth;       /* helper threads and outstanding requests of an engine per worker */
    int64_t rated_duration_ns; /* 0 = no rated phase */
    int64_t rated_warm_up_ns;
    char *load;            /* steps of the rated phase (load_steps.h); NULL = one as it is set */
    int64_t need_mbps;     /* of the main part, judged; 0 = not */
    int64_t need_iops;     /* data I/Os a second of the rated phase; 0 = as its settings say */
    int64_t arrivals;      /* enum config_arrivals */
    int64_t fail_on;       /* enum config_fail_on */
    int64_t reserve_bytes; /* free space never used; 0 = max(1 GiB, 5 %) */
};

/* [FileN] */
struct file_settings {
    char *file_name;
    int64_t initial_size_bytes;
    int64_t max_size_bytes;
    int64_t increment_bytes;
    bool shrinkable;
    bool sparse;
    bool log_file;
    bool tempdb;      /* of tempdb, whatever `database` says */
    int64_t database; /* 1-based */
    unsigned number;  /* N of [FileN] */
    struct opt_where where;
};

/* [PhaseN]: a part of the main part with settings of its own. */
struct phase_settings {
    char *name;
    int64_t duration_ns;     /* the warm-up included; with until: at most */
    char *until;             /* names of users, or NULL (profile_phase_awaits) */
    int64_t duration_min_ns; /* with until */
    bool rated;
    int64_t warm_up_ns;
    int64_t load;    /* thousandths of a percent of all rates */
    char *databases; /* "all", "each" or a number */
    unsigned number; /* N of [PhaseN] */
    struct opt_where where;
};
#define PHASE_NAME_MAX       60       /* fits beside the figures of a line */
#define PHASE_LOAD_WHOLE     100000.0 /* 100 %: the rates as they are set */
#define PHASE_DATABASES_ALL  0
#define PHASE_DATABASES_EACH (-1)

/* The database that a file is of: tempdb has a number behind all that [FileN] Database= can give,
 * so that it comes last everywhere. */
#define PROFILE_TEMPDB_DATABASE 32768
static inline int64_t file_settings_database(const struct file_settings *file)
{
    return file->tempdb ? PROFILE_TEMPDB_DATABASE : file->database;
}

enum diag_level { DIAG_WARNING, DIAG_ERROR };

struct diag {
    enum diag_level level;
    struct opt_where where; /* source is owned by the profile */
    char text[OPT_TEXT_MAX];
};

struct profile;
struct preset;

extern const struct opt_section config_section; /* [CONFIG] */
extern const struct opt_section file_section;   /* [FileN] */
extern const struct opt_section phase_section;  /* [PhaseN], without its Section.Key settings */

/* sections: the pattern sections (patterns/pattern.h: pattern_sections()). Never NULL on return. */
struct profile *profile_create(const struct opt_section *const *sections, size_t count);
void profile_free(struct profile *profile);

/* The settings of the actors of the rated phase: those of a preset, apart from the user's
 * (profile_rate_by), or the profile itself (profile_rate_by_itself); NULL: there is no such phase.
 */
void profile_rate_by(struct profile *profile, const struct preset *preset);
void profile_rate_by_itself(struct profile *profile);
const struct profile *profile_rated(const struct profile *profile);

/* One setting from a front end.  section "RandomUser", key "UserCount" ...  Unknown names become a
 * warning with the nearest name (an error when strict), wrong values an error; both are kept as
 * diagnostics and counted.  Returns 0 if stored. */
int profile_set(struct profile *profile, const char *section, const char *key, const char *value,
                struct opt_where where);
void profile_diag(struct profile *profile, enum diag_level level, struct opt_where where,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));
void profile_set_strict(struct profile *profile, bool strict);

/* Cross-field checks of all sections and files; drops [FileN] with an empty name, sorts the rest by
 * N, sets a MaxSize that was not given to InitialSize and the keys of sql_server_version.h to what
 * the version says, and names in one warning everything that was set and has no effect yet. Returns
 * 0, or -EINVAL if any error was recorded since profile_create.
 */
int profile_finish(struct profile *profile) OPT_CHECK;
/* Is there something to run on: at least one data file, and a log file in every database that has a
 * data file.  Not part of profile_finish because a file may lawfully hold no [FileN] at all (--dir
 * adds them, `config --dump` needs none).  0 or -EINVAL with diagnostics. */
int profile_check_files(struct profile *profile) OPT_CHECK;

const struct config_settings *profile_config(const struct profile *profile);
struct config_settings *profile_config_mutable(struct profile *profile); /* before finish only */
size_t profile_file_count(const struct profile *profile);
const struct file_settings *profile_file(const struct profile *profile, size_t index);
/* For paths_apply and front ends, before finish only: change the path of a file. */
void profile_file_rename(struct profile *profile, size_t index, const char *path);
/* The phases of the main part, in the order of N; none: it is one piece (profile_phases.c). */
size_t profile_phase_count(const struct profile *profile);
const struct phase_settings *profile_phase(const struct profile *profile, size_t index);
/* PHASE_DATABASES_ALL, PHASE_DATABASES_EACH, or the number of one. */
int64_t phase_databases(const struct phase_settings *settings);
/* The run's settings (before finish: as they stand) with those of the phase on top, which alone are
 * "set". */
const struct profile *profile_phase_profile(const struct profile *profile, size_t index);
/* Before finish: make the durations add up to this, in their present proportions; those of phases
 * with Until are the most that they take. */
void profile_phases_scale(struct profile *profile, int64_t total_ns);
/* Does the phase end when the users of that section are through?  (its key Until) */
bool profile_phase_awaits(const struct profile *profile, size_t index, const char *section);
/* ", until BackupUser is done"; "" without Until. */
#define PHASE_UNTIL_TEXT_MAX 160
void phase_until_text(const struct phase_settings *settings, char out[PHASE_UNTIL_TEXT_MAX]);
/* How often the phase runs in a cycle: once, or for each database that has data files. */
size_t profile_phase_times(const struct profile *profile, size_t index);
/* All sections but [FileN] and [PhaseN] in order of dump: [CONFIG], patterns, [Thresholds].
 */
size_t profile_section_count(const struct profile *profile);
const struct opt_section *profile_section_at(const struct profile *profile, size_t index,
                                             const void **settings);
/* Settings struct of a pattern section by name; NULL if there is none. */
const void *profile_section(const struct profile *profile, const char *name);
/* Was this key set by the user (not a default)? */
bool profile_is_set(const struct profile *profile, const char *section, const char *key);
/* The same, and where it was set. */
bool profile_where(const struct profile *profile, const char *section, const char *key,
                   struct opt_where *where);
/* Where the value of a key of [CONFIG] comes from, for people: "run.ini:12", "--set",
 * "SqlServerVersion=2014", "as in SQL Server 2022", "default". */
void profile_origin(const struct profile *profile, const char *key, char *out,
                    size_t out_size_bytes);
/* " SqlServerVersion sets 32 (2005 .. 2014), 128 (2016 .. 2022)."; empty for other keys. */
void profile_versions_text(const struct opt *opt, char *out, size_t out_size_bytes);
/* The rules of SQL Server in effect: "GatherPages=32, LogWrites=112 (SqlServerVersion=2014), ...";
 * what one origin set stands together. */
#define PROFILE_RULES_MAX 2048
void profile_rules_text(const struct profile *profile, char *out, size_t out_size_bytes);
/* Add a file as a front end would ([FileN] with the next free N); for --dir. */
int profile_add_file(struct profile *profile, const char *path, bool log_file,
                     int64_t initial_bytes, int64_t max_bytes, int64_t database,
                     struct opt_where where) OPT_CHECK;
/* A file that was added changes its size in steps of increment_bytes. */
void profile_file_grows(struct profile *profile, size_t index, int64_t increment_bytes,
                        bool shrinkable);
/* The same for a file of tempdb. */
int profile_add_tempdb_file(struct profile *profile, const char *path, bool log_file, int64_t bytes,
                            int64_t max_bytes, struct opt_where where) OPT_CHECK;

size_t profile_error_count(const struct profile *profile); /* those not kept included */
size_t profile_diag_count(const struct profile *profile);
const struct diag *profile_diag_at(const struct profile *profile, size_t index);

/* "run.ini:12: [RandomUser] UserCount=12abc: ..." and a line end; warnings say so. */
void diag_print(const struct diag *diag, FILE *out);
/* Text from the user for a message: control characters escaped, cut when long. */
void diag_quote(const char *text, char *out, size_t out_size_bytes);

/* An INI text that reloads to an equal profile.  Keys without effect that nobody set are written as
 * comments, so that loading the text does not warn of them. */
void profile_dump(const struct profile *profile, FILE *out);
/* Every option with type, unit, default, range and help: `config --list`. */
void profile_list(const struct profile *profile, FILE *out);

#endif
