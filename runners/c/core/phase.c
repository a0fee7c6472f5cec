/* A phase as the `prepare` request describes it. */
#include "session.h"

static const char *const type_names[] = {
    [RP_INTEGER] = "integer",
    [RP_DECIMAL] = "decimal",
    [RP_FLOAT32] = "float32",
    [RP_FLOAT64] = "float64",
    [RP_BOOLEAN] = "boolean",
    [RP_CHAR] = "char",
    [RP_VARCHAR] = "varchar",
    [RP_TEXT] = "text",
    [RP_JSON] = "json",
    [RP_BINARY] = "binary",
    [RP_BITS] = "bits",
    [RP_DATE] = "date",
    [RP_TIME] = "time",
    [RP_TIMETZ] = "timetz",
    [RP_TIMESTAMP] = "timestamp",
    [RP_TIMESTAMPTZ] = "timestamptz",
    [RP_INTERVAL] = "interval",
    [RP_UUID] = "uuid",
    [RP_ARRAY] = "array",
    [RP_STRUCT] = "struct",
    [RP_MAP] = "map",
    [RP_ROWS] = "rows",
    [RP_ANY] = "any",
    [RP_OPAQUE] = "opaque",
};

static const char *const kind_names[] = {[RP_QUERY] = "query",
                                         [RP_EXECUTE] = "execute",
                                         [RP_NOTHING] = "null",
                                         [RP_CONNECT] = "connect",
                                         [RP_LOAD] = "load"};

static const char *const access_names[] = {
    [RP_NO_ACCESS] = "",    [RP_SCAN] = "scan",           [RP_READ] = "read",      [RP_INSERT] = "insert",
    [RP_CREATE] = "create", [RP_AGGREGATE] = "aggregate", [RP_SEGMENT] = "segment"};

const char *rp_type_name(rp_type type) {
    return type_names[type];
}

