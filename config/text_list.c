/* text_list.c - see text_list.h. */
#include "config/text_list.h"

#include <stdlib.h>
#include <string.h>

#include "config/alloc.h"

static void add_owned(struct text_list *list, char *owned)
{
    list->items = alloc_resized(list->items, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = owned;
}

void text_list_add(struct text_list *list, const char *text)
{
    add_owned(list, alloc_text(text));
}

void text_list_add_words(struct text_list *list, const char *text)
{
    static const char blanks[] = " \t";

    while (text != NULL && *(text += strspn(text, blanks)) != '\0') {
        size_t length = strcspn(text, blanks);
        add_owned(list, alloc_printf("%.*s", (int)length, text));
        text += length;
    }
}

void text_list_free(struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i]);
    }
    free(list->items);
    *list = (struct text_list){0};
}
