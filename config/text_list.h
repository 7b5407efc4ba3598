/*
 * text_list.h - a list of texts that it owns: what may repeat on a command line.
 */
#ifndef CONFIG_TEXT_LIST_H
#define CONFIG_TEXT_LIST_H

#include <stddef.h>

struct text_list {
    char **items;
    size_t count;
};

void text_list_add(struct text_list *list, const char *text); /* a copy */
/* Each word of text, parted by blanks; NULL has none. */
void text_list_add_words(struct text_list *list, const char *text);
/* Free all; the list is empty then. */
void text_list_free(struct text_list *list);

#endif
