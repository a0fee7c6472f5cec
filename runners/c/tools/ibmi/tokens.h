/* Words of SQL. */
#ifndef RP_IBMI_TOKENS_H
#define RP_IBMI_TOKENS_H

#include "ibmi.h"

enum token_kind { END, WORD, NUMERAL, STRING, HEX, SYMBOL };

struct tokens {
    const char *at;   /* behind the token */
    const char *from; /* where it begins, for messages */
    enum token_kind kind;
    char *text; /* a name in upper case unless it was quoted; the content of a string */
    size_t length;
    struct problem *problem;
};

void tokens_begin(struct tokens *tokens, const char *sql, struct problem *problem);
void tokens_end(struct tokens *tokens);
void token_next(struct tokens *tokens);
bool token_is(const struct tokens *tokens, const char *text);
bool token_taken(struct tokens *tokens, const char *text);  /* goes on if it is that */
bool token_needed(struct tokens *tokens, const char *text); /* else a syntax error */
bool name_needed(struct tokens *tokens, char *name);
bool count_needed(struct tokens *tokens, uint32_t *count);

#endif
