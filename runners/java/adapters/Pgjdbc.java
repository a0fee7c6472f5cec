package rowpath.adapters;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.postgresql.PGConnection;
import org.postgresql.util.PGInterval;
import rowpath.Column;
import rowpath.Failure;
import rowpath.Getter;
import rowpath.Interval;
import rowpath.Phase;
import rowpath.Type;
import rowpath.jdbc.ArrayValues;
import rowpath.jdbc.Bulk;
import rowpath.jdbc.Jdbc;
import rowpath.jdbc.KeyStores;
import rowpath.jdbc.Literals;
import rowpath.jdbc.Setter;

/** pgjdbc: PostgreSQL's own driver. */
public final class Pgjdbc extends Jdbc {
  private static final long SECOND_NS = 1_000_000_000L;
  private static final Pattern DOLLAR_QUOTE = Pattern.compile("\\$\\w*\\$");

  @Override
  protected Connection connect() throws SQLException {
    Properties properties = login();
    properties.setProperty("ApplicationName", "rowpath");
    String tls = options.get("tls", "off");
    if (!tls.equals("default")) {
      Map<String, String> modes = Map.of("on", "require", "off", "disable");
      properties.setProperty("sslmode", modes.getOrDefault(tls, tls));
    }
    set(properties, "sslrootcert", "tls_ca");
    set(properties, "sslcert", "tls_cert");
    set(properties, "sslkey", "tls_key");
    String certificate = options.get("tls_cert", "");
    if (!certificate.isEmpty()) { // of a key in PEM the driver expects RSA unless named
      properties.setProperty("pemKeyAlgorithm", KeyStores.algorithm(certificate));
    }
    if (options.get("bulk", "").equals("rewritten-batch")) {
      properties.setProperty("reWriteBatchedInserts", "true");
    }
    String mode = options.get("statement", "prepared");
    if (mode.equals("text")) {
      properties.setProperty("preferQueryMode", "simple");
    }
    // pgjdbc caches what was prepared by its text: only a threshold of 0 prepares on each
    // execution.
    String threshold = options.get("prepare_threshold", "auto");
    if (mode.equals("bound")) {
      properties.setProperty("prepareThreshold", "0");
    } else if (!threshold.equals("auto")) {
      properties.setProperty("prepareThreshold", threshold);
    }
    boolean binary = options.get("format", "text").equals("binary");
    properties.setProperty("binaryTransfer", String.valueOf(binary));
    String address = address();
    if (options.get("transport", "tcp").equals("unix")) {
      String port = options.need("port");
      Path socket = Path.of(options.need("socket_dir"), ".s.PGSQL." + port);
      properties.setProperty(
          "socketFactory", "org.newsclub.net.unix.AFUNIXSocketFactory$FactoryArg");
      properties.setProperty("socketFactoryArg", socket.toString());
      address = "localhost:" + port;
    }
    return connect("jdbc:postgresql://" + address + "/" + options.need("database"), properties);
  }

  /** Without parameters a question mark is an operator, which the driver wants doubled. */
  @Override
  protected String prepared(Phase phase) {
    String sql = phase.sql();
    boolean operators = phase.parameterColumns().isEmpty() && !DOLLAR_QUOTE.matcher(sql).find();
    return operators ? String.join("??", Literals.split(sql)) : sql;
  }

  private void set(Properties properties, String name, String option) {
    String value = options.get(option, "");
    if (!value.isEmpty()) {
      properties.setProperty(name, value);
    }
  }

  @Override
  protected Bulk bulk(String way, Phase phase, Object[][] rows) throws SQLException {
    return switch (way) {
      case "copy" -> new PgjdbcCopy(connection.unwrap(PGConnection.class), phase);
      case "rewritten-batch" -> super.bulk("batch", phase, rows);
      default -> super.bulk(way, phase, rows);
    };
  }

  @Override
  protected Getter getter(Column column) {
    return switch (column.type()) {
      case INTERVAL -> Getter.function(Pgjdbc.class, "interval", Interval.class, false);
      // Of days and times it makes java.sql's, which are not proleptic and end with milliseconds.
      case ARRAY ->
          switch (column.fields().get(0).type()) {
            case DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ, INTERVAL ->
                Getter.typed("getString", String.class);
            default -> ArrayValues.getter();
          };
      case BITS -> Getter.typed("getString", String.class);
      default -> super.getter(column);
    };
  }

