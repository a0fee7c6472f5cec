package rowpath;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.LocalTime;
import java.time.OffsetTime;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The codec's bytes of rows and their digests (docs/codec.md).
 *
 * <p>Each method takes the next column's value and returns its touch, so that one pass yields both.
 */
public final class Encoder {
  private static final long ORDER = 0x9E3779B97F4A7C15L;
  private final List<Column> columns;
  private final long limit;
  private final OutputStream kept;
  private final Bytes bytes = new Bytes();
  private final ValueWriter writer = new ValueWriter(bytes);
  private final ColumnDigest[] digests;
  private Object source;
  private int at;
  private boolean inRow;
  private long rows;
  private long sum;
  private long order;

  /** Digests over at most {@code limit} rows of these columns. */
  public Encoder(List<Column> columns, long limit) {
    this(columns, limit, OutputStream.nullOutputStream());
  }

  /** The same; the bytes of each row of the digest go to {@code kept}, their length before them. */
  Encoder(List<Column> columns, long limit, OutputStream kept) {
    this.columns = columns;
    this.limit = limit;
    this.kept = kept;
    digests = Stream.generate(ColumnDigest::new).limit(columns.size()).toArray(ColumnDigest[]::new);
  }

  static long ordered(long order, long hash) {
    return order * ORDER + hash;
  }

  /** Begins a row; the source has moved to it. */
  public void beginRow(Object source) {
    this.source = source;
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
   * value cannot deliver that value.
   */
  Exception named(Exception thrown) {
    if (!inRow || thrown instanceof Failure || at >= columns.size()) {
      return thrown;
    }
    Map<String, Object> body = Failure.body(thrown, "unsupported");
    Column column = columns.get(at);
    return new Failure(
        (String) body.get("kind"),
        (String) body.get("code"),
        "column " + column.name() + " as " + column.type().word() + ": " + body.get("text"));
  }

  /** Ends the row whose values were taken. */
  public void endRow() {
    if (rows < limit) {
      long hash = XxHash64.hash(bytes.array(), bytes.length());
      rows++;
      sum += hash;
      order = ordered(order, hash);
      keep();
    }
    bytes.cut(0);
    at = 0;
    inRow = false;
  }

  private void keep() {
    try {
      for (int shift = 0; shift < 32; shift += 8) {
        kept.write(bytes.length() >>> shift);
      }
      kept.write(bytes.array(), 0, bytes.length());
    } catch (IOException full) {
      throw new UncheckedIOException("a row cannot be kept", full);
    }
  }

  /** Adds {@code digest}, {@code order} and {@code columns} to the reply. */
  void report(Map<String, Object> reply) {
    reply.put("digest", String.format("%d:%016x", rows, sum));
    reply.put("order", SampleReply.hex(order));
    reply.put("columns", Stream.of(digests).map(ColumnDigest::reply).toList());
  }

  /** The bytes of the row under way. */
  byte[] row() {
    return bytes.copy(0);
  }

  public long integer(long value, boolean wasNull) {
    write(wasNull ? null : value < 0 && columns.get(at).bits() == 64 ? unsigned(value) : value);
    return wasNull ? 1 : value;
  }

  public long float32(float value, boolean wasNull) {
    return float64(value, wasNull);
  }

  public long float64(double value, boolean wasNull) {
    write(wasNull ? null : value);
    return wasNull ? 1 : Touch.of(value);
  }

  public long truth(boolean value, boolean wasNull) {
    write(wasNull ? null : value);
    return wasNull ? 1 : Touch.of(value);
  }

  /** A value in any form. */
  public long value(Object value) {
    write(value);
    return Touch.of(value, columns.get(at - 1).type());
  }

  /** A value that its getter did not hand over. */
  public long unusual(Exception thrown) throws Exception {
    return value(Unusual.value(thrown, source, at + 1, columns.get(at).type()));
  }

  private void write(Object value) {
    Column column = columns.get(at);
    if (rows < limit) {
      int from = bytes.length();
      writer.write(exact(value), column, digests[at]);
      digests[at].add(XxHash64.hash(bytes.array(), from, bytes.length()));
    }
    at++;
  }

  /** An unsigned integer that fills a long comes as a negative one: its text tells. */
  private Object unsigned(long value) {
    try {
      Number number = Numbers.of(Unusual.value(null, source, at + 1, Type.INTEGER));
      return number != null && number.longValue() == value ? number : (Object) value;
    } catch (Exception none) {
      return value;
    }
  }

  /** Some drivers hand over 24:00:00 as the last time before it: their text tells which it is. */
  private Object exact(Object value) {
    if (!LocalTime.MAX.equals(value) && !OffsetTime.MAX.equals(value)) {
      return value;
    }
    try {
      Object text = Unusual.value(null, source, at + 1, Type.TIME);
      return Moment.of(text) == null ? value : text;
    } catch (Exception none) {
      return value;
    }
  }
}
