package rowpath.pools;

import javax.sql.DataSource;
import org.apache.tomcat.jdbc.pool.PoolProperties;
import rowpath.jdbc.JdbcPool;

/** The pool of Tomcat, without the rest of it. */
public final class TomcatJdbc extends JdbcPool {
  private org.apache.tomcat.jdbc.pool.DataSource pool;

  @Override
  protected DataSource make(DataSource connections, int size, Validation validation) {
    PoolProperties properties = new PoolProperties();
    properties.setDataSource(connections);
    properties.setJmxEnabled(false);
    properties.setMaxActive(size);
    properties.setInitialSize(size);
    properties.setMinIdle(size);
    properties.setMaxIdle(size);
    properties.setMaxWait(PATIENCE_MS);
    if (validation != Validation.SHIPPED) {
      properties.setTestOnBorrow(validation == Validation.BORROW);
      properties.setValidationInterval(0); // else at most every three seconds
    }
    pool = new org.apache.tomcat.jdbc.pool.DataSource(properties);
    return pool;
  }

  @Override
  protected int lent() {
    return pool.getActive();
  }

  @Override
  protected int open() {
    return pool.getSize();
  }

  @Override
  protected void end() {
    pool.close(true);
  }
}
