package rowpath.adapters;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;

/** Arrow's driver of Flight SQL, over a server that reads a SQLite file: the values are SQLite's. */
public final class FlightSql extends Sqlite {
  @Override
  protected Connection connect() throws SQLException {
    Properties properties = login();
    properties.setProperty("useEncryption", "false");
    return connect("jdbc:arrow-flight-sql://" + address(), properties);
  }
}
