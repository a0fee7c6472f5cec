/* What the parts of the parser share. */
#ifndef RP_IBMI_STATEMENTS_H
#define RP_IBMI_STATEMENTS_H

#include "tokens.h"

bool unknown_column(struct problem *problem, const char *name, const struct table *table);
bool parse_create(struct tokens *tokens, struct statement *statement);

#endif
