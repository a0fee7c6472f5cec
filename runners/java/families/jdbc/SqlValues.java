package rowpath.jdbc;

import java.sql.Date;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import rowpath.Column;
import rowpath.Getter;

/** Natural values of drivers that know java.sql's dates and times, and not java.time's. */
public final class SqlValues {
  private SqlValues() {}

  /** The getter of a column of dates, times or timestamps. */
  public static Getter getter(Column column) {
    return Getter.byType(SqlValues.class, column, false);
  }

  /** The setter of timestamps without a time zone. */
  public static Setter timestampSetter() {
    return (statement, index, value) ->
        statement.setTimestamp(index, Timestamp.valueOf((LocalDateTime) value));
  }

  public static LocalDate date(ResultSet rows, int column) throws SQLException {
    Date value = rows.getDate(column);
    return value == null ? null : value.toLocalDate();
  }

  public static LocalTime time(ResultSet rows, int column) throws SQLException {
    Time value = rows.getTime(column);
    return value == null ? null : value.toLocalTime();
  }

  public static LocalDateTime timestamp(ResultSet rows, int column) throws SQLException {
    Timestamp value = rows.getTimestamp(column);
    return value == null ? null : value.toLocalDateTime();
  }

  public static OffsetDateTime timestamptz(ResultSet rows, int column) throws SQLException {
    Timestamp value = rows.getTimestamp(column);
    return value == null ? null : value.toInstant().atOffset(ZoneOffset.UTC);
  }
}
