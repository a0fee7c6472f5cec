import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import javax.sql.DataSource;

/** A read by key on a connection that a pool lends; borrowing and returning are timed. */
final class Reads {
  /** How long a client waits for a connection. */
  static final int PATIENCE_MS = 30_000;

  private Reads() {}

  /** Serves reads until there is nothing more to do. */
  static void serve(Conversation conversation, DataSource pool) throws Exception {
    String sql = conversation.get("sql");
    Connection held = conversation.get("hold").equals("on") ? pool.getConnection() : null;
    conversation.serve(
        key -> {
          long begin = System.nanoTime();
          Connection connection = held != null ? held : pool.getConnection();
          conversation.ownNs += System.nanoTime() - begin;
          long touch = read(connection, sql, key);
          begin = System.nanoTime();
          if (held == null) {
            connection.close();
          }
          conversation.ownNs += System.nanoTime() - begin;
          return touch;
        });
    if (held != null) {
      held.close();
    }
  }

  private static long read(Connection connection, String sql, String key) throws SQLException {
    long touch = 0;
    try (PreparedStatement query = connection.prepareStatement(sql)) {
      query.setObject(1, key, Types.CHAR);
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          touch += rows.getString(1).length() + rows.getString(2).length();
        }
      }
    }
    return touch;
  }
}
