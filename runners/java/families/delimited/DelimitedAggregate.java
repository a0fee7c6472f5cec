package rowpath.delimited;

import java.io.IOException;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import rowpath.Column;
import rowpath.Failure;

/**
 * One row computed over all lines, as a program does without a database: its columns are called
 * {@code count}, {@code sum_X}, {@code min_X}, {@code max_X} of columns X. NULL counts only in
 * {@code count}.
 */
public final class DelimitedAggregate {
  private final List<Column> result;
  private final Step[] steps;
  private final Object[] values;
  private boolean taken;
  private boolean wasNull;

  /** These result columns, of a table of these columns. */
  public DelimitedAggregate(List<Column> result, List<Column> table) {
    this.result = result;
    steps = result.stream().map(column -> step(column, table)).toArray(Step[]::new);
    values = new Object[steps.length];
  }

  /** The row over these lines. */
  public DelimitedAggregate over(DelimitedRow lines) throws IOException {
    for (int at = 0; at < steps.length; at++) {
      values[at] = result.get(at).name().equals("count") ? (Object) 0L : null;
    }
    while (lines.next()) {
      for (int at = 0; at < steps.length; at++) {
        values[at] = steps[at].after(values[at], lines);
      }
    }
    taken = false;
    return this;
  }

  /** What one more line makes of a result. */
  private interface Step {
    Object after(Object sofar, DelimitedRow line) throws IOException;
  }

  /** One value of the current line; null for NULL. */
  private interface Value {
    Object of(DelimitedRow line);
  }

  private static Step step(Column result, List<Column> table) {
    String[] words = result.name().split("_", 2);
    if (words[0].equals("count")) {
      return (sofar, line) -> (Long) sofar + 1;
    }
    int at = 0;
    while (at < table.size() && !(words.length == 2 && table.get(at).name().equals(words[1]))) {
      at++;
    }
    if (at == table.size()) {
      throw new Failure("unsupported", "", "no aggregate is called " + result.name());
    }
    Value value = value(table.get(at), at + 1);
    return switch (words[0]) {
      case "sum" -> (sofar, line) -> sum(sofar, value.of(line));
      case "min" -> (sofar, line) -> extreme(sofar, value.of(line), -1);
      case "max" -> (sofar, line) -> extreme(sofar, value.of(line), 1);
      default -> throw new Failure("unsupported", "", "no aggregate is called " + result.name());
    };
  }

  private static Value value(Column column, int at) {
    return switch (column.type()) {
      case INTEGER ->
          line -> {
            long value = line.getLong(at);
            return line.wasNull() ? null : (Object) value;
          };
      case DECIMAL -> line -> line.getDecimal(at);
      case FLOAT32, FLOAT64 ->
          line -> {
            double value = line.getDouble(at);
            return line.wasNull() ? null : (Object) value;
          };
      case DATE -> line -> line.getDate(at);
      case TIMESTAMP -> line -> line.getTimestamp(at);
      case CHAR, VARCHAR, TEXT -> line -> line.getString(at);
      default ->
          throw new Failure(
              "unsupported", "", "no aggregate of " + column.name() + ": " + column.type());
    };
  }

  private static Object sum(Object sofar, Object value) {
    if (sofar == null || value == null) {
      return sofar == null ? value : sofar;
    }
    if (value instanceof BigDecimal decimal) {
      return ((BigDecimal) sofar).add(decimal);
    }
    return value instanceof Long whole
        ? (Object) Math.addExact((Long) sofar, whole)
        : (Object) ((Double) sofar + (Double) value);
  }

  @SuppressWarnings("unchecked")
  private static Object extreme(Object sofar, Object value, int sign) {
    if (sofar == null || value == null) {
      return sofar == null ? value : sofar;
    }
    return ((Comparable<Object>) value).compareTo(sofar) * sign > 0 ? value : sofar;
  }

  /** True once. */
  public boolean next() {
    boolean first = !taken;
    taken = true;
    return first;
  }

  public boolean wasNull() {
    return wasNull;
  }

  public long getLong(int column) {
    Object value = value(column);
    return value == null ? 0 : ((Number) value).longValue();
  }

  public int getInt(int column) {
    return Math.toIntExact(getLong(column));
  }

  public float getFloat(int column) {
    return (float) getDouble(column);
  }

  public double getDouble(int column) {
    Object value = value(column);
    return value == null ? 0 : ((Number) value).doubleValue();
  }

  /** A sum of integers too, which some engines have as a decimal. */
  public BigDecimal getDecimal(int column) {
    Object value = value(column);
    return value instanceof Long whole ? BigDecimal.valueOf(whole) : (BigDecimal) value;
  }

  public String getString(int column) {
    return (String) value(column);
  }

  public LocalDate getDate(int column) {
    return (LocalDate) value(column);
  }

  public LocalDateTime getTimestamp(int column) {
    return (LocalDateTime) value(column);
  }

  private Object value(int column) {
    Object value = values[column - 1];
    wasNull = value == null;
    return value;
  }
}
