package rowpath.adapters;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.UUID;
import java.util.stream.Stream;
import rowpath.Column;
import rowpath.Getter;
import rowpath.jdbc.SqlValues;

/**
 * Natural values of a driver of which nothing is known: java.time as JDBC 4.2 has it, and
 * java.sql's classes from the first time on that the driver refuses that.
 */
public final class AnyValues {
  // Of the process, which hosts one driver.
  private static final Taken<LocalDate> DATE = new Taken<>(LocalDate.class, SqlValues::date);
  private static final Taken<LocalTime> TIME = new Taken<>(LocalTime.class, SqlValues::time);
  private static final Taken<LocalDateTime> TIMESTAMP =
      new Taken<>(LocalDateTime.class, SqlValues::timestamp);
  private static final Taken<OffsetDateTime> TIMESTAMPTZ =
      new Taken<>(OffsetDateTime.class, SqlValues::timestamptz);

  private AnyValues() {}

  /** The getter of a column of dates, times, timestamps or UUIDs. */
  static Getter getter(Column column) {
    return Getter.byType(AnyValues.class, column, false);
  }

  /** What dates and times have been taken by so far, in words. */
  static String means() {
    boolean all = Stream.of(DATE, TIME, TIMESTAMP, TIMESTAMPTZ).allMatch(taken -> taken.modern);
    return all ? "java.time" : "java.sql where the driver refuses java.time";
  }

  public static LocalDate date(ResultSet rows, int column) throws SQLException {
    return DATE.of(rows, column);
  }

  public static LocalTime time(ResultSet rows, int column) throws SQLException {
    return TIME.of(rows, column);
  }

  public static LocalDateTime timestamp(ResultSet rows, int column) throws SQLException {
    return TIMESTAMP.of(rows, column);
  }

  public static OffsetDateTime timestamptz(ResultSet rows, int column) throws SQLException {
    return TIMESTAMPTZ.of(rows, column);
  }

  /** A driver without the type hands over its text, or an object of a class of its own. */
  public static UUID uuid(ResultSet rows, int column) throws SQLException {
    Object value = rows.getObject(column);
    return value == null || value instanceof UUID
        ? (UUID) value
        : UUID.fromString(value.toString());
  }

  @FunctionalInterface
  private interface Reader<T> {
    T of(ResultSet rows, int column) throws SQLException;
  }

  private static final class Taken<T> {
    private final Class<T> type;
    private final Reader<T> otherwise;
    private boolean modern = true;

    Taken(Class<T> type, Reader<T> otherwise) {
      this.type = type;
      this.otherwise = otherwise;
    }

    T of(ResultSet rows, int column) throws SQLException {
      if (!modern) {
        return otherwise.of(rows, column);
      }
      try {
        return rows.getObject(column, type);
      } catch (SQLException | RuntimeException | AbstractMethodError refused) {
        T value = otherwise.of(rows, column);
        modern = false;
        return value;
      }
    }
  }
}
