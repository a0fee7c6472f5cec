package rowpath;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;

/** Rows of a parameter file (PROTOCOL.md) as natural values. */
final class Decoder {
  private static final long MAGIC = 0x0A3153574F525052L; // "RPROWS1\n", little endian

  private Decoder() {}

  /** The rows {@code [first, first + count)} of the file, each an array in column order. */
  static Object[][] read(Path file, List<Column> columns, long first, int count)
      throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      ByteBuffer head = map(channel, 0, 16);
      if (head.getLong() != MAGIC) {
        throw new Failure("internal", "", file + ": no parameter file");
      }
      long total = head.getLong();
      if (first < 0 || count < 0 || first + count > total) {
        throw new Failure(
            "internal", "", file + ": rows " + first + " to " + (first + count) + " of " + total);
      }
      ByteBuffer offsets = map(channel, 16 + 8 * first, 8L * (count + 1));
      long start = offsets.getLong(0);
      ByteBuffer data = map(channel, start, offsets.getLong(8 * count) - start);
      Object[][] rows = new Object[count][];
      for (int row = 0; row < count; row++) {
        rows[row] = columns.stream().map(column -> value(data, column)).toArray();
        if (data.position() != offsets.getLong(8 * (row + 1)) - start) {
          throw new Failure(
              "internal", "", file + ": row " + (first + row) + " does not fit its columns");
        }
      }
      return rows;
    }
  }

  /** The value at the buffer's position. */
  static Object value(ByteBuffer data, Column column) {
    int tag = data.get();
    return switch (tag) {
      case 0 -> null;
      case 'N' -> number(string(data), column);
      case 'F' -> floating(data.getDouble(), column);
      case 'L' -> data.get() != 0;
      case 'S' -> string(data);
      case 'B' -> bytes(data);
      case 'd' -> LocalDate.ofEpochDay(data.getInt());
      case 't' -> LocalTime.ofNanoOfDay(data.getLong());
      case 'T' -> LocalDateTime.ofEpochSecond(data.getLong(), data.getInt(), ZoneOffset.UTC);
      case 'Z' ->
          LocalDateTime.ofEpochSecond(data.getLong(), data.getInt(), ZoneOffset.UTC)
              .atOffset(ZoneOffset.UTC);
      case 'I' -> new Interval(data.getInt(), data.getInt(), data.getLong());
      case 'U' -> new UUID(Long.reverseBytes(data.getLong()), Long.reverseBytes(data.getLong()));
      case 'A' -> array(data, column);
      case 'O' -> ""; // its bytes hold no more than that it is there
      case 'X' -> infinity(string(data), column);
      default ->
          throw new Failure("internal", "", "column " + column.name() + ": unknown tag " + tag);
    };
  }

  /** A decimal that is no number is a Double. */
  private static Object number(String digits, Column column) {
    if (column.type() == Type.DECIMAL || column.bits() > 64) {
      return Numbers.of(digits);
    }
    // A conditional expression would widen the Integer.
    if (column.bits() > 32) {
      BigDecimal whole = new BigDecimal(digits);
      return whole.toBigInteger().bitLength() < 64 ? (Object) whole.longValueExact() : whole;
    }
    return Integer.valueOf(digits);
  }

  private static Object floating(double value, Column column) {
    if (column.type() == Type.FLOAT32) {
      return (float) value;
    }
    return value;
  }

  private static Object[] array(ByteBuffer data, Column column) {
    Object[] elements = new Object[data.getInt()];
    Column element = column.fields().get(0);
    for (int at = 0; at < elements.length; at++) {
      boolean nested = data.get(data.position()) == 'A' && element.type() != Type.ARRAY;
      elements[at] = value(data, nested ? column : element);
    }
    return elements;
  }

  private static Object infinity(String text, Column column) {
    boolean positive = text.equals("inf");
    return switch (column.type()) {
      case DATE -> positive ? LocalDate.MAX : LocalDate.MIN;
      case TIMESTAMP -> positive ? LocalDateTime.MAX : LocalDateTime.MIN;
      case TIMESTAMPTZ -> positive ? OffsetDateTime.MAX : OffsetDateTime.MIN;
      case INTERVAL -> positive ? Interval.INFINITE : Interval.MINUS_INFINITE;
      default ->
          throw new Failure("unsupported", "", "column " + column.name() + ": the value " + text);
    };
  }

  private static String string(ByteBuffer data) {
    return new String(bytes(data), StandardCharsets.UTF_8);
  }

  private static byte[] bytes(ByteBuffer data) {
    byte[] value = new byte[data.getInt()];
    data.get(value);
    return value;
  }

  private static ByteBuffer map(FileChannel channel, long position, long size) throws IOException {
    return channel
        .map(FileChannel.MapMode.READ_ONLY, position, size)
        .order(ByteOrder.LITTLE_ENDIAN);
  }
}
