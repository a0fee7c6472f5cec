package rowpath.jdbc;

import java.sql.Connection;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import rowpath.Adapter;
import rowpath.Column;
import rowpath.Getter;
import rowpath.Interruption;
import rowpath.Operation;
import rowpath.Options;
import rowpath.Phase;

/** One client of a pool; what is not measured is done by the driver's adapter while one is lent. */
final class PoolClient implements Adapter {
  private final Jdbc driver;
  private final DataSource pool;

  PoolClient(Jdbc driver, DataSource pool) {
    this.driver = driver;
    this.pool = pool;
  }

  private interface Use<T> {
    T with(Jdbc driver) throws Exception;
  }

  private <T> T borrowed(Use<T> use) throws Exception {
    try (Connection connection = pool.getConnection()) {
      driver.connection = connection;
      return use.with(driver);
    } finally {
      driver.connection = null;
    }
  }

  @Override
  public void open(Options options) {
    driver.options = options;
  }

  @Override
  public Operation prepare(Phase phase, Object[][] rows) throws Exception {
    return driver.borrowing(pool, phase, rows);
  }

  @Override
  public List<Getter> getters(List<Column> columns) {
    return driver.getters(columns);
  }

  @Override
  public void run(String sql) throws Exception {
    borrowed(
        jdbc -> {
          jdbc.run(sql);
          return null;
        });
  }

  @Override
  public Interruption.Outcome interrupt(Interruption interruption) throws Exception {
    return borrowed(jdbc -> jdbc.interrupt(interruption));
  }

  @Override
  public List<Map<String, Object>> describe(String sql) throws Exception {
    return borrowed(jdbc -> jdbc.describe(sql));
  }

  @Override
  public Integer serverPid() throws Exception {
    return borrowed(Jdbc::serverPid);
  }

  @Override
  public void facts(Facts facts) throws Exception {
    borrowed(
        jdbc -> {
          jdbc.facts(facts);
          return null;
        });
  }
}
