package rowpath;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Struct;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

/**
 * The codec's bytes of values in any form that a driver has, by the column's declared type.
 *
 * <p>It never refuses a value: one without bytes is foreign (docs/codec.md).
 */
final class ValueWriter {
  private static final int FOREIGN_BYTES = 100;
  private static final double EXACT = 1L << 53;
  private static final long SECOND_NS = 1_000_000_000L;
  private final Bytes out;
  private ColumnDigest seen;

  ValueWriter(Bytes out) {
    this.out = out;
  }

  /** Writes the value; {@code column} learns what was met in it. */
  void write(Object value, Column declared, ColumnDigest column) {
    seen = column;
    value(value, declared);
  }

  private void value(Object value, Column column) {
    if (value == null) {
      out.put(0);
      return;
    }
    int from = out.length();
    String wrong;
    try {
      wrong = encoded(value, column) ? null : "no " + column.type().word();
    } catch (SQLException | RuntimeException broken) {
      wrong = "no " + column.type().word() + ": " + broken.getMessage();
    }
    if (wrong != null) {
      out.cut(from);
      foreign(text(value), wrong);
    }
  }

  private void foreign(String text, String wrong) {
    byte[] bytes = utf8(text);
    out.tagged('?', bytes.length > FOREIGN_BYTES ? Arrays.copyOf(bytes, FOREIGN_BYTES) : bytes);
    int shown = Math.min(text.length(), FOREIGN_BYTES);
    seen.metForeign(Failure.plain("'" + text.substring(0, shown) + "' is " + wrong));
  }

  private static String text(Object value) {
    if (value instanceof byte[] bytes) {
      return HexFormat.of().formatHex(bytes);
    }
    return value instanceof Object[] elements ? Arrays.deepToString(elements) : value.toString();
  }

  private boolean encoded(Object value, Column column) throws SQLException {
    return switch (column.type()) {
      case INTEGER, DECIMAL -> number(Numbers.of(value));
      case FLOAT32 -> {
        Double number = Numbers.floating(value);
        yield floating(number == null ? null : (Double) (double) number.floatValue());
      }
      case FLOAT64 -> floating(Numbers.floating(value));
      case BOOLEAN -> truth(value);
      case CHAR, VARCHAR, TEXT, JSON -> string(value, column.type() == Type.CHAR);
      case BINARY -> binary(value);
      case BITS -> bits(value, column.length());
      case DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ -> moment(Moment.of(value), column);
      case INTERVAL -> interval(Intervals.of(value), column.cut());
      case UUID -> uuid(value);
      case ARRAY -> array(value, column);
      case STRUCT -> struct(value, column.fields());
      case MAP -> map(value, column.fields());
      case ROWS -> rows(value, column.fields());
      case ANY -> any(value, column);
      case OPAQUE -> {
        out.put('O');
        yield true;
      }
    };
  }

  private boolean number(Number number) {
    if (number == null) {
      return false;
    }
    out.tagged('N', Numbers.plain(number).getBytes(StandardCharsets.US_ASCII));
    return true;
  }

  private boolean floating(Double number) {
    if (number == null) {
      return false;
    }
    out.put('F');
    out.put64(Double.doubleToLongBits(number == 0 ? 0.0 : number));
    return true;
  }

  private boolean truth(Object value) {
    Boolean truth = value instanceof Boolean bool ? bool : null;
    if (value instanceof byte[] bytes) {
      truth = new BigInteger(1, bytes).signum() != 0;
    } else if (truth == null) {
      truth =
          switch (value.toString().strip().toLowerCase(Locale.ROOT)) {
            case "t", "true", "1" -> true;
            case "f", "false", "0" -> false;
            default ->
                value instanceof Number number ? (Boolean) (number.doubleValue() != 0) : null;
          };
    }
    if (truth != null) {
      out.put('L');
      out.put(truth ? 1 : 0);
    }
    return truth != null;
  }

