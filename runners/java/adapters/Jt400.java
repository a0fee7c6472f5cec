package rowpath.adapters;

import com.ibm.as400.access.AS400JDBCDriver;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import rowpath.Column;
import rowpath.Operation;
import rowpath.Phase;
import rowpath.db2.Db2Jdbc;
import rowpath.jdbc.Literals;

/**
 * IBM Toolbox for Java (jt400), to a Db2 for i that is given by URL; its database is the library to
 * work in. Written by the driver's documentation: it has met our stand-in, no Db2 for i yet.
 */
public final class Jt400 extends Db2Jdbc {
  private final List<Connection> earlier = new ArrayList<>();

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
    String url = "jdbc:as400://" + options.get("host", "127.0.0.1");
    if (packages().equals("off")) {
      return connect(url, properties);
    }
    addDriverSettings(url, properties);
    // What is prepared stays on the server in an SQL package, for later connections too.
    properties.setProperty("extended dynamic", "true");
    properties.setProperty("package", "ROWPATH");
    properties.setProperty("package library", library);
    properties.setProperty("package criteria", "select"); // those without parameters too
    properties.setProperty("package cache", String.valueOf(packages().equals("on")));
    return new AS400JDBCDriver().connect(Jt400System.of(options), properties, null, false);
  }

  private String packages() {
    return options.get("packages", "off");
  }

  @Override
  public Operation prepare(Phase phase, Object[][] rows) throws Exception {
    if (packages().equals("on") && !phase.kind().equals("connect")) {
      // The driver downloads a package with a connection's first statement: ours must be in it.
      try (Connection first = connect()) {
        first.prepareStatement(phase.sql()).close();
      }
      earlier.add(connection);
      connection = connect();
    }
    return super.prepare(phase, rows);
  }

  @Override
  public void close() throws SQLException {
    for (Connection one : earlier) {
      one.close();
    }
    super.close();
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
