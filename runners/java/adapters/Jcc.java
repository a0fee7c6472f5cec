package rowpath.adapters;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;
import java.util.Set;
import rowpath.db2.Db2Jdbc;

/** IBM's jcc over DRDA, to a Derby old enough to let it in. */
public final class Jcc extends Db2Jdbc {
  private static final String CLEAR_TEXT_PASSWORD = "3";

  @Override
  protected Connection connect() throws SQLException {
    Properties properties = login();
    // Derby refuses the one that jcc would choose.
    properties.setProperty("securityMechanism", CLEAR_TEXT_PASSWORD);
    // Else an error has a code and no words.
    properties.setProperty("retrieveMessagesFromServerOnGetMessage", "true");
    return connect("jdbc:db2://" + address() + "/" + options.need("database"), properties);
  }

  /** It tells few of its properties. */
  @Override
  protected Set<String> knownSettings(String url, Properties properties) {
    return Set.of("blockingReadConnectionTimeout", "loginTimeout");
  }
}
