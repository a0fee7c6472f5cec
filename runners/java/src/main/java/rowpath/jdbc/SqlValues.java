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

/** Natural values of drivers that know java.sql's dates and times, and not java.time's. */
public final class SqlValues {
  private SqlValues() {}

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

  public static OffsetDateTime instant(ResultSet rows, int column) throws SQLException {
    Timestamp value = rows.getTimestamp(column);
    return value == null ? null : value.toInstant().atOffset(ZoneOffset.UTC);
  }
}
