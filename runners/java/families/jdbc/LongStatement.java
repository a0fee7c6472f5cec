package rowpath.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import rowpath.Failure;
import rowpath.Interruption;
import rowpath.Interruption.Outcome;

/** Whether a driver honours a request to stop a statement that runs for long. */
final class LongStatement {
  private static final long PATIENCE_MS = 2_000;
  private static final int ANSWERS_WITHIN_S = 5;

  private LongStatement() {}

  /**
   * Runs the statement on a thread of its own and has it stopped. A driver that has no such thing
   * throws before the statement begins.
   */
  static Outcome stop(Connection connection, Interruption asked) throws Exception {
    Statement statement = connection.createStatement();
    boolean cancel = asked.way().equals("cancel");
    if (cancel) {
      statement.cancel(); // of nothing: a driver that cannot throws now
    } else if (asked.way().equals("timeout")) {
      statement.setQueryTimeout((int) Math.max((asked.afterMs() + 999) / 1000, 1));
    } else {
      throw new Failure("unsupported", "", "JDBC knows no behaviour " + asked.way());
    }
    FutureTask<Long> query = new FutureTask<>(() -> drain(statement, asked.sql()));
    Thread thread = new Thread(query, "rowpath-long-statement");
    thread.setDaemon(true);
    long start = System.nanoTime();
    thread.start();
    if (cancel) {
      Thread.sleep(asked.afterMs());
      statement.cancel();
    }
    String text = wait(query, asked.mostMs() - (System.nanoTime() - start) / 1_000_000);
    long tookNs = System.nanoTime() - start;
    if (text == null) {
      leave(statement, query);
      return new Outcome(false, tookNs, false, "the statement went on");
    }
    boolean usable = answers(connection);
    return text.isEmpty()
        ? new Outcome(false, tookNs, usable, "the statement came to its own end")
        : new Outcome(true, tookNs, usable, text);
  }

  /** What stopped it; empty when it came to its own end, null when it goes on. */
  private static String wait(FutureTask<Long> query, long ms) throws InterruptedException {
    try {
      query.get(Math.max(ms, 1), TimeUnit.MILLISECONDS);
      return "";
    } catch (ExecutionException stopped) {
      return String.valueOf(stopped.getCause().getMessage());
    } catch (TimeoutException late) {
      return null;
    }
  }

  /**
   * Tries to end a statement that is no longer waited for, so that the connection can be closed.
   */
  private static void leave(Statement statement, FutureTask<Long> query)
      throws InterruptedException {
    try {
      statement.cancel();
      wait(query, PATIENCE_MS);
    } catch (SQLException cannot) {
      System.err.println("a statement goes on: " + cannot.getMessage());
    }
  }

  private static boolean answers(Connection connection) {
    try {
      return connection.isValid(ANSWERS_WITHIN_S);
    } catch (SQLException broken) {
      return false;
    }
  }

  private static long drain(Statement statement, String sql) throws SQLException {
    long rows = 0;
    try (statement;
        ResultSet result = statement.executeQuery(sql)) {
      while (result.next()) {
        rows++;
      }
    }
    return rows;
  }
}
