package rowpath.adapters;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Properties;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Arrow's driver of Flight SQL, over a server that reads a SQLite file: the values are SQLite's.
 */
public final class FlightSql extends Sqlite {
  private static final Logger LOGGER =
      Logger.getLogger("org.apache.arrow.driver.jdbc.shaded.org.apache.arrow.memory");

  static {
    LOGGER.setLevel(Level.WARNING); // else it writes to stderr which allocator it has chosen
  }

  @Override
  protected Connection connect() throws SQLException {
    Properties properties = login();
    properties.setProperty("useEncryption", "false");
    return connect("jdbc:arrow-flight-sql://" + address(), properties);
  }

  @Override
  protected boolean preparesTexts() {
    return true; // the server describes no result before it has one
  }

  @Override
  protected String ask(String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet result = statement.executeQuery()) {
      return result.next() ? result.getString(1) : "";
    }
  }
}
