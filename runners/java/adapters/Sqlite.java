package rowpath.adapters;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Locale;
import java.util.Properties;
import rowpath.Column;
import rowpath.Getter;
import rowpath.jdbc.Jdbc;
import rowpath.jdbc.Literals;
import rowpath.jdbc.Setter;
import rowpath.jdbc.TextValues;

/**
 * sqlite-jdbc, which carries its own build of SQLite; decimals, dates and times are text in the
 * database.
 */
public class Sqlite extends Jdbc {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ISO_LOCAL_TIME;
  private static final DateTimeFormatter DATE_TIME =
      new DateTimeFormatterBuilder()
          .appendPattern("uuuu-MM-dd ")
          .append(TIME)
          .toFormatter(Locale.ROOT);

  @Override
  protected Connection connect() throws SQLException {
    Properties properties = new Properties();
    if (options.get("read_only", "no").equals("yes")) {
      properties.setProperty("open_mode", "1"); // SQLITE_OPEN_READONLY
    }
    if (options.get("durability", "none").equals("full")) {
      properties.setProperty("journal_mode", "WAL");
      properties.setProperty("synchronous", "FULL");
    } else {
      properties.setProperty("synchronous", "OFF");
    }
    return DriverManager.getConnection("jdbc:sqlite:" + options.need("path"), properties);
  }

  @Override
  protected Getter getter(Column column) {
    return switch (column.type()) {
      case DECIMAL, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> TextValues.getter(column);
      default -> super.getter(column);
    };
  }

  @Override
  protected Setter setter(Column column) {
    return switch (column.type()) {
      case DECIMAL, DATE, TIME, TIMESTAMP, TIMESTAMPTZ ->
          (statement, index, value) -> statement.setString(index, text(value));
      default -> super.setter(column);
    };
  }

  @Override
  protected String literal(Column column, Object value) {
    return switch (column.type()) {
      case DECIMAL, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> Literals.quoted(text(value));
      case BOOLEAN -> (Boolean) value ? "1" : "0";
      default -> super.literal(column, value);
    };
  }

  private static String text(Object value) {
    if (value instanceof BigDecimal decimal) {
      return decimal.toPlainString();
    }
    if (value instanceof LocalDateTime timestamp) {
      return DATE_TIME.format(timestamp);
    }
    if (value instanceof OffsetDateTime instant) {
      return DATE_TIME.format(instant) + instant.getOffset();
    }
    return value instanceof LocalTime time ? TIME.format(time) : value.toString();
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    super.facts(facts);
    facts
        .reply()
        .put("build", ask("SELECT group_concat(compile_options, ' ') FROM pragma_compile_options"));
    addSettings(facts, "PRAGMA %s", "journal_mode", "synchronous", "cache_size", "mmap_size");
  }
}
