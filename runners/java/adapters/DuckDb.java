package rowpath.adapters;

import java.io.IOException;
import java.math.BigDecimal;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Properties;
import java.util.jar.JarFile;
import org.duckdb.DuckDBConnection;
import org.duckdb.DuckDBDriver;
import rowpath.Column;
import rowpath.Failure;
import rowpath.Getter;
import rowpath.Interval;
import rowpath.Phase;
import rowpath.jdbc.ArrayValues;
import rowpath.jdbc.Bulk;
import rowpath.jdbc.Jdbc;
import rowpath.jdbc.Literals;
import rowpath.jdbc.Setter;

/** duckdb_jdbc, which carries its own build of DuckDB. */
public final class DuckDb extends Jdbc {
  private static final long SECOND_NS = 1_000_000_000L;
  private static final int CHUNK_ROWS = 2048;

  @Override
  protected Connection connect() throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("threads", options.get("threads", "1"));
    boolean durable = options.get("durability", "none").equals("full");
    properties.setProperty("fsync_mode", durable ? "STANDARD" : "NONE");
    int chunk = options.count("result", "chunked");
    boolean chunked = chunk > 0;
    if (chunked && chunk != CHUNK_ROWS) {
      throw new Failure("unsupported", "", "DuckDB's chunks are of " + CHUNK_ROWS + " rows");
    }
    properties.setProperty("jdbc_stream_results", String.valueOf(chunked));
    if (options.get("read_only", "no").equals("yes")) {
      properties.setProperty("duckdb.read_only", "true");
    }
    return DriverManager.getConnection("jdbc:duckdb:" + options.need("path"), properties);
  }

  @Override
  protected Getter getter(Column column) {
    return switch (column.type()) {
      // getObject with LocalDate goes through java.sql.Date, which is not proleptic.
      case DATE -> Getter.function(DuckDb.class, "date", LocalDate.class, false);
      case INTERVAL -> Getter.function(DuckDb.class, "interval", Interval.class, true);
      default -> super.getter(column);
    };
  }

  /** The getter of dates. */
  public static LocalDate date(ResultSet rows, int column) throws SQLException {
    return (LocalDate) rows.getObject(column);
  }

  /** The getter of intervals, which come as {@code 1 year 2 months -3 days -01:02:03.5}. */
  public static Interval interval(ResultSet rows, int column) throws SQLException {
    String text = rows.getString(column);
    if (text == null) {
      return null;
    }
    int months = 0;
    int days = 0;
    long nanoseconds = 0;
    String[] words = text.split(" ");
    for (int at = 0; at < words.length; at++) {
      if (words[at].indexOf(':') >= 0) {
        nanoseconds = nanoseconds(words[at]);
        continue;
      }
      int amount = Integer.parseInt(words[at++]);
      switch (words[at].charAt(0)) {
        case 'y' -> months += 12 * amount;
        case 'm' -> months += amount;
        default -> days += amount;
      }
    }
    return new Interval(months, days, nanoseconds);
  }

  private static long nanoseconds(String time) {
    boolean negative = time.charAt(0) == '-';
    String[] parts = time.substring(negative ? 1 : 0).split("[:.]");
    long seconds = (Long.parseLong(parts[0]) * 60 + Long.parseLong(parts[1])) * 60;
    seconds += Long.parseLong(parts[2]);
    String digits = parts.length > 3 ? (parts[3] + "00000000").substring(0, 9) : "0";
    long value = seconds * SECOND_NS + Long.parseLong(digits);
    return negative ? -value : value;
  }

  @Override
  protected Setter setter(Column column) {
    return switch (column.type()) {
      case INTEGER ->
          column.bits() > 64
              ? (statement, index, value) ->
                  statement.setObject(index, ((BigDecimal) value).toBigIntegerExact())
              : super.setter(column);
      case INTERVAL ->
          (statement, index, value) -> statement.setString(index, text((Interval) value));
      case ARRAY -> ArrayValues.setter(column);
      default -> super.setter(column);
    };
  }

  private static String text(Interval value) {
    long microseconds = value.nanoseconds() / 1000;
    return value.months() + " months " + value.days() + " days " + microseconds + " microseconds";
  }

  @Override
  protected String literal(Column column, Object value) {
    return switch (column.type()) {
      case BINARY -> "from_hex('" + Literals.hex(value) + "')";
      case INTERVAL -> "INTERVAL '" + text((Interval) value) + "'";
      case ARRAY -> Arrays.toString((Object[]) value);
      default -> super.literal(column, value);
    };
  }

  @Override
  protected Bulk bulk(String way, Phase phase, Object[][] rows) throws SQLException {
    return way.equals("appender")
        ? new DuckDbAppender(connection.unwrap(DuckDBConnection.class), phase)
        : super.bulk(way, phase, rows);
  }

  /** The jar's version: the driver itself reports that of its engine. */
  private static String version() throws SQLException {
    URL jar = DuckDBDriver.class.getProtectionDomain().getCodeSource().getLocation();
    try (JarFile opened = new JarFile(Path.of(jar.toURI()).toFile())) {
      return opened.getManifest().getMainAttributes().getValue("Bundle-Version");
    } catch (IOException | URISyntaxException unreadable) {
      throw new SQLException("the driver's jar cannot be read", unreadable);
    }
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    super.facts(facts);
    facts.reply().put("driver_version", "duckdb_jdbc " + version());
    addSettings(
        facts,
        "SELECT current_setting('%s')",
        "threads",
        "async_threads",
        "fsync_mode",
        "TimeZone",
        "memory_limit");
    facts.settings().put("stream_results", String.valueOf(options.count("result", "chunked") > 0));
  }
}
