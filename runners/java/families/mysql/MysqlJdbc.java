package rowpath.mysql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Properties;
import rowpath.Column;
import rowpath.Phase;
import rowpath.jdbc.Bulk;
import rowpath.jdbc.Jdbc;
import rowpath.jdbc.Literals;

/**
 * What the JDBC drivers of MariaDB and MySQL share: where statements are prepared, literals, facts.
 *
 * <p>{@code statement=prepared} is prepared on the server, {@code bound} by the driver, which sends
 * text. With {@code prepare_cache} the program prepares for each execution and leaves it to the
 * driver's cache ({@code on}) whether the server does so too ({@code off}: each time); so it does
 * above a pool, which lends another connection each time.
 */
public abstract class MysqlJdbc extends Jdbc {
  /** The address, without a login. */
  protected abstract String url();

  /** The settings beside the login and beside those that both drivers know by the same name. */
  protected abstract void configure(Properties properties);

  @Override
  protected Connection connect() throws SQLException {
    Properties properties = login();
    properties.setProperty("useServerPrepStmts", String.valueOf(prepared()));
    properties.setProperty("cachePrepStmts", String.valueOf(keepsPrepared()));
    if (compresses()) {
      properties.setProperty("useCompression", "true");
    }
    configure(properties);
    return connect(url(), properties);
  }

  /** Whether statements are prepared on the server. */
  protected boolean prepared() {
    return options.get("statement", "prepared").equals("prepared");
  }

  private boolean compresses() {
    return options.get("compression", "none").equals("zlib");
  }

  /** Host and port of the server, or a host that stands for its socket. */
  protected String server() {
    return unix() ? "localhost" : address();
  }

  /** Whether the path goes through the server's socket. */
  protected boolean unix() {
    return options.get("transport", "tcp").equals("unix");
  }

  /** Of a pool's connections the driver keeps the statements: no program can. */
  private boolean keepsPrepared() {
    boolean pooled = !options.get("pool", "").isEmpty();
    return prepareCache().equals("on") || pooled && prepared() && prepareCache().isEmpty();
  }

  private String prepareCache() {
    return options.get("prepare_cache", "");
  }

  @Override
  protected boolean preparesEachTime() {
    return !prepareCache().isEmpty() || super.preparesEachTime();
  }

  /** Their cursors are temporary tables of the connection. */
  @Override
  protected boolean cursorTakesTransaction() {
    return false;
  }

  /** The bulk way that is JDBC's batch for a program: the driver is configured for it. */
  protected abstract String configuredBulk();

  /** Whether the path takes that way. */
  protected boolean bulkIsConfigured() {
    return options.get("bulk", "").equals(configuredBulk());
  }

  @Override
  protected Bulk bulk(String way, Phase phase, Object[][] rows) throws SQLException {
    return super.bulk(bulkIsConfigured() ? "batch" : way, phase, rows);
  }

  @Override
  protected String literal(Column column, Object value) {
    return switch (column.type()) {
      case CHAR, VARCHAR, TEXT, JSON -> Literals.quoted(value.toString().replace("\\", "\\\\"));
      case TIMESTAMPTZ -> Literals.quoted(inUtc((OffsetDateTime) value));
      default -> super.literal(column, value);
    };
  }

  /** The wall clock of UTC, the session's time zone. */
  protected static LocalDateTime inUtc(OffsetDateTime instant) {
    return instant.withOffsetSameInstant(ZoneOffset.UTC).toLocalDateTime();
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    super.facts(facts);
    facts.reply().put("build", ask("SELECT CONCAT(VERSION(), ' ', @@version_comment)"));
    addSettings(
        facts,
        "SELECT COALESCE(@@%s, 'none')",
        "time_zone",
        "sql_mode",
        "default_storage_engine",
        "innodb_flush_log_at_trx_commit",
        "character_set_client",
        "character_set_results",
        "collation_connection");
    try (Statement statement = connection.createStatement();
        ResultSet status = statement.executeQuery("SHOW SESSION STATUS LIKE 'Ssl_cipher'")) {
      boolean encrypted = status.next() && !status.getString(2).isEmpty();
      facts.settings().put("tls", encrypted ? "on" : "off");
    }
    if (!compresses()) {
      return;
    }
    try (Statement statement = connection.createStatement();
        ResultSet status = statement.executeQuery("SHOW SESSION STATUS LIKE 'Compression'")) {
      boolean compressed = status.next() && status.getString(2).equals("ON");
      facts.settings().put("compression", compressed ? "on" : "off");
    }
  }
}
