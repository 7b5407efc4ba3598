/*
 * fault_rule.c - matching of rules, the truth list, the raw access to the file below.
 *
 * Invariant: per rule, matches counts the requests it could have acted on, fired those from nth on,
 * up to count.  The decision depends on the sequence of requests only, never on time.
 */
#include "sim/fault_rule.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOUNCE_ALIGN 4096 /* the largest memory alignment that O_DIRECT asks for in practice */

#define ON(op)       (1u << (op))

/* On which operations a kind can act. */
static const unsigned acts_on[] = {
    [FAULT_ERRNO] = ON(IO_READ) | ON(IO_WRITE) | ON(IO_FLUSH),
    [FAULT_SHORT] = ON(IO_READ) | ON(IO_WRITE),
    [FAULT_FLIP] = ON(IO_READ) | ON(IO_WRITE),
    [FAULT_FILL] = ON(IO_READ) | ON(IO_WRITE),
    [FAULT_GARBAGE] = ON(IO_READ) | ON(IO_WRITE),
    [FAULT_TORN] = ON(IO_WRITE),
    [FAULT_LOST] = ON(IO_WRITE) | ON(IO_FLUSH),
    [FAULT_STALE] = ON(IO_READ),
    [FAULT_MISDIRECT_WRITE] = ON(IO_WRITE),
    [FAULT_MISDIRECT_READ] = ON(IO_READ),
    [FAULT_NOT_READ] = ON(IO_READ),
    [FAULT_TRUNCATE] = ON(IO_READ) | ON(IO_WRITE) | ON(IO_FLUSH),
    [FAULT_CHANGE_MEMORY] = ON(IO_WRITE),
    [FAULT_DELAY] = ON(IO_READ) | ON(IO_WRITE) | ON(IO_FLUSH),
    [FAULT_DUPLICATE] = ON(IO_WRITE),
    [FAULT_NEIGHBOUR] = ON(IO_WRITE),
    [FAULT_OTHER_FILE] = ON(IO_WRITE),
    [FAULT_KEEP] = ON(IO_READ) | ON(IO_WRITE) | ON(IO_FLUSH),
    [FAULT_REVERT] = ON(IO_READ) | ON(IO_WRITE) | ON(IO_FLUSH),
    [FAULT_REPLAY] = ON(IO_READ),
    [FAULT_WRAP] = ON(IO_READ) | ON(IO_WRITE),
    [FAULT_CHANGE_BEFORE] = ON(IO_WRITE),
};

void fault_config_init(struct fault_config *config, const struct io_engine_ops *below,
                       void *below_device)
{
    memset(config, 0, sizeof(*config));
    config->below = below;
    config->below_device = below_device;
    pthread_mutex_init(&config->lock, NULL);
}

void fault_config_clear(struct fault_config *config)
{
    fault_preimage_clear(config);
    fault_kept_clear(config);
    fault_flights_clear(config);
    pthread_mutex_destroy(&config->lock);
}

unsigned fault_add(struct fault_config *config, const struct fault_rule *rule)
{
    pthread_mutex_lock(&config->lock);
    assert(config->rule_count < FAULT_RULES_MAX);
    assert(rule->kind < sizeof(acts_on) / sizeof(acts_on[0]));
    unsigned index = config->rule_count++;
    config->rules[index] = *rule;
    config->rules[index].matches = config->rules[index].fired = 0;
    pthread_mutex_unlock(&config->lock);
    return index;
}

static bool is_anywhere(const struct fault_rule *rule)
{
    return rule->low == 0 && rule->high == 0;
}

/* The intersection of the request with the rule's range; false if there is none. */
static bool touch(const struct fault_rule *rule, const struct fault_range *range,
                  struct fault_hit *hit)
{
    hit->skip = 0;
    hit->size_bytes = range->size_bytes;
    if (is_anywhere(rule))
        return true;
    uint64_t end = range->offset + range->size_bytes;
    uint64_t low = rule->low > range->offset ? rule->low : range->offset;
    uint64_t high = rule->high < end ? rule->high : end;
    if (low >= high)
        return false;
    hit->skip = low - range->offset;
    hit->size_bytes = high - low;
    return true;
}

