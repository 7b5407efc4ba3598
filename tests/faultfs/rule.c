/* rule.c - see rule.h. */
#include "tests/faultfs/rule.h"

#include <errno.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct class_info class_infos[CLASS_COUNT] = {
#define CLASS(name, ops, flags, what) {#name, ops, what, flags},
#include "tests/faultfs/classes.def"
#undef CLASS
};

enum kind { NUMBER, SIGNED, FLAG, TEXT, HEX };

static const struct key {
    const char *name;
    enum kind kind;
    size_t offset, size;
} keys[] = {
#define KEY(name, kind)                                                                            \
    {                                                                                              \
#name, kind, offsetof(struct rule, name), sizeof((struct rule *)0)->name                   \
    }
    KEY(every, NUMBER), KEY(unit, NUMBER),   KEY(size_min, NUMBER), KEY(size_max, NUMBER),
    KEY(at, NUMBER),    KEY(length, NUMBER), KEY(bits, NUMBER),     KEY(mask, HEX),
    KEY(keep, NUMBER),  KEY(ms, NUMBER),     KEY(reads, NUMBER),    KEY(modulus, NUMBER),
    KEY(seed, NUMBER),  KEY(d, SIGNED),      KEY(overlay, FLAG),    KEY(sticky, FLAG),
    KEY(over, FLAG),    KEY(apart, FLAG),    KEY(file, TEXT),       KEY(snap, TEXT),
#undef KEY
};

static bool number(const char *text, int base, uint64_t *value)
{
    char *end;
    if (strcmp(text, "end") == 0) {
        *value = UINT64_MAX;
        return true;
    }
    errno = 0;
    *value = strtoull(text, &end, base);
    return errno == 0 && *text && *text != '-' && *end == 0;
}

static bool store(struct rule *rule, const struct key *key, const char *text)
{
    char *end;
    void *field = (char *)rule + key->offset;
    uint64_t value = 0;
    switch (key->kind) {
    case TEXT:
        return (size_t)snprintf(field, key->size, "%s", text) < key->size;
    case SIGNED:
        *(int64_t *)field = strtoll(text, &end, 10);
        return *text && *end == 0;
    case HEX:
        return number(text, 16, field);
    case NUMBER:
        return number(text, 10, field);
    case FLAG:
        if (!number(text, 10, &value) || value > 1)
            return false;
        *(bool *)field = value;
        return true;
    }
    return false;
}

static int parse_key(struct rule *rule, char *word, char *why, unsigned why_bytes)
{
    char *equals = strchr(word, '=');
    if (equals)
        *equals = 0;
    for (size_t i = 0; equals && i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].name, word) == 0) {
            rule->has_at = rule->has_at || strcmp(word, "at") == 0;
            if (store(rule, &keys[i], equals + 1))
                return 0;
            snprintf(why, why_bytes, "%s: no value for it: %s", word, equals + 1);
            return -EINVAL;
        }
    snprintf(why, why_bytes, "%s: no key of a rule", word);
    return -EINVAL;
}

static int find_class(struct rule *rule, const char *name, char *why, unsigned why_bytes)
{
    for (unsigned i = 0; i < CLASS_COUNT; i++)
        if (strcmp(class_infos[i].name, name) == 0) {
            rule->class = i;
            for (const char *op = rule->ops; *op; op++)
                if (!strchr(class_infos[i].ops, *op)) {
                    snprintf(why, why_bytes, "%s is for %s, not %c", name, class_infos[i].ops, *op);
                    return -EINVAL;
                }
            return 0;
        }
    snprintf(why, why_bytes, "%s: no class", name);
    return -EINVAL;
}

static int parse_numbers(struct rule *rule, char **words, char *why, unsigned why_bytes)
{
    uint64_t *fields[] = {&rule->low, &rule->high, &rule->nth, &rule->count};
    for (unsigned i = 0; i < 4; i++)
        if (!number(words[i], 10, fields[i])) {
            snprintf(why, why_bytes, "%s: no number", words[i]);
            return -EINVAL;
        }
    return 0;
}

static int check(const struct rule *rule, char *why, unsigned why_bytes)
{
    const char *wrong = NULL;
    if (rule->nth == 0 || rule->every == 0 || rule->low >= rule->high)
        wrong = "NTH and every count from 1, LOW is below HIGH";
    else if (rule->unit % 512)
        wrong = "unit is a multiple of 512";
    else if ((class_infos[rule->class].flags & OTHER_END) && !rule->d && !*rule->file)
        wrong = "the class needs d or file";
    else if (rule->class == CLASS_misread && !rule->d)
        wrong = "the class needs d";
    else if ((rule->class == CLASS_misfile || rule->class == CLASS_misreadfile) && !*rule->file)
        wrong = "the class needs file";
    else if (rule->class == CLASS_old && !*rule->snap)
        wrong = "the class needs snap";
    else if (rule->class == CLASS_wrap && (!rule->modulus || rule->modulus % 4096))
        wrong = "the class needs modulus, a multiple of 4096";
    if (!wrong)
        return 0;
    snprintf(why, why_bytes, "%s", wrong);
    return -EINVAL;
}

int rule_parse(const char *text, struct rule *rule, char *why, unsigned why_bytes)
{
    char line[1024], *words[RULE_WORDS], *rest = line;
    unsigned count = 0;
    *rule = (struct rule){.every = 1, .size_max = UINT64_MAX, .bits = 1, .reads = 1};
    if ((size_t)snprintf(line, sizeof line, "%s", text) >= sizeof line)
        line[0] = 0;
    for (char *word; count < RULE_WORDS && (word = strtok_r(rest, " \t\n", &rest));)
        words[count++] = word;
    if (count < 7 || strlen(words[0]) >= sizeof rule->ops ||
        strspn(words[0], "rws") != strlen(words[0]) || strlen(words[2]) >= sizeof rule->glob) {
        snprintf(why, why_bytes, "add OPS CLASS GLOB LOW HIGH NTH COUNT [key=value ...]");
        return -EINVAL;
    }
    snprintf(rule->ops, sizeof rule->ops, "%s", words[0]);
    snprintf(rule->glob, sizeof rule->glob, "%s", words[2]);
    int rc = find_class(rule, words[1], why, why_bytes);
    if (rc == 0)
        rc = parse_numbers(rule, words + 3, why, why_bytes);
    for (unsigned i = 7; rc == 0 && i < count; i++)
        rc = parse_key(rule, words[i], why, why_bytes);
    return rc ? rc : check(rule, why, why_bytes);
}

bool rule_spent(const struct rule *rule)
{
    return rule->count && rule->fired >= rule->count;
}

bool rule_concerns(const struct rule *rule, char op, const char *path)
{
    return !rule_spent(rule) && strchr(rule->ops, op) && fnmatch(rule->glob, path, 0) == 0;
}

bool rule_match(struct rule *rule)
{
    rule->matched++;
    if (rule_spent(rule) || rule->matched < rule->nth || (rule->matched - rule->nth) % rule->every)
        return false;
    rule->fired++;
    return true;
}

uint64_t rule_draw(const struct rule *rule, unsigned purpose)
{
    /* splitmix64 */
    uint64_t z = rule->seed * 0x9e3779b97f4a7c15u + rule->fired * 0xbf58476d1ce4e5b9u +
                 ((uint64_t)purpose << 56) + rule->id;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
