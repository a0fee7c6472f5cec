/* What both protocols say of a message: its text for people, and that the tape cannot answer it. */
#include <stdio.h>

#include "replay.h"

void show(struct question *question, const char *what, const char *text, size_t length) {
    int shown = (int)(length < TEXT_BYTES - 1 ? length : TEXT_BYTES - 1);
    snprintf(question->text, sizeof question->text, "%s %.*s", what, shown, text);
}

void unforeseen(struct question *question, const char *why) {
    question->meaning = UNFORESEEN;
    question->why = why;
}
