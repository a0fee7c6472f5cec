package rowpath.adapters;

import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import rowpath.jdbc.KeyStores;
import rowpath.mysql.MysqlJdbc;

/** MariaDB Connector/J; it speaks java.time and UUIDs throughout. */
public final class MariadbJava extends MysqlJdbc {
  @Override
  protected String url() {
    return "jdbc:mariadb://" + server() + "/" + options.need("database");
  }

  @Override
  protected void configure(Properties properties) {
    String tls = options.get("tls", "off");
    properties.setProperty(
        "sslMode", Map.of("on", "trust", "off", "disable").getOrDefault(tls, tls));
    String authorities = options.get("tls_ca", "");
    if (!authorities.isEmpty()) {
      properties.setProperty("serverSslCert", authorities);
      properties.setProperty("fallbackToSystemTrustStore", "false");
    }
    String certificate = options.get("tls_cert", "");
    if (!certificate.isEmpty()) {
      Path store = KeyStores.ofClient(certificate, options.need("tls_key"));
      properties.setProperty("keyStore", store.toString());
      properties.setProperty("keyStoreType", "PKCS12");
      properties.setProperty("keyStorePassword", KeyStores.PASSWORD);
    }
    properties.setProperty("connectionTimeZone", "UTC");
    // Unasked, an INSERT's batch goes as one bulk execution where the server knows that.
    boolean bulk = bulkIsConfigured();
    properties.setProperty("useBulkStmtsForInserts", String.valueOf(bulk));
    if (unix()) {
      properties.setProperty("localSocket", options.need("socket"));
    }
  }

  /** Any fetch size streams: it is how many rows are read from the connection at a time. */
  @Override
  protected int fetchSize() {
    return options.get("result", "whole").equals("single-row")
        ? 1
        : options.count("result", "chunked");
  }

  @Override
  protected String configuredBulk() {
    return "bulk-execute";
  }
}
