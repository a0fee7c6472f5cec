package rowpath.adapters;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import rowpath.Column;
import rowpath.Getter;
import rowpath.jdbc.SqlValues;
import rowpath.jdbc.TextValues;

/**
 * Where Connector/J 5.1.6 is not like the current one. It is older than java.time and than
 * fractions of a second in MySQL: of rows that come as text it takes {@code .456789} for 456,789
 * ns.
 */
final class ConnectorJ5 {
  private ConnectorJ5() {}

  static void configure(Properties properties, boolean plain) {
    properties.setProperty("characterEncoding", "UTF-8");
    // getString hands over what the server sent, not what the driver made of it.
    boolean prepared = properties.getProperty("useServerPrepStmts").equals("true");
    properties.setProperty("noDatetimeStringSync", String.valueOf(!prepared));
    if (plain) {
      properties.setProperty("useSSL", "false");
    }
  }

  /**
   * Its own UTF-8 has three bytes a character at most: what reads MariaDB's full one is UTF-8 too.
   */
  static Connection speakUtf8(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET NAMES utf8mb4");
    }
    return connection;
  }

  /** {@code binary}: whether the rows come in the binary form of prepared statements. */
  static Getter getter(Column column, boolean binary) {
    return binary ? SqlValues.getter(column) : TextValues.getter(column);
  }
}
