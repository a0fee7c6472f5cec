/* Parameter files (runners/PROTOCOL.md): rows in the codec's bytes, decoded once into C's natural values. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session.h"

typedef struct bytes_in {
    const uint8_t *at, *end;
} bytes_in;

static bool take(bytes_in *in, size_t size, const uint8_t **taken) {
    if ((size_t)(in->end - in->at) < size) return false;
    *taken = in->at;
    in->at += size;
    return true;
}

static bool take_little(bytes_in *in, size_t size, uint64_t *value) {
    const uint8_t *bytes;
    *value = 0;
    if (!take(in, size, &bytes)) return false;
    for (size_t i = size; i > 0; i--)
        *value = *value << 8 | bytes[i - 1];
    return true;
}

static bool take_sized(bytes_in *in, rp_arena *arena, rp_value *value) {
    uint64_t length;
    const uint8_t *bytes;
    if (!take_little(in, 4, &length) || !take(in, length, &bytes)) return false;
    value->length = (uint32_t)length;
    value->text = rp_arena_copy(arena, (const char *)bytes, length);
    return true;
}

/* A value's text when it has none of its own: intervals and arrays travel as text. */
static void set_text(rp_arena *arena, rp_value *value, const char *text, size_t length) {
    value->length = (uint32_t)length;
    value->text = rp_arena_copy(arena, text, length);
}

static bool take_interval(bytes_in *in, rp_arena *arena, rp_value *value) {
    uint64_t months, days, ns;
    char text[96];
    if (!take_little(in, 4, &months) || !take_little(in, 4, &days) || !take_little(in, 8, &ns)) return false;
    int64_t time_ns = (int64_t)ns, part = llabs(time_ns);
    int decimals = part % 1000 == 0 ? 6 : 9; /* engines without nanoseconds refuse a ninth decimal */
    long long fraction = part % RP_NS_PER_SECOND / (decimals == 6 ? 1000 : 1);
    int length = snprintf(text, sizeof text, "P%dM%dDT%s%lld.%0*lldS", (int32_t)months, (int32_t)days,
                          time_ns < 0 ? "-" : "", (long long)(part / RP_NS_PER_SECOND), decimals, fraction);
    set_text(arena, value, text, (size_t)length);
    return true;
}

static bool take_value(bytes_in *in, rp_arena *arena, const rp_column *column, rp_value *value);

static bool take_array(bytes_in *in, rp_arena *arena, const rp_column *column, rp_value *value) {
    uint64_t count;
    rp_writer text = {0};
    if (!take_little(in, 4, &count)) return false;
    rp_write_raw(&text, "{");
    for (uint64_t i = 0; i < count; i++) {
        rp_value element = {0};
        char scratch[RP_SCRATCH_BYTES];
        size_t length;
        text.started = i > 0;
        if (!take_value(in, arena, column, &element)) return false;
        if (rp_is_text(element.type)) {
            rp_write_text(&text, NULL, element.text);
            continue;
        }
        if (i > 0) rp_write_raw(&text, ",");
        rp_write_raw(&text, element.type == RP_NULL ? "NULL" : rp_value_text(&element, scratch, &length));
    }
    rp_write_raw(&text, "}");
    set_text(arena, value, text.data, text.length);
    free(text.data);
    return true;
}

