package rowpath.adapters;

import java.sql.Connection;
import java.sql.Date;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import rowpath.Column;
import rowpath.Getter;
import rowpath.jdbc.ArrayValues;
import rowpath.jdbc.Jdbc;
import rowpath.jdbc.Literals;
import rowpath.jdbc.Setter;
import rowpath.jdbc.SqlValues;

/**
 * HSQLDB, embedded and through its server from the same source.
 *
 * <p>Before October 1582 it reckons by the Julian calendar, and so do java.sql's classes: dates and
 * times go in through these. An OffsetDateTime of its own would come out with that calendar's
 * fields; the instant of a java.sql.Timestamp is right.
 */
public final class Hsqldb extends Jdbc {
  private static final String PROPERTY =
      "SELECT PROPERTY_VALUE FROM INFORMATION_SCHEMA.SYSTEM_PROPERTIES"
          + " WHERE PROPERTY_NAME = 'hsqldb.%s'";

  static {
    // A database of a process that was killed can be opened 10.1 s after its last sign of life. By
    // itself HSQLDB looks for 9.2 s, so that one killed just after such a sign stays locked.
    System.setProperty("hsqldb.lockfile_poll_retries", "40");
  }

  @Override
  protected Connection connect() throws SQLException {
    return connect(url(), login(options.get("user", "SA")));
  }

  private String url() {
    if (options.get("deployment", "embedded").equals("embedded")) {
      // The database is closed with its last connection.
      return "jdbc:hsqldb:file:" + options.need("path") + ";shutdown=true";
    }
    return "jdbc:hsqldb:hsql://" + address() + "/" + options.need("database");
  }

  @Override
  protected Getter getter(Column column) {
    return switch (column.type()) {
      case BITS -> Getter.typed("getString", String.class); // getObject has one bit of them
      case TIMESTAMPTZ -> SqlValues.getter(column);
      default -> super.getter(column);
    };
  }

  @Override
  protected Setter setter(Column column) {
    return switch (column.type()) {
      case ARRAY -> ArrayValues.setter(column);
      case DATE ->
          (statement, index, value) -> statement.setDate(index, Date.valueOf((LocalDate) value));
      case TIMESTAMP -> SqlValues.timestampSetter();
      default -> super.setter(column);
    };
  }

  @Override
  protected String literal(Column column, Object value) {
    return switch (column.type()) {
      case FLOAT32, FLOAT64 -> Literals.plain(value) + (value.toString().contains("E") ? "" : "E0");
      case DATE -> "DATE '" + value + "'";
      case TIME -> "TIME '" + Literals.time(value) + "'";
      case TIMESTAMP -> "TIMESTAMP '" + Literals.timestamp(value) + "'";
      case TIMESTAMPTZ ->
          "TIMESTAMP '" + Timestamp.from(((OffsetDateTime) value).toInstant()) + "+0:00'";
      case UUID -> "UUID '" + value + "'";
      default -> super.literal(column, value);
    };
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    super.facts(facts);
    addSettings(facts, PROPERTY, "write_delay_millis", "log_data", "tx", "cache_rows");
  }
}
