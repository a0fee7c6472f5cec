/* What a query delivers, for the `describe` request: a field with its default is absent. */
#include "session.h"

struct rp_description {
    rp_writer *reply;
};

void rp_describe(rp_description *description, const rp_column *column, const char *engine_type) {
    rp_writer *reply = description->reply;
    rp_write_open(reply, NULL, '{');
    rp_write_text(reply, "name", column->name);
    rp_write_text(reply, "type", rp_type_name(column->type));
    if (column->length != 0) rp_write_integer(reply, "length", column->length);
    if (column->precision != 0) rp_write_integer(reply, "precision", column->precision);
    if (column->scale != 0) rp_write_integer(reply, "scale", column->scale);
    if (column->bits != 32) rp_write_integer(reply, "bits", column->bits);
    if (column->nullable) rp_write_boolean(reply, "nullable", true);
    rp_write_text(reply, "engine_type", engine_type);
    rp_write_close(reply, '}');
}

bool rp_describe_query(rp_session *session, const rp_json *request, rp_writer *reply) {
    rp_description description = {reply};
    if (session->adapter->describe == NULL)
        return rp_fail(RP_UNSUPPORTED, "", "%s describes no queries", session->adapter->driver);
    rp_write_open(reply, "columns", '[');
    if (!session->adapter->describe(session->clients->connection, rp_json_text(request, "sql", ""), &description))
        return false;
    rp_write_close(reply, ']');
    return true;
}
