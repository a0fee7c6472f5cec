package rowpath;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

/**
 * The codec's bytes of rows and their digest (docs/codec.md).
 *
 * <p>Each method takes the next column's value and returns its touch, so that one pass yields both.
 * A value that does not fit its column is a {@link Failure} of kind {@code verify}.
 */
public final class Encoder {
  private final List<Column> columns;
  private final long limit;
  private final OutputStream kept;
  private byte[] bytes = new byte[4096];
  private int length;
  private int at;
  private boolean inRow;
  private long rows;
  private long sum;

  /** A digest over at most {@code limit} rows of these columns. */
  public Encoder(List<Column> columns, long limit) {
    this(columns, limit, OutputStream.nullOutputStream());
  }

  /** The same; the bytes of each row of the digest go to {@code kept}, their length before them. */
  Encoder(List<Column> columns, long limit, OutputStream kept) {
    this.columns = columns;
    this.limit = limit;
    this.kept = kept;
  }

  /** Begins a row; a source has moved to it. */
  public void beginRow() {
    inRow = true;
  }

  /**
   * {@link Failure} of kind {@code verify} where a result has more or fewer columns than declared.
   */
  void expect(int delivered) {
    if (delivered != columns.size()) {
      throw new Failure(
          "verify", "", delivered + " columns came where " + columns.size() + " are declared");
    }
  }

  /**
   * What was thrown, named by the column under way. A driver that throws while it hands over a
   * value cannot deliver that value as the column's type.
   */
  Exception named(Exception thrown) {
    if (!inRow || thrown instanceof Failure || at >= columns.size()) {
      return thrown;
    }
    Map<String, Object> body = Failure.body(thrown, "unsupported");
    String type = columns.get(at).type().name().toLowerCase(Locale.ROOT);
    return new Failure(
        (String) body.get("kind"),
        (String) body.get("code"),
        "column " + columns.get(at).name() + " as " + type + ": " + body.get("text"));
  }

  /** Ends the row whose values were taken. */
  public void endRow() {
    if (at != columns.size()) {
      throw new Failure(
          "verify", "", "a row of " + at + " values where " + columns.size() + " are declared");
    }
    if (rows < limit) {
      rows++;
      sum += XxHash64.hash(bytes, length);
      keep();
    }
    length = 0;
    at = 0;
    inRow = false;
  }

  private void keep() {
    try {
      for (int shift = 0; shift < 32; shift += 8) {
        kept.write(length >>> shift);
      }
      kept.write(bytes, 0, length);
    } catch (IOException full) {
      throw new UncheckedIOException("a row cannot be kept", full);
    }
  }

  /** {@code rows:hex16}. */
  public String digest() {
    return String.format("%d:%016x", rows, sum);
  }

  /** The bytes of the row under way. */
  byte[] row() {
    return Arrays.copyOf(bytes, length);
  }

  public long integer(long value, boolean wasNull) {
    if (isNull(wasNull)) {
      return 1;
    }
    int bits = columns.get(at - 1).bits();
    if (bits < 64 && value != value << 64 - bits >> 64 - bits) {
      throw misfit(value + " in an integer of " + bits + " bits");
    }
    number(Long.toString(value));
    return value;
  }

  public long decimal(BigDecimal value) {
    if (!isNull(value == null)) {
      number(plain(value));
    }
    return Touch.of(value);
  }

  public long float32(float value, boolean wasNull) {
    return float64(value, wasNull);
  }

  public long float64(double value, boolean wasNull) {
    if (isNull(wasNull)) {
      return 1;
    }
    floating(value);
    return Touch.of(value);
  }

  public long truth(boolean value, boolean wasNull) {
    if (isNull(wasNull)) {
      return 1;
    }
    truth(value);
    return Touch.of(value);
  }

  public long character(String value) {
    if (!isNull(value == null)) {
      int end = value.length();
      while (end > 0 && value.charAt(end - 1) == ' ') {
        end--;
      }
      string(value.substring(0, end));
    }
    return Touch.of(value);
  }

  public long text(String value) {
    if (!isNull(value == null)) {
      string(value);
    }
    return Touch.of(value);
  }

  public long binary(byte[] value) {
    if (!isNull(value == null)) {
      tagged('B', value);
    }
    return Touch.of(value);
  }

  public long date(LocalDate value) {
    if (!isNull(value == null)
        && !infinite(value.equals(LocalDate.MAX), value.equals(LocalDate.MIN))) {
      put('d');
      put32((int) value.toEpochDay());
    }
    return Touch.of(value);
  }

