package rowpath.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import rowpath.Failure;
import rowpath.Operation;
import rowpath.RowLoop;
import rowpath.SampleCounters;

/** An operation above a pool: borrow a connection, work on it, return it, whatever happened. */
record Borrowing(DataSource pool, Work work) implements Operation {
  /** What is done on a connection. */
  interface Work {
    void run(Connection connection, int row, SampleCounters counters) throws Exception;
  }

  @Override
  public void run(int row, SampleCounters counters) throws Exception {
    counters.asks();
    try (Connection connection = lent()) {
      counters.borrowed();
      try {
        work.run(connection, row, counters);
      } finally {
        counters.worked();
      }
    }
  }

  private Connection lent() {
    try {
      return pool.getConnection();
    } catch (SQLException refused) {
      throw Failure.unconnected(refused);
    }
  }

  /**
   * {@code prepared}, {@code bound}: a statement of the connection that was lent, closed again. As
   * in any program above a pool, the driver decides what stays prepared.
   */
  record Prepared(
      String sql, int fetchSize, Binder binder, Object[][] rows, RowLoop<ResultSet> loop)
      implements Work {
    @Override
    public void run(Connection connection, int row, SampleCounters counters) throws Exception {
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        statement.setFetchSize(fetchSize);
        Statements.execute(statement, binder, rows, row, loop, counters);
      }
    }
  }

  /** {@code text}: the values inside the SQL. */
  record Text(String[] texts, int fetchSize, RowLoop<ResultSet> loop) implements Work {
    @Override
    public void run(Connection connection, int row, SampleCounters counters) throws Exception {
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(fetchSize);
        Statements.execute(statement, texts[row], loop, counters);
      }
    }
  }

  /** Work between the beginning of a transaction and its commit. */
  record InTransaction(Work work) implements Work {
    @Override
    public void run(Connection connection, int row, SampleCounters counters) throws Exception {
      connection.setAutoCommit(false);
      try {
        work.run(connection, row, counters);
      } catch (Exception failed) {
        connection.rollback();
        throw failed;
      } finally {
        connection.setAutoCommit(true); // commits, see Statements
      }
    }
  }
}
