package rowpath.adapters;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import rowpath.Column;
import rowpath.db2.Db2Jdbc;
import rowpath.jdbc.Literals;

/**
 * IBM Toolbox for Java (jt400), to a Db2 for i that is given by URL; its database is the library to
 * work in. Written by the driver's documentation: it has met our stand-in, no Db2 for i yet.
 */
public final class Jt400 extends Db2Jdbc {
  @Override
  protected Connection connect() throws SQLException {
    Properties properties = login();
    String library = options.need("database");
    properties.setProperty("portNumber", options.need("port"));
    properties.setProperty("secure", "false");
    properties.setProperty("prompt", "false"); // for a password, in a window
    properties.setProperty("naming", "sql");
    properties.setProperty("libraries", library); // the first is the default schema
    properties.setProperty("date format", "iso");
    properties.setProperty("time format", "jis"); // 01:02:03; its iso has points
    properties.setProperty("block size", options.get("block_size", "32"));
    if (options.get("packages", "off").equals("on")) {
      // What is prepared stays on the server in an SQL package, for later connections too.
      properties.setProperty("extended dynamic", "true");
      properties.setProperty("package", "ROWPATH");
      properties.setProperty("package library", library);
      properties.setProperty("package cache", "true");
    }
    return DriverManager.getConnection(
        "jdbc:as400://" + options.get("host", "127.0.0.1"), properties);
  }

  @Override
  protected String literal(Column column, Object value) {
    return switch (column.type()) {
      case BINARY -> "BX'" + Literals.hex(value) + "'";
      case BOOLEAN -> (Boolean) value ? "1" : "0"; // kept as SMALLINT
      default -> super.literal(column, value);
    };
  }
}
