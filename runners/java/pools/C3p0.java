package rowpath.pools;

import com.mchange.v2.c3p0.DataSources;
import com.mchange.v2.c3p0.PooledDataSource;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import javax.sql.DataSource;
import rowpath.jdbc.JdbcPool;

/** c3p0, whose threads take a connection back after its client went on. */
public final class C3p0 extends JdbcPool {
  static {
    System.setProperty(
        "com.mchange.v2.c3p0.management.ManagementCoordinator",
        "com.mchange.v2.c3p0.management.NullManagementCoordinator");
  }

  private PooledDataSource pool;

  @Override
  protected DataSource make(DataSource connections, int size, Validation validation)
      throws SQLException {
    Map<String, Object> settings = new HashMap<>();
    settings.put("initialPoolSize", size);
    settings.put("minPoolSize", size);
    settings.put("maxPoolSize", size);
    settings.put("checkoutTimeout", PATIENCE_MS);
    settings.put("acquireRetryAttempts", 1);
    if (validation != Validation.SHIPPED) {
      settings.put("testConnectionOnCheckout", validation == Validation.BORROW);
    }
    pool = (PooledDataSource) DataSources.pooledDataSource(connections, settings);
    return pool;
  }

  @Override
  protected int lent() throws SQLException {
    return pool.getNumBusyConnectionsDefaultUser();
  }

  @Override
  protected int open() throws SQLException {
    return pool.getNumConnectionsDefaultUser();
  }

  @Override
  protected void end() throws SQLException {
    pool.close();
  }
}
