package rowpath.adapters;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import rowpath.Options;
import rowpath.db2.Db2Jdbc;

/** Derby, embedded and as a network server from the same source. */
public final class Derby extends Db2Jdbc {
  private static final AtomicInteger OPEN = new AtomicInteger(); // clients of the embedded database

  @Override
  public void open(Options options) throws Exception {
    super.open(options);
    OPEN.incrementAndGet();
  }

  @Override
  protected Connection connect() throws SQLException {
    boolean login = options.get("user", null) != null;
    return connect(url(), login ? login() : new Properties());
  }

  private String url() {
    if (!embedded()) {
      return "jdbc:derby://" + address() + "/" + options.need("database");
    }
    // Read when the engine boots: without it derby.log would appear in the current directory.
    System.setProperty("derby.stream.error.file", "/dev/null");
    String path = options.need("path");
    String made = Files.exists(Path.of(path)) ? "" : ";create=true";
    return "jdbc:derby:"
        + path
        + made
        + (options.get("upgrade", "").isEmpty() ? "" : ";upgrade=true");
  }

  private boolean embedded() {
    return options.get("deployment", "embedded").equals("embedded");
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    super.facts(facts);
    String durability = System.getProperty("derby.system.durability", "full");
    if (embedded()) {
      facts.settings().put("durability", durability.equals("test") ? "none" : durability);
    }
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