static int find(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static const char *copy_text(rp_arena *arena, const rp_json *object, const char *key) {
    const char *text = rp_json_text(object, key, "");
    return rp_arena_copy(arena, text, strlen(text));
}

static bool read_columns(rp_phase *phase, const rp_json *list, const rp_column *around, rp_column **columns,
                         int *count);

/* What stands below a column is cut as the column is. */
static bool read_column(rp_phase *phase, const rp_json *declared, const rp_column *around, rp_column *column) {
    const char *type = rp_json_text(declared, "type", "");
    int known = find(type_names, RP_OPAQUE + 1, type);
    int64_t length = rp_json_integer(declared, "length", 0); /* a LONGBLOB's is beyond an int: as good as none */
    if (known < 0) return rp_fail(RP_UNSUPPORTED, "", "this runner knows no column type '%s'", type);
    *column = (rp_column){
        .name = copy_text(phase->arena, declared, "name"),
        .type = (rp_type)known,
        .length = (int)(length > 0 && length <= INT32_MAX ? length : 0),
        .precision = (int)rp_json_integer(declared, "precision", 0),
        .scale = (int)rp_json_integer(declared, "scale", 0),
        .bits = (int)rp_json_integer(declared, "bits", 32),
        .nullable = rp_json_true(declared, "nullable"),
        .inner = around != NULL,
        .position = around != NULL ? around->position : column->position,
        .unit_ns = around != NULL ? around->unit_ns : rp_json_integer(declared, "unit_ns", 1),
        .rounded = around != NULL ? around->rounded : rp_json_true(declared, "rounded"),
        .bounds = around != NULL ? around->bounds : rp_json_true_unless(declared, "bounds"),
    };
    column->wide = column->precision < 1 || column->precision > 18 || column->scale < 0 || column->scale > 18;
    if (column->unit_ns < 1) return rp_fail(RP_INTERNAL, "", "column %s: no unit of times", column->name);
    if (!read_columns(phase, rp_json_member(declared, "fields"), column, &column->fields, &column->field_count))
        return false;
    if (column->type != RP_ARRAY || column->field_count > 0) return true;
    column->fields = rp_arena_take(phase->arena, sizeof *column->fields);
    column->field_count = 1;
    *column->fields = *column;
    column->fields->type = RP_INTEGER;
    column->fields->inner = true;
    column->fields->fields = NULL;
    column->fields->field_count = 0;
    return true;
}

/* `around`: the column whose fields they are; NULL: those of a result, a table or parameters. */
static bool read_columns(rp_phase *phase, const rp_json *list, const rp_column *around, rp_column **columns,
                         int *count) {
    if (list == NULL || list->type != RP_JSON_LIST) return true;
    for (const rp_json *each = list->first; each != NULL; each = each->next)
        ++*count;
    *columns = rp_arena_take(phase->arena, (size_t)*count * sizeof **columns + 1);
    rp_column *column = *columns;
    for (const rp_json *each = list->first; each != NULL; each = each->next, column++) {
        column->position = (int)(column - *columns);
        if (!read_column(phase, each, around, column)) return false;
    }
    return true;
}

/* The primary key by its columns' names. */
static bool read_key(rp_phase *phase, const rp_json *list) {
    if (list == NULL || list->type != RP_JSON_LIST) return true;
    phase->key_columns =
        rp_arena_take(phase->arena, (size_t)phase->table_column_count * sizeof *phase->key_columns + 1);
    for (const rp_json *each = list->first; each != NULL; each = each->next) {
        const char *name = each->text != NULL ? each->text : "";
        int at = 0;
        while (at < phase->table_column_count && strcmp(phase->table_columns[at].name, name) != 0)
            at++;
        if (at == phase->table_column_count || phase->key_column_count == phase->table_column_count)
            return rp_fail(RP_INTERNAL, "", "phase %s: the table has no key column '%s'", phase->name, name);
        phase->key_columns[phase->key_column_count++] = at;
    }
    return true;
}

static bool read_access(rp_phase *phase, const rp_json *request) {
    const char *access = rp_json_text(request, "access", "");
    int known = find(access_names, RP_SEGMENT + 1, access);
    if (known < 0) return rp_fail(RP_UNSUPPORTED, "", "this runner knows no access '%s'", access);
    phase->access = (rp_access)known;
    return read_columns(phase, rp_json_member(request, "table_columns"), NULL, &phase->table_columns,
                        &phase->table_column_count) &&
           read_key(phase, rp_json_member(request, "key_columns"));
}

/* How many operations there are before positions wrap; of kind `load`, what one of them stores. */
static bool read_load(rp_phase *phase, const rp_json *request) {
    phase->wrap = phase->parameter_count > 0 ? phase->parameter_count : 1;
    if (phase->kind != RP_LOAD) return true;
    int64_t rows = rp_json_integer(request, "rows_per_operation", 1);
    if (phase->parameter_column_count == 0 || rows < 1 || (uint64_t)rows > phase->parameter_count)
        return rp_fail(RP_INTERNAL, "", "phase %s: %lld rows an operation of %llu parameters", phase->name,
                       (long long)rows, (unsigned long long)phase->parameter_count);
    phase->rows_per_operation = (uint64_t)rows;
    phase->wrap = phase->parameter_count / (uint64_t)rows;
    phase->bulk = strcmp(rp_json_text(request, "way", ""), "bulk") == 0;
    return true;
}

static bool read_phase(rp_phase *phase, const rp_json *request, const rp_json *parameters, const rp_adapter *adapter,
                       bool literal) {
    const char *kind = rp_json_text(request, "kind", "");
    int known = find(kind_names, RP_LOAD + 1, kind);
    if (known < 0) return rp_fail(RP_UNSUPPORTED, "", "this runner knows no phase of kind '%s'", kind);
    phase->kind = (rp_kind)known;
    phase->name = copy_text(phase->arena, request, "name");
    phase->sql = copy_text(phase->arena, request, "sql");
    phase->table = copy_text(phase->arena, request, "table");
    phase->scan = rp_json_true(request, "scan");
    phase->stamps = rp_json_true(request, "stamps");
    phase->transaction = strcmp(rp_json_text(request, "transaction", ""), "transaction") == 0;
    if (!read_columns(phase, rp_json_member(request, "columns"), NULL, &phase->columns, &phase->column_count))
        return false;
    if (!read_columns(phase, rp_json_member(request, "parameter_columns"), NULL, &phase->parameter_columns,
                      &phase->parameter_column_count))
        return false;
    if (!read_access(phase, request)) return false;
    int64_t first = rp_json_integer(parameters, "first", 0), count = rp_json_integer(parameters, "count", 0);
    if (first < 0 || count < 0) return rp_fail(RP_INTERNAL, "", "a slice of parameters cannot be negative");
    if (count > 0 && !rp_read_parameters(phase, rp_json_text(parameters, "file", ""), (uint64_t)first, (uint64_t)count))
        return false;
    if (phase->parameter_column_count > 0 && phase->parameter_count == 0)
        return rp_fail(RP_INTERNAL, "", "phase %s has placeholders and no parameters", phase->name);
    if (!read_load(phase, request)) return false;
    if (literal && !phase->bulk) {
        uint64_t texts = phase->parameter_count > 0 ? phase->parameter_count : 1;
        phase->texts = rp_arena_take(phase->arena, texts * sizeof *phase->texts);
        for (uint64_t row = 0; row < texts; row++)
            phase->texts[row] = rp_literal_sql(phase, row, adapter);
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

/* A copy that shares with the first client all that is only read. A line of padding keeps neighbours apart. */
static rp_phase *copy_for_client(const rp_phase *phase) {
    enum { line_bytes = 128 };
    rp_phase *copy = rp_arena_take(phase->arena, sizeof *copy + line_bytes);
    size_t columns = (size_t)phase->column_count * sizeof *phase->columns;
    *copy = *phase;
    copy->columns = rp_arena_take(phase->arena, columns + line_bytes);
    if (columns > 0) memcpy(copy->columns, phase->columns, columns);
    return copy;
}

void rp_phase_divide(rp_phase *phase, int count) {
    phase->clients = rp_arena_take(phase->arena, (size_t)count * sizeof *phase->clients);
    phase->clients[0] = phase;
    for (int i = 1; i < count; i++) {
        phase->clients[i] = copy_for_client(phase);
        phase->clients[i]->position = (uint64_t)i * phase->wrap / (uint64_t)count;
    }
}
