package rowpath.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import rowpath.Operation;
import rowpath.RowLoop;
import rowpath.SampleCounters;

/**
 * The statement modes of JDBC, one operation class each; {@code loop} is null where no rows come
 * back.
 */
final class Statements {
  private Statements() {}

  /**
   * {@code prepared}: one PreparedStatement, kept; made again where the driver closes it when an
   * execution fails (DuckDB). {@code bound}: prepared on each execution.
   */
  static final class Prepared implements Operation {
    private final Connection connection;
    private final String sql;
    private final int fetchSize;
    private final Binder binder;
    private final Object[][] rows;
    private final RowLoop<ResultSet> loop;
    private PreparedStatement kept; // null: bound

    Prepared(
        Connection connection,
        String sql,
        int fetchSize,
        Binder binder,
        Object[][] rows,
        RowLoop<ResultSet> loop,
        boolean keeps)
        throws SQLException {
      this.connection = connection;
      this.sql = sql;
      this.fetchSize = fetchSize;
      this.binder = binder;
      this.rows = rows;
      this.loop = loop;
      kept = keeps ? prepare() : null;
    }

    private PreparedStatement prepare() throws SQLException {
      PreparedStatement statement = connection.prepareStatement(sql);
      statement.setFetchSize(fetchSize);
      return statement;
    }

    @Override
    public void run(int row, SampleCounters counters) throws Exception {
      if (kept == null) {
        try (PreparedStatement statement = prepare()) {
          execute(statement, binder, rows, row, loop, counters);
        }
        return;
      }
      try {
        execute(kept, binder, rows, row, loop, counters);
      } catch (SQLException failed) {
        if (kept.isClosed() && !connection.isClosed()) {
          kept = prepare();
        }
        throw failed;
      }
    }

    @Override
    public void close() throws SQLException {
      if (kept != null) {
        kept.close();
      }
    }
  }

  /** {@code text}: the values inside the SQL. */
  record Text(Statement statement, String[] texts, RowLoop<ResultSet> loop) implements Operation {
    @Override
    public void run(int row, SampleCounters counters) throws Exception {
      execute(statement, texts[row], loop, counters);
    }

    @Override
    public void close() throws SQLException {
      statement.close();
    }
  }

  /** {@code text}, prepared on each execution. */
  record PreparedText(Connection connection, String[] texts, RowLoop<ResultSet> loop)
      implements Operation {
    @Override
    public void run(int row, SampleCounters counters) throws Exception {
      try (PreparedStatement statement = connection.prepareStatement(texts[row])) {
        take(statement.executeQuery(), loop, counters);
      }
    }
  }

  /** {@code size} rows at once. */
  record Stored(Bulk bulk, Object[][] rows, int size) implements Operation {
    @Override
    public void run(int row, SampleCounters counters) throws Exception {
      bulk.store(rows, row * size, (row + 1) * size);
      counters.executed();
    }

    @Override
    public void close() throws Exception {
      bulk.close();
    }
  }

  /** An operation run {@code times} times between the beginning of a transaction and its commit. */
  record InTransaction(Connection connection, Operation operation, int times) implements Operation {
    @Override
    public void run(int row, SampleCounters counters) throws Exception {
      connection.setAutoCommit(false);
      try {
        int to = (row + 1) * times;
        for (int at = row * times; at < to; at++) {
          operation.run(at, counters);
        }
      } catch (Exception failed) {
        connection.rollback();
        throw failed;
      } finally {
        // Commits, as JDBC requires; commit() before it would make some drivers begin and end
        // another one.
        connection.setAutoCommit(true);
      }
    }

    @Override
    public void close() throws Exception {
      operation.close();
    }
  }

  /** Executes a prepared statement with one row of parameters. */
  static void execute(
      PreparedStatement statement,
      Binder binder,
      Object[][] rows,
      int row,
      RowLoop<ResultSet> loop,
      SampleCounters counters)
      throws Exception {
    binder.bind(statement, rows, row);
    if (loop == null) {
      statement.executeUpdate();
      counters.executed();
    } else {
      take(statement.executeQuery(), loop, counters);
    }
  }

  /** Executes a text. */
  static void execute(
      Statement statement, String text, RowLoop<ResultSet> loop, SampleCounters counters)
      throws Exception {
    if (loop == null) {
      statement.executeUpdate(text);
      counters.executed();
    } else {
      take(statement.executeQuery(text), loop, counters);
    }
  }

  /** Takes the rows of a statement that has just been executed. */
  static void take(ResultSet result, RowLoop<ResultSet> loop, SampleCounters counters)
      throws Exception {
    try (result) {
      counters.executed();
      counters.take(result, loop);
    }
  }
}
