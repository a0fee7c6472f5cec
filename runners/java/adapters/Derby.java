package rowpath.adapters;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import rowpath.Column;
import rowpath.Getter;
import rowpath.Options;
import rowpath.jdbc.Jdbc;
import rowpath.jdbc.Literals;
import rowpath.jdbc.Setter;
import rowpath.jdbc.TextValues;

/**
 * Derby, embedded and as a network server from the same source.
 *
 * <p>Derby knows no java.time: dates and times of day are taken as text (java.sql.Date is not
 * proleptic), timestamps as java.sql.Timestamp.
 */
public final class Derby extends Jdbc {
  private static final AtomicInteger OPEN = new AtomicInteger(); // clients of the embedded database

  @Override
  public void open(Options options) throws Exception {
    super.open(options);
    OPEN.incrementAndGet();
  }

  @Override
  protected Connection connect() throws SQLException {
    Properties properties = new Properties();
    String user = options.get("user", null);
    if (user != null) {
      properties.setProperty("user", user);
      properties.setProperty("password", options.get("password", ""));
    }
    return DriverManager.getConnection(url(), properties);
  }

  private String url() {
    if (!embedded()) {
      String server = options.get("host", "127.0.0.1") + ":" + options.need("port");
      return "jdbc:derby://" + server + "/" + options.need("database");
    }
    // Read when the engine boots: without it derby.log would appear in the current directory.
    System.setProperty("derby.stream.error.file", "/dev/null");
    String path = options.need("path");
    return "jdbc:derby:" + path + (Files.exists(Path.of(path)) ? "" : ";create=true");
  }

  private boolean embedded() {
    return options.get("deployment", "embedded").equals("embedded");
  }

  @Override
  protected Getter getter(Column column) {
    return switch (column.type()) {
      case DATE -> Getter.function(TextValues.class, "date", LocalDate.class, true);
      case TIME -> Getter.function(TextValues.class, "time", LocalTime.class, true);
      case TIMESTAMP -> Getter.function(Derby.class, "timestamp", LocalDateTime.class, false);
      default -> super.getter(column);
    };
  }

  /** The getter of timestamps. */
  public static LocalDateTime timestamp(ResultSet rows, int column) throws SQLException {
    Timestamp value = rows.getTimestamp(column);
    return value == null ? null : value.toLocalDateTime();
  }

  @Override
  protected Setter setter(Column column) {
    return switch (column.type()) {
      case DATE, TIME -> (statement, index, value) -> statement.setString(index, text(value));
      case TIMESTAMP ->
          (statement, index, value) ->
              statement.setTimestamp(index, Timestamp.valueOf((LocalDateTime) value));
      default -> super.setter(column);
    };
  }

  @Override
  protected String literal(Column column, Object value) {
    return switch (column.type()) {
      case DATE -> "DATE('" + value + "')";
      case TIME -> "TIME('" + text(value) + "')";
      case TIMESTAMP -> "TIMESTAMP('" + Timestamp.valueOf((LocalDateTime) value) + "')";
      case FLOAT32, FLOAT64 -> exponential(Literals.plain(value));
      case BINARY ->
          "CAST(X'" + Literals.hex(value) + "' AS VARCHAR(" + column.length() + ") FOR BIT DATA)";
      default -> super.literal(column, value);
    };
  }

  /** A time of day with its seconds, which {@code toString} leaves out when they are 0. */
  private static String text(Object value) {
    String text = value.toString();
    return value instanceof LocalTime && text.length() == 5 ? text + ":00" : text;
  }

  /** Only a literal with an exponent is a DOUBLE. */
  private static String exponential(String number) {
    return number.contains("E") ? number : number + "E0";
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    super.facts(facts);
    String durability = System.getProperty("derby.system.durability", "full");
    if (embedded()) {
      facts.settings().put("durability", durability.equals("test") ? "none" : durability);
    }
    facts.settings().put("schema", connection.getSchema());
  }

  @Override
  public void close() throws SQLException {
    super.close();
    if (OPEN.decrementAndGet() == 0 && embedded()) {
      try {
        DriverManager.getConnection("jdbc:derby:" + options.need("path") + ";shutdown=true")
            .close();
      } catch (SQLException down) {
        if (!"08006".equals(down.getSQLState())) {
          throw down;
        }
      }
    }
  }
}
