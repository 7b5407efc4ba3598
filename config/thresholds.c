/* thresholds.c - the table of [Thresholds] and the reading of its limits; see thresholds.h. */
#include "config/thresholds.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "config/units.h"

#define LIMIT_TEXT_MAX 64

struct threshold_settings {
    char *rate_held;
    char *log_write_mean, *log_write_p99;
    char *data_read_mean, *data_read_p99;
    char *read_ahead_mean, *data_write_mean;
    char *plateau;
    int64_t stalls_rated;
};

#define FIELD(member) OPT_FIELD(struct threshold_settings, member)
#define LIMIT(key, value, member, text)                                                            \
    {                                                                                              \
        .name = key, .type = OPT_STRING, .def = value, FIELD(member), .help = text                 \
    }

static const struct opt threshold_opts[] = {
    LIMIT("RateHeld", "95%/90%", rate_held,
          "Share of the work that arrived which was done: PASS from the first figure on, WARN from "
          "the second on."),
    LIMIT("LogWriteMean", "5ms/15ms", log_write_mean,
          "Mean response time of log writes: PASS up to the first figure, WARN up to the second, "
          "FAIL above."),
    LIMIT("LogWriteP99", "10ms/-", log_write_p99, "99th percentile of log writes; - = never FAIL."),
    LIMIT("DataReadMean", "10ms/20ms", data_read_mean, "Mean response time of single page reads."),
    LIMIT("DataReadP99", "50ms/-", data_read_p99, "99th percentile of single page reads."),
    LIMIT("ReadAheadMean", "30ms/100ms", read_ahead_mean, "Mean response time of read-aheads."),
    LIMIT("DataWriteMean", "20ms/50ms", data_write_mean,
          "Mean response time of checkpoint, lazy and eager writes."),
    LIMIT(
        "Plateau", "10s/60s", plateau,
        "Longest time without a break in which the mean of each second is above the FAIL bound of "
        "its role: PASS below the first figure, WARN below the second."),
    {.name = "StallRated",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "1000000000",
     .unit = "requests",
     FIELD(stalls_rated),
     .help = "Requests of 15 seconds and more that a rated phase may have; one more is FAIL."},
};

/* The place of each limit in both structs, and what it is. */
static const struct {
    const char *key;
    size_t text, limit;
    bool is_share;
} places[] = {
#define PLACE(key, member, share)                                                                  \
    {                                                                                              \
        key, offsetof(struct threshold_settings, member), offsetof(struct thresholds, member),     \
            share                                                                                  \
    }
    PLACE("RateHeld", rate_held, true),
    PLACE("LogWriteMean", log_write_mean, false),
    PLACE("LogWriteP99", log_write_p99, false),
    PLACE("DataReadMean", data_read_mean, false),
    PLACE("DataReadP99", data_read_p99, false),
    PLACE("ReadAheadMean", read_ahead_mean, false),
    PLACE("DataWriteMean", data_write_mean, false),
    PLACE("Plateau", plateau, false),
#undef PLACE
};

#define PLACE_COUNT (sizeof(places) / sizeof(places[0]))

static int read_figure(const char *text, bool is_share, int64_t *out)
{
    return is_share ? units_hundredths(text, out) : units_duration(text, UNITS_MS_NS, out);
}

/* text NULL or "-": not judged. */
static int limit_read(const char *text, bool is_share, struct limit *out)
{
    char first[LIMIT_TEXT_MAX];
    const char *slash;

    *out = (struct limit){.judged = text != NULL && strcmp(text, "-") != 0};
    if (!out->judged) {
        return 0;
    }
    slash = strchr(text, '/');
    size_t length = slash != NULL ? (size_t)(slash - text) : strlen(text);
    if (length >= sizeof(first)) {
        return -EINVAL;
    }
    memcpy(first, text, length);
    first[length] = '\0';
    int rc = read_figure(first, is_share, &out->pass);
    if (rc != 0 || slash == NULL) {
        out->warn = out->pass;
        return rc;
    }
    if (strcmp(slash + 1, "-") == 0) {
        out->warn = is_share ? 0 : INT64_MAX;
        return 0;
    }
    rc = read_figure(slash + 1, is_share, &out->warn);
    if (rc == 0 && (is_share ? out->warn > out->pass : out->warn < out->pass)) {
        rc = -EINVAL;
    }
    return rc;
}

static const char *text_at(const void *settings, size_t index)
{
    const char *base = settings;

    return *(const char *const *)(const void *)(base + places[index].text);
}

static int check_thresholds(const void *settings, char text[OPT_TEXT_MAX])
{
    struct limit limit;

    for (size_t i = 0; i < PLACE_COUNT; i++) {
        if (limit_read(text_at(settings, i), places[i].is_share, &limit) != 0) {
            snprintf(text, OPT_TEXT_MAX,
                     "%s=%.100s: a limit is written PASS/WARN, the %s first: %s; %s never fails; - "
                     "is not judged",
                     places[i].key, text_at(settings, i), places[i].is_share ? "larger" : "smaller",
                     places[i].is_share ? "95%/90%" : "5ms/15ms",
                     places[i].is_share ? "95%/-" : "5ms/-");
            return -EINVAL;
        }
    }
    return 0;
}

const struct opt_section thresholds_section = {
    .name = "Thresholds",
    .opts = threshold_opts,
    .count = sizeof(threshold_opts) / sizeof(threshold_opts[0]),
    .size_bytes = sizeof(struct threshold_settings),
    .help = "What the rated phase is judged by.",
    .check = check_thresholds,
    .run_wide = true,
};

static const char *default_of(const char *key)
{
    return opt_find(&thresholds_section, key)->def;
}

void thresholds_read(const void *settings, struct thresholds *out)
{
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        struct limit *limit = (struct limit *)(void *)((char *)out + places[i].limit);
        const char *text = text_at(settings, i);
        int rc = limit_read(text, places[i].is_share, limit);
        assert(rc == 0);
        limit->users = strcmp(text != NULL ? text : "", default_of(places[i].key)) != 0;
    }
    out->stalls_rated = ((const struct threshold_settings *)settings)->stalls_rated;
}
