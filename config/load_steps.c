/* load_steps.c - see load_steps.h. */
#include "config/load_steps.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "config/units.h"

#define STEP_TEXT_MAX 32
#define PERCENT       100
#define THOUSANDTHS   1000

static int refuse(char why[OPT_TEXT_MAX], const char *reason)
{
    snprintf(why, OPT_TEXT_MAX,
             "Load: %s; it takes percentages above 0 and up to 100000%%, or max, with commas "
             "between them, e.g. 40%%,80%%,120%%",
             reason);
    return -EINVAL;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* Without blanks around it and the percent sign behind it. */
static bool step_copy(const char *text, size_t length, char out[STEP_TEXT_MAX])
{
    while (length > 0 && is_space(text[0])) {
        text++;
        length--;
    }
    while (length > 0 && is_space(text[length - 1])) {
        length--;
    }
    if (length > 1 && text[length - 1] == '%') {
        length--;
    }
    while (length > 0 && is_space(text[length - 1])) {
        length--;
    }
    if (length == 0 || length >= STEP_TEXT_MAX) {
        return false;
    }
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

static bool step_read(const char *text, size_t length, struct load_step *out)
{
    char word[STEP_TEXT_MAX];
    int64_t thousandths;

    *out = (struct load_step){.factor = 1};
    if (!step_copy(text, length, word)) {
        return false;
    }
    if (strcasecmp(word, "max") == 0) {
        out->max = true;
        return true;
    }
    if (units_decimal(word, &thousandths) != 0) {
        return false;
    }
    out->factor = (double)thousandths / THOUSANDTHS / PERCENT;
    return out->factor >= LOAD_FACTOR_MIN && out->factor <= LOAD_FACTOR_MAX;
}

int load_steps_parse(const char *text, struct load_steps *out, char why[OPT_TEXT_MAX])
{
    out->count = 0;
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, ",");

        if (out->count == LOAD_STEPS_MAX) {
            return refuse(why, "more than 32 steps");
        }
        if (!step_read(text, length, &out->list[out->count])) {
            return refuse(why, "a step is no percentage");
        }
        out->count++;
        text += length + (text[length] == ',');
        if (text[0] == '\0' && text[-1] == ',') {
            return refuse(why, "nothing follows the last comma");
        }
    }
    return 0;
}

void load_step_text(const struct load_step *step, char *out, size_t out_size_bytes)
{
    if (step->max) {
        snprintf(out, out_size_bytes, "load max");
    } else {
        snprintf(out, out_size_bytes, "load %g %%", step->factor * PERCENT);
    }
}
