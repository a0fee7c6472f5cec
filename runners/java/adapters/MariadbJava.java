package rowpath.adapters;

import java.util.Properties;
import rowpath.mysql.MysqlJdbc;

/** MariaDB Connector/J; it speaks java.time and UUIDs throughout. */
public final class MariadbJava extends MysqlJdbc {
  @Override
  protected String url() {
    return "jdbc:mariadb://" + server() + "/" + options.need("database");
  }

  @Override
  protected void configure(Properties properties) {
    boolean encrypted = options.get("tls", "off").equals("on");
    properties.setProperty("sslMode", encrypted ? "trust" : "disable");
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
