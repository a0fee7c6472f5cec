package rowpath.delimited;

import java.io.BufferedReader;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Period;
import java.util.HexFormat;
import java.util.UUID;
import java.util.function.Function;
import rowpath.Failure;
import rowpath.Interval;
import rowpath.Iso;
import rowpath.Row;

/** The current line of a delimited file, split into values; columns count from 1. */
public class DelimitedRow implements Row {
  protected final int columns;
  protected final int[] starts;
  protected String line;
  protected boolean wasNull;
  private final BufferedReader reader;
  private final char delimiter;
  private boolean escaped;

  /** Rows of {@code columns} columns from a reader of lines. */
  public DelimitedRow(BufferedReader reader, char delimiter, int columns) {
    this.reader = reader;
    this.delimiter = delimiter;
    this.columns = columns;
    starts = new int[columns + 1];
  }

  /** Goes to the next line; false at the end of the file. */
  public boolean next() throws IOException {
    line = reader.readLine();
    if (line == null) {
      return false;
    }
    escaped = line.indexOf('\\') >= 0;
    split();
    return true;
  }

  /** Finds the values of the line. */
  protected final void split() {
    int at = -1;
    for (int column = 1; column < columns; column++) {
      at = delimiterAfter(at + 1);
      if (at < 0) {
        throw new Failure("verify", "", "a line of fewer than " + columns + " values");
      }
      starts[column] = at + 1;
    }
    if (delimiterAfter(at + 1) >= 0) {
      throw new Failure("verify", "", "a line of more than " + columns + " values");
    }
    starts[0] = 0;
    starts[columns] = line.length() + 1;
  }

  private int delimiterAfter(int from) {
    int at = line.indexOf(delimiter, from);
    while (escaped && at > 0 && isEscaped(from, at)) {
      at = line.indexOf(delimiter, at + 1);
    }
    return at;
  }

  private boolean isEscaped(int from, int at) {
    int backslashes = 0;
    while (at - backslashes > from && line.charAt(at - backslashes - 1) == '\\') {
      backslashes++;
    }
    return backslashes % 2 == 1;
  }

  /** Whether the value taken last was NULL. */
  public boolean wasNull() {
    return wasNull;
  }

  public int getInt(int column) {
    return isNull(column) ? 0 : Integer.parseInt(line, from(column), end(column), 10);
  }

  public long getLong(int column) {
    return isNull(column) ? 0 : Long.parseLong(line, from(column), end(column), 10);
  }

  public float getFloat(int column) {
    return isNull(column) ? 0 : Float.parseFloat(floating(raw(column)));
  }

  public double getDouble(int column) {
    return isNull(column) ? 0 : Double.parseDouble(floating(raw(column)));
  }

  public boolean getBoolean(int column) {
    return !isNull(column) && (line.charAt(from(column)) | 0x20) == 't';
  }

  public String getString(int column) {
    if (isNull(column)) {
      return null;
    }
    String raw = raw(column);
    return escaped && raw.indexOf('\\') >= 0 ? unescaped(raw) : raw;
  }

  @Override
  public Object getObject(int column) {
    return getString(column);
  }

  public byte[] getBytes(int column) {
    return value(column, raw -> HexFormat.of().parseHex(raw, "\\\\x".length(), raw.length()));
  }

  public BigDecimal getDecimal(int column) {
    return value(column, BigDecimal::new);
  }

  public LocalDate getDate(int column) {
    return value(column, Iso::date);
  }

  public LocalTime getTime(int column) {
    return value(column, Iso::time);
  }

  public LocalDateTime getTimestamp(int column) {
    return value(column, Iso::timestamp);
  }

  public OffsetDateTime getInstant(int column) {
    return value(column, Iso::instant);
  }

  public UUID getUuid(int column) {
    return value(column, UUID::fromString);
  }

  /** ISO 8601: {@code P14M-3DT3723.500000S}. */
  public Interval getInterval(int column) {
    return value(column, DelimitedRow::interval);
  }

  /** {@code {1,NULL,3}}, of integers. */
  public Object[] getArray(int column) {
    return value(column, DelimitedRow::array);
  }

  private <T> T value(int column, Function<String, T> convert) {
    return isNull(column) ? null : convert.apply(raw(column));
  }

  /** Whether the value is NULL, which {@code wasNull} is then. */
  protected boolean isNull(int column) {
    int from = from(column);
    wasNull =
        escaped
            && end(column) - from == 2
            && line.charAt(from) == '\\'
            && line.charAt(from + 1) == 'N';
    return wasNull;
  }

  protected final int from(int column) {
    return starts[column - 1];
  }

  protected final int end(int column) {
    return starts[column] - 1;
  }

  private String raw(int column) {
    return line.substring(from(column), end(column));
  }

  /** What is not finite as Java spells it. */
  private static String floating(String raw) {
    char last = raw.charAt(raw.length() - 1);
    if (last == 'n') {
      return "NaN";
    }
    return last == 'f' ? raw.replace("inf", "Infinity") : raw;
  }

  /** A value without its escapes. */
  public static String unescaped(String raw) {
    StringBuilder text = new StringBuilder(raw.length());
    for (int at = 0; at < raw.length(); at++) {
      char character = raw.charAt(at);
      if (character == '\\') {
        character = raw.charAt(++at);
        character = character == 'n' ? '\n' : character == 'r' ? '\r' : character;
      }
      text.append(character);
    }
    return text.toString();
  }

  private static Object[] array(String raw) {
    if (raw.equals("{}")) {
      return new Object[0];
    }
    String[] elements = raw.substring(1, raw.length() - 1).split(",", -1);
    Object[] values = new Object[elements.length];
    for (int at = 0; at < values.length; at++) {
      values[at] = elements[at].equals("NULL") ? null : Long.valueOf(elements[at]);
    }
    return values;
  }

  private static Interval interval(String raw) {
    int time = raw.indexOf('T');
    Period period = Period.parse(raw.substring(0, time));
    Duration duration = Duration.parse("P" + raw.substring(time));
    return new Interval((int) period.toTotalMonths(), period.getDays(), duration.toNanos());
  }
}