  /** The getter of intervals; of one without end pgjdbc's parts are 0, its text is right. */
  public static Interval interval(ResultSet rows, int column) throws SQLException {
    PGInterval value = (PGInterval) rows.getObject(column);
    if (value == null) {
      return null;
    }
    long seconds = value.getHours() * 3600L + value.getMinutes() * 60L + value.getWholeSeconds();
    int months = value.getYears() * 12 + value.getMonths();
    if (months == 0 && seconds == 0 && rows.getString(column).endsWith("infinity")) {
      return rows.getString(column).startsWith("-") ? Interval.MINUS_INFINITE : Interval.INFINITE;
    }
    return new Interval(
        months,
        value.getDays(),
        Math.multiplyExact(seconds, SECOND_NS) + value.getMicroSeconds() * 1000L);
  }

  @Override
  protected Setter setter(Column column) {
    return switch (column.type()) {
      // As varchar, which setString sends, no index on a CHAR column would serve.
      case CHAR -> (statement, index, value) -> statement.setObject(index, value, Types.CHAR);
      case JSON -> (statement, index, value) -> statement.setObject(index, value, Types.OTHER);
      // NaN and Infinity go as text, of which the server makes what it needs.
      case DECIMAL ->
          (statement, index, value) -> {
            if (value instanceof BigDecimal decimal) {
              statement.setBigDecimal(index, decimal);
            } else {
              statement.setObject(index, value.toString(), Types.OTHER);
            }
          };
      case INTERVAL ->
          (statement, index, value) ->
              statement.setObject(index, PgjdbcCopy.interval((Interval) value), Types.OTHER);
      case ARRAY ->
          (statement, index, value) ->
              statement.setArray(
                  index, statement.getConnection().createArrayOf(element(value), (Object[]) value));
      default -> super.setter(column);
    };
  }

  @Override
  protected boolean takes(Column column, Object value) {
    return column.type() == Type.DECIMAL || super.takes(column, value);
  }

  private static String element(Object array) {
    for (Object element : (Object[]) array) {
      if (element instanceof Object[]) {
        return element(element);
      }
      if (element != null) {
        return element instanceof String ? "text" : element instanceof Long ? "int8" : "int4";
      }
    }
    return "int4";
  }

  @Override
  protected String literal(Column column, Object value) {
    return switch (column.type()) {
      case DECIMAL ->
          value instanceof BigDecimal ? super.literal(column, value) : Literals.quoted(value);
      case FLOAT32, FLOAT64, UUID, DATE, TIME, TIMESTAMP -> Literals.quoted(value);
      case TIMESTAMPTZ -> Literals.quoted(((OffsetDateTime) value).toString());
      case BINARY -> "'\\x" + Literals.hex(value) + "'";
      case INTERVAL -> Literals.quoted(PgjdbcCopy.interval((Interval) value));
      case ARRAY ->
          throw new Failure("unsupported", "", "no array literals (" + column.name() + ")");
      default -> super.literal(column, value);
    };
  }

  @Override
  public Integer serverPid() throws SQLException {
    return connection.unwrap(PGConnection.class).getBackendPID();
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    super.facts(facts);
    PGConnection driver = connection.unwrap(PGConnection.class);
    facts.settings().put("prepare_threshold", String.valueOf(driver.getPrepareThreshold()));
    facts.settings().put("query_mode", driver.getPreferQueryMode().value());
    facts
        .settings()
        .put("binary_transfer", options.get("format", "text").equals("binary") ? "on" : "off");
    facts.reply().put("build", ask("SELECT version()"));
    addSettings(facts, "SHOW %s", "synchronous_commit", "fsync", "TimeZone", "client_encoding");
    String own = " FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    // A role that the session has set may not see its own row there.
    String encrypted = "coalesce(max(CASE WHEN ssl THEN 'on' ELSE 'off' END), 'unknown')";
    facts.settings().put("tls", ask("SELECT " + encrypted + own));
    String version = "coalesce(max(coalesce(version, 'none')), 'unknown')";
    facts.settings().put("tls_version", ask("SELECT " + version + own));
  }
}