  public long time(LocalTime value) {
    if (!isNull(value == null)) {
      put('t');
      put64(value.toNanoOfDay());
    }
    return Touch.of(value);
  }

  public long timestamp(LocalDateTime value) {
    if (!isNull(value == null)
        && !infinite(value.equals(LocalDateTime.MAX), value.equals(LocalDateTime.MIN))) {
      moment('T', value.toEpochSecond(ZoneOffset.UTC), value.getNano());
    }
    return Touch.of(value);
  }

  public long instant(OffsetDateTime value) {
    if (!isNull(value == null)
        && !infinite(value.equals(OffsetDateTime.MAX), value.equals(OffsetDateTime.MIN))) {
      moment('Z', value.toEpochSecond(), value.getNano());
    }
    return Touch.of(value);
  }

  public long interval(Interval value) {
    if (!isNull(value == null)) {
      put('I');
      put32(value.months());
      put32(value.days());
      put64(value.nanoseconds());
    }
    return Touch.of(value);
  }

  public long uuid(UUID value) {
    if (!isNull(value == null)) {
      put('U');
      // A UUID's bytes stand in the order in which it is written.
      put64(Long.reverseBytes(value.getMostSignificantBits()));
      put64(Long.reverseBytes(value.getLeastSignificantBits()));
    }
    return Touch.of(value);
  }

  public long array(Object[] value) {
    if (!isNull(value == null)) {
      elements(value);
    }
    return Touch.of((Object) value);
  }

  /** A value in a form of the driver's own: only whether it is null is in the bytes. */
  public long opaque(Object value) {
    if (!isNull(value == null)) {
      put('O');
    }
    return Touch.of(value);
  }

  private void elements(Object[] values) {
    put('A');
    put32(values.length);
    for (Object element : values) {
      if (element == null) {
        put(0);
      } else if (element instanceof Object[] inner) {
        elements(inner);
      } else if (element instanceof String string) {
        string(string);
      } else if (element instanceof BigDecimal decimal) {
        number(plain(decimal));
      } else if (element instanceof Double || element instanceof Float) {
        floating(((Number) element).doubleValue());
      } else if (element instanceof Number number) {
        number(number.toString());
      } else if (element instanceof Boolean bool) {
        truth(bool);
      } else {
        throw new Failure(
            "unsupported",
            "",
            "column "
                + columns.get(at - 1).name()
                + ": an array of "
                + element.getClass().getSimpleName());
      }
    }
  }

  /** Plain decimal notation without trailing zeros of the fraction. */
  static String plain(BigDecimal value) {
    return value.signum() == 0 ? "0" : value.stripTrailingZeros().toPlainString();
  }

  private boolean isNull(boolean wasNull) {
    if (at >= columns.size()) {
      throw new Failure("verify", "", "more values in a row than columns are declared");
    }
    Column column = columns.get(at++);
    if (wasNull) {
      if (!column.nullable()) {
        throw misfit("NULL where none is allowed");
      }
      put(0);
    }
    return wasNull;
  }

  private Failure misfit(String what) {
    return new Failure("verify", "", "column " + columns.get(at - 1).name() + ": " + what);
  }

  private boolean infinite(boolean positive, boolean negative) {
    if (positive || negative) {
      tagged('X', (positive ? "inf" : "-inf").getBytes(StandardCharsets.US_ASCII));
    }
    return positive || negative;
  }

  private void floating(double value) {
    put('F');
    put64(Double.doubleToLongBits(value == 0 ? 0.0 : value));
  }

  private void truth(boolean value) {
    put('L');
    put(value ? 1 : 0);
  }

  private void number(String digits) {
    tagged('N', digits.getBytes(StandardCharsets.US_ASCII));
  }

  private void string(String value) {
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(value));
      tagged('S', Arrays.copyOf(encoded.array(), encoded.limit()));
    } catch (CharacterCodingException broken) {
      throw misfit("text that is no valid Unicode: " + broken.getMessage());
    }
  }

  private void tagged(int tag, byte[] value) {
    put(tag);
    put32(value.length);
    room(value.length);
    System.arraycopy(value, 0, bytes, length, value.length);
    length += value.length;
  }

  private void moment(int tag, long seconds, int nanoseconds) {
    put(tag);
    put64(seconds);
    put32(nanoseconds);
  }

  private void put(int value) {
    room(1);
    bytes[length++] = (byte) value;
  }

  private void put32(int value) {
    for (int shift = 0; shift < 32; shift += 8) {
      put(value >>> shift);
    }
  }

  private void put64(long value) {
    put32((int) value);
    put32((int) (value >>> 32));
  }

  private void room(int more) {
    if (length + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
    }
  }
}