  private boolean string(Object value, boolean padded) throws SQLException {
    byte[] bytes =
        value instanceof byte[] raw
            ? raw
            : utf8(
                value instanceof Clob clob
                    ? clob.getSubString(1, Math.toIntExact(clob.length()))
                    : value.toString());
    int end = bytes.length;
    while (padded && end > 0 && bytes[end - 1] == ' ') {
      end--;
    }
    out.tagged('S', end < bytes.length ? Arrays.copyOf(bytes, end) : bytes);
    return true;
  }

  /** A lone surrogate has three bytes. */
  private static byte[] utf8(String text) {
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      return Arrays.copyOf(encoded.array(), encoded.limit());
    } catch (CharacterCodingException lone) {
      Bytes bytes = new Bytes();
      text.codePoints()
          .forEach(
              point -> {
                if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
                  bytes.put(0xE0 | point >> 12);
                  bytes.put(0x80 | point >> 6 & 0x3F);
                  bytes.put(0x80 | point & 0x3F);
                } else {
                  bytes.put(Character.toString(point).getBytes(StandardCharsets.UTF_8));
                }
              });
      return bytes.copy(0);
    }
  }

  private boolean binary(Object value) throws SQLException {
    byte[] bytes = null;
    if (value instanceof byte[] raw) {
      bytes = raw;
    } else if (value instanceof Blob blob) {
      bytes = blob.getBytes(1, Math.toIntExact(blob.length()));
    } else if (value instanceof String text) {
      bytes = utf8(text);
    }
    if (bytes != null) {
      out.tagged('B', bytes);
    }
    return bytes != null;
  }

  /** Text of 0 and 1, a number or bytes; of these the last {@code length} bits. */
  private boolean bits(Object value, int length) {
    String digits = value.toString();
    if (value instanceof byte[] bytes) {
      digits = digits(new BigInteger(1, bytes), length > 0 ? length : 8 * bytes.length);
    } else if (value instanceof Boolean bit) {
      digits = bit ? "1" : "0";
    } else if (value instanceof Number number) {
      digits = digits(new BigInteger(Long.toUnsignedString(number.longValue())), length);
    }
    if (!digits.matches("[01]*")) {
      return false;
    }
    out.put('b');
    out.put32(digits.length());
    for (int at = 0; at < digits.length(); at += 8) {
      String eight = digits.substring(at, Math.min(at + 8, digits.length()));
      out.put(Integer.parseInt(eight, 2) << 8 - eight.length());
    }
    return true;
  }

  private static String digits(BigInteger number, int length) {
    String digits = number.toString(2);
    return digits.length() < length
        ? "0".repeat(length - digits.length()) + digits
        : digits.substring(length > 0 ? digits.length() - length : 0);
  }

  private boolean moment(Moment moment, Column column) {
    Type type = column.type();
    boolean ofDay = type == Type.TIME || type == Type.TIMETZ;
    if (moment == null || !(ofDay ? moment.hasTime() : moment.hasDate())) {
      return false;
    }
    if (moment.infinite() != 0) {
      return !ofDay && infinite(moment.infinite() > 0);
    }
    if (type.hasTime()) {
      seen.met(moment.timeNs());
    }
    long timeNs = cut(moment.timeNs(), column.cut());
    if (ofDay) {
      out.put(type == Type.TIME ? 't' : 'y');
      out.put64(timeNs);
      if (type == Type.TIMETZ) {
        out.put32(moment.offsetSeconds());
      }
      return true;
    }
    if (!moment.hasDay()) {
      out.put('Y');
      out.put32((int) moment.year());
      out.put(moment.month());
      out.put(moment.day());
      out.put64(type == Type.DATE ? 0 : timeNs);
      return true;
    }
    long days = moment.epochDay();
    if (type == Type.DATE) {
      out.put('d');
      out.put32(Math.toIntExact(days));
    } else {
      out.put(type == Type.TIMESTAMP ? 'T' : 'Z');
      long seconds = days * 86_400 - moment.offsetSeconds();
      out.put64(seconds + Math.floorDiv(timeNs, SECOND_NS));
      out.put32((int) Math.floorMod(timeNs, SECOND_NS));
    }
    return true;
  }

  private static long cut(long nanoseconds, Column.Cut cut) {
    long unit = cut.unitNs();
    return Math.floorDiv(nanoseconds + (cut.rounded() ? unit / 2 : 0), unit) * unit;
  }

  private boolean infinite(boolean positive) {
    out.tagged('X', (positive ? "inf" : "-inf").getBytes(StandardCharsets.US_ASCII));
    return true;
  }

  private boolean interval(Interval interval, Column.Cut cut) {
    if (interval == null) {
      return false;
    }
    if (interval.equals(Interval.INFINITE) || interval.equals(Interval.MINUS_INFINITE)) {
      return infinite(interval.equals(Interval.INFINITE));
    }
    seen.met(interval.nanoseconds());
    out.put('I');
    out.put32(interval.months());
    out.put32(interval.days());
    out.put64(cut(interval.nanoseconds(), cut));
    return true;
  }

  private boolean uuid(Object value) {
    UUID uuid;
    if (value instanceof byte[] bytes) {
      ByteBuffer parts = ByteBuffer.wrap(bytes);
      uuid = new UUID(parts.getLong(), parts.getLong());
    } else {
      uuid = value instanceof UUID natural ? natural : UUID.fromString(value.toString());
    }
    out.put('U');
    // A UUID's bytes stand in the order in which it is written.
    out.put64(Long.reverseBytes(uuid.getMostSignificantBits()));
    out.put64(Long.reverseBytes(uuid.getLeastSignificantBits()));
    return true;
  }

  private boolean array(Object value, Column column) throws SQLException {
    Object array = value instanceof String text ? ArrayText.parse(text) : value;
    List<?> elements = array == null ? null : elements(array);
    if (elements == null) {
      return false;
    }
    if (array instanceof Bounded bounded && bounded.lower() != 1) {
      seen.metBound();
      if (column.cut().bounds()) {
        out.put('a');
        out.put32(bounded.lower());
      }
    }
    Column element = column.fields().get(0);
    boolean nested =
        switch (element.type()) {
          case ARRAY, STRUCT, MAP, ROWS -> true;
          default -> false;
        };
    out.put('A');
    out.put32(elements.size());
    for (Object one : elements) {
      // A further dimension is no other type.
      value(one, !nested && isArray(one) ? column : element);
    }
    return true;
  }

  private static boolean isArray(Object value) {
    return value instanceof Object[]
        || value instanceof Collection
        || value instanceof Array
        || value instanceof Bounded
        || value != null && value.getClass().isArray() && !(value instanceof byte[]);
  }

  /** Null where it is no array. */
  private static List<?> elements(Object value) throws SQLException {
    if (value instanceof Array array) {
      return elements(array.getArray());
    }
    if (value instanceof Bounded bounded) {
      return bounded.elements();
    }
    if (value instanceof Object[] elements) {
      return Arrays.asList(elements);
    }
    if (value instanceof Collection<?> elements) {
      return new ArrayList<>(elements);
    }
    if (!value.getClass().isArray()) {
      return null;
    }
    List<Object> elements = new ArrayList<>();
    for (int at = 0; at < java.lang.reflect.Array.getLength(value); at++) {
      elements.add(java.lang.reflect.Array.get(value, at));
    }
    return elements;
  }

  private boolean struct(Object value, List<Column> fields) throws SQLException {
    List<?> members;
    if (value instanceof Struct struct) {
      members = Arrays.asList(struct.getAttributes());
    } else if (value instanceof ResultSet row && row.next()) {
      members = rowOf(row, fields.size());
    } else {
      members = elements(value instanceof Map<?, ?> map ? map.values() : value);
    }
    if (members == null) {
      return false;
    }
    int count = Math.min(members.size(), fields.size());
    out.put('K');
    out.put32(count);
    for (int at = 0; at < count; at++) {
      value(members.get(at), fields.get(at));
    }
    return true;
  }

  /** A Map, or a list of pairs. */
  private boolean map(Object value, List<Column> fields) throws SQLException {
    List<Object[]> entries = new ArrayList<>();
    if (value instanceof Map<?, ?> map) {
      map.forEach((key, held) -> entries.add(new Object[] {key, held}));
    } else {
      List<?> pairs = elements(value);
      if (pairs == null) {
        return false;
      }
      for (Object pair : pairs) {
        entries.add(
            pair instanceof Struct struct ? struct.getAttributes() : elements(pair).toArray());
      }
    }
    List<byte[]> encoded = new ArrayList<>();
    int from = out.length();
    for (Object[] entry : entries) {
      value(entry[0], fields.get(0));
      value(entry[1], fields.get(1));
      encoded.add(out.copy(from));
      out.cut(from);
    }
    encoded.sort(Arrays::compareUnsigned);
    out.put('M');
    out.put32(encoded.size());
    encoded.forEach(out::put);
    return true;
  }

  private boolean rows(Object value, List<Column> fields) throws SQLException {
    List<Object> rows = new ArrayList<>();
    if (value instanceof ResultSet result) {
      while (result.next()) {
        rows.add(rowOf(result, fields.size()));
      }
    } else {
      List<?> given = elements(value);
      if (given == null) {
        return false;
      }
      rows.addAll(given);
    }
    out.put('R');
    out.put32(rows.size());
    for (Object row : rows) {
      List<?> values =
          row instanceof Struct inner ? Arrays.asList(inner.getAttributes()) : elements(row);
      for (int at = 0; at < fields.size(); at++) {
        value(values.get(at), fields.get(at));
      }
    }
    return true;
  }

  private static List<Object> rowOf(ResultSet result, int columns) throws SQLException {
    List<Object> row = new ArrayList<>();
    for (int at = 1; at <= columns; at++) {
      row.add(result.getObject(at));
    }
    return row;
  }

  /** By the value's own kind. */
  private boolean any(Object value, Column column) throws SQLException {
    if (value instanceof Double || value instanceof Float) {
      double number = ((Number) value).doubleValue();
      boolean whole = Math.abs(number) < EXACT && number == Math.rint(number);
      return whole ? number(BigDecimal.valueOf((long) number)) : floating(number);
    }
    if (value instanceof Struct struct) {
      Object[] members = struct.getAttributes();
      return struct(members, java.util.Collections.nCopies(members.length, column));
    }
    Type type = kind(value);
    List<Column> fields = List.of(column, column);
    return type != null
        && encoded(value, new Column(column.name(), type, 0, 0, 0, 32, true, fields, column.cut()));
  }

  private static Type kind(Object value) {
    if (value instanceof Number) {
      return Type.DECIMAL;
    }
    if (value instanceof CharSequence || value instanceof Clob) {
      return Type.TEXT;
    }
    if (value instanceof byte[] || value instanceof Blob) {
      return Type.BINARY;
    }
    if (value instanceof Boolean) {
      return Type.BOOLEAN;
    }
    if (value instanceof LocalDate || value instanceof java.sql.Date) {
      return Type.DATE;
    }
    if (value instanceof LocalTime || value instanceof java.sql.Time) {
      return Type.TIME;
    }
    if (value instanceof OffsetTime) {
      return Type.TIMETZ;
    }
    if (value instanceof LocalDateTime || value instanceof java.sql.Timestamp) {
      return Type.TIMESTAMP;
    }
    if (value instanceof OffsetDateTime
        || value instanceof ZonedDateTime
        || value instanceof Instant) {
      return Type.TIMESTAMPTZ;
    }
    if (value instanceof Interval || value instanceof Duration || value instanceof Period) {
      return Type.INTERVAL;
    }
    if (value instanceof UUID) {
      return Type.UUID;
    }
    if (value instanceof Map) {
      return Type.MAP;
    }
    return isArray(value) ? Type.ARRAY : null;
  }
}
