package rowpath.pools;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import javax.sql.DataSource;
import rowpath.jdbc.JdbcPool;

/** HikariCP: as many connections from the start as it may have. */
public final class Hikari extends JdbcPool {
  /** It validates what was idle for longer than so many milliseconds; 500 when it is not set. */
  private static final String WINDOW = "com.zaxxer.hikari.aliveBypassWindowMs";

  private HikariDataSource pool;

  @Override
  protected DataSource make(DataSource connections, int size, Validation validation) {
    switch (validation) { // the pool reads it when it is made
      case SHIPPED -> System.clearProperty(WINDOW);
      case NONE -> System.setProperty(WINDOW, String.valueOf(Long.MAX_VALUE));
      case BORROW -> System.setProperty(WINDOW, "-1"); // after 0 only what was idle for 1 ms
    }
    HikariConfig config = new HikariConfig();
    config.setDataSource(connections);
    config.setMaximumPoolSize(size);
    config.setConnectionTimeout(PATIENCE_MS);
    if (validation != Validation.SHIPPED) {
      config.setMaxLifetime(0); // else each is closed after half an hour, and another opened
    }
    pool = new HikariDataSource(config);
    return pool;
  }

  @Override
  protected int lent() {
    return pool.getHikariPoolMXBean().getActiveConnections();
  }

  @Override
  protected int open() {
    return pool.getHikariPoolMXBean().getTotalConnections();
  }

  @Override
  protected void end() {
    pool.close();
  }
}
