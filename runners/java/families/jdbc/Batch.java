package rowpath.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

/** JDBC's batch in the statement modes of JDBC. */
final class Batch {
  private Batch() {}

  /** {@code prepared}: one PreparedStatement, kept. */
  record Prepared(PreparedStatement statement, Binder binder) implements Bulk {
    @Override
    public void store(Object[][] rows, int from, int to) throws SQLException {
      execute(statement, binder, rows, from, to);
    }

    @Override
    public void close() throws SQLException {
      statement.close();
    }
  }

  /** {@code bound}: prepared for each batch. */
  record Bound(Connection connection, String sql, Binder binder) implements Bulk {
    @Override
    public void store(Object[][] rows, int from, int to) throws SQLException {
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        execute(statement, binder, rows, from, to);
      }
    }
  }

  /** {@code text}: the values inside the SQL, which was made from the same rows. */
  record Text(Statement statement, String[] texts) implements Bulk {
    @Override
    public void store(Object[][] rows, int from, int to) throws SQLException {
      try {
        for (int row = from; row < to; row++) {
          statement.addBatch(texts[row]);
        }
        statement.executeBatch();
      } catch (SQLException failed) {
        statement.clearBatch();
        throw failed;
      }
    }

    @Override
    public void close() throws SQLException {
      statement.close();
    }
  }

  private static void execute(
      PreparedStatement statement, Binder binder, Object[][] rows, int from, int to)
      throws SQLException {
    try {
      for (int row = from; row < to; row++) {
        binder.bind(statement, rows[row]);
        statement.addBatch();
      }
      statement.executeBatch();
    } catch (SQLException failed) {
      statement.clearBatch();
      throw failed;
    }
  }
}
