package rowpath.pools;

import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.apache.commons.dbcp2.ConnectionFactory;
import rowpath.jdbc.JdbcPool;

/** Apache Commons DBCP 2, which as shipped validates each connection that it lends. */
public final class Dbcp2 extends JdbcPool {
  private BasicDataSource pool;

  @Override
  protected DataSource make(DataSource connections, int size, Validation validation) {
    pool =
        new BasicDataSource() {
          @Override
          protected ConnectionFactory createConnectionFactory() {
            return connections::getConnection;
          }
        };
    pool.setMaxTotal(size);
    pool.setInitialSize(size);
    pool.setMinIdle(size);
    pool.setMaxIdle(size);
    pool.setMaxWait(Duration.ofMillis(PATIENCE_MS));
    if (validation != Validation.SHIPPED) {
      pool.setTestOnBorrow(validation == Validation.BORROW);
    }
    return pool;
  }

  @Override
  protected int lent() {
    return pool.getNumActive();
  }

  @Override
  protected int open() {
    return pool.getNumActive() + pool.getNumIdle();
  }

  @Override
  protected void end() throws SQLException {
    pool.close();
  }
}