static bool matches(const struct fault_config *config, const struct fault_rule *rule,
                    const struct fault_range *range, struct fault_hit *hit)
{
    if (!rule->any_op && rule->op != range->op)
        return false;
    if (!(acts_on[rule->kind] & ON(range->op)))
        return false;
    if (rule->file_uid != 0 && rule->file_uid != range->target->uid)
        return false;
    if (!touch(rule, range, hit))
        return false;
    struct fault_range part = *range;
    part.offset += hit->skip;
    part.size_bytes = hit->size_bytes;
    if (rule->kind == FAULT_WRAP)
        return rule->a > 0 && part.offset >= (uint64_t)rule->a;
    return !fault_wants_preimage(rule->kind) || fault_preimage_exists(config, &part);
}

static bool is_due(const struct fault_rule *rule)
{
    unsigned nth = rule->nth ? rule->nth : 1;
    unsigned count = rule->count ? rule->count : 1;
    return rule->matches >= nth && (count == UINT32_MAX || rule->fired < count);
}

unsigned fault_match(struct fault_config *config, const struct fault_range *range,
                     struct fault_hit *hits)
{
    unsigned count = 0;
    bool fails = false;
    config->requests++;
    for (unsigned i = 0; i < config->rule_count; i++) {
        struct fault_rule *rule = &config->rules[i];
        struct fault_hit *hit = &hits[count];
        hit->rule = i;
        if (!matches(config, rule, range, hit))
            continue;
        if (rule->matches < UINT32_MAX)
            rule->matches++;
        if (!is_due(rule))
            continue;
        fails = fails || rule->kind == FAULT_ERRNO;
        count++;
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        struct fault_rule *rule = &config->rules[hits[i].rule];
        if (fails && rule->kind != FAULT_ERRNO && rule->kind != FAULT_DELAY)
            continue;
        if (rule->fired < UINT32_MAX)
            rule->fired++;
        hits[kept++] = hits[i];
    }
    return kept;
}

struct fault_truth *fault_record(struct fault_config *config)
{
    if (config->truth_count == FAULT_TRUTH_MAX) {
        config->truth_dropped++;
        return NULL;
    }
    struct fault_truth *truth = &config->truth[config->truth_count++];
    memset(truth, 0, sizeof(*truth));
    return truth;
}

/* The smallest aligned range around [offset, offset + size_bytes). */
struct window {
    uint64_t offset;
    size_t size_bytes;
    unsigned char *data;
};

static int window_open(struct window *window, uint64_t offset, size_t size_bytes)
{
    uint64_t low = offset / BOUNCE_ALIGN * BOUNCE_ALIGN;
    uint64_t high = (offset + size_bytes + BOUNCE_ALIGN - 1) / BOUNCE_ALIGN * BOUNCE_ALIGN;
    void *data = NULL;
    if (posix_memalign(&data, BOUNCE_ALIGN, high - low) != 0)
        return -ENOMEM;
    memset(data, 0, high - low);
    *window = (struct window){low, high - low, data};
    return 0;
}

int fault_pread(const struct io_target *target, void *data, size_t size_bytes, uint64_t offset)
{
    struct window window;
    int r = window_open(&window, offset, size_bytes);
    if (r < 0)
        return r;
    ssize_t n;
    do {
        n = pread(target->fd, window.data, window.size_bytes, (off_t)window.offset);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        r = -errno;
    else
        memcpy(data, window.data + (offset - window.offset), size_bytes);
    free(window.data);
    return r;
}

/* Stray writes are as aligned as the rule that asked for them; only the memory is bounced. */
int fault_pwrite(const struct io_target *target, const void *data, size_t size_bytes,
                 uint64_t offset)
{
    void *copy = NULL;
    if (posix_memalign(&copy, BOUNCE_ALIGN, size_bytes) != 0)
        return -ENOMEM;
    memcpy(copy, data, size_bytes);
    ssize_t n;
    do {
        n = pwrite(target->fd, copy, size_bytes, (off_t)offset);
    } while (n < 0 && errno == EINTR);
    int r = n == (ssize_t)size_bytes ? 0 : n < 0 ? -errno : -EIO;
    free(copy);
    return r;
}
