package rowpath.adapters;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.Properties;
import rowpath.Column;
import rowpath.Getter;
import rowpath.jdbc.KeyStores;
import rowpath.jdbc.Setter;
import rowpath.jdbc.TextValues;
import rowpath.mysql.MysqlJdbc;

/** MySQL Connector/J: current, and 5.1.6 of 2008, which handles dates and times in another way. */
public final class ConnectorJ extends MysqlJdbc {
  private static final String FACTORY = "org.newsclub.net.mysql.AFUNIXDatabaseSocketFactory";

  @Override
  protected String url() {
    return "jdbc:mysql://" + server() + "/" + options.need("database");
  }

  @Override
  protected Connection connect() throws SQLException {
    return old() ? ConnectorJ5.speakUtf8(super.connect()) : super.connect();
  }

  private boolean old() {
    return options.get("version", "").startsWith("5.");
  }

  @Override
  protected void configure(Properties properties) {
    if (old()) {
      ConnectorJ5.configure(properties, options.get("tls", "off").equals("off"));
    } else {
      properties.setProperty("connectionTimeZone", "UTC");
      encrypt(properties, options.get("tls", "off"));
    }
    if (options.count("result", "cursor") > 0) {
      properties.setProperty("useCursorFetch", "true");
    }
    if (bulkIsConfigured()) {
      properties.setProperty("rewriteBatchedStatements", "true");
    }
    if (unix()) {
      properties.setProperty("socketFactory", old() ? FACTORY : FACTORY + "CJ");
      properties.setProperty("junixsocket.file", options.need("socket"));
    }
  }

  private void encrypt(Properties properties, String tls) {
    Map<String, String> modes =
        Map.of(
            "off", "DISABLED",
            "on", "REQUIRED",
            "verify-ca", "VERIFY_CA",
            "verify-full", "VERIFY_IDENTITY");
    if (modes.containsKey(tls)) {
      properties.setProperty("sslMode", modes.get(tls));
    }
    String authorities = options.get("tls_ca", "");
    if (!authorities.isEmpty()) {
      take(properties, "trustCertificateKeyStore", KeyStores.ofAuthorities(authorities));
      properties.setProperty("fallbackToSystemTrustStore", "false");
    }
    String certificate = options.get("tls_cert", "");
    if (!certificate.isEmpty()) {
      Path store = KeyStores.ofClient(certificate, options.need("tls_key"));
      take(properties, "clientCertificateKeyStore", store);
    }
  }

  private static void take(Properties properties, String name, Path store) {
    properties.setProperty(name + "Url", store.toUri().toString());
    properties.setProperty(name + "Type", "PKCS12");
    properties.setProperty(name + "Password", KeyStores.PASSWORD);
  }

  /** The least of all fetch sizes is Connector/J's word for rows that are read as they come. */
  @Override
  protected int fetchSize() {
    return options.get("result", "whole").equals("single-row")
        ? Integer.MIN_VALUE
        : super.fetchSize();
  }

  @Override
  protected String configuredBulk() {
    return "rewritten-batch";
  }

  @Override
  protected Getter getter(Column column) {
    return switch (column.type()) {
      case UUID -> TextValues.getter(column); // Connector/J knows no such type
      case DATE, TIME, TIMESTAMP, TIMESTAMPTZ ->
          old() ? ConnectorJ5.getter(column, prepared()) : super.getter(column);
      default -> super.getter(column);
    };
  }

  @Override
  protected Setter setter(Column column) {
    return switch (column.type()) {
      case UUID -> (statement, index, value) -> statement.setString(index, value.toString());
      case DATE -> old() ? ConnectorJ::text : super.setter(column);
      case TIME, TIMESTAMP, TIMESTAMPTZ ->
          dropsFractions() ? ConnectorJ::text : super.setter(column);
      default -> super.setter(column);
    };
  }

  /**
   * To its clients MariaDB 10.11 is a 5.5.5, which was older than fractions of a second: even the
   * current Connector/J would drop them.
   */
  private boolean dropsFractions() {
    return old() || options.need("engine").equals("mariadb");
  }

  private static void text(PreparedStatement statement, int index, Object value)
      throws SQLException {
    Object local = value instanceof OffsetDateTime instant ? inUtc(instant) : value;
    statement.setString(index, local.toString());
  }
}
