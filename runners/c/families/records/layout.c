/* How a row lies in a record, the way a C program lays one out: a bit per column for NULL, then what has a fixed
   length (numbers as the machine has them, CHAR(n) in its n bytes, dates and times counted from the epoch, decimals of
   up to 18 digits scaled), then what has not, each with its length before it. The key's bytes are in the order of its
   values. */
#include <endian.h>
#include <stdlib.h>

#include "records.h"

void record_release(record_layout *layout) {
    free(layout->fields);
    free(layout->record);
    free(layout->key);
}

/* Bytes of the type's values where all have the same length, else 0. */
static uint32_t fixed_size(const rp_column *column) {
    switch (column->type) {
    case RP_INTEGER: return (uint32_t)column->bits / 8;
    case RP_BOOLEAN: return 1;
    case RP_FLOAT32:
    case RP_DATE: return 4;
    case RP_FLOAT64:
    case RP_TIME:
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ: return 8;
    case RP_DECIMAL: return column->wide ? 0 : 8;
    case RP_CHAR: return (uint32_t)column->length;
    case RP_UUID: return 16;
    default: return 0;
    }
}

static int position_of(const rp_column *columns, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(columns[i].name, name) == 0) return i;
    return -1;
}

static bool can_be_key(rp_type type) {
    return type == RP_INTEGER || type == RP_CHAR || type == RP_DATE || type == RP_TIME || type == RP_TIMESTAMP ||
           type == RP_TIMESTAMPTZ || type == RP_UUID;
}

static bool fits_phase(const record_layout *layout, const rp_phase *phase) {
    int delivered = 0;
    if (phase->access == RP_NO_ACCESS) return rp_fail(RP_UNSUPPORTED, "", "records are reached here, not queries");
    for (int i = 0; i < layout->field_count; i++) {
        const record_field *field = &layout->fields[i];
        const char *name = phase->table_columns[i].name;
        if (field->result >= 0 && field->result != delivered++)
            return rp_fail(RP_UNSUPPORTED, "", "%s: columns in another order than the record's", name);
        if (phase->access == RP_INSERT && field->parameter < 0)
            return rp_fail(RP_UNSUPPORTED, "", "%s: a record is stored with all its values", name);
    }
    if (delivered != phase->column_count) return rp_fail(RP_UNSUPPORTED, "", "a result that is not made of columns");
    if (phase->access == RP_READ &&
        (phase->key_column_count == 0 || phase->parameter_column_count != phase->key_column_count))
        return rp_fail(RP_UNSUPPORTED, "", "%s is not read by its primary key", phase->table);
    return true;
}

bool record_lay_out(record_layout *layout, const rp_phase *phase) {
    int count = layout->field_count = phase->table_column_count;
    layout->fields = calloc((size_t)count + 1, sizeof *layout->fields);
    layout->fixed_bytes = (size_t)(count + 7) / 8;
    for (int i = 0; i < count; i++) {
        const rp_column *column = &phase->table_columns[i];
        if (column->type == RP_INTERVAL || column->type == RP_TIMETZ || column->type == RP_BITS ||
            column->type >= RP_ARRAY || (column->type == RP_INTEGER && column->bits > 64))
            return rp_fail(RP_UNSUPPORTED, "", "%s: C has no type of its own for it", column->name);
        layout->fields[i] = (record_field){
            .type = column->type,
            .nullable = column->nullable,
            .scale = column->scale,
            .offset = (uint32_t)layout->fixed_bytes,
            .size = fixed_size(column),
            .result = position_of(phase->columns, phase->column_count, column->name),
            .parameter = position_of(phase->parameter_columns, phase->parameter_column_count, column->name),
        };
        layout->fixed_bytes += layout->fields[i].size;
    }
    layout->key_columns = phase->key_columns;
    layout->key_column_count = phase->key_column_count;
    for (int i = 0; i < phase->key_column_count; i++) {
        const record_field *field = &layout->fields[phase->key_columns[i]];
        if (!can_be_key(field->type))
            return rp_fail(RP_UNSUPPORTED, "", "%s: its bytes do not have its values' order",
                           phase->table_columns[phase->key_columns[i]].name);
        layout->key_bytes += field->size;
    }
    layout->key = malloc(layout->key_bytes + 1);
    return fits_phase(layout, phase);
}

/* A decimal in plain notation as value × 10^scale. */
static int64_t scaled(const char *text, int scale) {
    bool negative = *text == '-', fraction = false;
    int64_t sum = 0;
    for (text += negative; *text != '\0'; text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        sum = 10 * sum + (*text - '0');
        scale -= fraction;
    }
    while (scale-- > 0)
        sum *= 10;
    return negative ? -sum : sum;
}

/* A text in a field of `size` bytes, blanks behind it; false when it is longer. */
static bool put_padded(char *to, const rp_value *value, uint32_t size) {
    if (value->length > size) return rp_fail(RP_SQL_ERROR, "length", "'%s' is longer than %u bytes", value->text, size);
    memset(mempcpy(to, value->text, value->length), ' ', size - value->length);
    return true;
}