static bool take_value(bytes_in *in, rp_arena *arena, const rp_column *column, rp_value *value) {
    const uint8_t *tag;
    uint64_t bits, ns;
    if (!take(in, 1, &tag)) return false;
    value->type = column->type;
    switch (*tag) {
    case 0: value->type = RP_NULL; return true;
    case 'N': {
        char *end;
        if (!take_sized(in, arena, value)) return false;
        if (column->type != RP_INTEGER && column->type != RP_ARRAY) {
            value->type = RP_DECIMAL;
            return true;
        }
        errno = 0;
        long long integer = strtoll(value->text, &end, 10);
        value->type = *end == '\0' && errno == 0 ? RP_INTEGER : RP_DECIMAL; /* beyond 64 bits it stays exact text */
        if (value->type == RP_INTEGER) value->integer = integer;
        return true;
    }
    case 'F':
        if (!take_little(in, 8, &bits)) return false;
        memcpy(&value->real, &bits, sizeof bits);
        return true;
    case 'L':
        value->type = RP_BOOLEAN;
        if (!take_little(in, 1, &bits)) return false;
        value->integer = bits != 0;
        return true;
    case 'S':
        if (!rp_is_text(column->type)) value->type = RP_TEXT;
        return take_sized(in, arena, value);
    case 'X': /* engines spell infinity out */
        value->type = RP_TEXT;
        if (!take_sized(in, arena, value)) return false;
        if (strcmp(value->text, "inf") == 0) set_text(arena, value, "infinity", 8);
        if (strcmp(value->text, "-inf") == 0) set_text(arena, value, "-infinity", 9);
        return true;
    case 'O': set_text(arena, value, "", 0); return true; /* its bytes hold no more than that it is there */
    case 'B':
    case 'U':
        if (*tag == 'B') return take_sized(in, arena, value);
        if (!take(in, 16, &tag)) return false;
        set_text(arena, value, (const char *)tag, 16);
        return true;
    case 'd':
        if (!take_little(in, 4, &bits)) return false;
        value->integer = (int32_t)bits;
        return true;
    case 't':
        if (!take_little(in, 8, &bits)) return false;
        value->integer = (int64_t)bits;
        return true;
    case 'T':
    case 'Z':
        if (!take_little(in, 8, &bits) || !take_little(in, 4, &ns)) return false;
        value->integer = (int64_t)bits * RP_US_PER_SECOND + (int64_t)ns / 1000;
        return true;
    case 'I': return take_interval(in, arena, value);
    case 'A': return take_array(in, arena, column, value);
    default: return false;
    }
}

static bool take_rows(rp_phase *phase, const uint8_t *data, uint64_t size, uint64_t first, uint64_t count) {
    bytes_in head = {data, data + size};
    const uint8_t *magic;
    uint64_t rows, from, to;
    if (!take(&head, 8, &magic) || memcmp(magic, "RPROWS1\n", 8) != 0 || !take_little(&head, 8, &rows)) return false;
    if (rows >= size / 8 || first > rows || count > rows - first || size < 16 + 8 * (rows + 1)) return false;
    size_t width = (size_t)phase->parameter_column_count;
    phase->parameters = rp_arena_take(phase->arena, count * width * sizeof *phase->parameters + 1);
    phase->parameter_count = count;
    for (uint64_t row = 0; row < count; row++) {
        bytes_in offsets = {data + 16 + 8 * (first + row), data + size};
        if (!take_little(&offsets, 8, &from) || !take_little(&offsets, 8, &to) || from > to || to > size) return false;
        bytes_in in = {data + from, data + to};
        for (size_t i = 0; i < width; i++) {
            rp_column *column = &phase->parameter_columns[i];
            rp_value *value = &phase->parameters[row * width + i];
            if (!take_value(&in, phase->arena, column, value)) return false;
            if (column->type == RP_INTEGER && value->type == RP_DECIMAL) column->bits = 128; /* of all its values */
        }
        if (in.at != in.end) return false;
    }
    return true;
}

bool rp_read_parameters(rp_phase *phase, const char *file, uint64_t first, uint64_t count) {
    struct stat facts;
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &facts) != 0) {
        rp_fail(RP_INTERNAL, "", "parameter file %s: %s", file, strerror(errno));
        if (descriptor >= 0) close(descriptor);
        return false;
    }
    size_t size = (size_t)facts.st_size;
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    bool good = data != MAP_FAILED && take_rows(phase, data, size, first, count);
    if (data != MAP_FAILED) munmap(data, size);
    return good ||
           rp_fail(RP_INTERNAL, "", "%s holds no parameter rows %llu to %llu of %d columns", file,
                   (unsigned long long)first, (unsigned long long)(first + count), phase->parameter_column_count);
}
