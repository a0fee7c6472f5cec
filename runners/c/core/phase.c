/* A phase as the `prepare` request describes it. */
#include "session.h"

static const char *const type_names[] = {
    [RP_INTEGER] = "integer",     [RP_DECIMAL] = "decimal",
    [RP_FLOAT32] = "float32",     [RP_FLOAT64] = "float64",
    [RP_BOOLEAN] = "boolean",     [RP_CHAR] = "char",
    [RP_VARCHAR] = "varchar",     [RP_TEXT] = "text",
    [RP_JSON] = "json",           [RP_BINARY] = "binary",
    [RP_DATE] = "date",           [RP_TIME] = "time",
    [RP_TIMESTAMP] = "timestamp", [RP_TIMESTAMPTZ] = "timestamptz",
    [RP_INTERVAL] = "interval",   [RP_UUID] = "uuid",
    [RP_ARRAY] = "array",
};

static const char *const kind_names[] = {
    [RP_QUERY] = "query", [RP_EXECUTE] = "execute", [RP_CONNECT] = "connect", [RP_NOTHING] = "null"};

static int find(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static const char *copy_text(rp_arena *arena, const rp_json *object, const char *key) {
    const char *text = rp_json_text(object, key, "");
    return rp_arena_copy(arena, text, strlen(text));
}

static bool read_columns(rp_phase *phase, const rp_json *list, rp_column **columns, int *count) {
    if (list == NULL || list->type != RP_JSON_LIST) return true;
    for (const rp_json *each = list->first; each != NULL; each = each->next)
        ++*count;
    *columns = rp_arena_take(phase->arena, (size_t)*count * sizeof **columns + 1);
    rp_column *column = *columns;
    for (const rp_json *each = list->first; each != NULL; each = each->next, column++) {
        const char *type = rp_json_text(each, "type", "");
        int known = find(type_names, RP_ARRAY + 1, type);
        if (known < 0) return rp_fail(RP_UNSUPPORTED, "", "this runner knows no column type '%s'", type);
        *column = (rp_column){
            .name = copy_text(phase->arena, each, "name"),
            .type = (rp_type)known,
            .length = (int)rp_json_integer(each, "length", 0),
            .precision = (int)rp_json_integer(each, "precision", 0),
            .scale = (int)rp_json_integer(each, "scale", 0),
            .bits = (int)rp_json_integer(each, "bits", 32),
            .nullable = rp_json_true(each, "nullable"),
            .element = RP_INTEGER,
        };
        if (column->scale < 0 || (column->precision <= 18 && column->scale > 18))
            return rp_fail(RP_UNSUPPORTED, "", "column %s: a scale of %d", column->name, column->scale);
    }
    return true;
}

static bool read_phase(rp_phase *phase, const rp_json *request, const rp_json *parameters, const rp_adapter *adapter,
                       bool literal) {
    const char *kind = rp_json_text(request, "kind", "");
    int known = find(kind_names, RP_NOTHING + 1, kind);
    if (known < 0) return rp_fail(RP_UNSUPPORTED, "", "this runner knows no phase of kind '%s'", kind);
    phase->kind = (rp_kind)known;
    phase->name = copy_text(phase->arena, request, "name");
    phase->sql = copy_text(phase->arena, request, "sql");
    phase->table = copy_text(phase->arena, request, "table");
    phase->scan = rp_json_true(request, "scan");
    phase->stamps = rp_json_true(request, "stamps");
    phase->transaction = strcmp(rp_json_text(request, "transaction", ""), "transaction") == 0;
    if (!read_columns(phase, rp_json_member(request, "columns"), &phase->columns, &phase->column_count)) return false;
    if (!read_columns(phase, rp_json_member(request, "parameter_columns"), &phase->parameter_columns,
                      &phase->parameter_column_count))
        return false;
    int64_t first = rp_json_integer(parameters, "first", 0), count = rp_json_integer(parameters, "count", 0);
    if (first < 0 || count < 0) return rp_fail(RP_INTERNAL, "", "a slice of parameters cannot be negative");
    if (count > 0 && !rp_read_parameters(phase, rp_json_text(parameters, "file", ""), (uint64_t)first, (uint64_t)count))
        return false;
    if (phase->parameter_column_count > 0 && phase->parameter_count == 0)
        return rp_fail(RP_INTERNAL, "", "phase %s has placeholders and no parameters", phase->name);
    if (literal) {
        uint64_t texts = phase->parameter_count > 0 ? phase->parameter_count : 1;
        phase->texts = rp_arena_take(phase->arena, texts * sizeof *phase->texts);
        for (uint64_t row = 0; row < texts; row++)
            phase->texts[row] = rp_literal_sql(phase, row, adapter->binary_literal);
    }
    return true;
}

rp_phase *rp_phase_new(const rp_json *request, const rp_json *parameters, const rp_adapter *adapter, bool literal) {
    rp_arena *arena = rp_arena_new();
    rp_phase *phase = rp_arena_take(arena, sizeof *phase);
    phase->arena = arena;
    if (read_phase(phase, request, parameters, adapter, literal)) return phase;
    rp_arena_free(arena);
    return NULL;
}