static bool put_fixed(char *to, const record_field *field, const rp_value *value) {
    switch (field->type) {
    case RP_CHAR: return put_padded(to, value, field->size);
    case RP_UUID: memcpy(to, value->text, 16); return true;
    case RP_FLOAT64: memcpy(to, &value->real, 8); return true;
    case RP_FLOAT32: memcpy(to, &(float){(float)value->real}, 4); return true;
    case RP_DECIMAL: memcpy(to, &(int64_t){scaled(value->text, field->scale)}, 8); return true;
    default: break;
    }
    int64_t above = value->integer >> (8 * field->size - 1);
    if (above != 0 && above != -1)
        return rp_fail(RP_SQL_ERROR, "range", "%lld does not fit %u bytes", (long long)value->integer, field->size);
    switch (field->size) {
    case 1: *to = (char)value->integer; break;
    case 2: memcpy(to, &(int16_t){(int16_t)value->integer}, 2); break;
    case 4: memcpy(to, &(int32_t){(int32_t)value->integer}, 4); break;
    default: memcpy(to, &value->integer, 8); break;
    }
    return true;
}

bool record_put(record_layout *layout, const rp_value *values, size_t *length) {
    size_t needed = layout->fixed_bytes;
    for (int i = 0; i < layout->field_count; i++) {
        const record_field *field = &layout->fields[i];
        const rp_value *value = &values[field->parameter];
        if (value->type != field->type && value->type != RP_NULL)
            return rp_fail(RP_SQL_ERROR, "type", "a value that the column's type does not have");
        if (field->size == 0 && value->type != RP_NULL) needed += sizeof(uint32_t) + value->length;
    }
    if (needed > layout->capacity) {
        layout->record = realloc(layout->record, layout->capacity = 2 * needed);
        if (layout->record == NULL) abort();
    }
    char *tail = layout->record + layout->fixed_bytes;
    memset(layout->record, 0, layout->fixed_bytes);
    for (int i = 0; i < layout->field_count; i++) {
        const record_field *field = &layout->fields[i];
        const rp_value *value = &values[field->parameter];
        if (value->type == RP_NULL) {
            layout->record[i / 8] |= (char)(1 << i % 8);
        } else if (field->size == 0) {
            tail = mempcpy(tail, &value->length, sizeof value->length);
            tail = mempcpy(tail, value->text, value->length);
        } else if (!put_fixed(layout->record + field->offset, field, value)) {
            return false;
        }
    }
    *length = needed;
    return true;
}

bool record_put_key(record_layout *layout, const rp_value *values, bool inserting) {
    char *to = layout->key;
    for (int i = 0; i < layout->key_column_count; i++) {
        const record_field *field = &layout->fields[layout->key_columns[i]];
        const rp_value *value = &values[inserting ? field->parameter : i];
        if (value->type != field->type) return rp_fail(RP_SQL_ERROR, "type", "no value of the key's type");
        if (field->type == RP_CHAR || field->type == RP_UUID) {
            if (!put_fixed(to, field, value)) return false;
        } else { /* the most significant byte first, negative numbers before the others */
            uint64_t bits = (uint64_t)value->integer << (64 - 8 * field->size) ^ (uint64_t)1 << 63;
            bits = htobe64(bits);
            memcpy(to, &bits, field->size);
        }
        to += field->size;
    }
    return true;
}

static void take_number(const record_field *field, const char *at, rp_column *column, rp_sink *sink) {
    int16_t small;
    int32_t usual;
    int64_t value;
    switch (field->size) {
    case 1: value = *at; break;
    case 2:
        memcpy(&small, at, sizeof small);
        value = small;
        break;
    case 4:
        memcpy(&usual, at, sizeof usual);
        value = usual;
        break;
    default: memcpy(&value, at, sizeof value); break;
    }
    switch (field->type) {
    case RP_DECIMAL: rp_scaled(sink, column, value); break;
    case RP_DATE: rp_date(sink, column, (int32_t)value); break;
    case RP_TIME: rp_time(sink, column, value); break;
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ: rp_timestamp(sink, column, value); break;
    default: rp_integer(sink, column, value); break;
    }
}

static void take_fixed(const record_field *field, const char *at, rp_column *column, rp_sink *sink) {
    float narrow;
    double wide;
    switch (field->type) {
    case RP_CHAR: rp_text(sink, column, at, field->size); break;
    case RP_UUID: rp_uuid(sink, column, at); break;
    case RP_FLOAT32:
        memcpy(&narrow, at, sizeof narrow);
        rp_float(sink, column, (double)narrow);
        break;
    case RP_FLOAT64:
        memcpy(&wide, at, sizeof wide);
        rp_float(sink, column, wide);
        break;
    default: take_number(field, at, column, sink); break;
    }
}

void record_take(const record_layout *layout, const rp_phase *phase, const char *record, size_t length, rp_sink *sink) {
    const char *tail = record + layout->fixed_bytes;
    uint32_t size;
    if (RP_UNLIKELY(length < layout->fixed_bytes)) {
        rp_misfit(sink, NULL, "the record is too short");
        return;
    }
    for (int i = 0; i < layout->field_count; i++) {
        const record_field *field = &layout->fields[i];
        rp_column *column = field->result >= 0 ? &phase->columns[field->result] : NULL;
        if (field->nullable && record[i / 8] >> i % 8 & 1) {
            if (column != NULL) rp_null(sink, column);
        } else if (field->size > 0) {
            if (column != NULL) take_fixed(field, record + field->offset, column, sink);
        } else {
            memcpy(&size, tail, sizeof size);
            tail += sizeof size;
            if (column != NULL && field->type == RP_BINARY)
                rp_binary(sink, column, tail, size);
            else if (column != NULL)
                rp_text_as(sink, column, tail, size);
            tail += size;
        }
    }
    rp_row(sink);
}
