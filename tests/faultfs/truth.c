/* truth.c - see truth.h. */
#include "tests/faultfs/truth.h"

#include <assert.h>
#include <inttypes.h>
#include <time.h>
#include <xxhash.h>

#include "tests/faultfs/memory.h"

uint64_t truth_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct event *truth_event(struct truth *truth, unsigned rule, char op, const char *class)
{
    if (truth->count == truth->room) {
        truth->room = truth->room ? 2 * truth->room : 64;
        truth->events = memory_resize(truth->events, truth->room * sizeof(struct event *));
    }
    struct event *event = memory_zeroed(sizeof *event);
    *event = (struct event){.id = (unsigned)truth->count + 1,
                            .rule = rule,
                            .op = op,
                            .class = class,
                            .time_ns = truth_now()};
    truth->events[truth->count++] = event;
    return event;
}

struct place *truth_place(struct event *event, const char *path, uint64_t offset, size_t size_bytes,
                          const void *good, const void *bad)
{
    assert(event->place_count < PLACES_MAX);
    struct place *place = &event->places[event->place_count++];
    place->path = memory_text("%s", path);
    place->offset = offset;
    place->size_bytes = size_bytes;
    place->hash_before = good ? XXH3_64bits(good, size_bytes) : 0;
    place->hash_after = bad ? XXH3_64bits(bad, size_bytes) : 0;
    return place;
}

void place_read(struct place *place, uint64_t begin_ns)
{
    uint64_t end_ns = truth_now();
    if (place->reads < TIMES_MAX) {
        place->read_begin_ns[place->reads] = begin_ns;
        place->read_end_ns[place->reads] = end_ns;
    }
    place->last_begin_ns = begin_ns;
    place->last_end_ns = end_ns;
    place->reads++;
}

const char *place_state(const struct place *place)
{
    if (place->reads)
        return "seen";
    if (!place->sectors)
        return "none";
    if (place->left == place->sectors)
        return "open";
    return place->left ? "open" : place->rewritten_ns ? "masked" : "healed";
}

static void print_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

static void print_place(const struct place *place, FILE *out)
{
    fprintf(out, "{\"file\":");
    print_text(place->path, out);
    fprintf(out, ",\"offset\":%" PRIu64 ",\"length\":%" PRIu64, place->offset, place->size_bytes);
    fprintf(out, ",\"sectors\":%" PRIu64 ",\"left\":%" PRIu64, place->sectors, place->left);
    fprintf(out, ",\"before\":\"%016" PRIx64 "\",\"after\":\"%016" PRIx64 "\"", place->hash_before,
            place->hash_after);
    fprintf(out, ",\"state\":\"%s\",\"reads\":%" PRIu64 ",\"times\":[", place_state(place),
            place->reads);
    for (unsigned i = 0; i < place->reads && i < TIMES_MAX; i++)
        fprintf(out, "[%" PRIu64 ",%" PRIu64 "],", place->read_begin_ns[i], place->read_end_ns[i]);
    fprintf(out, "[%" PRIu64 ",%" PRIu64 "]]", place->last_begin_ns, place->last_end_ns);
    fprintf(out, ",\"rewritten\":%" PRIu64 "}", place->rewritten_ns);
}

void truth_print(const struct truth *truth, FILE *out)
{
    for (size_t i = 0; i < truth->count; i++) {
        const struct event *event = truth->events[i];
        fprintf(out, "{\"id\":%u,\"rule\":%u,\"op\":\"%c\",\"class\":\"%s\",\"mode\":\"%s\"",
                event->id, event->rule, event->op, event->class,
                event->overlay ? "overlay" : "store");
        fprintf(out, ",\"time\":%" PRIu64 ",\"places\":[", event->time_ns);
        for (unsigned j = 0; j < event->place_count; j++) {
            if (j)
                fputc(',', out);
            print_place(&event->places[j], out);
        }
        fprintf(out, "],\"note\":");
        print_text(event->note ? event->note : "", out);
        fprintf(out, "}\n");
    }
}
