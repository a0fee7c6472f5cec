/* Words of SQL: names, numbers, strings, hexadecimal strings, symbols. */
#include "tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void tokens_begin(struct tokens *tokens, const char *sql, struct problem *problem) {
    *tokens = (struct tokens){.at = sql, .problem = problem, .text = malloc(strlen(sql) + 1)};
    if (tokens->text == NULL) abort();
    token_next(tokens);
}

void tokens_end(struct tokens *tokens) {
    free(tokens->text);
}

static void quoted(struct tokens *tokens, char quote) {
    const char *at = tokens->at;
    for (; *at != 0; at++) {
        if (*at == quote && *++at != quote) break;
        tokens->text[tokens->length++] = *at;
    }
    tokens->at = at;
}

static bool in_word(char byte) {
    return isalnum((unsigned char)byte) || byte == '_' || byte == '.' || byte == '@' || byte == '#' || byte == '$';
}

static bool in_number(const char *at) {
    return isalnum((unsigned char)*at) || *at == '.' || ((*at == '-' || *at == '+') && (at[-1] | 0x20) == 'e');
}

void token_next(struct tokens *tokens) {
    while (isspace((unsigned char)*tokens->at))
        tokens->at++;
    tokens->from = tokens->at;
    tokens->length = 0;
    const char *at = tokens->at;
    size_t prefix = (at[0] | 0x20) == 'x' && at[1] == '\'' ? 1 : strncasecmp(at, "BX'", 3) == 0 ? 2 : 0;
    if (*at == 0)
        tokens->kind = END;
    else if (*at == '\'' || *at == '"' || prefix > 0) {
        tokens->kind = *at == '"' ? WORD : prefix > 0 ? HEX : STRING;
        tokens->at += prefix + 1;
        quoted(tokens, at[prefix]);
    } else if (isdigit((unsigned char)*at)) {
        tokens->kind = NUMERAL;
        while (tokens->at == at || in_number(tokens->at))
            tokens->text[tokens->length++] = *tokens->at++;
    } else if (in_word(*at)) {
        tokens->kind = WORD;
        while (in_word(*tokens->at))
            tokens->text[tokens->length++] = (char)toupper((unsigned char)*tokens->at++);
    } else {
        tokens->kind = SYMBOL;
        tokens->text[tokens->length++] = *tokens->at++;
        if ((*at == '<' || *at == '>') && *tokens->at == '=') tokens->text[tokens->length++] = *tokens->at++;
    }
    tokens->text[tokens->length] = 0;
}

bool token_is(const struct tokens *tokens, const char *text) {
    return (tokens->kind == WORD || tokens->kind == SYMBOL) && strcmp(tokens->text, text) == 0;
}

bool token_taken(struct tokens *tokens, const char *text) {
    if (!token_is(tokens, text)) return false;
    token_next(tokens);
    return true;
}

bool token_needed(struct tokens *tokens, const char *text) {
    return token_taken(tokens, text) || syntax(tokens->problem, tokens->from);
}

bool name_needed(struct tokens *tokens, char *name) {
    if (tokens->kind != WORD || tokens->length >= NAME_BYTES) return syntax(tokens->problem, tokens->from);
    strcpy(name, tokens->text);
    token_next(tokens);
    return true;
}

bool count_needed(struct tokens *tokens, uint32_t *count) {
    if (tokens->kind != NUMERAL) return syntax(tokens->problem, tokens->from);
    *count = (uint32_t)strtoul(tokens->text, NULL, 10);
    token_next(tokens);
    return true;
}
